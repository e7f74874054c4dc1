"""The common ground of all parts of a task's config: strict types and no unknown keys."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator
from pydantic import Field as Setting
from pydantic_core import InitErrorDetails, PydanticCustomError

from dynabench.kit.language import _

LANGUAGE_CODE = re.compile(r"^[a-z]{2,3}$")
"""ISO 639 codes of languages."""
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Line = Annotated[str, StringConstraints(max_length=300)]
Markdown = Annotated[str, StringConstraints(max_length=20_000)]

__all__ = ["Line", "Markdown", "Name", "Section", "Setting", "did_you_mean", "printable", "refuse_keys"]


class Section(BaseModel):
    """A mapping of the config; immutable once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        keys = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [key for key in raw if key not in keys]
        if unknown:
            refuse_keys({printable(key): _("There is no such key.") + did_you_mean(key, keys) for key in unknown[:20]})
        return raw


def refuse_keys(problems: dict[str, str]) -> NoReturn:
    """Raise, from within a validator, one error per key; pydantic puts them below the section's own key."""
    lines = [
        InitErrorDetails(
            type=PydanticCustomError("dynabench", "{message}", {"message": message}),
            loc=tuple(int(part) if part.isdecimal() else part for part in key.split(".")),
            input=None,
        )
        for key, message in problems.items()
    ]
    raise ValidationError.from_exception_data("config", lines)


def did_you_mean(word: object, candidates: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known word, or lists all where none is near and they are few."""
    names = list(candidates)
    near = get_close_matches(printable(word), names, n=1, cutoff=0.6)
    if near:
        return _(" Did you mean “%(name)s”?", name=near[0])
    return _(" Known: %(names)s.", names=", ".join(names)) if 0 < len(names) <= 24 else ""


def printable(word: object) -> str:
    """Return `word` as short text that can be sent and stored anywhere."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(word)[:60])
    return text + "…" if len(str(word)) > 60 else text
