"""The content of a person's next step in an onboarding, for pages and the JSON API alike."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.onboarding import quiz, service
from dynabench.onboarding.quiz import AskedQuestion
from dynabench.onboarding.service import READ, OnboardingStep, Path, StepKind
from dynabench.onboarding.tables import OnboardingActivity, Qualification
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.tasks.onboarding import PracticeItem, ScreeningQuestion, WorkedExample

STUDIES = "dynabench.crowd.participation"
"""The module, which stands above this package, that ends a worker's participation after an onboarding that failed."""


@dataclass(frozen=True)
class StepView:
    """A person's onboarding: the next step with its content, or the qualification where all is done.

    `part` is the part that is shown: the step's own, or an earlier one that the person reads again.
    """

    path: Path
    step: OnboardingStep | None
    part: StepKind | None
    expires_at: datetime | None = None
    question: AskedQuestion | None = None

    @property
    def text(self) -> str:
        """The instructions of the activity, markdown."""
        texts = self.path.config.instructions
        return texts.create if self.path.activity is OnboardingActivity.WRITE else texts.validate

    @property
    def screening(self) -> Sequence[ScreeningQuestion]:
        """The questions about the person."""
        return self.path.section.screening

    @property
    def examples(self) -> Sequence[WorkedExample]:
        """The worked examples."""
        return self.path.section.examples

    @property
    def item(self) -> PracticeItem | None:
        """The practice item of the step, None in other steps."""
        if self.step is None or self.step.kind is not StepKind.PRACTICE:
            return None
        return self.path.section.practice[self.step.position]

    @property
    def earlier(self) -> Sequence[StepKind]:
        """Parts before the step that can be read again."""
        number = self.step.number - 1 if self.step and self.step.number else len(self.path.parts)
        return [kind for kind in self.path.parts[:number] if kind in READ]


def read_view(
    session: Session, person: Person, task_id: str, activity: OnboardingActivity, part: StepKind | None = None
) -> StepView:
    """Return the next step of a person with its content; `part` asks for one that was read before."""
    path = service.require_path(session, person, task_id, activity)
    step = service.read_step(session, person, path)
    question = None
    if step is not None and step.kind is StepKind.QUIZ and step.attempt_id is not None:
        question = quiz.asked_question(session, person, step.attempt_id)
    qualification = session.get(Qualification, (task_id, person.id, activity))
    view = StepView(
        path, step, step.kind if step else None, qualification.expires_at if qualification else None, question
    )
    if part is not None and part in view.earlier:
        return StepView(path, step, part, view.expires_at)
    return view


def first_activity(session: Session, person: Person, task_id: str) -> OnboardingActivity:
    """Return the first activity of a task whose onboarding a person has not done; raises `NotFound` without any."""
    people.require_seat(session, person, task_id, checking=True)
    paths = [
        path for activity in OnboardingActivity if (path := service.read_path(session, task_id, activity)) is not None
    ]
    if not paths:
        raise errors.NotFound(_("This task has no onboarding."))
    ahead = [path.activity for path in paths if service.read_step(session, person, path) is not None]
    return ahead[0] if ahead else paths[0].activity


def end_study(session: Session, person: Person, task_id: str, step: OnboardingStep | None) -> None:
    """End the participation of a crowd worker who cannot go on, in the transaction that found it out."""
    if person.worker_task and step is not None and step.over:
        importlib.import_module(STUDIES).end_participation(
            session, person, task_id, screened_out=step.kind is StepKind.SCREENED_OUT
        )


def study_of(session: Session, person: Person) -> str:
    """Return the name, in addresses, of a crowd worker's study; "" for other people."""
    if not person.worker_task:
        return ""
    return str(importlib.import_module(STUDIES).latest_study(session, person))
