"""Examples that are hard for people, too: people who answer blind fail as often as the models did.

Such an example may be a trick or have no answer, so an error of a model on it says little. Computed from blind answers,
which are given before the claim was seen.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.collection.tables import Standing
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.quality import queries
from dynabench.rounds import service as rounds
from dynabench.stats.rates import Rate, clustered_rate, wilson

LEAST_ANSWERS = 2
"""Blind answers from which an example is judged: one alone would make every slip a hard example."""


@dataclass(frozen=True)
class HumanDifficulty:
    """Failures of people and models on the examples of a round with enough blind answers.

    `hard` is the share of `examples` on which people fail at least as often as models. `people` and `models` are the
    shares of wrong answers, with intervals clustered by example.
    """

    examples: int
    hard: Rate
    people: Rate
    models: Rate


def is_hard_for_people(standing: Standing) -> bool:
    """Return whether people fail an example at least as often as the models did; false without enough blind answers."""
    if standing.blind < LEAST_ANSWERS or not standing.targets:
        return False
    people_fail = (standing.blind - standing.blind_right) * standing.targets
    models_fail = (standing.targets - standing.targets_right) * standing.blind
    return people_fail > 0 and people_fail >= models_fail


def hard_for_people(session: Session, example_ids: Collection[int]) -> set[int]:
    """Return those of some examples that are hard for people, too: a probe of the primary key each."""
    return {row.example_id for row in session.scalars(queries.standings_of(example_ids)) if is_hard_for_people(row)}


def read_human_difficulty(session: Session, actor: Person | None, task_id: str, number: int) -> HumanDifficulty:
    """Return how hard the examples of a round are for people (owners and moderators): one partial index range."""
    rounds.require(session, actor, Action.READ_FIGURES, task_id)
    round_ = rounds.round_of(session, task_id, number)
    rows = session.scalars(queries.blind_standings(round_.id)).all()
    judged = [row for row in rows if row.blind >= LEAST_ANSWERS and row.targets]
    return HumanDifficulty(
        examples=len(judged),
        hard=wilson(sum(map(is_hard_for_people, judged)), len(judged)),
        people=clustered_rate([row.blind - row.blind_right for row in judged], [row.blind for row in judged]),
        models=clustered_rate([row.targets - row.targets_right for row in judged], [row.targets for row in judged]),
    )
