"""The plan of a round on pages: dates, goals, limits, who may take part, how contexts are drawn; clones of a round."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.collection import eligibility, seed_screening
from dynabench.kit import errors
from dynabench.kit.api import After, Db
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import invitations, owner_lists, planning, queries, service, views
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.owner_lists import ContextFilter
from dynabench.rounds.plan import PARTS, PlannedRound, parse_plan
from dynabench.rounds.samplers import all_samplers
from dynabench.rounds.schemas import Number
from dynabench.rounds.tables import Round, RoundState

router = APIRouter()

COUNTS = ("goals.examples", "goals.fooled", "goals.verified", "limits.per_person", "limits.per_day")
LINK = {"uses": 200, "days": 30}

Done = Annotated[str, Query(max_length=20)]


def plan_values(session: Session, round_: Round) -> dict[str, Any]:
    """Return the values that a round's page shows of its plan.

    `plan`, `goals`, `few` (the number of chosen contexts), `people` (usernames of those who may take part),
    `last` (the last change, or None), `parts` of a clone, `sampler`, and `seed_counts` of an open round, else None.
    """
    plan = planning.plan_of(round_)
    sampling = plan.sampling or service.config_of(session, round_.version_id).contexts.sampling
    return {
        "plan": plan,
        "goals": eligibility.goals(session, round_),
        "few": len(session.scalars(queries.chosen_contexts(round_.id)).all()),
        "people": [person.username for person in session.scalars(queries.named_people(round_.id))],
        "last": planning.last_plan_change(session, round_),
        "parts": PARTS,
        "sampler": all_samplers()[sampling],
        "seed_counts": seed_screening.count_seeds(session, round_) if round_.state == RoundState.OPEN else None,
    }


def to_round(request: Request, task: str, n: int, done: str = "") -> Response:
    """Back to the page of a round, which says what was done."""
    return redirect(request, "manage_round", task=task, n=n, query={"done": done})


def read(form: FormData) -> dict[str, str]:
    """Return the posted values, by the dotted names of a plan."""
    named = ("audience.kind", "audience.verified", "sampling", "contexts", "programs", "seeds", "model_text")
    return {name: str(form.get(name, "")).strip()[:60] for name in ("opens_at", "closes_at", *COUNTS, *named)}


def planned(posted: dict[str, str]) -> PlannedRound:
    """The plan that a form stands for; moments are in UTC. Raises `Invalid` by field."""
    wrong: dict[str, str] = {}
    document: dict[str, Any] = {"goals": {}, "limits": {}, "audience": {"kind": posted["audience.kind"] or "anyone"}}
    for name in ("opens_at", "closes_at"):
        if posted[name]:
            try:
                document[name] = datetime.fromisoformat(posted[name]).replace(tzinfo=UTC)
            except ValueError:
                wrong[name] = _("Give a day and a time, such as 2026-03-01T09:00.")
    counted = [*COUNTS, *(["audience.verified"] if posted["audience.kind"] == "qualified" else [])]
    for name in counted:
        group, _dot, key = name.partition(".")
        if posted[name]:
            document[group][key] = posted[name]
    if posted["sampling"]:
        document["sampling"] = posted["sampling"]
    if posted["programs"]:
        document["programs"] = posted["programs"] != "no"
    for name in ("contexts", "seeds", "model_text"):
        if posted[name]:
            document[name] = posted[name]
    try:
        plan = parse_plan(document)
    except errors.Invalid as problem:
        raise errors.Invalid({_beside(name): text for name, text in problem.fields.items()} | wrong) from None
    if wrong:
        raise errors.Invalid(wrong)
    return plan


def _beside(name: str) -> str:
    return "audience.verified" if name == "audience" else name


def _filled(plan: PlannedRound) -> dict[str, str]:
    values = dict.fromkeys(COUNTS, "")
    for name in COUNTS:
        group, _dot, key = name.partition(".")
        values[name] = str(getattr(getattr(plan, group), key) or "")
    for name in ("opens_at", "closes_at"):
        moment = getattr(plan, name)
        values[name] = f"{moment:%Y-%m-%dT%H:%M}" if moment else ""
    return values | {
        "audience.kind": plan.audience.kind,
        "audience.verified": str(plan.audience.verified or ""),
        "sampling": plan.sampling or "",
        "contexts": plan.contexts,
        "programs": "yes" if plan.programs else "no",
        "seeds": plan.seeds,
        "model_text": plan.model_text,
    }


async def _page(
    request: Request, task: str, n: int, status: int = 200, posted: dict[str, str] | None = None, **more: Any
) -> Response:
    def look(session: Session) -> dict[str, Any]:
        round_ = service.round_of(session, task, n)
        usual = service.config_of(session, round_.version_id).contexts.sampling
        values = plan_values(session, round_) | {
            "usual": all_samplers()[usual],
            "shown": views.round_out(session, round_),
        }
        return (
            values
            | {"posted": posted or _filled(values["plan"]), "samplers": all_samplers(), "errors": {}, "link": ""}
            | more
        )

    values = await request.app.state.db.aread(look)
    return await frame.console_page(request, task, "collection/manage/plan.html", "rounds", status=status, **values)


@router.get("/tasks/{task}/manage/rounds/{n}/plan", name="manage_plan")
async def show(request: Request, task: str, n: Number, owner: TaskOwner) -> Response:
    """The form."""
    return await _page(request, task, n)


@router.post("/tasks/{task}/manage/rounds/{n}/plan", name="change_plan")
async def change(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Give the round this plan."""
    posted = read(await request.form())
    try:
        await db.awrite(lambda session: planning.change_plan(session, owner, task, n, planned(posted)).number)
    except errors.Invalid as problem:
        return await _page(request, task, n, 422, posted, errors=problem.fields)
    return to_round(request, task, n, "planned")


@router.post("/tasks/{task}/manage/rounds/{n}/plan/undo", name="undo_plan")
async def undo(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Take the last change back."""
    await db.awrite(lambda session: planning.undo_plan_change(session, owner, task, n).number)
    return to_round(request, task, n, "undone")


@router.post("/tasks/{task}/manage/rounds/{n}/clone", name="clone_round")
async def clone(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """A new draft like this round."""
    form = await request.form()
    parts = [str(part) for part in form.getlist("parts")][:10]
    new_number = await db.awrite(lambda session: planning.clone_round(session, owner, task, n, parts).number)
    return to_round(request, task, new_number, "cloned")


@router.post("/tasks/{task}/manage/rounds/{n}/discard", name="discard_round")
async def discard(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Throw a draft away."""
    await db.awrite(planning.discard_draft, owner, task, n)
    return redirect(request, "manage_rounds", task=task)


@router.post("/tasks/{task}/manage/rounds/{n}/people", name="name_people")
async def name_people(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Name who may take part in a round for invited people: usernames, by spaces, commas or lines."""
    form = await request.form()
    names = str(form.get("people", ""))[:60_000].replace(",", " ").split()
    try:
        await db.awrite(lambda session: planning.name_people(session, owner, task, n, names).number)
    except errors.Invalid as problem:
        return await _page(request, task, n, 422, errors=problem.fields, people=names)
    return to_round(request, task, n, "people")


@router.post("/tasks/{task}/manage/rounds/{n}/link", name="link_to_round")
async def link(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """A link that lets the person who follows it take part in the round; it is shown once."""
    how = ("annotator", f"Round {n}", LINK["uses"], LINK["days"], n)
    _, secret = await db.awrite(invitations.create_invitation, owner, task, *how)
    return await _page(request, task, n, link=str(request.url_for("join", secret=secret)))


PAGE_ROWS = 25
DRAWN_CONTEXTS = 10

Words = Annotated[str, Query(max_length=200)]
Tag = Annotated[str, Query(max_length=100)]


async def _contexts_page(
    request: Request, task: str, n: int, sought: ContextFilter, after: int | None = None, status: int = 200, **more: Any
) -> Response:
    def look(session: Session) -> dict[str, Any]:
        round_ = service.round_of(session, task, n)
        ids = list(session.scalars(queries.chosen_contexts(round_.id)))
        others = [other for other in session.scalars(queries.rounds(task)) if other.id != round_.id]
        counts = {other.number: len(session.scalars(queries.chosen_contexts(other.id)).all()) for other in others}
        page = owner_lists.find_contexts(session, task, sought, after, PAGE_ROWS)
        return {
            "shown": views.round_out(session, round_),
            "chosen": owner_lists.contexts_by_id(session, ids),
            "page": page,
            "sought": sought,
            "after": after,
            "takeable": {number: count for number, count in counts.items() if count},
            "fields": service.newest_config(session, task).context,
            "most": planning.MOST_CHOSEN,
            "drawn": DRAWN_CONTEXTS,
            "errors": {},
        }

    values = await request.app.state.db.aread(look)
    return await frame.console_page(
        request, task, "rounds/manage/chosen.html", "rounds", status=status, **(values | more)
    )


@router.get("/tasks/{task}/manage/rounds/{n}/contexts", name="chosen_contexts")
async def show_chosen_contexts(
    request: Request, task: str, n: Number, owner: TaskOwner, q: Words = "", tag: Tag = "", after: After = None
) -> Response:
    """Show the contexts chosen for a round, and the task's contexts to choose more from."""
    return await _contexts_page(request, task, n, ContextFilter(q, tag or None), after)


def _change_choice(session: Session, owner: Person, task: str, n: int, form: FormData) -> None:
    """Do what was asked for: `then` is `add` or `remove` (with ids as `contexts`), `draw`, `take` or `clear`."""
    then, round_ = form.get("then"), service.round_of(session, task, n)
    ids = {int(str(text)) for text in form.getlist("contexts") if str(text).isdecimal() and len(str(text)) < 16}
    chosen = set(session.scalars(queries.chosen_contexts(round_.id)))
    if then == "take":
        source = str(form.get("round", ""))
        planning.copy_chosen_contexts(
            session, owner, task, n, int(source) if source.isdecimal() and len(source) < 10 else 0
        )
        return
    if then == "draw":
        ids = set(planning.draw_contexts(session, task, DRAWN_CONTEXTS))
    choice = {"add": chosen | ids, "draw": chosen | ids, "remove": chosen - ids, "clear": set()}.get(str(then), chosen)
    planning.choose_contexts(session, owner, task, n, sorted(choice))


@router.post("/tasks/{task}/manage/rounds/{n}/contexts", name="choose_contexts")
async def choose(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Choose contexts, or let some go."""
    form = await request.form()
    try:
        await db.awrite(_change_choice, owner, task, n, form)
    except errors.Invalid as problem:
        return await _contexts_page(request, task, n, ContextFilter(), status=422, errors=problem.fields)
    return redirect(request, "chosen_contexts", task=task, n=n)
