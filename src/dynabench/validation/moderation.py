"""The moderators' queues: flagged examples that wait for them, hidden examples, and dismissed flags."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import eligibility, projections, search
from dynabench.collection.search import Filters, FoundExample
from dynabench.collection.tables import FlagReview
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.stats.verdict import Verdict
from dynabench.validation import queries
from dynabench.validation.tables import Dismissal, Validation

QUEUES = {
    "waiting": Filters(review=FlagReview.WAITING, retracted=False),
    "hidden": Filters(hidden=True),
    "dismissed": Filters(review=FlagReview.DISMISSED),
    "noted": Filters(noted=True, hidden=None),
}


@dataclass(frozen=True)
class Flag:
    """One vote that flags: by whom, with what the task asks besides."""

    id: int
    by: str
    values: dict[str, Any]
    at: datetime


@dataclass(frozen=True)
class ModerationStep:
    """Something a moderator did about an example; `by` is empty for the operator at the command line."""

    kind: str  # hidden, restored, dismissed or reopened
    by: str
    reason: str
    at: datetime


@dataclass(frozen=True)
class Case:
    """An example before the moderators: who flagged it, what was done; `banned` is the reason of its author's ban."""

    seen: FoundExample
    flags: list[Flag]
    steps: list[ModerationStep]
    banned: str | None


def queue(
    session: Session,
    person: Person | None,
    task_id: str,
    which: str = "waiting",
    before: int | None = None,
    limit: int = 20,
) -> tuple[list[Case], int | None]:
    """A page of the queue `which` (`QUEUES`), newest examples first, with the cursor of the next."""
    if which not in QUEUES:
        raise errors.Invalid({"which": _("Choose one of %(queues)s.", queues=", ".join(QUEUES))})
    page = search.find(session, person, task_id, QUEUES[which], before=before, limit=limit)
    return cases(session, task_id, page.items), page.next


def cases(session: Session, task_id: str, items: Sequence[FoundExample]) -> list[Case]:
    """Examples with their flags and what was done about them: four statements, index probes for each."""
    ids = [seen_example.example.id for seen_example in items]
    flags: dict[int, list[Flag]] = defaultdict(list)
    for vote, voter in session.execute(queries.flags_on(ids)):
        flags[vote.example_id].append(Flag(vote.id, voter.public_name, vote.values, vote.at))
    steps: dict[int, list[ModerationStep]] = defaultdict(list)
    for hiding, by in session.execute(queries.hidings_of(ids)):
        kind = "hidden" if hiding.hidden else "restored"
        steps[hiding.example_id].append(ModerationStep(kind, _name(by), hiding.reason, hiding.at))
    for look, by in session.execute(queries.dismissals_of(ids)):
        kind = "dismissed" if look.dismissed else "reopened"
        steps[look.example_id].append(ModerationStep(kind, _name(by), look.reason, look.at))
    bans = {
        row.person_id: row.reason
        for row in session.execute(queries.bans_of(task_id, [seen_example.author.id for seen_example in items]))
    }
    return [
        Case(
            seen_example,
            flags[seen_example.example.id],
            sorted(steps[seen_example.example.id], key=lambda step: step.at),
            bans.get(seen_example.author.id),
        )
        for seen_example in items
    ]


def _name(person: Person | None) -> str:
    return person.public_name if person else ""


def case(session: Session, person: Person | None, task_id: str, example_id: int) -> Case:
    """One example of a task, hidden or not, for its owners and moderators."""
    rounds.require(session, person, Action.MODERATE, task_id)
    seen_examples = [
        seen_example for seen_example in search.public(session, [example_id]) if seen_example.round.task_id == task_id
    ]
    if not seen_examples:
        raise errors.NotFound(
            _("Task %(task_id)s has no example %(example_id)s.", task_id=repr(task_id), example_id=example_id)
        )
    return cases(session, task_id, seen_examples)[0]


def dismiss(session: Session, actor: Person | None, example_id: int, reason: str) -> None:
    """Find the flags on an example groundless: it leaves the queue until a validator flags it again."""
    _set(session, actor, example_id, reason, dismissed=True)


def reopen(session: Session, actor: Person | None, example_id: int, reason: str = "") -> None:
    """Put an example before the moderators, again or because one of them wants it to be looked at."""
    _set(session, actor, example_id, reason or "looked at again", dismissed=False)


def _set(session: Session, actor: Person | None, example_id: int, reason: str, *, dismissed: bool) -> None:
    round = eligibility.known_round(session, actor, example_id)
    rounds.require(session, actor, Action.MODERATE, round.task_id)
    cleaned_reason = people.clean_reason(reason)
    projections.locked(session, example_id)
    votes = session.scalars(queries.votes(example_id)).all()
    before = review(session, example_id, votes)
    if dismissed and before == FlagReview.NONE:
        raise errors.Conflict(_("This example has no flags."))
    if before == (FlagReview.DISMISSED if dismissed else FlagReview.WAITING):
        return
    session.add(
        Dismissal(example_id=example_id, dismissed=dismissed, reason=cleaned_reason, by=actor.id if actor else None)
    )
    session.flush()
    note_flags(session, example_id, votes)
    kind = "flags.dismissed" if dismissed else "flags.reopened"
    rounds.record_act(session, actor, kind, task=round.task_id, example=example_id, reason=cleaned_reason)


def note_flags(session: Session, example_id: int, votes: Sequence[Validation]) -> None:
    """Let moderators find an example whose flags, among the `votes` that stand, have changed."""
    outcome = review(session, example_id, votes)
    search.change(session, example_id, flagged=outcome != FlagReview.NONE, review=outcome)


def review(session: Session, example_id: int, votes: Sequence[Validation]) -> FlagReview:
    """Return the state of the moderators' review of an example on which the `votes` stand."""
    return review_of(votes, session.scalars(queries.last_dismissal(example_id)).first())


def review_of(votes: Sequence[Validation], last: Dismissal | None) -> FlagReview:
    """Return the state of a review by the votes that stand and the latest dismissal: `none`, `dismissed` or `waiting`.

    `none` is without flags, `dismissed` if no flag came since the dismissal, `waiting` otherwise. A
    moderator who wants the example to be looked at flags it too.
    """
    flags = [vote.at for vote in votes if vote.vote == Verdict.FLAGGED]
    if last is not None and not last.dismissed:
        return FlagReview.WAITING
    if not flags:
        return FlagReview.NONE
    return FlagReview.DISMISSED if last is not None and max(flags) <= last.at else FlagReview.WAITING


@dataclass(frozen=True)
class ModeratedVote:
    """A vote as moderators see it; `undone` ones count no more, and an owner `excluded` some of these."""

    by: str
    vote: str
    blind_answer: dict[str, Any] | None
    by_owner: bool
    values: dict[str, Any]
    at: datetime
    undone: bool
    excluded: bool


def votes(session: Session, example_id: int) -> list[ModeratedVote]:
    """All votes on an example, in order."""
    return [
        ModeratedVote(
            by=voter.public_name,
            vote=vote.vote,
            blind_answer=vote.blind_answer,
            by_owner=vote.by_owner,
            values=vote.values,
            at=vote.at,
            undone=excluded is not None,
            excluded=bool(excluded),
        )
        for vote, voter, excluded in session.execute(queries.all_votes(example_id))
    ]
