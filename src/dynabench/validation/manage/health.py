"""Is collection healthy today? A few numbers with their trend, and what needs an owner's attention.

Everything is read from projections, or from the newest examples of the round alone: with a million of them as quick.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response
from starlette.routing import NoMatchFound

from dynabench.collection import boards as collected
from dynabench.collection.statistics import PEOPLE
from dynabench.kit.api import Db
from dynabench.kit.db import now
from dynabench.kit.language import N_, _
from dynabench.people.may import Action
from dynabench.rounds import plan, service, views
from dynabench.rounds import queries as round_queries
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.rates import Rate, wilson
from dynabench.validation import queries

router = APIRouter()

TREND = 14  # days, today among them
WEEK = 7
NEWEST = 5_000  # examples of a round that disagreement and flags are judged by


@dataclass(frozen=True)
class Day:
    """Counts of the examples and votes that were written on one UTC day.

    For `with_outcome` examples it is known whether a model was fooled. `waiting` examples fooled a model and have
    no verdict yet. `checked` examples have two votes or more; the votes on `split` of them differ.
    """

    day: date
    examples: int = 0
    with_outcome: int = 0
    fooled: int = 0
    waiting: int = 0
    people: int = 0
    checked: int = 0
    split: int = 0
    flagged: int = 0


@dataclass(frozen=True)
class ValidationHealth:
    """The last `TREND` days, oldest first, and what stands now; `rate` and `disagreement` are of the last week."""

    days: Sequence[Day]
    rate: Rate
    disagreement: Rate
    waiting: int
    flagged: int

    @property
    def today(self) -> Day:
        """The UTC day that it is."""
        return self.days[-1]

    @property
    def usual(self) -> float:
        """Examples per day in the week before today."""
        before = self.days[-1 - WEEK : -1]
        return sum(day.examples for day in before) / len(before)


def health(session: Session, round: Round, today: date | None = None) -> ValidationHealth:
    """Return how the collection of a round goes."""
    last = today or now().astimezone(UTC).date()
    first = last - timedelta(days=TREND - 1)
    written, votes = _written(session, round, first), _checked(session, round)
    days = []
    for n in range(TREND):
        day = first + timedelta(days=n)
        days.append(Day(day, **(written.get(day.isoformat(), {}) | votes.get(day, {}))))
    week = days[-WEEK:]
    return ValidationHealth(
        days=days,
        rate=wilson(sum(day.fooled for day in week), sum(day.with_outcome for day in week)),
        disagreement=wilson(sum(day.split for day in week), sum(day.checked for day in week)),
        waiting=session.scalar(collected.waiting(round.id)) or 0,
        flagged=sum(counts["flagged"] for counts in votes.values()),
    )


def _written(session: Session, round: Round, first: date) -> dict[str, dict[str, int]]:
    rows = session.execute(queries.days(round.id, first.isoformat())).all()
    controls = plan.arms_without_targets(round.arms)
    counts_by_day: dict[str, dict[str, int]] = {}
    for row in (row for row in rows if row.source in PEOPLE):
        day = counts_by_day.setdefault(
            row.day, dict.fromkeys(("examples", "with_outcome", "fooled", "waiting", "people"), 0)
        )
        day["examples"] += int(row.examples)
        if row.arm not in controls:
            day["with_outcome"] += int(row.examples) - int(row.unknown)
            day["fooled"] += int(row.fooled)
            day["waiting"] += int(row.fooled) - int(row.resolved)
    for iso_day, count in session.execute(queries.people(round.id, first.isoformat(), PEOPLE)):
        counts_by_day[iso_day]["people"] = count
    return counts_by_day


def _checked(session: Session, round: Round) -> dict[date, dict[str, int]]:
    rows = session.execute(queries.checked(round.id, NEWEST)).all()
    by_day = groupby(sorted(rows, key=lambda row: row.at), key=lambda row: row.at.astimezone(UTC).date())
    counts_by_day = {}
    for day, group in by_day:
        some = list(group)
        twice = [row for row in some if row.votes > 1]
        split = sum(row.kinds > 1 for row in twice)
        counts_by_day[day] = {"checked": len(twice), "split": split, "flagged": sum(int(row.flagged) for row in some)}
    return counts_by_day


@dataclass(frozen=True)
class Alert:
    """Something that stops or slows collection, and where to act on it."""

    text: str
    address: str
    action: str


def alerts(
    request: Request, task: str, config: Any, round: Round | None, any_context: bool, round_health: Any
) -> list[Alert]:
    """Return the problems that need attention, the worst first."""

    def at(route: str) -> str:
        return str(request.app.url_path_for(route, task=task))

    problems = []
    if config.context and not any_context:
        problems.append(
            Alert(_("There are no contexts, so nothing can be written."), at("manage_contexts"), N_("Add contexts"))
        )
    if round is None or round.state != RoundState.OPEN:
        problems.append(
            Alert(_("No round is open: nothing is being collected."), at("manage_rounds"), N_("Open a round"))
        )
    if round is None or round_health is None:
        return problems
    if round.state == RoundState.OPEN and not any(day.examples for day in round_health.days[-2:]):
        problems.append(
            Alert(_("No examples have been written since yesterday."), address(request, task, "people"), N_("Invite"))
        )
    if round_health.waiting > max(20.0, 3 * WEEK * round_health.usual):
        problems.append(
            Alert(
                _("The backlog of unchecked examples is more than three weeks of writing."),
                at("validate"),
                N_("Check examples"),
            )
        )
    if round_health.rate.high is not None and round_health.rate.n >= 30 and round_health.rate.high < 0.05:
        problems.append(
            Alert(_("Almost nothing fools the models any more."), at("manage_rounds"), N_("View the targets"))
        )
    if round_health.disagreement.low is not None and round_health.disagreement.low > 0.3:
        problems.append(
            Alert(_("Validators disagree often: the instructions may be unclear."), at("manage_config"), N_("Edit"))
        )
    return problems


def address(request: Request, task: str, section: str) -> str:
    """A section's page; the console's first where this deployment lacks it."""
    try:
        return str(request.app.url_path_for(f"manage_{section}", task=task))
    except NoMatchFound:
        return str(request.app.url_path_for("manage_health", task=task))


def _read(session: Session, task: str) -> dict[str, Any]:
    current = views.current_round(views.started_rounds(session, task))
    return {
        "of": current,
        "health": health(session, current) if current else None,
        "any_context": session.scalar(round_queries.any_context(task)) is not None,
        "newest": service.newest_config(session, task),
    }


@router.get("/tasks/{task}/manage", name="manage_health")
async def show(request: Request, db: Db, task: str, person: TaskModerator) -> Response:
    """The console's first page; moderators are sent on to the first section that is theirs."""
    if Action.MANAGE_TASK not in request.state.actions:
        theirs = [entry.address for group in frame.visible_sections(request, task) for entry in group.sections]
        return RedirectResponse([*theirs, str(request.app.url_path_for("task", task=task))][0], status_code=303)
    values = await db.aread(_read, task)
    problems = alerts(request, task, values["newest"], values["of"], values["any_context"], values["health"])
    links = {section: address(request, task, section) for section in ("people", "moderation", "examples", "figures")}
    return await frame.console_page(
        request, task, "validation/manage/health.html", "health", alerts=problems, links=links, **values
    )
