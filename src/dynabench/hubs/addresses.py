"""Parts of the hub's addresses: the kind and the name of a repository, a revision with slashes, a path."""

from typing import Annotated
from urllib.parse import unquote

from fastapi import Path, Request

from dynabench.hubs.problems import RepositoryMissing
from dynabench.hubs.schemas import KINDS, HubKinds
from dynabench.hubs.tables import RepositoryKind

Namespace = Annotated[str, Path(max_length=60)]
RepositoryName = Annotated[str, Path(max_length=120)]
Rest = Annotated[str, Path(max_length=2000)]


def kind_of(kinds: HubKinds | str) -> RepositoryKind:
    """Return the kind of a plural of the hub, such as `datasets`."""
    kind = KINDS.get(kinds.removesuffix("s"))
    if kind is None:
        raise RepositoryMissing
    return kind


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
