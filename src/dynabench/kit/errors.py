"""The errors that a request can end with, as RFC 9457 problem details, and pydantic's messages with translations.

Services raise these; the web frame turns them into JSON for programs and into pages or fragments for
people.
"""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from dynabench.kit.language import Phrase, _, join_messages, ngettext, recognised

if TYPE_CHECKING:
    from pydantic import ValidationError


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


# DBOS keeps errors of jobs as pickles that call this by its name.
def _restored(kind: type[Problem], args: tuple[Any, ...], members: dict[str, Any]) -> Problem:
    problem = kind.__new__(kind)
    problem.args = args
    problem.__dict__.update(members)
    return problem


class Unauthenticated(Problem):
    """A request without a log-in, or with an unknown token."""

    status, title = 401, _("Log in first")


class Forbidden(Problem):
    """The person is known and may not do this."""

    status, title = 403, _("Not allowed")


class NotFound(Problem):
    """There is no such thing, or it is not visible to this person."""

    status, title = 404, _("Not found")


class Conflict(Problem):
    """The thing exists and its state does not allow this."""

    status, title = 409, _("Not possible now")


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
        messages = (_("%(name)s: %(message)s", name=name, message=message) for name, message in some)
        super().__init__(detail or join_messages(messages), fields=fields)
        self.fields = fields


class TooMany(Problem):
    """Too many requests in too short a time."""

    status, title = 429, _("Too many requests")


class NoRoom(Problem):
    """The disk has too little room for what is sent; it heals when the operator makes room."""

    status, title = 507, _("Storage full")


class Unavailable(Problem):
    """Something this request needs, such as a model, does not answer; try again in `retry_after` seconds."""

    status, title = 503, _("No answer")

    def __init__(self, detail: str, retry_after: int = 2, **extra: Any) -> None:
        super().__init__(detail, retry_after=retry_after, **extra)


_SENTENCES = (
    _("Field required"),
    _("Extra inputs are not permitted"),
    _("Input should be a valid string"),
    _("Input should be a valid integer"),
    _("Input should be a valid integer, unable to parse string as an integer"),
    _("Input should be a valid integer, got a number with a fractional part"),
    _("Input should be a valid number"),
    _("Input should be a valid number, unable to parse string as a number"),
    _("Input should be a finite number"),
    _("Input should be a valid boolean"),
    _("Input should be a valid boolean, unable to interpret input"),
    _("Input should be a valid list"),
    _("Input should be a valid dictionary"),
    _("Input should be greater than or equal to %(bound)s"),
    _("Input should be greater than %(bound)s"),
    _("Input should be less than or equal to %(bound)s"),
    _("Input should be less than %(bound)s"),
    _("Input should be %(options)s or %(last)s"),
    _("Input should be %(only)s"),
    _("String should match pattern '%(pattern)s'"),
    ngettext("String should have at least %(num)s character", "String should have at least %(num)s characters", 2),
    ngettext("String should have at most %(num)s character", "String should have at most %(num)s characters", 2),
    ngettext(
        "List should have at least %(num)s item after validation, not %(found)s",
        "List should have at least %(num)s items after validation, not %(found)s",
        2,
        found=0,
    ),
    ngettext(
        "List should have at most %(num)s item after validation, not %(found)s",
        "List should have at most %(num)s items after validation, not %(found)s",
        2,
        found=0,
    ),
    ngettext(
        "Dictionary should have at most %(num)s item after validation, not %(found)s",
        "Dictionary should have at most %(num)s items after validation, not %(found)s",
        2,
        found=0,
    ),
)


def validation_message(error: Mapping[str, Any], instead: Mapping[str, str] | None = None) -> str:
    """Return one of `ValidationError.errors()` as a text, with its translation where there is one.

    `instead` has other words for some types of errors. The messages of the package's own validators stay as they are.
    """
    if instead and error["type"] in instead:
        return instead[error["type"]]
    context = error.get("ctx") or {}
    if error["type"] == "dynabench":
        return str(context["message"])
    cause = context.get("error")
    if isinstance(cause, Exception) and cause.args and isinstance(cause.args[0], Phrase):
        return cause.args[0]
    return translate_validation(str(error["msg"]).removeprefix("Value error, "))


def translate_validation(sentence: str) -> str:
    """Return a sentence of pydantic's with its translation; any other as it is."""
    return recognised(sentence, _SENTENCES)


def validation_errors(error: "ValidationError", whole: str = "body") -> dict[str, str]:
    """Return pydantic's messages by dotted name of the field; what is wrong with the document is named `whole`."""
    return {".".join(map(str, entry["loc"])) or whole: validation_message(entry) for entry in error.errors()}
