"""Merging a pull request: the files of both sides become one commit with two parents."""

from sqlalchemy.orm import Session

from dynabench.hubs import discussions, names, queries, service
from dynabench.hubs.card import README
from dynabench.hubs.commits import TRIES, CommitOutcome, follow_card
from dynabench.hubs.discussions import clean_comment
from dynabench.hubs.git_store import GitStore, commit_of, tree_of
from dynabench.hubs.service import MAIN, HubEntry
from dynabench.hubs.tables import DiscussionEventKind, DiscussionState, HubRepository, ReferenceKind
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.service import record_act
from dynabench.people.accounts.tables import Person


def merge_pull(
    db: Database, settings: Settings, person: Person, entry: HubEntry, number: int, text: str = ""
) -> CommitOutcome:
    """Bring a pull request into main (owner). Raises `Conflict` with the files that both sides changed."""
    service.require_owner(person, entry)
    comment = clean_comment(text, empty=True)
    for _try in range(TRIES):
        if outcome := _merge_once(db, settings, person, entry, number, comment):
            return outcome
    raise errors.Unavailable(_("Too many commits to this branch at the same time."), retry_after=2)


def _merge_once(
    db: Database, settings: Settings, person: Person, entry: HubEntry, number: int, comment: str
) -> CommitOutcome | None:
    """Merge on the present head; None where a branch has moved meanwhile."""
    discussion, main, branch = db.read(discussions.read_pull, entry, number)
    if discussion.state == DiscussionState.MERGED:
        return CommitOutcome(discussion.merged, number)
    if discussion.state == DiscussionState.CLOSED:
        raise errors.Conflict(_("This pull request is closed. Open it again first."))
    store = GitStore.of(settings, entry.row.folder)
    plan = discussions.plan_merge(store, discussion.base, main, branch)
    if plan.conflicts:
        listed = ", ".join(plan.conflicts[:10])
        raise errors.Conflict(_("Both sides changed %(files)s. Update the pull request first.", files=listed))
    names.check_collisions(plan.files, plan.files)
    root, trees = tree_of(plan.files)
    title = f"{discussion.title} (#{number})"
    signature = db.write(service.claim_namespace, settings, person).signature
    commit = commit_of(root, (main, branch), signature, title, now())
    size = store.write([*trees, commit])
    after = commit.id.decode()
    readme = store.blob(plan.files[README]) if README in plan.files else b""

    def advance(session: Session) -> CommitOutcome | None:
        fresh, _main, tip = discussions.read_pull(session, entry, number)
        move = queries.move_reference(entry.row.id, ReferenceKind.BRANCH, MAIN, main, after)
        if fresh.state in discussions.ENDED or tip != branch or session.execute(move).rowcount != 1:  # type: ignore[attr-defined]
            return None
        fresh.state, fresh.merged = DiscussionState.MERGED, after
        if comment:
            discussions.record_event(session, fresh, person, DiscussionEventKind.COMMENT, comment)
        details = {"status": DiscussionState.MERGED.value}
        discussions.record_event(session, fresh, person, DiscussionEventKind.STATUS, details=details)
        discussions.notify_readers(session, person, entry, fresh, _("%(name)s: %(title)s was merged."))
        row = session.get_one(HubRepository, entry.row.id, with_for_update=True)
        row.git_bytes, row.changed_at = row.git_bytes + size, now()
        follow_card(session, row, entry.full_name, after, readme)
        subject = {"repository": f"{row.kind} {entry.full_name}", "number": number}
        record_act(session, person.id, "repository.merge", subject)
        return CommitOutcome(after, number)

    outcome = db.write(advance)
    if outcome is not None:
        store.mirror_references(db.read(service.full_references, entry.row.id))
    return outcome
