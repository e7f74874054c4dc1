"""A line of the authorization matrix, and who there is."""

from dataclasses import dataclass
from typing import Any

from tests.api.stage import NAMES

EVERYBODY = {"anon", *NAMES}
MEMBERS = set(NAMES)
MAY = {
    "anyone": EVERYBODY,
    "member": MEMBERS,
    "unbanned": EVERYBODY - {"banned"},  # writing: visitors have the sandbox
    "seated": MEMBERS - {"banned"},  # checking
    "involved": {"author", "owner", "admin"},  # in the example that `author` wrote
    "overseeing": {"author", "moderator", "owner", "admin"},  # the same, and whoever looks after what is written
    "welcome": MEMBERS - {"banned"},  # to what makes people members of a task
    "others": MEMBERS - {"author", "banned"},  # anybody who may check but its author
    "author": {"author"},
    "submitter": {"author", "admin"},  # of the private submission that `author` sent, and of its evaluations
    "keeper": {"author", "admin"},  # of a board of the author's own
    "expert": {"expert", "moderator", "owner", "admin"},
    "moderator": {"moderator", "owner", "admin"},
    "owner": {"owner", "admin"},
    "admin": {"admin"},
    "worker": set(),  # who entered a study, which nobody of these did
}
SEATED = {"unbanned", "seated", "others"}  # in tasks for invited people these are for people with a role alone


@dataclass(frozen=True)
class Route:
    """The roles that may use a route, with what it is called, and which scope it needs of tokens (see `scope_of`).

    `hidden` says that the route shows hidden examples, or why they are hidden, to those who may use it.
    """

    access: str
    json: Any = None
    form: dict[str, Any] | None = None
    params: dict[str, str] | None = None
    content: bytes | None = None
    scope: str = ""
    hidden: bool = False


def scope_of(method: str, route: Route) -> str:
    """The scope that a route of the API needs: `read` for GET, else by who may, where the line says nothing else."""
    if route.scope or method == "GET":
        return route.scope or "read"
    return "manage" if route.access in ("expert", "moderator", "owner", "admin") else "annotate"
