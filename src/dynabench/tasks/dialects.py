"""Task configs in other dialects: plug-ins read them into a config of today, with a note on each line.

A plug-in adds a reader by the hook `dynabench_config_dialects` (`dynabench.kit.hooks`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from dynabench.kit import plugins
from dynabench.kit.distributions import OLDER_DIALECTS, PLATFORM, install_command
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.tasks import reading

NoteKind = Literal["same", "changed", "dropped", "wrong"]
"""It means the same here; nearly the same; it has no counterpart; no valid task can be made while it stands so."""
UNKNOWN_DIALECT = "neither"
"""The dialect of a text that a reader does not know."""
OLDER_CONFIG_KEYS = frozenset(
    {"goal_message", "metadata", "model_wrong_metric", "perf_metric", "delta_metrics", "user_input", "model_output"}
)
"""Keys at the top of an older config; no config of today has one of them."""
NO_READER = _(
    "Configs in an older dialect are read by a plug-in that is not installed: %(command)s",
    command=install_command(PLATFORM, OLDER_DIALECTS),
)
IMPORT_HINT = _(
    "This is a config in an older dialect: %(command)s reads it.", command="`dynabench task import FILE --id NAME`"
)


@dataclass(frozen=True)
class DialectNote:
    """A note on one key: its line (from 1; None where it is missing) and its dotted path."""

    line: int | None
    key: str
    kind: NoteKind
    text: str


@dataclass(frozen=True)
class OlderConfig:
    """The result of reading an older config: notes in the order of its lines, and the YAML of the resulting task.

    `dialect` is the reader's name for it, `UNKNOWN_DIALECT` where the reader does not know the text. `source` is
    empty where no task results; with `valid` a task can be created from it.
    """

    dialect: str
    notes: tuple[DialectNote, ...]
    source: str
    valid: bool


class DialectReader(Protocol):
    """A function that reads texts of one dialect or several."""

    def __call__(self, text: str, id: str, name: str = "") -> OlderConfig:
        """Read `text` as a task called `id`; `name` is what people read. Raises nothing."""


def dialect_readers() -> Mapping[str, str]:
    """Return the `module:function` of every reader by its name."""
    return plugins.gather("dynabench_config_dialects", plugins.references)


def read_older_config(text: str, id: str, name: str = "") -> OlderConfig:
    """Read an older config by the first reader that knows its dialect.

    Raises `Invalid` with the command that installs a reader where there is none.
    """
    answers = []
    for reference in dialect_readers().values():
        reader: DialectReader = plugins.load_reference(reference)
        answers.append(reader(text, id, name))
        if answers[-1].dialect != UNKNOWN_DIALECT:
            return answers[-1]
    if not answers:
        raise Invalid({"config": NO_READER}, NO_READER)
    return answers[0]


def explain_older(text: str) -> str:
    """Return what the owner can do with a refused config in an older dialect; "" for a config in no such dialect."""
    try:
        keys = reading.read_config(text)[0].keys()
    except Invalid:
        return ""
    if not OLDER_CONFIG_KEYS & keys:
        return ""
    return IMPORT_HINT if dialect_readers() else NO_READER
