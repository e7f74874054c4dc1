"""Pruning: objects and large files that no branch, tag or pull request of a repository reaches are deleted.

They come from deleted branches and from commits that did not land. A repository is looked at when its branches have
changed since the last time, and at most once a day; what is younger than a day stays, since a commit writes its objects
before a branch names them.
"""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from dynabench.hubs import service
from dynabench.hubs.file_store import day_ago, read_pointer
from dynabench.hubs.git_store import HEAD_BYTES, GitStore
from dynabench.hubs.tables import HubDiscussion, HubFileUse, HubRepository
from dynabench.kit.db import Database
from dynabench.kit.errors import NotFound
from dynabench.kit.settings import Settings

MOST_REPOSITORIES = 20
"""Repositories of one round of the worker."""
BATCH = 500


def prune_repositories(database: Database, settings: Settings) -> None:
    """Delete what no revision reaches, in the repositories that are due."""
    due = [row for row in database.read(_all_repositories) if _is_due(GitStore.of(settings, row[1]))]
    for repository_id, folder in due[:MOST_REPOSITORIES]:
        prune_repository(database, GitStore.of(settings, folder), repository_id)


def _all_repositories(session: Session) -> list[tuple[int, str]]:
    rows = session.execute(select(HubRepository.id, HubRepository.folder).order_by(HubRepository.id))
    return [(row_id, folder) for row_id, folder in rows]


def _is_due(store: GitStore) -> bool:
    changed, pruned = store.changed_at(), store.pruned_at()
    return changed > pruned and pruned < day_ago()


def prune_repository(database: Database, store: GitStore, repository_id: int) -> int:
    """Delete what no revision of a repository reaches; returns the bytes that its folder lost."""
    references = database.read(service.full_references, repository_id)
    starts = database.read(_pull_request_starts, repository_id)
    reached = set(store.reachable([*references.values(), *starts]))
    store.mark_pruned()
    lost = store.prune(reached, day_ago())
    digests = _named_files(store, reached)
    database.write(_forget, repository_id, references, digests, lost)
    return lost


def _pull_request_starts(session: Session, repository_id: int) -> list[str]:
    """The commits at which pull requests began: merging compares with them, also after main was squashed."""
    bases = select(HubDiscussion.base).where(HubDiscussion.repository_id == repository_id, HubDiscussion.base != "")
    return list(session.scalars(bases.distinct()))


def _named_files(store: GitStore, reached: set[str]) -> set[str]:
    digests = set()
    for revision in reached:
        try:
            head = store.blob_head(revision)
        except NotFound:  # a commit or a folder in a pack of git
            continue
        if head.size < HEAD_BYTES and (pointer := read_pointer(head.start)):
            digests.add(pointer.digest)
    return digests


def _forget(session: Session, repository_id: int, references: dict[str, str], digests: set[str], lost: int) -> None:
    """Count the freed bytes, and free large files that no commit names; nothing where a branch has moved meanwhile."""
    row = session.get(HubRepository, repository_id, with_for_update=True)
    if row is None:
        return
    row.git_bytes = max(0, row.git_bytes - lost)
    if service.full_references(session, repository_id) != references:
        return
    used = session.scalars(select(HubFileUse.digest).where(HubFileUse.repository_id == repository_id)).all()
    unused = sorted(set(used) - digests)
    for start in range(0, len(unused), BATCH):
        some = HubFileUse.digest.in_(unused[start : start + BATCH])
        session.execute(delete(HubFileUse).where(HubFileUse.repository_id == repository_id, some))
