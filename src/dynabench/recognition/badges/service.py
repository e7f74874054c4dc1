"""Awarding badges: contributions are folded into awards, each recorded once.

A badge that was earned stays, also where a verdict is overturned later. Only where an author withdraws an example, or a
moderator hides one, are the author's badges counted again, and those that this example earned by itself are lost.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, ExampleSource, Standing
from dynabench.kit.db import Database, lock_until_commit, now
from dynabench.kit.language import _, joined, ngettext
from dynabench.people.accounts.tables import Person
from dynabench.people.contributions import Contribution
from dynabench.people.notices.service import notify_person
from dynabench.recognition.badges import events
from dynabench.recognition.badges.definitions import BADGES, FIRST_TO_FOOL
from dynabench.recognition.badges.events import EarnedBadge
from dynabench.recognition.badges.progress import counted_badges, read_progress
from dynabench.recognition.badges.tables import BadgeAward
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation

BATCH = 1000
"""Contributions that one fold reads."""
LOCK = 7267420
"""Number of PostgreSQL's advisory lock that one award holds at a time."""
NAMED = 3
"""Badges that a notice names; of more it names the number."""
AT_ONCE = 400
"""Values in one statement."""


@dataclass(frozen=True)
class FoldedContributions:
    """The result of the oldest contributions: badges that are earned, and awards that are lost."""

    ids: Sequence[int]
    earned: Sequence[EarnedBadge] = ()
    lost: Sequence[int] = field(default_factory=tuple)


def fold_contributions(database: Database) -> int:
    """Fold the oldest contributions into awards; return how many there were.

    They are read in one transaction and awarded in another, which is short. What changes in between writes a
    contribution of its own and is counted by the next fold.
    """
    folded = database.read(read_contributions)
    if folded.ids:
        database.write(_record, folded)
    return len(folded.ids)


def read_contributions(session: Session) -> FoldedContributions:
    """Count what the oldest contributions lead to."""
    rows = session.execute(
        select(Contribution.id, Contribution.person_id, Contribution.example_id).order_by(Contribution.id).limit(BATCH)
    ).all()
    example_ids = {row.example_id for row in rows if row.example_id is not None}
    people = {row.person_id for row in rows if row.person_id is not None}
    gone: dict[int, int] = {}
    authors = (
        select(Example.id, Example.author_id, Standing.retracted | Standing.hidden)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.id.in_(example_ids), Example.source != ExampleSource.PROGRAM)
    )
    for example_id, author_id, is_gone in session.execute(authors):
        people.add(author_id)
        if is_gone:
            gone[example_id] = author_id
    validators = select(Validation.person_id).where(Validation.example_id.in_(example_ids), ~UNDONE).distinct()
    people |= set(session.scalars(validators))
    earned = events.example_badges(session, example_ids - gone.keys())
    counted, lost = _count(session, people, set(gone.values()))
    lost += session.scalars(select(BadgeAward.id).where(BadgeAward.example_id.in_(gone))).all()
    return FoldedContributions([row.id for row in rows], [*earned, *counted], lost)


def _count(session: Session, people: Collection[int], again: Collection[int]) -> tuple[list[EarnedBadge], list[int]]:
    """Count the badges of people; those of `again` lose what they no longer meet."""
    earned, lost = [], []
    accounts = select(Person.id).where(Person.id.in_(people), Person.deleted_at.is_(None)).order_by(Person.id)
    for person_id in session.scalars(accounts):
        progress = read_progress(session, person_id)
        awarded = {
            (badge, subject): id
            for id, badge, subject in session.execute(
                select(BadgeAward.id, BadgeAward.badge, BadgeAward.subject).where(BadgeAward.person_id == person_id)
            )
        }
        met = {(badge.key, subject) for badge in counted_badges() for subject in progress.earned(badge)}
        earned += [EarnedBadge(person_id, badge, subject) for badge, subject in sorted(met - awarded.keys())]
        if person_id in again:
            counted = {badge.key for badge in counted_badges()}
            lost += [id for key, id in awarded.items() if key[0] in counted and key not in met]
    return earned, lost


def _record(session: Session, folded: FoldedContributions) -> None:
    if folded.earned or folded.lost:
        lock_until_commit(session, LOCK)
    if folded.lost:
        session.execute(delete(BadgeAward).where(BadgeAward.id.in_(folded.lost)))
    award(session, folded.earned)
    for start in range(0, len(folded.ids), AT_ONCE):
        session.execute(delete(Contribution).where(Contribution.id.in_(folded.ids[start : start + AT_ONCE])))


def award(session: Session, earned: Iterable[EarnedBadge], *, silent: bool = False) -> list[EarnedBadge]:
    """Record badges and notify their owners unless `silent`; return those that were not recorded before.

    A person who was deleted meanwhile, and the second who fools a model first, earn nothing.
    """
    lock_until_commit(session, LOCK)
    new = [badge for badge in earned if _insert(session, badge)]
    if not silent:
        _notify(session, new)
    return new


def _insert(session: Session, badge: EarnedBadge) -> bool:
    person = session.get(Person, badge.person_id)
    if person is None or person.deleted_at is not None:
        return False
    if badge.badge == FIRST_TO_FOOL:
        earlier = select(BadgeAward.id).where(BadgeAward.badge == FIRST_TO_FOOL, BadgeAward.subject == badge.subject)
        if session.scalar(earlier.limit(1)) is not None:
            return False
    write = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    statement = write.insert(BadgeAward).values(
        person_id=badge.person_id, badge=badge.badge, subject=badge.subject, example_id=badge.example_id, at=now()
    )
    inserted = session.execute(statement.on_conflict_do_nothing().returning(BadgeAward.id))
    return inserted.first() is not None


def _notify(session: Session, earned: Iterable[EarnedBadge]) -> None:
    by_person: dict[int, list[str]] = {}
    for badge in earned:
        if not BADGES[badge.badge].quiet:
            by_person.setdefault(badge.person_id, []).append(badge.badge)
    for person_id, keys in by_person.items():
        if session.get_one(Person, person_id).imported_as is not None:
            continue
        titles = joined(", ", [BADGES[key].title for key in dict.fromkeys(keys)])
        text = (
            ngettext(
                "You earned a badge: %(titles)s.", "You earned %(num)s badges: %(titles)s.", len(keys), titles=titles
            )
            if len(keys) <= NAMED
            else _("You earned %(n)s badges.", n=len(keys))
        )
        notify_person(session, person_id, "badge", text, link="/badges")


def award_at_once(database: Database, earned: Sequence[EarnedBadge], *, silent: bool = False) -> int:
    """Record badges in a transaction of their own; return how many are new."""
    if not earned:
        return 0
    return len(database.write(lambda session: award(session, earned, silent=silent)))


def forget_person(session: Session, person_id: int) -> None:
    """Remove a person's badges before the account is deleted; that a model was fooled first stays, without a name."""
    mine = BadgeAward.person_id == person_id
    session.execute(delete(BadgeAward).where(mine, BadgeAward.badge != FIRST_TO_FOOL))
    for first_award in session.scalars(select(BadgeAward).where(mine)):
        first_award.person_id = None
    session.execute(delete(Contribution).where(Contribution.person_id == person_id))


def rebuild_badges(database: Database) -> int:
    """Award, without notices, all that the ledger says and was not awarded yet; return how many badges are new.

    Twice is as once. Every person is counted once, and examples are read page by page in the order of their ids.
    """
    last_person = database.read(lambda session: session.scalar(select(func.max(Person.id))) or 0)
    last_example = database.read(lambda session: session.scalar(select(func.max(Example.id))) or 0)
    new = 0
    for first in range(0, last_example + 1, AT_ONCE):
        ids = range(first, first + AT_ONCE)
        new += award_at_once(database, database.read(events.example_badges, ids), silent=True)
    for first in range(0, last_person + 1, AT_ONCE):
        earned, _lost = database.read(_count, range(first, first + AT_ONCE), ())
        new += award_at_once(database, earned, silent=True)
    return new


def recent_awards(session: Session, person_id: int, since: object) -> Sequence[BadgeAward]:
    """Return a person's badges since a moment, the newest first, without quiet ones."""
    quiet = [key for key, badge in BADGES.items() if badge.quiet]
    statement = select(BadgeAward).where(BadgeAward.person_id == person_id, BadgeAward.at >= since)
    return session.scalars(statement.where(BadgeAward.badge.not_in(quiet)).order_by(BadgeAward.id.desc())).all()


def awards_of(session: Session, person_id: int) -> Sequence[BadgeAward]:
    """Return all badges of a person, the newest first."""
    return session.scalars(
        select(BadgeAward).where(BadgeAward.person_id == person_id).order_by(BadgeAward.at.desc(), BadgeAward.id.desc())
    ).all()


def count_owners(session: Session) -> dict[str, int]:
    """Return how many people have each badge: the index of awards."""
    owners = select(BadgeAward.badge, func.count(BadgeAward.person_id.distinct()))
    return dict(session.execute(owners.group_by(BadgeAward.badge)).all())
