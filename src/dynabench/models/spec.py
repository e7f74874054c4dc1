"""The folder of a model: `model.yaml` and weights; nothing but a handler, in its sandbox, holds code."""

import hashlib
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dynabench.kit.errors import Invalid, validation_errors
from dynabench.models import encoder, kinds
from dynabench.models.protocol import ModelCard, Returns
from dynabench.models.runtime import folder_size

FILE = "model.yaml"
ONLY_LABELS = {"adapter", "head", "ngram", "linear"}
ENCODED = {"adapter", "extractor", "head", "ngram", "linear"}
RESERVED = {"probabilities", "extras"}
"""What stands beside the answer in an inference response."""
UNVERSIONED = {"README.md"}
"""The card explains a model and is no part of what it answers."""
CACHE = "__pycache__"
"""What Python leaves behind; no part of a model."""
README = "README.md"
CHUNK = 2**20
"""Bytes that are read at a time."""
LARGEST = 256 * 1024
"""Bytes of `model.yaml`, all of which is read before anything is checked."""
REMEMBERED = 8 * 1024
"""Characters of a `model.yaml` whose values are remembered."""
LONGEST_README = 64 * 1024
"""Bytes of the card that are handed out at most."""


class LabelScore(BaseModel):
    """The result of a model on one test set."""

    model_config = ConfigDict(extra="forbid")

    accuracy: float
    macro_f1: float
    n: int
    low: float = Field(description="Lower end of the 95 % Wilson interval of the accuracy.")
    high: float

    def summary_line(self) -> str:
        """In one line."""
        interval = f"{self.low:.4f} to {self.high:.4f}"
        return f"accuracy {self.accuracy:.4f} ({interval}), macro F1 {self.macro_f1:.4f}, n {self.n}"


class SpanScore(BaseModel):
    """The result of an extractor on one test set, as SQuAD scores.

    The best match among a question's right answers counts.
    """

    model_config = ConfigDict(extra="forbid")

    exact_match: float
    f1: float
    n: int
    low: float = Field(description="Lower end of the 95 % Wilson interval of the exact match.")
    high: float

    def summary_line(self) -> str:
        """In one line."""
        interval = f"{self.low:.4f} to {self.high:.4f}"
        return f"F1 {self.f1:.4f}, exact match {self.exact_match:.4f} ({interval}), n {self.n}"


class Spec(BaseModel):
    """The content of `model.yaml`."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    task: str
    kind: str = Field(description="Which backend opens it; `dynabench model kinds` lists them.")
    inputs: list[str] = Field(min_length=1, max_length=8)
    answer: str
    labels: list[str] = Field([], description="What a classifier chooses from; others have none.")
    returns: Returns | None = Field(None, description="What an answer is; by default `label` with labels, else spans.")
    images: list[str] = Field([], description="Inputs that are pictures; the others are texts.")
    options: dict[str, Any] = Field({}, description="What only models of this kind have.")
    seconds: float | None = Field(None, gt=0, le=600, description="How long an answer may take, where it takes long.")
    languages: list[str] = ["en"]
    licence: str
    summary: str = ""
    data: list[str] = []
    seed: int = 0
    scores: dict[str, LabelScore | SpanScore] = {}
    max_length: int = Field(256, ge=8, le=512)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "Spec":
        if self.returns is None:
            self.returns = "label" if self.labels else "spans"
        if self.kind == "extractor" and (len(self.inputs) != 2 or self.labels):
            raise ValueError("An extractor has two inputs, question and passage, and no labels.")
        if (self.returns == "label" and len(self.labels) < 2) or (self.kind in ONLY_LABELS and not self.labels):
            raise ValueError("A classifier has two labels at least.")
        if self.kind in ENCODED and len(self.inputs) > 2:
            raise ValueError("It reads one or two inputs.")
        if self.answer in RESERVED:
            raise ValueError(
                f"The answer cannot be called {self.answer!r}: that name means something else on the wire."
            )
        if strangers := set(self.images) - set(self.inputs):
            raise ValueError(f"images: {', '.join(sorted(strangers))} are no inputs.")
        kinds.kind(self.kind).read(self.options)
        return self


def read(folder: Path) -> Spec:
    """The folder's `model.yaml`; raises `Invalid` with what is wrong, also for files of a kind that may hold code."""
    try:
        if (folder / FILE).stat().st_size > LARGEST:
            raise Invalid({FILE: f"It may have {LARGEST // 1024} KiB; text for people belongs into {README}."})
        raw = _plain((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Invalid({FILE: str(error)}) from error
    except RecursionError as error:
        raise Invalid({FILE: "It is nested too deeply."}) from error
    try:
        details = Spec.model_validate(raw)
    except ValidationError as error:
        raise Invalid(validation_errors(error, FILE)) from error
    allowed = kinds.kind(details.kind).files
    strangers = [path.name for path in _files(folder) if allowed is not None and path.suffix not in allowed]
    if strangers:
        message = f"Of this kind only {', '.join(sorted(allowed or ()))} files may be here, not {', '.join(strangers)}."
        raise Invalid({FILE: message})
    return details


def _plain(text: str) -> Any:
    """Return the content of a YAML text.

    Short texts are read once, since a search for one model reads the files of all.
    """
    return deepcopy(_load_cached(text)) if len(text) <= REMEMBERED else yaml.safe_load(text)


_load_cached = lru_cache(maxsize=128)(yaml.safe_load)


def write(folder: Path, content: Spec | Mapping[str, Any]) -> None:
    """Write the folder's `model.yaml`, its lines in the order of `content`."""
    lines = content.model_dump() if isinstance(content, Spec) else dict(content)
    text = yaml.safe_dump(lines, sort_keys=False, allow_unicode=True, width=120)
    (folder / FILE).write_text(text, encoding="utf-8")


def version(folder: Path) -> str:
    """First 16 hex digits of the SHA-256 over what the model answers by.

    That is names and contents of the folder's files, `README.md` left out. The digest of the shared encoder follows for
    models over it, unless it is the one that the shipped models were trained over.
    """
    digest = hashlib.sha256()
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if name not in UNVERSIONED:
            digest.update(f"{name}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while part := file.read(CHUNK):  # weights may be larger than memory
                    digest.update(part)
    shared = shared_encoder(folder)
    if shared != encoder.SHIPPED_FOR:
        digest.update(shared.encode())
    return digest.hexdigest()[:16]


def shared_encoder(folder: Path) -> str:
    """`encoder.digest` for a model over the shared encoder; empty for others, and for folders that cannot be read."""
    try:
        kind = kinds.kind(read(folder).kind)
    except Invalid:
        return ""
    return encoder.digest() if kind.shared == "encoder" else ""


def card(folder: Path) -> ModelCard:
    """The model's card, read without loading its weights."""
    spec = read(folder)
    kind = kinds.kind(spec.kind)
    return ModelCard(
        name=spec.name,
        version=version(folder),
        task=spec.task,
        kind=spec.kind,
        inputs=tuple(spec.inputs),
        answer=spec.answer,
        labels=tuple(spec.labels),
        languages=tuple(spec.languages),
        licence=spec.licence,
        size_bytes=folder_size(folder),
        methods=kind.explains(spec.options),
        summary=spec.summary,
        returns=spec.returns or "label",
        images=tuple(spec.images),
        seconds=spec.seconds,
        inside=kind.inside,
        encoder=shared_encoder(folder),
    )


def readme(folder: Path) -> str:
    """The folder's card in Markdown, its first `LONGEST_README` bytes; empty where there is none to read."""
    try:
        with (folder / README).open("rb") as file:
            return file.read(LONGEST_README).decode("utf-8", "replace")
    except OSError:
        return ""


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not hidden(path.relative_to(folder)))


def hidden(path: Path) -> bool:
    """Return whether a file, by its path within the folder, is no part of the model."""
    return any(part.startswith(".") or part == CACHE for part in path.parts)
