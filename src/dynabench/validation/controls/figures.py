"""Figures of validators from their answers to controls: accuracy with intervals, and agreement with themselves."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.stats.rates import Rate, wilson
from dynabench.validation.controls import queries


@dataclass(frozen=True)
class ControlFigures:
    """The shares of a validator's right answers to gold items and attention checks, and of votes given again alike.

    `measured` is over gold items and attention checks together.
    """

    person_id: int
    name: str
    gold: Rate
    attention: Rate
    measured: Rate
    repeat: Rate


def list_figures(session: Session, actor: Person | None, task_id: str) -> list[ControlFigures]:
    """Return the figures of all validators of a task who answered controls, the lowest accuracy first (owners)."""
    rounds.require(session, actor, Action.MANAGE_CONTROLS, task_id)
    rows = [
        ControlFigures(
            person_id=row[0].id,
            name=row[0].public_name,
            gold=wilson(int(row.gold_right), int(row.gold_answers)),
            attention=wilson(int(row.attention_right), int(row.attention_answers)),
            measured=wilson(int(row.gold_right + row.attention_right), int(row.gold_answers + row.attention_answers)),
            repeat=wilson(int(row.repeat_right), int(row.repeat_answers)),
        )
        for row in session.execute(queries.person_counts(task_id))
    ]
    return sorted(rows, key=lambda row: (row.measured.value is None, row.measured.value, row.person_id))
