"""The models that a round asks: its targets, those of its arms, its judge."""

from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from dynabench.models.host_connection import Key
from dynabench.models.protocol import Card
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import arms as conditions
from dynabench.rounds import queries, service
from dynabench.rounds.tables import Round, RoundState


def models_named(targets: Iterable[Card], arms: Sequence[conditions.Arm], judge: Card | None) -> list[Key]:
    """Return the models of a round that is to be drafted, by name and version."""
    keys = [(card.name, card.version) for card in (*targets, *([judge] if judge else ()))]
    return list(dict.fromkeys([*keys, *_of_arms(arms)]))


def models_of(of: Round) -> list[Key]:
    """Return the models that a round asks, by name and version."""
    keys = [(each.model, each.version) for each in of.targets]
    if of.judge:
        keys.append((of.judge["model"], of.judge["version"]))
    return list(dict.fromkeys([*keys, *_of_arms(of.arms)]))


def models_to_open(session: Session, person: Person | None, task_id: str, number: int) -> list[Key]:
    """Return the models of a draft that an owner wants to open; none for another round, whose opening is refused."""
    service.require(session, person, Action.OPEN_ROUND, task_id)
    found = service.round_of(session, task_id, number)
    return models_of(found) if found.state == RoundState.DRAFT else []


def models_of_open_rounds(session: Session) -> list[Key]:
    """Return the models that all open rounds ask together: reads the open rounds, one a task."""
    return list(dict.fromkeys(key for each in session.scalars(queries.open_rounds()) for key in models_of(each)))


def _of_arms(arms: Sequence[conditions.Arm]) -> list[Key]:
    """The models of arms that name some; arms that are refused later name none."""
    chosen = [arm.get("targets") for arm in arms if isinstance(arm, dict)]
    named = [each for targets in chosen if isinstance(targets, list) for each in targets if isinstance(each, dict)]
    return [(each["model"], each["version"]) for each in named if {"model", "version"} <= each.keys()]
