"""Bodies of the hub's API, as clients of Hugging Face's hub send them: members that are not known are ignored."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from dynabench.hubs.tables import RepositoryKind

HubKinds = Literal["models", "datasets", "spaces"]
HubType = Literal["model", "dataset", "space"]
KINDS: dict[str, RepositoryKind] = {
    "model": RepositoryKind.MODEL,
    "dataset": RepositoryKind.DATASET,
    "space": RepositoryKind.EVALUATION,
}
"""Kinds of repositories by the hub's types: evaluation modules are `spaces` there."""
TYPES: dict[str, str] = {str(kind): name for name, kind in KINDS.items()}


class RepositoryIn(BaseModel):
    """A new repository, or one to delete; without an `organization` it is the sender's own."""

    name: str = Field(max_length=200)
    organization: str | None = Field(None, max_length=60)
    type: HubType = "model"
    private: bool | None = None
    visibility: Literal["public", "private"] | None = None


class RepositoryMoveIn(BaseModel):
    """Another name for a repository."""

    fromRepo: str = Field(max_length=200)
    toRepo: str = Field(max_length=200)
    type: HubType = "model"


class RepositorySettingsIn(BaseModel):
    """Settings of a repository."""

    private: bool | None = None
    visibility: Literal["public", "private"] | None = None
    gated: Any = None


class BranchIn(BaseModel):
    """The start of a new branch: main by default."""

    startingPoint: str | None = Field(None, max_length=300)


class RepositoryTagIn(BaseModel):
    """A new tag."""

    tag: str = Field(max_length=200)
    message: str | None = Field(None, max_length=10_000)


class SquashIn(BaseModel):
    """The message of the one commit that a branch keeps."""

    message: str = Field("", max_length=1000)


class CardCheckIn(BaseModel):
    """The text of a README.md to check."""

    content: str = Field(max_length=250_000)
    repoType: str = Field("model", max_length=20)


class AnnouncedFile(BaseModel):
    """A file that is about to be committed; `sample` is the beginning of its content in base64."""

    path: str = Field(max_length=1000)
    size: int = Field(ge=0, le=2**60)
    sample: str = Field("", max_length=2000)


class FilesAnnouncementIn(BaseModel):
    """Files that are about to be committed."""

    files: list[AnnouncedFile] = Field(max_length=1000)
    gitIgnore: str | None = Field(None, max_length=64 * 1024)


class LargeObjectIn(BaseModel):
    """A large file by its SHA-256."""

    oid: str = Field(max_length=64)
    size: int = Field(ge=0, le=2**60)


class LargeBatchIn(BaseModel):
    """Large files that a client wants to send or read, in the form of Git LFS."""

    operation: Literal["upload", "download"]
    transfers: list[str] = Field(["basic"], max_length=10)
    objects: list[LargeObjectIn] = Field(max_length=1000)
    hash_algo: str = Field("sha256", max_length=20)


class DiscussionIn(BaseModel):
    """A new discussion or pull request."""

    title: str = Field(max_length=1000)
    description: str = Field("", max_length=50_000)
    pullRequest: bool = False


class CommentIn(BaseModel):
    """A comment."""

    comment: str = Field("", max_length=50_000)


class CommentEditIn(BaseModel):
    """Another text of a comment."""

    content: str = Field(max_length=50_000)


class StatusIn(BaseModel):
    """Another state of a discussion."""

    status: Literal["open", "closed"]
    comment: str | None = Field(None, max_length=50_000)


class TitleIn(BaseModel):
    """Another title of a discussion."""

    title: str = Field(max_length=1000)
