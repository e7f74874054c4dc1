"""The models that the suite runs: each `models_*.py` beside this has a list `MAKERS`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dynabench.models import kinds
from dynabench.tasks import TaskConfig, shipped_tasks

BRIEFLY = frozenset(
    {
        "test_the_card_says_what_the_model_is",
        "test_every_sample_is_answered_validly_and_alone_as_in_any_batch",
        "test_inputs_of_another_form_are_refused_by_name",
        "test_another_label_or_method_is_refused",
        "test_a_model_opened_twice_answers_twice_and_closing_one_leaves_the_other",
        "test_closing_frees_the_model_its_threads_and_its_processes",
        "test_the_host_serves_the_same_answers_by_the_open_inference_protocol",
    }
)
"""Tests of what a model adds that is made of others of the suite, or is asked over a wire as others are, with which
texts, words and threads are tried."""

TASKS: dict[str, TaskConfig] = {shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks()}

Make = Callable[..., AbstractContextManager[Path]]
"""Makes a model's folder below a new place, and keeps what it needs, such as a server, for as long as it is entered."""


@dataclass(frozen=True)
class Maker:
    """One model of the suite: its name in test ids, the shipped task that it answers, and how it is made.

    `fixture` names a fixture that other tests use too, such as a server; `make` is given it after the place. A model
    whose every answer takes long is asked for `rows` samples, in the tests that `tests` names.
    """

    name: str
    task: str
    make: Make
    fixture: str = ""
    rows: int | None = None
    tests: frozenset[str] = frozenset()

    @property
    def config(self) -> TaskConfig:
        return TASKS[self.task]


def needs(kind: str) -> None:
    """Skip with the reason where models of this kind cannot be opened here."""
    if answer := kinds.kind(kind).lacks():
        pytest.skip(answer)


def plain(make: Callable[..., Path]) -> Make:
    """A maker of a folder that is left as it is."""

    @contextmanager
    def entered(place: Path, *given: Any) -> Iterator[Path]:
        yield make(place, *given)

    return entered


def makers() -> list[Maker]:
    """All of them, by file."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("models_*.py"))
    return [maker for name in names for maker in import_module(f"{__package__}.{name}").MAKERS]
