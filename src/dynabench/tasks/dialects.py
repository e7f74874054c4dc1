"""Task configs in other dialects: plug-ins read them into a config of today, with a note on each line.

A plug-in adds a reader by the hook `dynabench_config_dialects` (`dynabench.hooks`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from dynabench import plugins
from dynabench.distributions import OLDER_DIALECTS, PLATFORM, install_command
from dynabench.errors import Invalid
from dynabench.language import _
from dynabench.tasks import reading

Kind = Literal["same", "changed", "dropped", "wrong"]
"""It means the same here; nearly the same; it has no counterpart; no valid task can be made while it stands so."""
NEITHER = "neither"
"""The dialect of a text that a reader does not know."""
OLDER_KEYS = frozenset(
    {"goal_message", "metadata", "model_wrong_metric", "perf_metric", "delta_metrics", "user_input", "model_output"}
)
"""Keys at the top of an older config; no config of today has one of them."""
NO_READER = _(
    "Configs in an older dialect are read by a plug-in that is not installed: %(command)s",
    command=install_command(PLATFORM, OLDER_DIALECTS),
)
IMPORT = _(
    "This is a config in an older dialect: %(command)s reads it.", command="`dynabench task import FILE --id NAME`"
)


@dataclass(frozen=True)
class Note:
    """A note on one key: its line (from 1; None where it is missing) and its dotted path."""

    line: int | None
    key: str
    kind: Kind
    text: str


@dataclass(frozen=True)
class OlderConfig:
    """An older config as it was read: the notes in the order of its lines, and the YAML of the task that results.

    `dialect` is the reader's name for it, `NEITHER` where it does not know the text. `source` is empty where nothing
    could be made of it; it is `valid` if a task can be created from it.
    """

    dialect: str
    notes: tuple[Note, ...]
    source: str
    valid: bool


class DialectReader(Protocol):
    """A function that reads texts of one dialect or several."""

    def __call__(self, text: str, id: str, name: str = "") -> OlderConfig:
        """Read `text` as a task called `id`; `name` is what people read. Raises nothing."""


def readers() -> Mapping[str, str]:
    """Return the `module:function` of every reader by its name."""
    return plugins.gather("dynabench_config_dialects", plugins.references)


def read(text: str, id: str, name: str = "") -> OlderConfig:
    """Read an older config by the first reader that knows its dialect.

    Raises `Invalid` with the command that installs a reader where there is none.
    """
    answers = []
    for reference in readers().values():
        reader: DialectReader = plugins.load_reference(reference)
        answers.append(reader(text, id, name))
        if answers[-1].dialect != NEITHER:
            return answers[-1]
    if not answers:
        raise Invalid({"config": NO_READER}, NO_READER)
    return answers[0]


def explain_older(text: str) -> str:
    """Return what to do with a refused config that is in an older dialect; empty where it is in no such dialect."""
    try:
        keys = reading.read(text)[0].keys()
    except Invalid:
        return ""
    if not OLDER_KEYS & keys:
        return ""
    return IMPORT if readers() else NO_READER
