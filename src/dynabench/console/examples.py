"""A task's examples: found by words and facets, and each with everything that is known of it."""

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection import differences, queries, search
from dynabench.collection.schemas import ExampleQuery
from dynabench.collection.tables import Handout
from dynabench.console import frame
from dynabench.console.access import Moderating
from dynabench.rounds import arms
from dynabench.rounds import queries as round_queries
from dynabench.security import RowId
from dynabench.tasks import TaskConfig
from dynabench.validation import moderation
from dynabench.validation import queries as vote_queries

router = APIRouter()

SHOWN = 25


def asked(request: Request) -> tuple[ExampleQuery, dict[str, str], dict[str, str]]:
    """The question in the page's address, as it was written, and messages by field for what makes no sense."""
    written = {name: value for name, value in request.query_params.items() if value.strip()}
    kept = {name: value for name, value in written.items() if name in ExampleQuery.model_fields}
    try:
        return ExampleQuery.model_validate(kept), kept, {}
    except ValidationError as problem:
        wrong = {str(each["loc"][0]): str(each["msg"]) for each in problem.errors()}
        return ExampleQuery.model_validate({"hidden": "no"}), kept, wrong


@router.get("/tasks/{task}/manage/examples", name="manage_examples")
async def examples(request: Request, task: str, person: Moderating) -> Response:
    """Search, filters, a page of what was found."""
    question, written, wrong = asked(request)

    def read(session: Session) -> dict[str, Any]:
        known = _facets(session, task)
        page = search.Page([], None)
        problems = dict(wrong)
        if not problems:
            try:
                page = search.find(
                    session, person, task, question.filters(), before=question.after or None, limit=SHOWN
                )
            except errors.Invalid as problem:
                problems = problem.fields
        return known | {"items": page.items, "next": page.next, "errors": problems}

    values = await request.app.state.db.aread(read)
    terms = {name: value for name, value in written.items() if name not in ("after", "limit")}
    return await frame.page(
        request,
        task,
        "console/examples.html",
        "examples",
        status=422 if values["errors"] else 200,
        asked=written,
        query=urlencode(terms),
        said=said,
        texts=texts,
        **values,
    )


def _facets(session: Session, task: str) -> dict[str, Any]:
    """What can be chosen: the task's rounds, and the arms of any of them."""
    found = list(session.scalars(round_queries.rounds(task)))
    return {
        "numbers": [each.number for each in found],
        "arms": sorted({arm["name"] for each in found for arm in each.arms}),
        "without_targets": sorted({name for each in found for name in arms.without_targets(each.arms)}),
    }


def said(config: TaskConfig, answer: dict[str, Any]) -> str:
    """An answer in the words that people see."""
    values = [(field, answer[field.name]) for field in config.answer if field.name in answer]
    return ", ".join(field.in_words(value) for field, value in values)


def texts(values: dict[str, Any]) -> str:
    """The texts of an input or context, one after the other."""
    return " · ".join(str(value) for value in values.values() if isinstance(value, str))


@router.get("/tasks/{task}/manage/examples/{id}", name="manage_example")
async def example(request: Request, task: str, id: RowId, person: Moderating) -> Response:
    """One example with everything: context, start, predictions, votes, explanation, history, what came of it."""
    values = await request.app.state.db.aread(everything, person, task, id)
    return await frame.page(
        request, task, "console/example.html", "examples", said=said, texts=texts, errors={}, values={}, **values
    )


def everything(session: Session, person: Person, task: str, id: int) -> dict[str, Any]:
    """All that the ledger has on an example."""
    found = moderation.case(session, person, task, id)
    one = found.seen.example
    handout = session.get(Handout, one.handout_id)
    origin = search.seen(session, [one.made_from])[0] if one.made_from else None
    made = session.scalars(queries.made_from(one.id)).all()
    return {
        "case": found,
        "seen": found.seen,
        "shown": found.seen.config,
        "handout": handout,
        "changes": differences.changes(found.seen.config.input, handout.initial, one.input) if handout else [],
        "origin": origin,
        "children": search.seen(session, made),
        "votes": moderation.votes(session, id),
        "events": list(session.scalars(vote_queries.verdict_events(id))),
        "looked": list(session.scalars(queries.attributions_of(id))),
    }
