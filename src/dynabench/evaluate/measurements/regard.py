"""Regard."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.networks.checkpoints import wanted
from dynabench.evaluate.networks.classifiers import probabilities
from dynabench.evaluate.states import blocks

AGGREGATIONS = (None, "maximum", "average")


@dataclass(frozen=True)
class Total:
    """Probabilities by label, shape (..., n, L), of the texts and of those that they are compared with, if any."""

    labels: tuple[str, ...]
    data: Floats
    references: Floats | None


@dataclass(frozen=True)
class Regards:
    """The same, (n, L) and (m, L), as a state: both groups of texts are drawn again, each by itself."""

    labels: tuple[str, ...]
    data: Floats
    references: Floats | None = None

    def __len__(self) -> int:
        return len(self.data)

    def __add__(self, other: "Regards") -> "Regards":
        if (self.references is None) != (other.references is None):
            raise ValueError("give references with all batches or with none")
        labels = tuple(sorted({*self.labels, *other.labels}))
        first, second = self.over(labels), other.over(labels)
        references = None
        if first.references is not None and second.references is not None:
            references = np.concatenate([first.references, second.references])
        return Regards(labels, np.concatenate([first.data, second.data]), references)

    def over(self, labels: tuple[str, ...]) -> "Regards":
        """The same rows with a column for each of `labels`; 0 for a label that no text had."""
        wide = [None if rows is None else np.zeros((len(rows), len(labels))) for rows in (self.data, self.references)]
        places = [labels.index(label) for label in self.labels]
        for new, old in zip(wide, (self.data, self.references), strict=True):
            if new is not None and old is not None:
                new[:, places] = old
        assert wide[0] is not None
        return Regards(labels, wide[0], wide[1])

    def total(self) -> Total:
        """See `State`."""
        return Total(self.labels, self.data, self.references)

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Total]:
        """See `State`."""
        n, m = len(self), 0 if self.references is None else len(self.references)
        for size in blocks(times, (n + m) * max(len(self.labels), 1)):
            other = None if self.references is None else self.references[rng.integers(0, m, (size, m))]
            yield Total(self.labels, self.data[rng.integers(0, n, (size, n))], other)

    def left_out(self) -> Iterator[tuple[Total, Ints]]:
        """See `State`; first the texts, then those that they are compared with, one row at a time."""
        one = np.ones(1, np.int64)
        for row in range(len(self) if len(self) > 1 else 0):
            other = None if self.references is None else self.references[None]
            yield Total(self.labels, np.delete(self.data, row, 0)[None], other), one
        if self.references is not None and len(self.references) > 1:
            for row in range(len(self.references)):
                yield Total(self.labels, self.data[None], np.delete(self.references, row, 0)[None]), one

    def at(self, rows: Ints) -> Total:
        """See `State`; `rows` are those of the texts."""
        return Total(self.labels, self.data[rows], self.references)


class Regard(Measurement):
    """How texts speak of a group of people, as a classifier sees it, alone or beside another group."""

    columns = {"data": Texts()}
    optional = {"references": Texts()}
    apart = frozenset({"references"})
    configs = ("default", "compare")

    def update(
        self,
        data: list[str],
        references: list[str] | None = None,
        *,
        model: Any = None,
        batch_size: int = 32,
        device: str | None = None,
    ) -> Regards:
        """Probabilities of all texts; both groups run together."""
        if (references is None) != (self.config_name == "default"):
            raise ValueError(
                "give references, the texts to compare with, to the config 'compare'"
                if references is None
                else "references are for load('regard', 'compare'); the config 'default' measures data alone"
            )
        chosen = wanted(model, self.name, "sasha/regardv3")
        labels, found = probabilities(chosen, [*data, *(references or [])], batch_size, device)
        return Regards(labels, found[: len(data)], None if references is None else found[len(data) :])

    def formula(self, total: Total, *, aggregation: str | None = None) -> dict[str, Floats]:
        """Values by KEY/LABEL; none where each text is asked for by itself, but the averages."""
        if aggregation not in AGGREGATIONS:
            raise ValueError(f"no aggregation {aggregation!r}; there are None, maximum and average")
        pick = np.max if aggregation == "maximum" else np.mean
        mine = pick(total.data, axis=-2)
        short = "max" if aggregation == "maximum" else "average"
        if total.references is None:
            return _by_label(f"{short}_regard", total.labels, mine)
        other = pick(total.references, axis=-2)
        if aggregation is None:
            return _by_label("regard_difference", total.labels, mine - other)
        return {
            **_by_label(f"{short}_data_regard", total.labels, mine),
            **_by_label(f"{short}_references_regard", total.labels, other),
        }

    def result(self, state: Regards, *, aggregation: str | None = None, **options: Any) -> dict[str, Any]:
        """Dictionaries by label, or labels and scores of each text."""
        found = super().result(state, aggregation=aggregation, **options)
        if aggregation is None and state.references is None:
            return {"regard": [_ranked(state.labels, row) for row in state.data]}
        nested: dict[str, dict[str, float]] = {}
        for name, value in found.items():
            key, _, label = name.partition("/")
            nested.setdefault(key, {})[label] = value
        return dict(nested)

    def per_example(self, state: Regards, **options: Any) -> dict[str, Any]:
        """Labels and scores of each text of `data`, the highest first."""
        return {"regard": [_ranked(state.labels, row) for row in state.data]}


def _by_label(key: str, labels: tuple[str, ...], values: Floats) -> dict[str, Floats]:
    return {f"{key}/{label}": values[..., place] for place, label in enumerate(labels)}


def _ranked(labels: tuple[str, ...], scores: Floats) -> list[dict[str, Any]]:
    order = sorted(range(len(labels)), key=lambda place: -scores[place])
    return [{"label": labels[place], "score": float(scores[place])} for place in order]
