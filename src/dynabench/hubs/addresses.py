"""Parts of the hub's addresses: the repository that a request names, a revision with slashes, a path."""

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Path, Request
from sqlalchemy.orm import Session

from dynabench.hubs import commits, service
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.problems import RepositoryMissing
from dynabench.hubs.schemas import KINDS, HubKinds
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import RepositoryKind
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person

Namespace = Annotated[str, Path(max_length=60)]
RepositoryName = Annotated[str, Path(max_length=120)]
Rest = Annotated[str, Path(max_length=2000)]
Number = Annotated[int, Path(ge=1, le=10**9)]
"""The number of a discussion."""
REPOSITORY_API = "/api/{kinds}/{namespace}/{name}"
REPOSITORY_PAGE = "/hub/{kinds}/{namespace}/{name}"


def kind_of(kinds: HubKinds | str) -> RepositoryKind:
    """Return the kind of a plural of the hub, such as `datasets`."""
    kind = KINDS.get(kinds.removesuffix("s"))
    if kind is None or not kinds.endswith("s"):
        raise RepositoryMissing
    return kind


@dataclass(frozen=True)
class RepositoryPlace:
    """The repository that a request names: its kind in the plural, its namespace and its name."""

    kinds: str
    namespace: str
    name: str

    def find(self, session: Session, viewer: Person | None) -> HubEntry:
        """Return the repository where the viewer may read it. Raises `RepositoryMissing`."""
        return service.find_entry(session, viewer, kind_of(self.kinds), self.namespace, self.name)

    def find_managed(self, session: Session, person: Person) -> HubEntry:
        """Return the repository where the person may change it. Raises `Forbidden` or `RepositoryMissing`."""
        return service.managed_entry(session, person, kind_of(self.kinds), self.namespace, self.name)

    def find_writable(self, session: Session, person: Person, revision: str, proposes: bool) -> HubEntry:
        """Return the repository where the person may commit to a branch; raises as `find` and `require_writer`."""
        entry = self.find(session, person)
        commits.require_writer(session, person, entry, revision, proposes)
        return entry

    def find_revision(
        self, session: Session, settings: Settings, viewer: Person | None, revision: str
    ) -> tuple[HubEntry, GitStore, str]:
        """Return the repository where the viewer may read it, its store, and the commit of a revision."""
        entry = self.find(session, viewer)
        commit = service.resolve_revision(session, settings, entry, revision)
        return entry, GitStore.of(settings, entry.row.folder), commit

    def parameters(self, entry: HubEntry) -> dict[str, Any]:
        """Return the parameters of addresses of the repository, as it is called now."""
        return {"kinds": self.kinds, "namespace": entry.namespace, "name": entry.row.name}


async def _place(request: Request, namespace: Namespace, name: RepositoryName) -> RepositoryPlace:
    kinds = request.path_params.get("kinds", "models")
    kind_of(kinds)
    return RepositoryPlace(kinds, namespace, name)


Place = Annotated[RepositoryPlace, Depends(_place)]
"""The repository that a request names, as a parameter of a handler: `place: Place`."""


def revision_and_path(request: Request, rest: str, marker: str) -> tuple[str, str]:
    """Return the revision and the path after `/marker/` in an address.

    A revision with slashes is sent with them escaped; where something on the way has unescaped them, `refs/pr/1`
    and `refs/convert/x` are known by their beginning.
    """
    raw = request.scope.get("raw_path", b"").decode("latin-1").partition("?")[0]
    sent = raw.partition(f"/{marker}/")[2]
    if sent.partition("/")[0] == "refs" or not sent:
        parts = (unquote(sent) or rest).split("/")
        size = 3 if parts[0] == "refs" and len(parts) > 2 else 1
        return "/".join(parts[:size]), "/".join(parts[size:])
    revision, _slash, path = sent.partition("/")
    return unquote(revision), unquote(path)


def split_full_name(name: str) -> tuple[str, str]:
    """Return namespace and name. Raises `RepositoryMissing` where there is no namespace."""
    namespace, slash, own = name.partition("/")
    if not slash or "/" in own:
        raise RepositoryMissing
    return namespace, own
