"""Pull requests and discussions: opened, commented, closed, merged. Services run in the caller's session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.hubs import queries, service
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.schemas import TYPES
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import (
    DiscussionEventKind,
    DiscussionState,
    HubDiscussion,
    HubDiscussionEvent,
    HubReference,
    HubRepository,
    ReferenceKind,
)
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices

NOTICE = "repository"
LONGEST_TITLE, LONGEST_COMMENT = 200, 20_000
MOST_DISCUSSIONS, MOST_EVENTS, MOST_EDITS = 10_000, 2000, 20
ENDED = (DiscussionState.CLOSED, DiscussionState.MERGED)


class CommitWords(Protocol):
    """The message of a commit."""

    title: str
    body: str


def pull_name(number: int) -> str:
    """Return the name of the branch of a pull request."""
    return f"refs/pr/{number}"


def find_discussion(session: Session, entry: HubEntry, number: int) -> HubDiscussion:
    """Return a discussion of a repository by its number. Raises `NotFound`."""
    discussion = session.scalar(queries.discussion_numbered(entry.row.id, number))
    if discussion is None:
        raise errors.NotFound(_("This repository has no such discussion."))
    return discussion


def require_branch(session: Session, person: Person, entry: HubEntry, name: str) -> HubDiscussion:
    """Return the pull request of a branch, to which a person may add commits. Raises `Forbidden` or `Conflict`."""
    discussion = find_discussion(session, entry, int(name.removeprefix("refs/pr/")))
    require_part(person, entry, discussion)
    if discussion.state in ENDED:
        raise errors.Conflict(_("This pull request is closed. Open it again, or open a new one."))
    return discussion


def require_part(person: Person, entry: HubEntry, discussion: HubDiscussion) -> None:
    """Refuse a person who neither began a discussion nor owns its repository."""
    if not may.may(person, Action.CHANGE_REPOSITORY, author=entry.row.owner_id):
        may.refuse_unless(may.may(person, Action.CHANGE_PROPOSAL, author=discussion.author_id))


def open_discussion(
    session: Session, person: Person, entry: HubEntry, title: str, text: str, *, pull: bool = False
) -> HubDiscussion:
    """Begin a discussion or a pull request; the branch of a pull request begins where main is."""
    may.refuse_unless(may.may(person, Action.PROPOSE_CHANGE))
    title, text = clean_title(title), clean_comment(text, empty=True)
    repository = session.get_one(HubRepository, entry.row.id, with_for_update=True)  # numbered one at a time
    last = session.scalar(select(func.max(HubDiscussion.number)).where(HubDiscussion.repository_id == repository.id))
    number = (last or 0) + 1
    if number > MOST_DISCUSSIONS:
        raise errors.Conflict(_("This repository has %(most)s discussions. No more can begin.", most=MOST_DISCUSSIONS))
    discussion = HubDiscussion(
        repository_id=repository.id,
        number=number,
        author_id=person.id,
        title=title,
        pull=pull,
        state=DiscussionState.DRAFT if pull else DiscussionState.OPEN,
        base=repository.head if pull else "",
    )
    session.add(discussion)
    session.flush()
    if pull:
        branch = HubReference(
            repository_id=repository.id,
            kind=ReferenceKind.PULL,
            name=pull_name(number),
            revision=repository.head,
        )
        session.add(branch)
    if text:
        record_event(session, discussion, person, DiscussionEventKind.COMMENT, text)
    words = _("%(name)s has a new pull request: %(title)s.") if pull else _("%(name)s has a new discussion: %(title)s.")
    notify_readers(session, person, entry, discussion, words)
    return discussion


def notify_readers(session: Session, person: Person, entry: HubEntry, discussion: HubDiscussion, words: str) -> None:
    """Tell the repository's owner and the author of a discussion of an act of a third person."""
    link = f"/hub/{TYPES[entry.kind]}s/{entry.full_name}/discussions/{discussion.number}"
    text = words % {"name": entry.full_name, "title": discussion.title, "number": discussion.number}
    for reader in {entry.row.owner_id, discussion.author_id} - {person.id, None}:
        assert reader is not None
        notices.notify_person(session, reader, NOTICE, text, link=link)


def open_with_commit(
    session: Session, person: Person, entry: HubEntry, base: str, revision: str, words: CommitWords
) -> int:
    """Begin a pull request with a commit; returns its number."""
    discussion = open_discussion(session, person, entry, words.title, words.body, pull=True)
    branch = session.scalar(queries.reference(entry.row.id, ReferenceKind.PULL, pull_name(discussion.number)))
    assert branch is not None
    branch.revision, discussion.base, discussion.state = revision, base, DiscussionState.OPEN
    details = {"oid": revision}
    record_event(session, discussion, person, DiscussionEventKind.COMMIT, words.title, details)
    return discussion.number


def record_commit(session: Session, person: Person, entry: HubEntry, name: str, revision: str, title: str) -> None:
    """Note a further commit of a pull request."""
    discussion = require_branch(session, person, entry, name)
    record_event(session, discussion, person, DiscussionEventKind.COMMIT, title, {"oid": revision})


def record_event(
    session: Session,
    discussion: HubDiscussion,
    person: Person,
    kind: DiscussionEventKind,
    text: str = "",
    details: Mapping[str, str] | None = None,
) -> HubDiscussionEvent:
    """Add an entry to a discussion."""
    count = session.scalar(select(func.count()).where(HubDiscussionEvent.discussion_id == discussion.id))
    if (count or 0) >= MOST_EVENTS:
        raise errors.Conflict(_("This discussion has %(most)s entries. No more can be added.", most=MOST_EVENTS))
    event = HubDiscussionEvent(
        discussion_id=discussion.id, author_id=person.id, kind=kind, text=text, details=dict(details or {})
    )
    session.add(event)
    session.flush()
    return event


def comment(session: Session, person: Person, entry: HubEntry, number: int, text: str) -> HubDiscussionEvent:
    """Add a comment to a discussion."""
    may.refuse_unless(may.may(person, Action.PROPOSE_CHANGE))
    discussion = find_discussion(session, entry, number)
    event = record_event(session, discussion, person, DiscussionEventKind.COMMENT, clean_comment(text))
    notify_readers(session, person, entry, discussion, _("%(name)s: a new comment on %(title)s."))
    return event


def edit_comment(
    session: Session, person: Person, entry: HubEntry, number: int, event_id: int, text: str
) -> HubDiscussionEvent:
    """Give one's own comment another text; the earlier ones stay in its history."""
    discussion = find_discussion(session, entry, number)
    event = session.get(HubDiscussionEvent, event_id, with_for_update=True)
    if event is None or event.discussion_id != discussion.id or event.kind != DiscussionEventKind.COMMENT:
        raise errors.NotFound(_("This discussion has no such comment."))
    may.refuse_unless(may.may(person, Action.CHANGE_PROPOSAL, author=event.author_id))
    earlier = event.details.get("earlier", [])
    if len(earlier) >= MOST_EDITS:
        raise errors.Conflict(_("A comment can be changed %(most)s times.", most=MOST_EDITS))
    event.details = {"earlier": [*earlier, event.text]}
    event.text = clean_comment(text)
    session.flush()
    return event


def change_title(session: Session, person: Person, entry: HubEntry, number: int, title: str) -> HubDiscussionEvent:
    """Give a discussion another title (its author, or the owner)."""
    discussion = find_discussion(session, entry, number)
    require_part(person, entry, discussion)
    details = {"from": discussion.title, "to": clean_title(title)}
    discussion.title = details["to"]
    return record_event(session, discussion, person, DiscussionEventKind.TITLE, details=details)


def change_state(
    session: Session, person: Person, entry: HubEntry, number: int, state: DiscussionState, text: str = ""
) -> HubDiscussionEvent:
    """Close a discussion or open it again (its author, or the owner)."""
    discussion = find_discussion(session, entry, number)
    require_part(person, entry, discussion)
    if discussion.state == DiscussionState.MERGED:
        raise errors.Conflict(_("This pull request is merged."))
    if state not in (DiscussionState.OPEN, DiscussionState.CLOSED):
        raise errors.Invalid({"status": _("Choose open or closed.")})
    discussion.state = state
    if text.strip():
        record_event(session, discussion, person, DiscussionEventKind.COMMENT, clean_comment(text))
    words = _("%(name)s: %(title)s was closed.") if state in ENDED else _("%(name)s: %(title)s was opened again.")
    notify_readers(session, person, entry, discussion, words)
    return record_event(session, discussion, person, DiscussionEventKind.STATUS, details={"status": state})


def clean_title(title: str) -> str:
    """Return a title in one line. Raises `Invalid`."""
    text = " ".join(title.split())
    if not text or not text.isprintable():
        raise errors.Invalid({"title": _("Enter a title.")})
    return text[:LONGEST_TITLE]


def clean_comment(text: str, empty: bool = False) -> str:
    """Return a comment, which is Markdown. Raises `Invalid`."""
    text = text.strip()
    if not text and not empty:
        raise errors.Invalid({"comment": _("Enter a comment.")})
    if len(text) > LONGEST_COMMENT:
        raise errors.Invalid({"comment": _("A comment has at most %(n)s characters.", n=LONGEST_COMMENT)})
    return text


@dataclass(frozen=True)
class MergePlan:
    """The outcome of a three-way merge: the files by path, or the paths that both sides changed."""

    files: Mapping[str, str]
    conflicts: tuple[str, ...]


def plan_merge(store: GitStore, base: str, main: str, branch: str) -> MergePlan:
    """Merge a branch into main file by file; a file that both changed differently is a conflict."""
    before, ours, theirs = store.files(base), store.files(main), store.files(branch)
    files, conflicts = dict(ours), []
    for path in sorted(before.keys() | theirs.keys()):
        old, mine, new = before.get(path), ours.get(path), theirs.get(path)
        if new in (old, mine):
            continue
        if mine != old:
            conflicts.append(path)
        elif new is None:
            files.pop(path, None)
        else:
            files[path] = new
    return MergePlan(files, tuple(conflicts))


def read_pull(session: Session, entry: HubEntry, number: int) -> tuple[HubDiscussion, str, str]:
    """Return a pull request with the commits of main and of its branch. Raises `Conflict` for a plain discussion."""
    discussion = find_discussion(session, entry, number)
    if not discussion.pull:
        raise errors.Conflict(_("This is a discussion without changes."))
    branch = session.scalar(queries.reference(entry.row.id, ReferenceKind.PULL, pull_name(number)))
    main = session.scalar(queries.reference(entry.row.id, ReferenceKind.BRANCH, service.MAIN))
    assert branch is not None
    assert main is not None
    return discussion, main.revision, branch.revision
