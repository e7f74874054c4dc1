"""The rounds of a task: listed, drafted against models that fit, opened, closed."""

from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.benchmark.registry import future_targets
from dynabench.collection import boards as collected
from dynabench.collection import handout_storage
from dynabench.collection.manage import plans
from dynabench.collection.schemas import ExampleLinkOut
from dynabench.collection.statistics import statistics
from dynabench.insight.data_measurements import pages as measurement_pages
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.forms import redirect
from dynabench.models import serving
from dynabench.models.client import Host
from dynabench.models.protocol import ModelCard
from dynabench.people.accounts.tables import Person
from dynabench.rounds import owner_lists, queries, round_models, service, views
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.schemas import Number
from dynabench.tasks import TaskConfig

router = APIRouter()
LINKS = 500  # read at once
router.include_router(plans.router)
router.include_router(measurement_pages.console)

ROWS = 4  # of the form's arms; one more than were filled in, if that is more
BLANK = {"name": "", "share": "1", "targets": "round", "start": "", "assistant": ""}
FRESH: dict[str, Any] = {"targets": [], "ensemble": "any", "arms": [], "assign": "item"}


async def served(request: Request) -> tuple[list[ModelCard], str]:
    """The models that the host serves now, and why there are none if it does not answer."""
    host: Host = request.app.state.host
    try:
        return await host.index(), ""
    except errors.Problem as problem:
        return [], problem.detail


def fits(config: TaskConfig, cards: Sequence[ModelCard]) -> list[dict[str, Any]]:
    """Each model with the reason why it cannot be a target of the task, empty where it can; those that can first."""
    result = []
    for card in cards:
        try:
            round_models.resolve_targets(config, [f"{card.name}@{card.version}"], cards)
            reason = ""
        except errors.Invalid as problem:
            reason = problem.fields["targets"]
        result.append({"card": card, "key": f"{card.name}@{card.version}", "reason": reason})
    return sorted(result, key=lambda each: (bool(each["reason"]), each["card"].name))


def _listed(session: Session, owner: Person, task: str) -> dict[str, Any]:
    rounds = session.scalars(queries.rounds(task)).all()
    sums = {row.round_id: row for row in session.execute(collected.sums([item.id for item in rounds]))}
    counts = {item.number: sums.get(item.id) for item in rounds}
    rounds_ = owner_lists.list_rounds(session, owner, task, None, len(rounds) + 1)
    return {
        "rounds": rounds_.items,
        "counts": counts,
        "newest": service.newest_config(session, task),
        "any_context": session.scalar(queries.any_context(task)) is not None,
        "preselected": future_targets.preselected_targets(session, task),
    }


async def _page(
    request: Request,
    owner: Person,
    task: str,
    status: int = 200,
    posted: dict[str, Any] | None = None,
    wrong: dict[str, str] | None = None,
) -> Response:
    db: Database = request.app.state.db
    values = await db.aread(_listed, owner, task)
    cards, silent = await served(request)
    posted_values = posted or FRESH | {"targets": values["preselected"]}
    arms = [*posted_values["arms"]]
    arms += [BLANK] * max(ROWS - len(arms), 1)
    values |= {
        "models": fits(values["newest"], cards),
        "silent": silent,
        "posted": posted_values | {"arms": arms},
        "errors": wrong or {},
        "drafting": posted is not None or not values["rounds"] or bool(values["preselected"]),
    }
    return await frame.console_page(request, task, "site/console/rounds.html", "rounds", status=status, **values)


@router.get("/tasks/{task}/manage/rounds", name="manage_rounds")
async def rounds(request: Request, task: str, owner: TaskOwner) -> Response:
    """All rounds, newest first, and a form for the next."""
    return await _page(request, owner, task)


def read(form: FormData) -> dict[str, Any]:
    """Return the posted values: `targets` (several), `ensemble`, the arms with a name, and `assign`.

    `assign` is how the arms are assigned.
    """
    rows: dict[str, dict[str, str]] = {}
    for name, value in form.multi_items():
        if name.startswith("arms.") and name.count(".") == 2 and isinstance(value, str):
            _, row, key = name.split(".")
            rows.setdefault(row, dict(BLANK))[key] = value.strip()[:100]
    return {
        "targets": [str(value)[:200] for value in form.getlist("targets")][:16],
        "ensemble": str(form.get("ensemble", "any")),
        "assign": str(form.get("assign", "item")),
        "arms": [row for row in rows.values() if row["name"]][:20],
    }


def _arms(rows: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    return [
        {"name": row["name"], "share": _number(row["share"]), "assistant": bool(row["assistant"])}
        | {"targets": row["targets"] if row["targets"] in ("round", "none") else [row["targets"]]}
        | ({"start": row["start"]} if row["start"] else {})
        for row in rows
    ]


def _number(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text  # refused with the others, beside its field
    return int(number) if number.is_integer() else number


@router.post("/tasks/{task}/manage/rounds", name="draft_round")
async def draft(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """Draft a round, or (`then` = open) draft and open it."""
    form = await request.form()
    posted = read(form)
    config = await db.aread(service.newest_config, task)
    cards, silent = await served(request)
    opens = form.get("then") == "open"

    def make(session: Session) -> int:
        round_ = service.draft_round(session, owner, task, targets, posted["ensemble"], arms, posted["assign"], judge)
        if opens:
            service.open_round(session, owner, task, round_.number)
        return round_.number

    try:
        if silent:
            raise errors.Invalid({"targets": silent})
        targets = round_models.resolve_targets(config, posted["targets"], cards)
        arms = round_models.resolve_arms(config, _arms(posted["arms"]), cards)
        judge = round_models.resolve_judge(config, cards)
        if opens:
            await serving.require(request.app.state.host, round_models.models_named(targets, arms, judge))
        number = await db.awrite(make)
    except errors.Invalid as problem:
        return await _page(request, owner, task, 422, posted, problem.fields)
    except (errors.Conflict, serving.NotServed) as problem:
        return await _page(request, owner, task, problem.status, posted, {"open": problem.detail})
    return _to(request, task, number)


def _to(request: Request, task: str, number: int) -> Response:
    return redirect(request, "manage_round", task=task, n=number)


@router.get("/tasks/{task}/manage/rounds/{n}", name="manage_round")
async def round_page(request: Request, task: str, n: Number, owner: TaskOwner, done: plans.Done = "") -> Response:
    """One round: its targets and whether they are served, its arms, its figures, what may be done with it."""
    return await _round(request, owner, task, n, done)


async def _round(
    request: Request, owner: Person, task: str, n: int, done: str = "", awaited: errors.Unavailable | None = None
) -> Response:
    def look(session: Session) -> dict[str, Any]:
        result = service.round_of(session, task, n)
        other = session.scalar(queries.open_round(task))
        return {
            "shown": views.round_out(session, result),
            "figures": statistics(session, result, by=()).total,
            "waiting": session.scalar(collected.waiting(result.id)) or 0,
            "other": other.number if other and other.number != n else None,
            "any_context": session.scalar(queries.any_context(task)) is not None,
            **plans.plan_values(session, result),
            "of_config": service.config_of(session, result.version_id),
        }

    values = await request.app.state.db.aread(look)
    cards, silent = await served(request)
    up = {(card.name, card.version) for card in cards}
    values |= {"up": up, "silent": silent, "done": done, "awaited": awaited}
    status = awaited.status if awaited else 200
    return await frame.console_page(request, task, "site/console/round.html", "rounds", status=status, **values)


@router.post("/tasks/{task}/manage/rounds/{n}/open", name="open_round_form")
async def open_it(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Start to collect, once all hosts serve the round's models."""
    try:
        await serving.require(request.app.state.host, await db.aread(round_models.models_to_open, owner, task, n))
    except errors.Unavailable as problem:
        return await _round(request, owner, task, n, awaited=problem)
    await db.awrite(lambda session: service.open_round(session, owner, task, n).number)
    return _to(request, task, n)


@router.post("/tasks/{task}/manage/rounds/{n}/close", name="close_round_form")
async def close(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Stop to collect, at once; twice changes nothing."""
    await db.awrite(lambda session: service.close_round(session, owner, task, n).number)
    return _to(request, task, n)


@router.get("/tasks/{task}/manage/rounds/{n}/links.csv", name="download_links")
async def download_links(db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Download the values of the links by which the authors of a round's examples came, a line per example."""
    names = await db.aread(lambda session: _link_names(session, task, n))
    rows = (_line(item, names) for item in _links(db, owner, task, n))
    return csv_response(f"{task}-round-{n}-links.csv", ["uid", "at", *names], rows)


def _link_names(session: Session, task: str, number: int) -> list[str]:
    config = service.config_of(session, service.round_of(session, task, number).version_id)
    return [field.name for field in config.link]


def _line(item: ExampleLinkOut, names: Sequence[str]) -> list[object]:
    cells = [item.link.get(name, "") for name in names]
    return [item.uid, item.at.isoformat(timespec="seconds"), *cells]


def _links(db: Database, owner: Person, task: str, number: int) -> Iterator[ExampleLinkOut]:
    after = 0
    while True:
        page = db.read(handout_storage.list_links, owner, task, number, after, LINKS)
        yield from page.items
        if page.next is None:
            return
        after = int(page.next)
