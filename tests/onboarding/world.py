"""A task with an onboarding, and people on their way through it, made through the services."""

import random
from typing import Any

from dynabench.onboarding import quiz, service
from dynabench.onboarding.service import OnboardingStep, StepKind
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import TaskVersion
from dynabench.tasks import TaskConfig
from tests.validation.world import World

BANK = 6
ITEM = "context: {premise: It rains.}, input: {hypothesis: It is %s.}, answer: {label: %s}, explanation: Look %s."
SCREENING = (
    "  screening: [{name: adult, question: Are you of age, options: [Yes please, No sir], accept: [Yes please]}]"
)


def onboarding(**changes: Any) -> str:
    """The section as YAML; `changes` replace its settings, and None leaves one out."""
    questions = "".join(
        f"\n    - {{name: q{n}, question: Riddle {n}, options: [wrong-{n}, right-{n}, other-{n}], right: right-{n}, "
        f"explanation: Secret {n}}}"
        for n in range(BANK)
    )
    settings: dict[str, Any] = {
        "examples": f"[{{good: true, {ITEM % ('wet', 'entailment', 'up')}}}]",
        "practice": f"[{{{ITEM % ('dry', 'contradiction', 'left')}}}, {{{ITEM % ('cold', 'neutral', 'right')}}}]",
        "questions": questions,
        "drawn": 3,
        "pass_mark": 2,
        "attempts": 2,
    } | changes
    lines = [f"  {key}: {value}" for key, value in settings.items() if value is not None]
    return "\n".join(["instructions: {create: Write., validate: Check.}", "onboarding:", *lines, ""])


class OnboardingWorld(World):
    """A task whose config asks for an onboarding."""

    def __init__(self, db: Any, **changes: Any) -> None:
        self.section = onboarding(**changes)
        super().__init__(db)

    def _setting(self, session: Any) -> int:
        self.plain, self.source = self.source, self.source + self.section
        self.config = TaskConfig.parse(self.source)
        return super()._setting(session)

    def change(self, **changes: Any) -> None:
        """Let the open round show another version of the config, with these settings."""
        source = self.plain + onboarding(**changes)

        def write(session: Any) -> None:
            number = session.query(TaskVersion).count() + 1
            version = TaskVersion(task_id=self.task, number=number, source=source)
            session.add(version)
            session.flush()
            from dynabench.rounds.tables import Round

            session.get_one(Round, self.round_id).version_id = version.id

        self.db.write(write)

    def step(self, person: Person, activity: OnboardingActivity = OnboardingActivity.CHECK) -> OnboardingStep | None:
        """The next step that is asked of a person."""
        return self.db.read(service.next_step, person, self.task, activity)

    def read(
        self, person: Person, kind: StepKind, activity: OnboardingActivity = OnboardingActivity.CHECK
    ) -> OnboardingStep | None:
        """Finish a part that is read."""
        return self.db.write(service.finish_reading, person, self.task, activity, kind)

    def begin(self, person: Person, activity: OnboardingActivity = OnboardingActivity.CHECK) -> int:
        """Begin an attempt, or go on with it; its id."""
        return self.db.write(quiz.begin_attempt, person, self.task, activity, random.Random(7)).id

    def answer(self, person: Person, attempt: int, position: int, option: str) -> quiz.AnsweredQuestion:
        """Answer a question."""
        return self.db.write(quiz.answer_question, person, attempt, position, option)

    def to_quiz(self, person: Person, activity: OnboardingActivity = OnboardingActivity.CHECK) -> None:
        """Go through all parts before the quiz."""
        self.read(person, StepKind.INSTRUCTIONS, activity)
        self.read(person, StepKind.EXAMPLES, activity)
        for position in range(2):
            self.db.write(quiz.practise, person, self.task, activity, position, {"label": "neutral"})

    def try_quiz(
        self, person: Person, right: int, activity: OnboardingActivity = OnboardingActivity.CHECK
    ) -> bool | None:
        """Go through one attempt with so many right answers; whether it passed."""
        attempt = self.begin(person, activity)
        passed = None
        while (question := self.db.read(quiz.asked_question, person, attempt)) is not None:
            stem = "right-" if question.position < right else "wrong-"
            option = next(option for option in question.options if option.startswith(stem))
            passed = self.answer(person, attempt, question.position, option).passed
        return passed
