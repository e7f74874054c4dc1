"""The errors that a request can end with, as RFC 9457 problem details.

Services raise these; the web frame turns them into JSON for programs and into pages or fragments for
people.
"""

from itertools import islice
from typing import Any

from dynabench.kit.language import _, joined


class Problem(Exception):
    """A request that cannot be fulfilled: what happened, what it means, what to do."""

    status = 500
    title = _("Something went wrong")

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        """Problems travel between processes as they are, whatever their classes are made from."""
        return _restored, (type(self), self.args, self.__dict__)

    def document(self) -> dict[str, Any]:
        """The problem document's members."""
        return {"type": "about:blank", "title": self.title, "status": self.status, "detail": self.detail, **self.extra}


def _restored(kind: type[Problem], args: tuple[Any, ...], members: dict[str, Any]) -> Problem:
    problem = kind.__new__(kind)
    problem.args = args
    problem.__dict__.update(members)
    return problem


class Unauthenticated(Problem):
    """Nobody is logged in, or the token is unknown."""

    status, title = 401, _("Log in first")


class Forbidden(Problem):
    """The person is known and may not do this."""

    status, title = 403, _("Not allowed")


class NotFound(Problem):
    """There is no such thing, or it is not visible to this person."""

    status, title = 404, _("Not found")


class Conflict(Problem):
    """The thing exists and its state does not allow this."""

    status, title = 409, _("Conflict")


class TooLarge(Problem):
    """The request's body is over the limit."""

    status, title = 413, _("Too large")


MOST_NAMED = 20
"""Fields that a message names at most; a longer list helps nobody."""


class Invalid(Problem):
    """Some fields do not hold what they must; `fields` maps dotted names such as `input.hypothesis` to messages."""

    status, title = 422, _("Some fields need attention")

    def __init__(self, fields: dict[str, str], detail: str = "") -> None:
        some = islice(fields.items(), MOST_NAMED)
        told = (_("%(name)s: %(message)s", name=name, message=message) for name, message in some)
        super().__init__(detail or joined("; ", told), fields=fields)
        self.fields = fields


class TooMany(Problem):
    """Too many requests in too short a time."""

    status, title = 429, _("Slow down")


class NoRoom(Problem):
    """The disk has too little room for what is sent; it heals when the operator makes room."""

    status, title = 507, _("No room")


class Unavailable(Problem):
    """Something this request needs, such as a model, does not answer; try again in `retry_after` seconds."""

    status, title = 503, _("No answer")

    def __init__(self, detail: str, retry_after: int = 2, **extra: Any) -> None:
        super().__init__(detail, retry_after=retry_after, **extra)
