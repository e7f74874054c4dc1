"""The models whose replies people prefer.

The strengths of a task's models come from the choices in conversations that were sent in.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import combinations
from math import isfinite
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.chat.schemas import PreferenceOut, PreferencesOut
from dynabench.collection.chat.tables import ChatTurnState, Conversation, Reply, Turn
from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds.tables import Round
from dynabench.stats.bradley_terry import PairwiseJudgement, StrengthBoard, strength_board
from dynabench.tasks.fields.chat import BAD_CHOICE, SIDES, TIE_CHOICE

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
    rounds = {row.id: row.number for row in session.execute(wanted)}
    if number is not None and not rounds:
        raise errors.NotFound(_("Task %(task)s has no round %(number)s.", task=repr(task), number=number))
    rows = session.execute(
        select(Conversation.id, Conversation.person_id, Conversation.sides, Turn.id, Turn.choice)
        .join(Turn, Turn.conversation_id == Conversation.id)
        .join(Standing, Standing.example_id == Conversation.example_id)
        .where(
            Conversation.round_id.in_(rounds), Turn.state == ChatTurnState.CHOSEN, ~Standing.retracted, ~Standing.hidden
        )
        .order_by(Turn.id)
    ).all()
    rated = session.execute(
        select(Reply.turn_id, Reply.side, Reply.rating)
        .join(Turn, Turn.id == Reply.turn_id)
        .join(Conversation, Conversation.id == Turn.conversation_id)
        .where(Conversation.round_id.in_(rounds), Reply.rating.is_not(None))
    ).all()
    models = sorted({(str(model), str(version)) for row in rows for model, version in row.sides})
    found = Judged(task, sorted(rounds.values()), models)
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
