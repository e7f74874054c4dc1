"""Pages of the hub for everybody: the list, a repository with its card, files, history, changes and pull requests."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.hubs import discussions, flag_pages, manage, queries, reading, service
from dynabench.hubs.addresses import REPOSITORY_PAGE, Number, Place, RepositoryPlace, Rest, kind_of
from dynabench.hubs.card import README, read_card
from dynabench.hubs.git_store import CommitFacts, GitStore
from dynabench.hubs.problems import EntryMissing
from dynabench.hubs.reading import DELETED
from dynabench.hubs.schemas import HubKinds
from dynabench.hubs.service import MAIN, HubEntry
from dynabench.hubs.tables import HubDiscussion, HubRepository
from dynabench.kit.api import AppSettings, Db, csv_response, site_address
from dynabench.kit.settings import Settings
from dynabench.people import may
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.web import render

router = APIRouter(include_in_schema=False)
router.include_router(manage.router)
router.include_router(flag_pages.router)
PAGE, COMMITS, MOST_FILES, TAGS = 30, 50, 1000, 20
MOST_SHOWN = 100_000
"""Bytes of a text file that a page shows."""
HEADER = ("kind", "name", "tags", "downloads", "changed", "summary")
KIND_NAMES: tuple[HubKinds, ...] = ("models", "datasets", "spaces")
Words = Annotated[str, Query(max_length=200)]
Start = Annotated[int, Query(ge=0, le=10**6)]
Revision = Annotated[str, Query(max_length=300)]


def _entries(
    session: Session, viewer: Person | None, kinds: HubKinds, words: str, tag: str, start: int, limit: int
) -> list[HubEntry]:
    tags = [tag] if tag else []
    statement = queries.listed_repositories(viewer, kind_of(kinds), words.split(), tags)
    order = statement.order_by(HubRepository.changed_at.desc(), HubRepository.id.desc())
    return [HubEntry(row, space.name) for row, space in session.execute(order.offset(start).limit(limit))]


@router.get("/hub", name="hub")
async def list_repositories(
    request: Request,
    db: Db,
    viewer: Viewer,
    kind: HubKinds = "models",
    q: Words = "",
    tag: Words = "",
    start: Start = 0,
) -> Response:
    """The repositories that a viewer sees, with a search and the most frequent tags."""

    def read(session: Session) -> dict[str, Any]:
        entries = _entries(session, viewer, kind, q, tag, start, PAGE + 1)
        return {
            "entries": entries[:PAGE],
            "following": start + PAGE if len(entries) > PAGE else None,
            "tags": session.execute(queries.common_tags(viewer, kind_of(kind), TAGS)).all(),
        }

    page = await db.aread(read) | {"moderates": bool(may.may(viewer, Action.HIDE_REPOSITORY))}
    return render(request, "hubs/index.html", kind=kind, q=q, tag=tag, start=start, **page)


@router.get("/hub.csv", name="hub_csv")
async def repositories_csv(
    db: Db, viewer: Viewer, kind: HubKinds = "models", q: Words = "", tag: Words = ""
) -> Response:
    """The list of repositories as CSV."""

    def read(session: Session) -> list[list[object]]:
        entries = _entries(session, viewer, kind, q, tag, 0, 10_000)
        tags: dict[int, list[str]] = {}
        for entry_id, name in session.execute(queries.tags_of([entry.row.id for entry in entries])):
            tags.setdefault(entry_id, []).append(name)
        return [
            [
                *(entry.kind.value, entry.full_name, " ".join(tags.get(entry.row.id, ())), entry.row.downloads),
                *(entry.row.changed_at.isoformat(timespec="seconds"), entry.row.summary),
            ]
            for entry in entries
        ]

    return csv_response("hub.csv", HEADER, await db.aread(read))


def repository_page(
    session: Session, settings: Settings, viewer: Person | None, place: RepositoryPlace
) -> tuple[HubEntry, GitStore, dict[str, Any]]:
    """Return a repository and what the head of each of its pages needs."""
    entry = place.find(session, viewer)
    values = {
        "entry": entry,
        "kinds": place.kinds,
        "manages": bool(may.may(viewer, Action.CHANGE_REPOSITORY, author=entry.row.owner_id)),
        "place": place.parameters(entry),
    }
    return entry, GitStore.of(settings, entry.row.folder), values


class RepositoryPage:
    """A page of the repository that a request names, as its viewer sees it."""

    def __init__(self, request: Request, db: Db, settings: AppSettings, place: Place, viewer: Viewer) -> None:
        self.request, self.db, self.settings, self.place, self.viewer = request, db, settings, place, viewer

    async def show(self, template: str, read: Callable[[Session, HubEntry, GitStore], Mapping[str, Any]]) -> Response:
        """Draw the template with what the head of each page needs and what `read` returns."""

        def read_all(session: Session) -> dict[str, Any]:
            entry, store, values = repository_page(session, self.settings, self.viewer, self.place)
            return {**values, **read(session, entry, store)}

        return render(self.request, template, **await self.db.aread(read_all))


ShownPage = Annotated[RepositoryPage, Depends()]


@router.get(REPOSITORY_PAGE, name="repository")
async def read_repository(page: ShownPage) -> Response:
    """A repository with its card, and how to use it."""

    def read(session: Session, entry: HubEntry, store: GitStore) -> dict[str, Any]:
        readme = reading.find_file(session, store, entry, entry.row.head, README)
        readable = readme is not None and readme.large is None and readme.size <= MOST_SHOWN * 5
        content = store.blob(readme.entry.revision) if readme is not None and readable else b""
        return {
            "body": read_card(content).body,
            "tags": [tag for _id, tag in session.execute(queries.tags_of([entry.row.id]))],
            "bytes": entry.row.git_bytes + (session.scalar(queries.repository_bytes(entry.row.id)) or 0),
            "site": site_address(page.request),
        }

    return await page.show("hubs/repository.html", read)


@router.get(f"{REPOSITORY_PAGE}/files", name="repository_files")
async def list_files(page: ShownPage, revision: Revision = MAIN) -> Response:
    """The files in the uppermost folder of a revision."""
    return await read_file(page, "", revision)


@router.get(f"{REPOSITORY_PAGE}/files/{{rest:path}}", name="repository_file")
async def read_file(page: ShownPage, rest: Rest, revision: Revision = MAIN) -> Response:
    """The files of a folder, or the text of a file, at a revision."""

    def read(session: Session, entry: HubEntry, store: GitStore) -> dict[str, Any]:
        commit = service.resolve_revision(session, page.settings, entry, revision)
        item = store.find(commit, rest.strip("/"))
        if item is None:
            raise EntryMissing(commit)
        parents = item.path.split("/") if item.path else []
        values: dict[str, Any] = {"revision": revision, "commit": commit, "at": item.path}
        values["crumbs"] = [("/".join(parents[: end + 1]), part) for end, part in enumerate(parents)]
        values["references"] = session.scalars(queries.references(entry.row.id)).all()
        if item.folder:
            entries = list(islice(store.entries(item), MOST_FILES))
            return values | {"files": reading.file_facts(session, store, entry, entries), "file": None}
        facts = reading.file_facts(session, store, entry, [item])[0]
        content = store.blob(item.revision) if facts.large is None and facts.size <= MOST_SHOWN else b"\0"
        text = None if b"\0" in content else content.decode("utf-8", "replace")
        return values | {"file": facts, "text": text, "files": []}

    return await page.show("hubs/files.html", read)


def _named(session: Session, commits: list[CommitFacts]) -> list[tuple[CommitFacts, str]]:
    names = reading.author_names(session, commits)
    return [(commit, names.get(commit.signature, DELETED)) for commit in commits]


@router.get(f"{REPOSITORY_PAGE}/commits", name="repository_commits")
async def list_commits(page: ShownPage, revision: Revision = MAIN, start: Start = 0) -> Response:
    """The commits of a revision, the newest first."""

    def read(session: Session, entry: HubEntry, store: GitStore) -> dict[str, Any]:
        commit = service.resolve_revision(session, page.settings, entry, revision)
        commits = list(islice(store.history(commit), start, start + COMMITS + 1))
        following = start + COMMITS if len(commits) > COMMITS else None
        values = {"commits": _named(session, commits[:COMMITS]), "following": following}
        return values | {"revision": revision, "start": start}

    return await page.show("hubs/commits.html", read)


@router.get(f"{REPOSITORY_PAGE}/commits/{{revision}}", name="repository_commit")
async def read_commit(page: ShownPage, revision: str) -> Response:
    """A commit with its changes."""

    def read(session: Session, entry: HubEntry, store: GitStore) -> dict[str, Any]:
        facts = store.facts(service.resolve_revision(session, page.settings, entry, revision[:300]))
        changes = change_lines(store, facts.parents[0] if facts.parents else "", facts.revision)
        return {"commit": _named(session, [facts])[0]} | changes

    return await page.show("hubs/commit.html", read)


def change_lines(store: GitStore, before: str, after: str) -> dict[str, Any]:
    """Return the changed files between two commits with their lines, up to a limit, and the number of all."""
    changes = reading.changed_files(store, before, after)
    lines = [(change, reading.diff_lines(store, change)) for change in changes[: reading.MOST_DIFF_FILES]]
    return {"changes": lines, "change_count": len(changes)}


@router.get(f"{REPOSITORY_PAGE}/discussions", name="repository_discussions")
async def list_discussions(page: ShownPage, start: Start = 0) -> Response:
    """The pull requests and discussions of a repository."""

    def read(session: Session, entry: HubEntry, _store: GitStore) -> dict[str, Any]:
        rows = session.scalars(queries.discussions(entry.row.id).offset(start).limit(PAGE + 1)).all()
        values = {"discussions": rows[:PAGE], "following": start + PAGE if len(rows) > PAGE else None}
        return values | {"names": reading.person_names(session, [row.author_id for row in rows]), "start": start}

    return await page.show("hubs/discussions.html", read)


@router.get(f"{REPOSITORY_PAGE}/discussions/{{number}}", name="repository_discussion")
async def read_discussion(page: ShownPage, number: Number) -> Response:
    """A pull request or discussion with its entries and changes."""

    def read(session: Session, entry: HubEntry, store: GitStore) -> dict[str, Any]:
        discussion = discussions.find_discussion(session, entry, number)
        events = session.scalars(queries.events_of(discussion.id)).all()
        names = reading.person_names(session, [discussion.author_id, *(event.author_id for event in events)])
        parts = [(Action.CHANGE_PROPOSAL, discussion.author_id), (Action.CHANGE_REPOSITORY, entry.row.owner_id)]
        values = {
            "discussion": discussion,
            "events": events,
            "names": names,
            "takes_part": any(may.may(page.viewer, action, author=author) for action, author in parts),
            "ended": discussion.state in discussions.ENDED,
        }
        return values | _pull(session, store, entry, discussion)

    return await page.show("hubs/discussion.html", read)


def _pull(session: Session, store: GitStore, entry: HubEntry, discussion: HubDiscussion) -> dict[str, Any]:
    if not discussion.pull:
        return {"changes": [], "change_count": 0, "conflicts": ()}
    _discussion, main, branch = discussions.read_pull(session, entry, discussion.number)
    conflicts = () if discussion.merged else discussions.plan_merge(store, discussion.base, main, branch).conflicts
    return change_lines(store, discussion.base, branch) | {"conflicts": conflicts}
