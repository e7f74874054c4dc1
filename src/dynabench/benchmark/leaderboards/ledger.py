"""The number of tries behind a score: all submissions of a task, withdrawn ones too.

Knows no web framework.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries as standings_queries
from dynabench.benchmark.leaderboards import queries
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure, counts_as_try, label_without_name
from dynabench.rounds import service as rounds


@dataclass(frozen=True)
class LedgerEntry:
    """One submission: `nth` of its submitter's to this task, anonymous ones left out, scored on `datasets`.

    Who may not know its name or submitter reads neither; then `nth` is None, since counts would tell them apart.
    Anonymous submissions enter nobody's count: a count that rises without a name would say whose one is.
    """

    id: int
    made_at: datetime
    name: str
    submitter: str
    nth: int | None
    kind: str
    state: str
    visibility: str
    withdrawn_at: datetime | None
    datasets: int
    mine: bool


def ledger_entries(session: Session, viewer: Person | None, task: str) -> list[LedgerEntry]:
    """All submissions of a task, newest first; raises `NotFound` where there is no such task."""
    rounds.get_task(session, task)
    scored = dict(session.execute(queries.scored_dataset_counts(task)).all())
    counts, lines = Counter[int](), list[LedgerEntry]()
    for submission, person in session.execute(standings_queries.task_submissions(task)):
        nth = None
        if submission.person_id is not None and counts_as_try(submission):
            counts[submission.person_id] += 1
            nth = counts[submission.person_id]
        lines.append(_line(submission, person, nth, viewer, scored.get(submission.id, 0)))
    return lines[::-1]


def _line(
    submission: Submission, person: Person | None, nth: int | None, viewer: Person | None, datasets: int
) -> LedgerEntry:
    named = Disclosure.of(viewer, None, submission).name
    return LedgerEntry(
        id=submission.id,
        made_at=submission.created_at,
        name=submission.name if named else label_without_name(submission.id, submission.visibility),
        submitter=person.public_name if person and named else "",
        nth=nth if named else None,
        kind=submission.kind if named else "",
        state=submission.state,
        visibility=submission.visibility,
        withdrawn_at=submission.withdrawn_at,
        datasets=datasets,
        mine=viewer is not None and viewer.id == submission.person_id,
    )


def tries_by_submitter(session: Session, viewer: Person | None, task: str) -> list[tuple[str, int, int]]:
    """Submitters whose name may be told with how often they submitted and how often they withdrew, most first.

    Counted are private submissions too, since the number of tries is what a reader has to know, but no anonymous ones.
    """
    named, tries, gone = dict[int, str](), Counter[int](), Counter[int]()
    for submission, person in session.execute(standings_queries.task_submissions(task)):
        if person is None or not counts_as_try(submission):
            continue
        tries[person.id] += 1
        gone[person.id] += submission.state == SubmissionState.WITHDRAWN
        if Disclosure.of(viewer, None, submission).name:
            named[person.id] = person.public_name
    rows = [(name, tries[id], gone[id]) for id, name in named.items()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
