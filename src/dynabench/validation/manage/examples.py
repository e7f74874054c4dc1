"""A task's examples: found by words and facets, and each with everything that is known of it."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import forms, notes, queries, search, withdrawal
from dynabench.collection.schemas import ExampleQuery
from dynabench.collection.tables import Handout
from dynabench.collection.terms import strings
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.forms import field_errors, redirect
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people, plan
from dynabench.rounds import queries as round_queries
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator
from dynabench.tasks import TaskConfig
from dynabench.validation import bulk, moderation
from dynabench.validation import queries as vote_queries

router = APIRouter()

SHOWN = 25
COLUMNS: tuple[str, ...] = (
    "id",
    "name",
    "at",
    "round",
    "author",
    "source",
    "start",
    "condition",
    "tag",
    "context",
    "text",
    "claim",
)
COLUMNS += ("fooled", "verdict", "retracted", "hidden", "models")

Act = Literal["hide", "restore", "dismiss", "reopen", "warn", "ban", "lift"]
Done = Annotated[Act | None, Query()]
Bulk = Annotated[int | None, Query(alias="bulk", ge=1, le=2**53)]
UNDO = {"hide": "restore", "restore": "hide", "dismiss": "reopen", "reopen": "dismiss", "ban": "lift"}


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
async def examples(request: Request, db: Db, task: str, person: TaskModerator, bulk_act: Bulk = None) -> Response:
    """Search, filters, a page of what was found; `bulk` names what was just done to many."""
    question, written, wrong = asked(request)

    def read(session: Session) -> dict[str, Any]:
        known = _facets(session, task)
        page = search.SearchPage([], None)
        problems = dict(wrong)
        if not problems:
            try:
                page = search.find(
                    session, person, task, question.filters(), before=question.after or None, limit=SHOWN
                )
            except errors.Invalid as problem:
                problems = problem.fields
        known |= _beside(session, [each.example.id for each in page.items])
        known |= {"bulk": None, "bulk_changed": 0}
        if bulk_act is not None:
            done, ids = bulk.one(session, person, task, bulk_act)
            known |= {"bulk": done, "bulk_changed": len(ids)}
        return known | {"items": page.items, "next": page.next, "errors": problems}

    values = await db.aread(read)
    terms = asked_terms(written)
    return await frame.console_page(
        request,
        task,
        "validation/manage/examples.html",
        "examples",
        status=422 if values["errors"] else 200,
        asked=written,
        query=urlencode(terms),
        filtered=bool(terms.keys() - {"q"}),
        said=said,
        texts=texts,
        **values,
    )


def asked_terms(written: dict[str, str]) -> dict[str, str]:
    """Return the search terms, without the place in the list and without those that always apply."""
    return {
        name: value
        for name, value in written.items()
        if name not in ("after", "limit") and (name, value) != ("hidden", "no")
    }


@router.get("/tasks/{task}/manage/examples.csv", name="download_examples")
async def download(request: Request, db: Db, task: str, person: TaskModerator) -> Response:
    """All examples that the question in the address finds, newest first."""
    question, _, wrong = asked(request)
    if wrong:
        raise errors.Invalid(wrong)
    await db.aread(search.find, person, task, question.filters(), limit=1)  # refuses what makes no sense
    rows = (_row(each) for each in _all(db, person, task, question.filters()))
    return csv_response(f"{task}-examples.csv", COLUMNS, rows)


def _all(db: Database, person: Person, task: str, filters: search.Filters) -> Iterator[search.Seen]:
    before: int | None = None
    while True:

        def read(session: Session, before: int | None = before) -> search.SearchPage:
            return search.find(session, person, task, filters, before=before, limit=500)

        page = db.read(read)
        yield from page.items
        if page.next is None:
            return
        before = page.next


def _row(each: search.Seen) -> list[object]:
    example, config = each.example, each.config
    models = "; ".join(f"{one.model}: {said(config, one.answer)}" for one in example.predictions)
    context = texts(config.shown_context(each.context.values)) if each.context.values else ""
    cells = [each.author.public_name, example.source, example.start, example.arm, each.context.tag, context]
    cells += [texts(example.input), said(config, example.answer)]
    fooled = "" if each.standing.fooled is None else each.standing.fooled
    facts = [fooled, each.standing.verdict, each.standing.retracted, each.standing.hidden, models]
    when = example.at.isoformat(timespec="seconds")
    return [example.id, example.uid, when, each.round.number, *cells, *facts]


def _beside(session: Session, ids: Sequence[int]) -> dict[str, Any]:
    said, labels = notes.read_notes_and_labels(session, ids)
    return {"notes": said, "labels": labels}


def _facets(session: Session, task: str) -> dict[str, Any]:
    found = list(session.scalars(round_queries.rounds(task)))
    return {
        "numbers": [each.number for each in found],
        "arms": sorted({arm["name"] for each in found for arm in each.arms}),
        "without_targets": sorted({name for each in found for name in plan.arms_without_targets(each.arms)}),
    }


def said(config: TaskConfig, answer: dict[str, Any]) -> str:
    """An answer in the words that people see."""
    values = [(field, answer[field.name]) for field in config.answer if field.name in answer]
    return ", ".join(field.in_words(value) for field, value in values)


def texts(values: dict[str, Any]) -> str:
    """The texts of an input or context, one after the other."""
    return " · ".join(strings(values))


@router.get("/tasks/{task}/manage/examples/{id}", name="manage_example")
async def example(request: Request, db: Db, task: str, id: RowId, person: TaskModerator, done: Done = None) -> Response:
    """One example with everything: context, start, predictions, votes, explanation, history, what came of it.

    `done` is what was just done about it: the page says so and offers to undo it.
    """
    values = await db.aread(everything, person, task, id)
    return await frame.console_page(
        request, task, "validation/manage/example.html", "examples", **words(done=done), **values
    )


def words(**values: Any) -> dict[str, Any]:
    """Return the values that templates of examples need beside the examples.

    They are functions that write values as text, the last action, and the errors.
    """
    return {"said": said, "texts": texts, "undo": UNDO, "done": None, "errors": {}, "values": {}} | values


def everything(session: Session, person: Person, task: str, id: int) -> dict[str, Any]:
    """All that the ledger has on an example."""
    found = moderation.case(session, person, task, id)
    one = found.seen.example
    handout = session.get(Handout, one.handout_id)
    origins = {each for each in (one.made_from, handout.made_from if handout else None) if each}
    public = search.public(session, sorted(origins))
    origin = next((each for each in public if each.example.id == one.made_from), None)
    begun = handout.initial if handout and len(public) == len(origins) else None  # None: the text is a withheld one's
    made = session.scalars(queries.made_from(one.id)).all()
    return {
        "case": found,
        "seen": found.seen,
        "shown": found.seen.config,
        "handout": handout,
        "changes": [] if begun is None else forms.changes(found.seen.config.input, begun, one.input),
        "origin": origin,
        "children": search.public(session, made),
        "votes": moderation.votes(session, id),
        "events": list(session.scalars(vote_queries.verdict_events(id))),
        "looked": list(session.scalars(queries.attributions_of(id))),
        **_beside(session, [id]),
    }


MOST_CASES = 10
Which = Literal["waiting", "hidden", "dismissed", "noted"]


@router.get("/tasks/{task}/manage/moderation", name="manage_moderation")
async def queue(
    request: Request,
    db: Db,
    task: str,
    person: TaskModerator,
    which: Which = "waiting",
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    done: Done = None,
    of: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Response:
    """Examples that wait for a moderator; those that are hidden, whose flags were dismissed, or that have notes."""

    def read(session: Session) -> dict[str, Any]:
        cases, more = moderation.queue(session, person, task, which, after or None, MOST_CASES)
        said, labels = notes.read_notes_and_labels(session, [each.seen.example.id for each in cases])
        return {"cases": cases, "next": more, "notes": said, "labels": labels}

    values = await db.aread(read)
    shown = words(which=which, after=after, done=done, of=of)
    return await frame.console_page(request, task, "validation/manage/moderation.html", "moderation", **shown, **values)


@router.post("/tasks/{task}/manage/examples/{id}/{act}", name="moderate_example")
async def act(request: Request, db: Db, task: str, id: RowId, act: Act, person: TaskModerator) -> Response:
    """Do something about an example or its author; then the page that it was asked from, or the form with its error."""
    form = await request.form()
    reason = str(form.get("reason", ""))
    try:
        await db.awrite(do, person, task, id, act, reason)
    except (errors.Invalid, errors.Forbidden, errors.Conflict) as problem:
        known = await db.aread(everything, person, task, id)
        shown = words(values={"act": act, "reason": reason}, errors=field_errors(problem, "act"))
        return await frame.console_page(
            request, task, "validation/manage/example.html", "examples", status=problem.status, **shown, **known
        )
    came_from = str(form.get("back", ""))
    if came_from in get_args(Which):
        query = {"which": came_from, "of": id, "done": act}
        return redirect(request, "manage_moderation", task=task, query=query)
    return redirect(request, "manage_example", task=task, id=id, query={"done": act})


def do(session: Session, person: Person, task: str, id: int, act: str, reason: str) -> None:
    """Do what a moderator's button says, for a reason; refuse where the example is not the task's."""
    found = moderation.case(session, person, task, id)
    author = found.seen.author.id
    said = people.clean_reason(reason) if act not in ("restore", "reopen", "lift") else reason
    if act == "hide":
        withdrawal.hide(session, person, id, said)
    elif act == "restore":
        withdrawal.restore(session, person, id, said)
    elif act == "dismiss":
        moderation.dismiss(session, person, id, said)
    elif act == "reopen":
        moderation.reopen(session, person, id, said)
    elif act == "warn":
        people.warn_person(session, person, task, author, said)
    elif act == "ban":
        people.ban_person(session, person, task, author, said)
    else:
        people.lift_ban(session, person, task, author)
