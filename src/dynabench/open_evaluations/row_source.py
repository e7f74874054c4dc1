"""A split of a dataset, opened for one person: what every source of rows of open evaluations offers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dynabench.intake.rows import FileRow
from dynabench.kit.settings import Settings

ClassNames = Mapping[str, Sequence[str]]
"""The names of the classes of columns that hold their numbers."""


@dataclass(frozen=True, kw_only=True)
class RowSource(ABC):
    """A split of a dataset, opened for one person.

    `title` and `edition` are for readers, `rows` is None where nobody has counted, `task` is empty where the dataset
    does not say it. `config`, `split` and `revision` are the chosen ones, `configs` and `splits` what can be chosen.
    `reference` names the dataset without a revision, `link` is its page. `public` says that everybody may read the
    rows. `problems` are choices that the dataset does not have, by field.
    """

    title: str
    edition: str
    rows: int | None
    task: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    config: str = ""
    split: str = ""
    revision: str = ""
    configs: Sequence[str] = ()
    splits: Sequence[str] = ()
    reference: str = ""
    link: str = ""
    public: bool = False
    problems: Mapping[str, str] = field(default_factory=dict)

    @abstractmethod
    def read_rows(self, settings: Settings) -> Iterator[FileRow]:
        """Yield the rows, each with its values by column or the reason why it has none."""

    @abstractmethod
    def class_names(self, settings: Settings) -> ClassNames:
        """Return the names of classes that are numbered."""
