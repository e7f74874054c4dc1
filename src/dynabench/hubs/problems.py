"""Refusals of the hub, with the codes by which its clients tell them apart."""

import secrets

from dynabench.kit.errors import Conflict, NotFound, Problem, TooLarge
from dynabench.kit.language import _


class RepositoryMissing(NotFound):
    """There is no such repository, or it is private."""

    error_code = "RepoNotFound"

    def __init__(self) -> None:
        super().__init__(_("There is no such repository, or it is private and not yours."))


class RevisionMissing(NotFound):
    """The repository has no such branch, tag or commit."""

    error_code = "RevisionNotFound"

    def __init__(self) -> None:
        super().__init__(_("This repository has no such branch, tag or commit."))


class EntryMissing(NotFound):
    """The commit has no such file; `revision` is the commit."""

    error_code = "EntryNotFound"

    def __init__(self, revision: str = "") -> None:
        super().__init__(_("There is no such file at this revision."))
        self.revision = revision


class CommitOverdue(Problem):
    """The branch has moved on since the commit that the sender began with."""

    status, title = 412, _("The branch has changed")

    def __init__(self) -> None:
        super().__init__(_("A commit has happened since. Load the branch again, then send your change."))


class QuotaReached(TooLarge):
    """The person's storage on the hub is full."""


class BrokenUpload(Problem):
    """A client sent something by the Xet protocol that is damaged, or that is not what it says."""

    status, title = 400, _("Bad request")


class RepositoryExists(Conflict):
    """Another repository of the person has this name; `address` is where it is."""


def error_headers(problem: Problem) -> dict[str, str]:
    """Return the headers by which clients of the hub read a refusal; they hold ASCII alone."""
    headers = {"X-Error-Message": problem.detail.encode("ascii", "replace").decode().replace("\n", " ")[:1000]}
    headers["X-Request-Id"] = secrets.token_hex(8)  # stands in the log and in the message of the client
    if code := getattr(problem, "error_code", ""):
        headers["X-Error-Code"] = code
    if revision := getattr(problem, "revision", ""):
        headers["X-Repo-Commit"] = revision
    return headers
