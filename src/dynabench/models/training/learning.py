"""The common parts of the ways of learning: settings, the result of a run, and its checkpoints."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from dynabench.models import encoder, spec

Method = Literal["lora", "full", "head", "ngram"]
METHODS: tuple[Method, ...] = get_args(Method)
METHODS_OF_SPANS: tuple[Method, ...] = ("lora", "head")
Progress = Callable[[str, float, str], None]
"""Called with the stage's name, the share of it done, and a remark."""
FILE = "checkpoint"
EXTRACTOR = "qa-minilm"
"""The shipped model that learning of spans begins with: a round is too small to teach what a span is."""


@dataclass(frozen=True)
class LearningSettings:
    """The settings by which a mix is learnt.

    `epochs` None leaves it to the method, and has no meaning for `head` and `ngram`. `patience` is the
    number of evaluations on the development set without a better one after which learning stops. `minutes`
    is time spent, in all attempts together; with it, two runs may differ.
    """

    method: Method = "lora"
    base: str = encoder.HUB_ID
    seed: int = 0
    epochs: float | None = None
    patience: int = 2
    minutes: float | None = None

    @property
    def shared(self) -> bool:
        """True if the base is the encoder that all models share."""
        return self.base in ("", encoder.HUB_ID)

    @property
    def begun(self) -> spec.Spec | None:
        """The model that is trained further, where the base is one."""
        folder = Path(self.base).expanduser()
        return spec.read(folder) if not self.shared and (folder / spec.FILE).is_file() else None

    @property
    def origin(self) -> str:
        """The base by what it is, not where: of a folder its name and version."""
        folder = Path(self.base).expanduser()
        if self.shared or not folder.is_dir():
            return self.base
        return f"{self.begun.name if self.begun else folder.name}@{spec.version(folder)}"


@dataclass(frozen=True, order=True)
class DevelopmentResult:
    """The result on the development set.

    The larger, the better; of equal scores the smaller loss decides.
    """

    score: float
    gain: float = field(repr=False)
    """The mean cross entropy, negative."""

    @property
    def loss(self) -> float:
        """The mean cross entropy."""
        return -self.gain


@dataclass
class Course:
    """The evaluations so far, as pairs of a place and its evaluation."""

    patience: int
    evaluations: list[tuple[float, DevelopmentResult]] = field(default_factory=list)

    def add(self, place: float, evaluation: DevelopmentResult) -> bool:
        """Take an evaluation; whether it is the best so far."""
        better = not self.evaluations or evaluation > self.best[1]
        self.evaluations.append((place, evaluation))
        return better

    @property
    def best(self) -> tuple[float, DevelopmentResult]:
        """The first of the best."""
        return max(self.evaluations, key=lambda entry: (entry[1], -entry[0]))

    @property
    def over(self) -> bool:
        """True if the last `patience` evaluations were no better than one before them."""
        return bool(self.evaluations) and len(self.evaluations) - 1 - self.evaluations.index(self.best) >= self.patience

    def as_rows(self) -> list[list[float]]:
        """As JSON holds it."""
        return [[place, evaluation.score, evaluation.gain] for place, evaluation in self.evaluations]

    @classmethod
    def of(cls, patience: int, rows: list[list[float]]) -> "Course":
        """Return the course that `rows` describe, as `as_rows` makes them."""
        return cls(patience, [(place, DevelopmentResult(score, gain)) for place, score, gain in rows])


@dataclass(frozen=True)
class Learned:
    """The result of a run: the kind of model that lies in the folder now, and the cost of the run."""

    kind: str
    description: str
    course: Course
    seconds: float
    examples: int
    stopped: bool
    options: dict[str, Any] = field(default_factory=dict)


class Checkpoints:
    """The file from which a run goes on after a stop.

    It is replaced whole or not at all. A file of another run counts as none.
    """

    def __init__(self, folder: Path | None, run: str) -> None:
        """`run` names the run by everything that decides its outcome; without a folder nothing is kept."""
        self._path = folder / FILE if folder else None
        self._head = f"dynabench {run}\n".encode()

    def load(self) -> bytes | None:
        """Return the state that this run kept last; None where it kept none."""
        if self._path is None or not self._path.is_file():
            return None
        content = self._path.read_bytes()
        return content[len(self._head) :] if content.startswith(self._head) else None

    def keep(self, state: bytes) -> None:
        """Replace what was kept."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        with part.open("wb") as file:
            file.write(self._head + state)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)

    def clear(self) -> None:
        """Forget it, and its folder where that is empty then."""
        if self._path:
            self._path.unlink(missing_ok=True)
            with suppress(OSError):
                self._path.parent.rmdir()


class Clock:
    """Seconds spent, those of earlier attempts included."""

    def __init__(self, before: float = 0.0) -> None:
        self._started = time.monotonic() - before

    @property
    def seconds(self) -> float:
        """So many so far."""
        return time.monotonic() - self._started

    def past(self, minutes: float | None) -> bool:
        """Return whether `minutes` are over; False for None."""
        return minutes is not None and self.seconds >= 60 * minutes
