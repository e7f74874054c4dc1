"""The work of people in a round as pay sees it, read from the ledger of examples and votes.

Examples of programs, and what owners write or decide, are not paid. People who are known only from an import are not
paid either.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, ExampleSource, Prediction, Standing
from dynabench.pay.entitlements import PaidVote, PersonWork, WrittenExample
from dynabench.pay.hours import time_on_task
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round, RoundState
from dynabench.validation.queries import CONTROL_STANDS, UNDONE
from dynabench.validation.tables import Validation

PAID_SOURCES = (ExampleSource.PERSON, ExampleSource.EXPERT)


@dataclass
class _TargetAnswers:
    """The answers of the targets to one example that were wrong."""

    fooled: int = 0
    confidences: list[float | None] = field(default_factory=list)

    @property
    def confidence(self) -> float | None:
        values = [value for value in self.confidences if value is not None]
        return sum(values) / len(values) if values and len(values) == len(self.confidences) else None


def read_work(
    session: Session, round_: Round, person_ids: Collection[int] | None = None, *, bonuses: bool = True
) -> Mapping[int, PersonWork]:
    """Return the work of people in a round by person, of everybody for None.

    Without `bonuses` the targets' answers are not read.
    """
    answers = _wrong_answers(session, round_.id, person_ids) if bonuses else {}
    examples: dict[int, list[WrittenExample]] = defaultdict(list)
    for row in session.execute(_examples(round_.id, person_ids)):
        wrong = answers.get(row.id) or _TargetAnswers()
        examples[row.author_id].append(
            WrittenExample(
                id=row.id,
                at=row.at,
                fooled=bool(row.fooled),
                verdict=row.verdict,
                withdrawn=row.retracted or row.hidden,
                blind=row.blind,
                blind_right=row.blind_right,
                targets=row.targets,
                targets_right=row.targets_right,
                confidence=wrong.confidence,
                targets_fooled=wrong.fooled,
            )
        )
    votes: dict[int, list[PaidVote]] = defaultdict(list)
    for row in session.execute(_votes(round_.id, person_ids)):
        votes[row.person_id].append(PaidVote(row.id, row.at, row.blind, not row.undone))
    seconds = time_on_task(session, round_.id, person_ids)
    over = round_.state in (RoundState.CLOSED, RoundState.RELEASED)
    return {
        person: PersonWork(person, round_.id, examples[person], votes[person], seconds.get(person, 0.0), over)
        for person in sorted({*examples, *votes})
    }


def _examples(round_id: int, person_ids: Collection[int] | None) -> Select[*tuple[Any, ...]]:
    columns = (
        Example.id, Example.author_id, Example.at, Standing.fooled, Standing.verdict, Standing.retracted,
        Standing.hidden, Standing.blind, Standing.blind_right, Standing.targets, Standing.targets_right,
    )  # fmt: skip
    statement = (
        select(*columns)
        .join(Standing, Standing.example_id == Example.id)
        .join(Person, Person.id == Example.author_id)
        .where(Example.round_id == round_id, Example.source.in_(PAID_SOURCES), Person.imported_as.is_(None))
        .order_by(Example.id)
    )
    return statement if person_ids is None else statement.where(Example.author_id.in_(person_ids))


def _votes(round_id: int, person_ids: Collection[int] | None) -> Select[*tuple[Any, ...]]:
    undone = UNDONE & ~CONTROL_STANDS  # an answer to a control is work like a vote
    columns = (
        Validation.id,
        Validation.person_id,
        Validation.at,
        Validation.blind_answer.is_not(None).label("blind"),
        undone.label("undone"),
    )
    statement = (
        select(*columns)
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Person, Person.id == Validation.person_id)
        .where(Standing.round_id == round_id, ~Validation.by_owner, Person.imported_as.is_(None))
        .order_by(Validation.id)
    )
    return statement if person_ids is None else statement.where(Validation.person_id.in_(person_ids))


def _wrong_answers(session: Session, round_id: int, person_ids: Collection[int] | None) -> Mapping[int, _TargetAnswers]:
    """The wrong answers of the targets by example."""
    statement = (
        select(Prediction.example_id, Prediction.errs.label("errs"), Prediction.probabilities)
        .join(Example, Example.id == Prediction.example_id)
        .where(Example.round_id == round_id)
    )
    if person_ids is not None:
        statement = statement.where(Example.author_id.in_(person_ids))
    answers: dict[int, _TargetAnswers] = defaultdict(_TargetAnswers)
    for row in session.execute(statement):
        if row.errs:
            answers[row.example_id].fooled += 1
            answers[row.example_id].confidences.append(max((row.probabilities or {}).values(), default=None))
    return answers
