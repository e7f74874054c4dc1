"""The work that a study asks of each worker, and how far one worker has come."""

from dataclasses import dataclass

from pydantic import Field, model_validator
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, Tally
from dynabench.crowd.tables import Study
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round, RoundState
from dynabench.validation import places
from dynabench.validation.queries import CONTROL_STANDS, UNDONE
from dynabench.validation.tables import Validation


class Work(StrictModel):
    """The work of one participation: examples to write, votes to cast, and the minutes that it takes.

    The minutes are what the owner expects; workers are told them, and nothing ends when they have passed.
    """

    examples: int = Field(5, ge=0, le=1000)
    votes: int = Field(0, ge=0, le=5000)
    minutes: int = Field(20, ge=1, le=1440)

    @model_validator(mode="after")
    def _some_work(self) -> "Work":
        if not self.examples and not self.votes:
            raise ValueError(_("Ask for at least one example or one vote."))
        return self


@dataclass(frozen=True)
class WorkProgress:
    """The work that a worker has done in a study's round, beside what is asked.

    `checks_waiting` is false where nothing can be checked now; `round_open` is false where nothing can be written.
    """

    work: Work
    examples: int
    fooled: int
    votes: int
    checks_waiting: bool
    round_open: bool

    @property
    def examples_done(self) -> bool:
        """True where no further example is wanted, or none can be written."""
        return self.examples >= self.work.examples or not self.round_open

    @property
    def votes_done(self) -> bool:
        """True where no further vote is wanted, or the worker has written all and there is nothing to check."""
        return self.votes >= self.work.votes or (self.examples_done and not self.checks_waiting)

    @property
    def complete(self) -> bool:
        """True where the worker did what was asked, as far as the platform let them."""
        return self.examples_done and self.votes_done and (self.examples > 0 or self.votes > 0)


def work_of(study: Study) -> Work:
    """Return the work that a study asks for."""
    return Work.model_validate(study.work)


def read_progress(session: Session, study: Study, person: Person) -> WorkProgress:
    """Return how far a worker has come in a study's round.

    Retracted and hidden examples do not count, nor do votes that were taken back; answers to controls do. Costs three
    index ranges.
    """
    round_ = session.get_one(Round, study.round_id)
    counts = select(func.coalesce(func.sum(Tally.examples), 0), func.coalesce(func.sum(Tally.fooled), 0))
    examples, fooled = session.execute(
        counts.where(Tally.round_id == study.round_id, Tally.person_id == person.id)
    ).one()
    counted = select(func.count()).select_from(Validation).join(Example, Example.id == Validation.example_id)
    votes = session.scalar(
        counted.where(
            Validation.person_id == person.id,
            Example.round_id == study.round_id,
            ~UNDONE | CONTROL_STANDS,
        )
    )
    work = work_of(study)
    lacks_votes = (votes or 0) < work.votes
    return WorkProgress(
        work=work,
        examples=int(examples),
        fooled=int(fooled),
        votes=int(votes or 0),
        checks_waiting=lacks_votes and places.count_checks(session, person, study.task_id) > 0,
        round_open=round_.state == RoundState.OPEN,
    )
