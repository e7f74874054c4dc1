"""One pass over data of any size: counts in bounded memory, and a random sample for all that needs whole texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from dynabench.insight.data_measurements.sample import words
from dynabench.insight.data_reports.sources import DataColumns, DataRow, DataSource, Progress
from dynabench.stats.streams import FrequentItems, HashList, Reservoir, stable_hash

BATCH = 1_000
VOCABULARY = 400_000
"""Words whose counts are kept; twice as many while reading."""
COMPANIONS = 20_000
"""Words that are counted beside each identity term."""
SAMPLED = 50_000
"""Rows whose texts are kept, drawn at random."""
LONGEST = 4_000
"""Characters of a text that are kept."""
LABELS, SPLITS, TAGS = 10_000, 50, 10_000
"""Labels, splits and tags that are counted; further ones count as `OTHER`."""
OTHER = "…"


@dataclass
class LengthCounts:
    """Numbers of texts of each length, in words and in characters; `empty` ones have no word."""

    words: Counter[int] = field(default_factory=Counter)
    characters: Counter[int] = field(default_factory=Counter)
    empty: int = 0


@dataclass
class LengthMoments:
    """Number, sum and sum of squares of values."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        """Take a value."""
        self.n, self.total, self.squares = self.n + 1, self.total + value, self.squares + value * value

    @property
    def mean(self) -> float:
        """Return the mean, 0 without values."""
        return self.total / self.n if self.n else 0.0

    @property
    def deviation(self) -> float:
        """Return the sample standard deviation, 0 for fewer than two values."""
        return sqrt(max(self.squares - self.n * self.mean**2, 0) / (self.n - 1)) if self.n > 1 else 0.0


class BoundedCounts(Counter[str]):
    """Counts of the first `limit` different names; further ones count as `OTHER`."""

    def __init__(self, limit: int = LABELS) -> None:
        super().__init__()
        self.limit = limit

    def take(self, name: str) -> str:
        """Count a name and return the one that it counts as."""
        counted = name if name in self or len(self) < self.limit else OTHER
        self[counted] += 1
        return counted


class DataProfile:
    """All counts of one pass over rows with these columns; `terms` are the identity terms that are looked for."""

    def __init__(self, columns: DataColumns, terms: Sequence[str], seed: int = 0) -> None:
        self.columns, self.terms = columns, frozenset(terms)
        self.rows = self.unreadable = 0
        self.lengths = {name: LengthCounts() for name in columns.texts}
        self.by_label: dict[str, LengthMoments] = {}
        self.labels, self.splits = BoundedCounts(LABELS), BoundedCounts(SPLITS)
        self.groups, self.tags = BoundedCounts(LABELS), BoundedCounts(TAGS)
        self.words, self.documents = FrequentItems(VOCABULARY), FrequentItems(VOCABULARY)
        self.term_rows: Counter[str] = Counter()
        self.pair_rows: Counter[tuple[str, str]] = Counter()
        self.companions = {term: FrequentItems(COMPANIONS) for term in sorted(self.terms)}
        self.pair_companions: dict[tuple[str, str], FrequentItems] = {}
        self.hashes, self._split_codes = HashList(), list[NDArray[np.int8]]()
        self.reservoir: Reservoir[DataRow] = Reservoir(SAMPLED, seed)

    def read(self, source: DataSource, tell: Progress = lambda done, total: None) -> "DataProfile":
        """Count all rows of a source."""
        rows = self._rows(source, tell)
        while batch := list(islice(rows, BATCH)):
            self.add(batch)
        return self

    def add(self, rows: Sequence[DataRow]) -> None:
        """Count some rows."""
        self.rows += len(rows)
        by_column = [[words(row.texts[place]) for row in rows] for place in range(len(self.columns.texts))]
        tokens = by_column[0]
        if len(by_column) > 1:
            tokens = [list(chain.from_iterable(parts)) for parts in zip(*by_column, strict=True)]
        for counts, token_lists, place in zip(self.lengths.values(), by_column, range(len(by_column)), strict=True):
            counts.words.update(map(len, token_lists))
            counts.characters.update(len(row.texts[place]) for row in rows)
            counts.empty += sum(not row.texts[place].strip() for row in rows)
        for row, row_tokens in zip(rows, tokens, strict=True):
            if row.label and (row.label in self.by_label or len(self.by_label) < SPLITS):
                self.by_label.setdefault(row.label, LengthMoments()).add(len(row_tokens))
            if row.tags:
                self.tags.update(tag if tag in self.tags or len(self.tags) < TAGS else OTHER for tag in row.tags)
        self.words.add(Counter(chain.from_iterable(tokens)))
        sets = [set(row_tokens) for row_tokens in tokens]
        self.documents.add(Counter(chain.from_iterable(sets)))
        for held in sets:
            if present := self.terms & held:
                self._count_companions(sorted(present), held)
        self._count_copies(rows)
        self.reservoir.add(map(_shorten, rows))

    @property
    def split_codes(self) -> NDArray[np.int8]:
        """The place of each row's split among `splits`, shape (n,)."""
        return np.concatenate(self._split_codes) if self._split_codes else np.zeros(0, np.int8)

    def _rows(self, source: DataSource, tell: Progress) -> Iterator[DataRow]:
        for row, split in source.rows(tell):
            if row.values is None:
                self.unreadable += 1
                continue
            yield self.columns.row(row.values, split)

    def _count_companions(self, present: Sequence[str], held: set[str]) -> None:
        self.term_rows.update(present)
        ones = dict.fromkeys(held, 1)
        for term in present:
            self.companions[term].add(ones)
        for pair in combinations(present, 2):
            self.pair_rows[pair] += 1
            self.pair_companions.setdefault(pair, FrequentItems(COMPANIONS // 4)).add(ones)

    def _count_copies(self, rows: Sequence[DataRow]) -> None:
        labels = [self.labels.take(row.label) if row.label else "" for row in rows]
        for row in rows:
            if row.group:
                self.groups.take(row.group)
        code_of = {label: stable_hash(label) & 0x7FFFFFFF if label else -1 for label in set(labels)}
        codes = [code_of[label] for label in labels]
        self.hashes.add([text_hash(row) for row in rows], codes)
        names = [self.splits.take(row.split) if row.split else "" for row in rows]
        places = {name: place for place, name in enumerate(self.splits)}
        self._split_codes.append(np.array([places.get(name, -1) for name in names], np.int8))


def text_hash(row: DataRow) -> int:
    """Return the hash by which exact copies are known: of all texts, without spaces at their ends."""
    return stable_hash("\x1f".join(map(str.strip, row.texts)))


def _shorten(row: DataRow) -> DataRow:
    if all(len(text) <= LONGEST for text in row.texts):
        return row
    return row._replace(texts=tuple(text[:LONGEST] for text in row.texts))
