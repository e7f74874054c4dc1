"""A person's progress to each badge, counted from the ledger. Examples of programs count for nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.collection.tables import Example, ExampleSource, Standing, Tally
from dynabench.people import disclosure
from dynabench.recognition.badges.definitions import BADGES, Badge, BadgeMeasure, BadgeSubject
from dynabench.rounds.tables import Round
from dynabench.stats.rates import wilson
from dynabench.stats.verdict import Verdict
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation

RUN_WINDOW = 1000
"""The latest examples of a person in which the longest run is looked for."""
DECIDED = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.FLAGGED)
"""Verdicts that a vote can agree with."""


@dataclass(frozen=True)
class Progress:
    """The measures of a person over the whole site, and verified fooling examples by task."""

    measures: Mapping[BadgeMeasure, int]
    verified_by_task: Mapping[str, int]

    def earned(self, badge: Badge) -> list[str]:
        """Return the subjects for which the person meets what a badge needs."""
        if not badge.needs:
            return []
        if badge.subject is BadgeSubject.TASK:
            goal = badge.needs[BadgeMeasure.VERIFIED]
            return [task_id for task_id, verified in self.verified_by_task.items() if verified >= goal]
        return [""] if all(self.measures[measure] >= goal for measure, goal in badge.needs.items()) else []

    def best(self, badge: Badge) -> tuple[BadgeMeasure, int, int] | None:
        """Return the measure that a badge still lacks most, its value and its goal; None where an event earns it.

        Of a badge of tasks it is that of the task in which the person is closest.
        """
        if not badge.needs:
            return None
        values = dict(self.measures)
        if badge.subject is BadgeSubject.TASK:
            values[BadgeMeasure.VERIFIED] = max(self.verified_by_task.values(), default=0)
        measure = min(badge.needs, key=lambda name: values[name] / badge.needs[name])
        return measure, min(values[measure], badge.needs[measure]), badge.needs[measure]


def read_progress(session: Session, person_id: int) -> Progress:
    """Count a person's measures: index ranges of the person's tallies, votes, latest examples and submissions."""
    days = session.execute(_days(person_id)).all()
    verified = _sums((row.task_id, int(row.validated)) for row in days)
    votes = session.execute(_votes(person_id)).all()
    agreed = {task_id: int(right) for task_id, _count, _decided, right in votes}
    decided = sum(int(row[2]) for row in votes)
    agreement = wilson(sum(agreed.values()), decided).low or 0.0
    model_tasks = [task_id for (task_id,) in session.execute(_models(person_id))]
    measures = {
        BadgeMeasure.JOINED: 1,
        BadgeMeasure.WRITTEN: sum(int(row.examples) for row in days),
        BadgeMeasure.CHECKED: sum(int(row[1]) for row in votes),
        BadgeMeasure.FOOLING_DAYS: len({row.day for row in days if row.fooled}),
        BadgeMeasure.VERIFIED: sum(verified.values()),
        BadgeMeasure.AGREED: sum(agreed.values()),
        BadgeMeasure.AGREEMENT: int(100 * agreement),
        BadgeMeasure.TASKS: sum(bool(verified.get(task_id) and agreed.get(task_id)) for task_id in verified),
        BadgeMeasure.LONGEST_RUN: longest_run(session.execute(_latest(person_id))),
        BadgeMeasure.DAYS_IN_A_ROW: longest_streak(sorted({row.day for row in days if row.validated})),
        BadgeMeasure.MODELS: len(model_tasks),
        BadgeMeasure.MODEL_TASKS: len(set(model_tasks)),
    }
    return Progress(measures, {task_id: count for task_id, count in verified.items() if count})


def longest_run(outcomes: Iterable[tuple[bool | None, str]]) -> int:
    """Return the longest run of verified fooling examples among outcomes (fooled, verdict), without waiting ones."""
    longest = run = 0
    for fooled, verdict in outcomes:
        if fooled and verdict == Verdict.PENDING:
            continue
        run = run + 1 if fooled and verdict == Verdict.CORRECT else 0
        longest = max(longest, run)
    return longest


def longest_streak(days: Sequence[str]) -> int:
    """Return the longest run of days that follow each other; `days` are ISO dates in their order."""
    longest = run = 0
    before: date | None = None
    for day in map(date.fromisoformat, days):
        run = run + 1 if before is not None and day - before == timedelta(days=1) else 1
        longest, before = max(longest, run), day
    return longest


def _sums(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, count in counts:
        sums[name] = sums.get(name, 0) + count
    return sums


def _days(person_id: int) -> Select[*tuple[str, ...]]:
    names = ("examples", "fooled", "validated")
    return (
        select(Round.task_id, Tally.day, *(func.sum(getattr(Tally, name)).label(name) for name in names))
        .join(Round, Round.id == Tally.round_id)
        .where(Tally.person_id == person_id, Tally.source != ExampleSource.PROGRAM)
        .group_by(Round.task_id, Tally.day)
    )


def _votes(person_id: int) -> Select[str, int, int, int]:
    """By task: votes that stand, those on examples with a verdict, and those that agree with it. Owners' are left out,
    since they decide alone."""
    decided = Standing.verdict.in_(DECIDED)
    agrees = decided & (Standing.verdict == Validation.vote)
    return (
        select(
            Round.task_id,
            func.count(),
            func.sum(case((decided, 1), else_=0)),
            func.sum(case((agrees, 1), else_=0)),
        )
        .select_from(Validation)
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Validation.person_id == person_id, ~Validation.by_owner, ~UNDONE)
        .group_by(Round.task_id)
    )


def _latest(person_id: int) -> Select[bool | None, str]:
    return (
        select(Standing.fooled, Standing.verdict)
        .join(Example, Example.id == Standing.example_id)
        .where(Example.author_id == person_id, Example.source != ExampleSource.PROGRAM)
        .where(Standing.fooled.is_not(None), ~Standing.retracted, ~Standing.hidden)
        .order_by(Example.id.desc())
        .limit(RUN_WINDOW)
    )


def _models(person_id: int) -> Select[str]:
    """The tasks of a person's submissions that passed their check and are shown under the person's name."""
    return select(Submission.task_id).where(
        Submission.person_id == person_id,
        Submission.state == SubmissionState.READY,
        Submission.kind != "installed",
        disclosure.named_submissions(Submission),
    )


def counted_badges() -> list[Badge]:
    """Return the badges that measures earn, which a recount may take away again."""
    return [badge for badge in BADGES.values() if badge.needs]
