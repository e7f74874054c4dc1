"""The input of measures: the counts of all rows, a random sample, and models of this platform that read its texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynabench.insight.data_measurements.sample import Embed, RoundSample, SampledExample
from dynabench.insight.data_reports.profile import OTHER, DataProfile
from dynabench.insight.data_reports.sources import DataRow

Floats = NDArray[np.float64]
SAMPLE = 5_000
"""Rows that slow measures look at, drawn at random."""
EMBEDDED = 1_000
"""Rows whose embeddings are computed where an encoder is installed."""
MOST_CLASSES = 20
"""Labels that classifiers tell apart: the most frequent ones."""
DEFAULT_TERMS = (
    "man", "woman", "non-binary", "gay", "lesbian", "queer", "trans", "straight", "cis", "she", "her", "hers", "he",
    "him", "his", "they", "them", "their", "theirs", "himself", "herself",
)  # fmt: skip
"""Identity terms of English; people choose others for other languages."""
DEFAULT_PAIRS = (("she", "he"), ("woman", "man"), ("gay", "straight"))


@dataclass(frozen=True)
class MeasuredData:
    """The counts of all rows in `profile`, and what was drawn at random of them.

    `pairs` are the pairs of terms that are compared, `embed` the encoder, where one is installed.
    """

    profile: DataProfile
    pairs: Sequence[tuple[str, str]] = DEFAULT_PAIRS
    embed: Embed | None = None
    seed: int = 0

    def rng(self) -> np.random.Generator:
        """Return a random generator that is the same whenever these data are measured."""
        return np.random.default_rng(self.seed)

    @cached_property
    def drawn(self) -> list[tuple[int, DataRow]]:
        """Up to 50,000 rows with their places, drawn at random, in the order of the data."""
        return self.profile.reservoir.sample()

    @cached_property
    def chosen_places(self) -> list[tuple[int, DataRow]]:
        """Up to `SAMPLE` rows of those with their places, in the order of the data."""
        rows = self.drawn
        if len(rows) > SAMPLE:
            places = np.sort(self.rng().choice(len(rows), SAMPLE, replace=False))
            rows = [rows[place] for place in places]
        return rows

    @cached_property
    def chosen(self) -> list[DataRow]:
        """The rows of `chosen_places`."""
        return [row for _place, row in self.chosen_places]

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The most frequent labels, at most `MOST_CLASSES`, sorted; none where rows have no labels."""
        counted = [name for name, _count in self.profile.labels.most_common(MOST_CLASSES + 1) if name != OTHER]
        return tuple(sorted(counted[:MOST_CLASSES])) if len(counted) > 1 else ()

    @cached_property
    def sample(self) -> RoundSample:
        """The chosen rows as measures of rounds take them; each row counts as a writer of its own."""
        names = self.profile.columns.texts
        rows = [
            SampledExample(place, dict(zip(names, row.texts, strict=True)), label=row.label or None)
            for place, row in enumerate(self.chosen)
        ]
        fields = {name: name for name in names}
        return RoundSample(tuple(rows), self.profile.rows, fields, self.label_names, embed=self.embed, seed=self.seed)

    @cached_property
    def embedded_places(self) -> list[tuple[int, DataRow]]:
        """The rows that have vectors, with their places: up to `EMBEDDED` of the chosen ones with text, at random."""
        rows = [(place, row) for place, row in self.chosen_places if whole_text(row)]
        if len(rows) > EMBEDDED:
            places = np.sort(self.rng().permutation(len(rows))[:EMBEDDED])
            rows = [rows[place] for place in places]
        return rows

    @cached_property
    def embedded(self) -> list[DataRow]:
        """The rows of `embedded_places`."""
        return [row for _place, row in self.embedded_places]

    @cached_property
    def vectors(self) -> Floats | None:
        """Unit vectors of the embedded rows, shape (n, width); None without an encoder or with fewer than 20 rows."""
        if self.embed is None or len(self.embedded) < 20:
            return None
        return unit_vectors(self.embed([whole_text(row) for row in self.embedded]))


def whole_text(row: DataRow) -> str:
    """Return all texts of a row as one."""
    return "\n".join(text.strip() for text in row.texts if text.strip())


def excerpt(text: str, length: int = 200) -> str:
    """Return the beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def unit_vectors(vectors: Floats) -> Floats:
    """Return rows scaled to length 1; rows of zeros stay."""
    scaled: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled
