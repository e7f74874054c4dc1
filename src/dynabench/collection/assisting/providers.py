"""The providers of suggestions.

A provider is asked with what the annotator has on the page, and answers with texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dynabench.kit.db import Database
from dynabench.models.client import Host
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text


@dataclass(frozen=True)
class Asked:
    """Somebody's wish for suggestions, with all that a provider may know.

    `context` is what they were shown, `goal` the answer that they write for (None where they choose it), `draft` the
    text of the `field` so far; `seed` differs each time that they ask.
    """

    task_id: str
    person_id: int
    handout_id: int
    context_id: int
    config: TaskConfig
    field: Text
    context: Mapping[str, Any]
    goal: Mapping[str, Any] | None
    draft: str
    seed: str

    @property
    def most(self) -> int:
        """Suggestions that are wanted."""
        return self.config.assistant.most


@dataclass(frozen=True)
class Suggested:
    """A text, and what people are told of it, as plain JSON values by name."""

    text: str
    about: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    version: str = ""


@dataclass(frozen=True)
class World:
    """The database and the model host, as providers reach them.

    Nothing of the database is held while a provider waits for a model.
    """

    db: Database
    host: Host


class Provider(Protocol):
    """Suggests texts."""

    async def __call__(self, asked: Asked, world: World) -> Sequence[Suggested]:
        """The best first, none where it knows none; raises `Unavailable` with a sentence for people."""
        ...


def providers() -> Mapping[str, Callable[[Asked, World], Any]]:
    """Every provider by the name that configs give it."""
    from dynabench.collection.assisting import assistant_texts, edits, neighbours

    return {"neighbours": neighbours.suggest, "edits": edits.suggest, "model": assistant_texts.suggest}
