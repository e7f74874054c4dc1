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
from dynabench.rounds.tables import Round
from dynabench.stats.bradley_terry import MIN_CLUSTERS, PairwiseJudgement, StrengthBoard, strength_board
from dynabench.tasks.fields.chat import BAD_CHOICE, SIDES, TIE_CHOICE
from dynabench.web import render

PEOPLE = 10
"""With so many people, intervals come from samples of people; with fewer, of conversations."""
Model = tuple[str, str]


@dataclass
class ModelPreferences:
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


def judged(session: Session, task: str, number: int | None) -> ModelPreferences:
    """All choices of a round, or of all rounds of the task; those of examples that were taken back or hidden left out.

    Raises `NotFound` where there is no such round.
    """
    task_rounds = select(Round.id, Round.number).where(Round.task_id == task)
    selected_rounds = task_rounds if number is None else task_rounds.where(Round.number == number)
    numbers = {row.id: row.number for row in session.execute(selected_rounds)}
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
    preferences = ModelPreferences(task, sorted(numbers.values()), models)
    places = {model: number for number, model in enumerate(models)}
    sides: dict[int, list[Model]] = {}
    for row in rows:
        sides[row[3]] = [(str(model), str(version)) for model, version in row.sides]
        _count(preferences, places, sides[row[3]], row.choice, row.person_id, row.id)
    for turn, side, rating in rated:
        if turn in sides and rating is not None:
            preferences.ratings.setdefault(sides[turn][side], []).append(rating)
    return preferences


def _count(
    preferences: ModelPreferences, places: dict[Model, int], sides: list[Model], choice: str, person: int, talk: int
) -> None:
    preferences.people.add(person)
    preferences.conversations.add(talk)
    if choice == BAD_CHOICE:
        preferences.bad.update(sides)
    if choice == TIE_CHOICE:
        pairs = [(first, other, 0.5) for first, other in combinations(sides, 2)]
    elif choice in tuple(SIDES):
        best = sides[SIDES.index(choice)]
        pairs = [(best, other, 1.0) for other in sides if other != best]
    else:
        return
    for first, other, won in pairs:
        preferences.by_person.append(PairwiseJudgement(places[first], places[other], won, person))
        preferences.by_conversation.append(PairwiseJudgement(places[first], places[other], won, talk))


def preferences_out(preferences: ModelPreferences) -> PreferencesOut:
    """The board of what was judged, the strongest first; takes up to a second where it was not asked for before."""
    grouped = len(preferences.people) >= PEOPLE
    games = tuple(preferences.by_person if grouped else preferences.by_conversation)
    board = _board(len(preferences.models), games) if games else None
    order = sorted(range(len(preferences.models)), key=lambda at: -board.strengths[at]) if board else []
    return PreferencesOut(
        task=preferences.task,
        rounds=preferences.rounds,
        models=[_row(preferences, board, at) for at in order] if board else [],
        wins=board.wins[order][:, order].astype(int).tolist() if board else [],
        ties=board.ties[order][:, order].astype(int).tolist() if board else [],
        comparisons=len(games),
        conversations=len(preferences.conversations),
        people=len(preferences.people),
        resampled="people" if grouped else "conversations",
    )


@lru_cache(maxsize=64)
def _board(models: int, games: tuple[PairwiseJudgement, ...]) -> StrengthBoard:
    digest = sha256(repr([(game.first, game.second, game.won, game.cluster) for game in games]).encode()).hexdigest()
    return strength_board(models, list(games), digest)


def _row(preferences: ModelPreferences, board: StrengthBoard, at: int) -> PreferenceOut:
    model, version = preferences.models[at]
    ratings = preferences.ratings.get((model, version), [])
    ends = {name: float(getattr(board, name)[at]) for name in ("low", "high")}
    numbers: dict[str, Any] = {name: round(end, 4) if isfinite(end) else None for name, end in ends.items()}
    return PreferenceOut(
        model=model,
        version=version,
        strength=round(float(board.strengths[at]), 4),
        rank=str(board.ranks[at]),
        wins=int(board.wins[at].sum()),
        losses=int(board.wins[:, at].sum()),
        ties=int(board.ties[at].sum()),
        bad=preferences.bad[model, version],
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
    return await _read_board(request, task, number)


@pages.get("/tasks/{task}/preferences", name="preferences")
async def show(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board of preferences."""
    if warning := await content_warning.warn(request, task):
        return warning
    board = await _read_board(request, task, number)

    def read(session: Session) -> dict[str, object]:
        started = overview.started(session, task)
        current = views.current_round(started)
        return {
            "config": rounds.task_config(session, task),
            "round": views.round_out(session, current) if current else None,
            "numbers": [round.number for round in started],
        }

    values = await request.app.state.db.aread(read)
    ends = [abs(end) for model in board.models for end in (model.low, model.high) if end is not None]
    values |= {"top": max(ends, default=0.0) or 1.0, "fewest": MIN_CLUSTERS}
    return render(request, "collection/preferences.html", task=task, told=board, number=number, **values)


@pages.get("/tasks/{task}/preferences.csv", name="preferences_csv")
async def download(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board as a table: one line a model."""
    board = await _read_board(request, task, number)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(PreferenceOut.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(model.model_dump() for model in board.models)
    named = {"Content-Disposition": f'attachment; filename="{task}-preferences.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=named)


async def _read_board(request: Request, task: str, number: int | None) -> PreferencesOut:
    preferences = await request.app.state.db.aread(_judged, task, number)
    return await to_thread.run_sync(preferences_out, preferences)  # nothing of the database is held while it computes


def _judged(session: Session, task: str, number: int | None) -> ModelPreferences:
    if rounds.task_config(session, task).chat is None:
        raise errors.Conflict(_("This task has no conversations, so there are no preferences among them."))
    return judged(session, task, number)
