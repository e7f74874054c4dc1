"""A task's examples: found by words and facets, and each with everything that is known of it."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import forms, notes, queries, search, withdrawal
from dynabench.collection.handout_tables import Handout
from dynabench.collection.schemas import ExampleQuery
from dynabench.collection.terms import strings
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.forms import redirect, rejection
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

PAGE_SIZE = 25
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


def read_question(request: Request) -> tuple[ExampleQuery, dict[str, str], dict[str, str]]:
    """The question in the page's address, as it was written, and messages by field for what makes no sense."""
    written = {name: value for name, value in request.query_params.items() if value.strip()}
    conditions = {name: value for name, value in written.items() if name in ExampleQuery.model_fields}
    try:
        return ExampleQuery.model_validate(conditions), conditions, {}
    except ValidationError as problem:
        wrong = {str(error["loc"][0]): str(error["msg"]) for error in problem.errors()}
        return ExampleQuery.model_validate({"hidden": "no"}), conditions, wrong


@router.get("/tasks/{task}/manage/examples", name="manage_examples")
async def examples(request: Request, db: Db, task: str, person: TaskModerator, bulk_act: Bulk = None) -> Response:
    """Search, filters, a page of what was found; `bulk` names what was just done to many."""
    question, written, wrong = read_question(request)

    def read(session: Session) -> dict[str, Any]:
        page_values = _facets(session, task)
        page = search.SearchPage([], None)
        problems = dict(wrong)
        if not problems:
            try:
                page = search.find(
                    session, person, task, question.filters(), before=question.after or None, limit=PAGE_SIZE
                )
            except errors.Invalid as problem:
                problems = problem.fields
        page_values |= _beside(session, [seen_example.example.id for seen_example in page.items])
        page_values |= {"bulk": None, "bulk_changed": 0}
        if bulk_act is not None:
            done, ids = bulk.read_bulk_act(session, person, task, bulk_act)
            page_values |= {"bulk": done, "bulk_changed": len(ids)}
        return page_values | {"items": page.items, "next": page.next, "errors": problems}

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
        said=answer_in_words,
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
    question, _, wrong = read_question(request)
    if wrong:
        raise errors.Invalid(wrong)
    await db.aread(search.find, person, task, question.filters(), limit=1)  # refuses what makes no sense
    rows = (_row(seen_example) for seen_example in _all(db, person, task, question.filters()))
    return csv_response(f"{task}-examples.csv", COLUMNS, rows)


def _all(db: Database, person: Person, task: str, filters: search.Filters) -> Iterator[search.FoundExample]:
    before: int | None = None
    while True:

        def read(session: Session, before: int | None = before) -> search.SearchPage:
            return search.find(session, person, task, filters, before=before, limit=500)

        page = db.read(read)
        yield from page.items
        if page.next is None:
            return
        before = page.next


def _row(seen_example: search.FoundExample) -> list[object]:
    example, config = seen_example.example, seen_example.config
    models = "; ".join(
        f"{prediction.model}: {answer_in_words(config, prediction.answer)}" for prediction in example.predictions
    )
    context = texts(config.shown_context(seen_example.context.values)) if seen_example.context.values else ""
    cells = [
        seen_example.author.public_name,
        example.source,
        example.start,
        example.arm,
        seen_example.context.tag,
        context,
    ]
    cells += [texts(example.input), answer_in_words(config, example.answer)]
    fooled = "" if seen_example.standing.fooled is None else seen_example.standing.fooled
    facts = [
        fooled,
        seen_example.standing.verdict,
        seen_example.standing.retracted,
        seen_example.standing.hidden,
        models,
    ]
    when = example.at.isoformat(timespec="seconds")
    return [example.id, example.uid, when, seen_example.round.number, *cells, *facts]


def _beside(session: Session, ids: Sequence[int]) -> dict[str, Any]:
    notes_by_example, labels = notes.read_notes_and_labels(session, ids)
    return {"notes": notes_by_example, "labels": labels}


def _facets(session: Session, task: str) -> dict[str, Any]:
    task_rounds = list(session.scalars(round_queries.rounds(task)))
    return {
        "numbers": [task_round.number for task_round in task_rounds],
        "arms": sorted({arm["name"] for task_round in task_rounds for arm in task_round.arms}),
        "without_targets": sorted(
            {name for task_round in task_rounds for name in plan.arms_without_targets(task_round.arms)}
        ),
    }


def answer_in_words(config: TaskConfig, answer: dict[str, Any]) -> str:
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
    return await example_page(request, db, person, task, id, done=done)


async def example_page(
    request: Request, db: Db, person: Person, task: str, id: int, /, *, status: int = 200, **values: Any
) -> Response:
    """Answer with the page of one example; `values` are what was done, or a form's errors and values."""
    example_values = await db.aread(everything, person, task, id)
    template = "validation/manage/example.html"
    return await frame.console_page(
        request, task, template, "examples", status=status, **words(**values), **example_values
    )


def words(**values: Any) -> dict[str, Any]:
    """Return the values that templates of examples need beside the examples.

    They are functions that write values as text, the last action, and the errors.
    """
    return {"said": answer_in_words, "texts": texts, "undo": UNDO, "done": None, "errors": {}, "values": {}} | values


def everything(session: Session, person: Person, task: str, id: int) -> dict[str, Any]:
    """All that the ledger has on an example."""
    case = moderation.case(session, person, task, id)
    example = case.seen.example
    handout = session.get(Handout, example.handout_id)
    origins = {origin_id for origin_id in (example.made_from, handout.made_from if handout else None) if origin_id}
    public = search.public(session, sorted(origins))
    origin = next((seen_example for seen_example in public if seen_example.example.id == example.made_from), None)
    begun = handout.initial if handout and len(public) == len(origins) else None  # None: the text is a withheld one's
    children = session.scalars(queries.made_from(example.id)).all()
    return {
        "case": case,
        "seen": case.seen,
        "shown": case.seen.config,
        "handout": handout,
        "changes": [] if begun is None else forms.changes(case.seen.config.input, begun, example.input),
        "origin": origin,
        "children": search.public(session, children),
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
        notes_by_example, labels = notes.read_notes_and_labels(session, [case.seen.example.id for case in cases])
        return {"cases": cases, "next": more, "notes": notes_by_example, "labels": labels}

    values = await db.aread(read)
    page_values = words(which=which, after=after, done=done, of=of)
    return await frame.console_page(
        request, task, "validation/manage/moderation.html", "moderation", **page_values, **values
    )


@router.post("/tasks/{task}/manage/examples/{id}/{act}", name="moderate_example")
async def act(request: Request, db: Db, task: str, id: RowId, act: Act, person: TaskModerator) -> Response:
    """Do something about an example or its author; then the page that it was asked from, or the form with its error."""
    form = await request.form()
    reason = str(form.get("reason", ""))
    try:
        await db.awrite(do, person, task, id, act, reason)
    except (errors.Invalid, errors.Forbidden, errors.Conflict) as problem:
        values = {"act": act, "reason": reason}
        return await example_page(request, db, person, task, id, values=values, **rejection(problem, "act"))
    came_from = str(form.get("back", ""))
    if came_from in get_args(Which):
        query = {"which": came_from, "of": id, "done": act}
        return redirect(request, "manage_moderation", task=task, query=query)
    return redirect(request, "manage_example", task=task, id=id, query={"done": act})


def do(session: Session, person: Person, task: str, id: int, act: str, reason: str) -> None:
    """Do what a moderator's button says, for a reason; refuse where the example is not the task's."""
    case = moderation.case(session, person, task, id)
    author = case.seen.author.id
    cleaned_reason = people.clean_reason(reason) if act not in ("restore", "reopen", "lift") else reason
    if act == "hide":
        withdrawal.hide(session, person, id, cleaned_reason)
    elif act == "restore":
        withdrawal.restore(session, person, id, cleaned_reason)
    elif act == "dismiss":
        moderation.dismiss(session, person, id, cleaned_reason)
    elif act == "reopen":
        moderation.reopen(session, person, id, cleaned_reason)
    elif act == "warn":
        people.warn_person(session, person, task, author, cleaned_reason)
    elif act == "ban":
        people.ban_person(session, person, task, author, cleaned_reason)
    else:
        people.lift_ban(session, person, task, author)
