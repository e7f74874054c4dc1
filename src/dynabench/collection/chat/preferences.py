"""The models whose replies people prefer.

The strengths of a task's models come from the choices in conversations that were sent in.
"""

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import combinations
from math import isfinite
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import content_warning, overview
from dynabench.collection.chat.schemas import PreferenceOut, PreferencesOut
from dynabench.collection.chat.tables import ChatTurnState, Conversation, Reply, Turn
from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import people as seats
from dynabench.rounds import service as rounds
from dynabench.rounds import views
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.bradley_terry import MIN_CLUSTERS, PairwiseJudgement, StrengthBoard, strength_board
from dynabench.tasks.fields.chat import BAD_CHOICE, SIDES, TIE_CHOICE
from dynabench.web import render

PEOPLE = 10
"""With so many people, intervals come from samples of people; with fewer, of conversations."""
Model = tuple[str, str]


@dataclass
class Judged:
    """People's judgements in the conversations of some rounds, model by model."""

    task: str
    rounds: list[int]
    models: list[Model]
    by_person: list[PairwiseJudgement] = field(default_factory=list)
    by_conversation: list[PairwiseJudgement] = field(default_factory=list)
    bad: Counter[Model] = field(default_factory=Counter)
    ratings: dict[Model, list[int]] = field(default_factory=dict)
    people: set[int] = field(default_factory=set)
    conversations: set[int] = field(default_factory=set)


def judged(session: Session, task: str, number: int | None) -> Judged:
    """All choices of a round, or of all rounds of the task; those of examples that were taken back or hidden left out.

    Raises `NotFound` where there is no such round.
    """
    of = select(Round.id, Round.number).where(Round.task_id == task)
    wanted = of if number is None else of.where(Round.number == number)
    numbers = {row.id: row.number for row in session.execute(wanted)}
    if number is not None and not numbers:
        raise errors.NotFound(_("Task %(task)s has no round %(number)s.", task=repr(task), number=number))
    rows = session.execute(
        select(Conversation.id, Conversation.person_id, Conversation.sides, Turn.id, Turn.choice)
        .join(Turn, Turn.conversation_id == Conversation.id)
        .join(Standing, Standing.example_id == Conversation.example_id)
        .where(
            Conversation.round_id.in_(numbers),
            Turn.state == ChatTurnState.CHOSEN,
            ~Standing.retracted,
            ~Standing.hidden,
        )
        .order_by(Turn.id)
    ).all()
    rated = session.execute(
        select(Reply.turn_id, Reply.side, Reply.rating)
        .join(Turn, Turn.id == Reply.turn_id)
        .join(Conversation, Conversation.id == Turn.conversation_id)
        .where(Conversation.round_id.in_(numbers), Reply.rating.is_not(None))
    ).all()
    models = sorted({(str(model), str(version)) for row in rows for model, version in row.sides})
    found = Judged(task, sorted(numbers.values()), models)
    places = {model: number for number, model in enumerate(models)}
    sides: dict[int, list[Model]] = {}
    for row in rows:
        sides[row[3]] = [(str(model), str(version)) for model, version in row.sides]
        _count(found, places, sides[row[3]], row.choice, row.person_id, row.id)
    for turn, side, rating in rated:
        if turn in sides and rating is not None:
            found.ratings.setdefault(sides[turn][side], []).append(rating)
    return found


def _count(found: Judged, places: dict[Model, int], sides: list[Model], choice: str, person: int, talk: int) -> None:
    found.people.add(person)
    found.conversations.add(talk)
    if choice == BAD_CHOICE:
        found.bad.update(sides)
    if choice == TIE_CHOICE:
        pairs = [(one, other, 0.5) for one, other in combinations(sides, 2)]
    elif choice in tuple(SIDES):
        best = sides[SIDES.index(choice)]
        pairs = [(best, other, 1.0) for other in sides if other != best]
    else:
        return
    for one, other, won in pairs:
        found.by_person.append(PairwiseJudgement(places[one], places[other], won, person))
        found.by_conversation.append(PairwiseJudgement(places[one], places[other], won, talk))


def told(found: Judged) -> PreferencesOut:
    """The board of what was judged, the strongest first; takes up to a second where it was not asked for before."""
    grouped = len(found.people) >= PEOPLE
    games = tuple(found.by_person if grouped else found.by_conversation)
    made = _board(len(found.models), games) if games else None
    order = sorted(range(len(found.models)), key=lambda at: -made.strengths[at]) if made else []
    return PreferencesOut(
        task=found.task,
        rounds=found.rounds,
        models=[_row(found, made, at) for at in order] if made else [],
        wins=made.wins[order][:, order].astype(int).tolist() if made else [],
        ties=made.ties[order][:, order].astype(int).tolist() if made else [],
        comparisons=len(games),
        conversations=len(found.conversations),
        people=len(found.people),
        resampled="people" if grouped else "conversations",
    )


@lru_cache(maxsize=64)
def _board(models: int, games: tuple[PairwiseJudgement, ...]) -> StrengthBoard:
    digest = sha256(repr([(each.first, each.second, each.won, each.cluster) for each in games]).encode()).hexdigest()
    return strength_board(models, list(games), digest)


def _row(found: Judged, made: StrengthBoard, at: int) -> PreferenceOut:
    model, version = found.models[at]
    ratings = found.ratings.get((model, version), [])
    ends = {name: float(getattr(made, name)[at]) for name in ("low", "high")}
    numbers: dict[str, Any] = {name: round(end, 4) if isfinite(end) else None for name, end in ends.items()}
    return PreferenceOut(
        model=model,
        version=version,
        strength=round(float(made.strengths[at]), 4),
        rank=str(made.ranks[at]),
        wins=int(made.wins[at].sum()),
        losses=int(made.wins[:, at].sum()),
        ties=int(made.ties[at].sum()),
        bad=found.bad[model, version],
        rating=round(sum(ratings) / len(ratings), 3) if ratings else None,
        ratings=len(ratings),
        **numbers,
    )


api = APIRouter()
pages = APIRouter(include_in_schema=False, dependencies=[Depends(seats.load_actions)])

Number = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]


@api.get("/tasks/{task}/preferences")
async def read_preferences(request: Request, task: str, viewer: Viewer, number: Number = None) -> PreferencesOut:
    """Return the models whose replies people prefer in a task of conversations.

    Each model has a strength with an interval and a place; for each two models the reply says how often one
    was preferred to the other.
    """
    return await _told(request, task, number)


@pages.get("/tasks/{task}/preferences", name="preferences")
async def show(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board of preferences."""
    if warning := await content_warning.warn(request, task):
        return warning
    told = await _told(request, task, number)

    def read(session: Session) -> dict[str, object]:
        started = overview.started(session, task)
        current = next((each for each in started if each.state == RoundState.OPEN), started[0] if started else None)
        return {
            "config": rounds.task_config(session, task),
            "round": views.round_out(session, current) if current else None,
            "numbers": [each.number for each in started],
        }

    values = await request.app.state.db.aread(read)
    ends = [abs(end) for each in told.models for end in (each.low, each.high) if end is not None]
    values |= {"top": max(ends, default=0.0) or 1.0, "fewest": MIN_CLUSTERS}
    return render(request, "collection/preferences.html", task=task, told=told, number=number, **values)


@pages.get("/tasks/{task}/preferences.csv", name="preferences_csv")
async def download(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board as a table: one line a model."""
    told = await _told(request, task, number)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(PreferenceOut.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(each.model_dump() for each in told.models)
    named = {"Content-Disposition": f'attachment; filename="{task}-preferences.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=named)


async def _told(request: Request, task: str, number: int | None) -> PreferencesOut:
    found = await request.app.state.db.aread(_judged, task, number)
    return await to_thread.run_sync(told, found)  # nothing of the database is held while it computes


def _judged(session: Session, task: str, number: int | None) -> Judged:
    if rounds.task_config(session, task).chat is None:
        raise errors.Conflict(_("This task has no conversations, so there are no preferences among them."))
    return judged(session, task, number)
