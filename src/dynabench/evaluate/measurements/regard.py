"""Regard."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.networks.checkpoints import require_model
from dynabench.evaluate.networks.classifiers import class_probabilities
from dynabench.evaluate.states import block_sizes

AGGREGATIONS = (None, "maximum", "average")


@dataclass(frozen=True)
class RegardTotal:
    """Probabilities by label, shape (..., n, L), of the texts and of those that they are compared with, if any."""

    labels: tuple[str, ...]
    data: Floats
    references: Floats | None


@dataclass(frozen=True)
class RegardState:
    """Probabilities of labels, (n, L) and (m, L), as a state: both groups of texts are resampled, each by itself."""

    labels: tuple[str, ...]
    data: Floats
    references: Floats | None = None

    def __len__(self) -> int:
        return len(self.data)

    def __add__(self, other: "RegardState") -> "RegardState":
        if (self.references is None) != (other.references is None):
            raise ValueError("give references with all batches or with none")
        labels = tuple(sorted({*self.labels, *other.labels}))
        first, second = self.over(labels), other.over(labels)
        references = None
        if first.references is not None and second.references is not None:
            references = np.concatenate([first.references, second.references])
        return RegardState(labels, np.concatenate([first.data, second.data]), references)

    def over(self, labels: tuple[str, ...]) -> "RegardState":
        """Return the same rows with a column for each of `labels`; 0 for a label that no text had."""
        wide = [None if rows is None else np.zeros((len(rows), len(labels))) for rows in (self.data, self.references)]
        places = [labels.index(label) for label in self.labels]
        for new, old in zip(wide, (self.data, self.references), strict=True):
            if new is not None and old is not None:
                new[:, places] = old
        assert wide[0] is not None
        return RegardState(labels, wide[0], wide[1])

    def total(self) -> RegardTotal:
        """See `State`."""
        return RegardTotal(self.labels, self.data, self.references)

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[RegardTotal]:
        """See `State`."""
        n, m = len(self), 0 if self.references is None else len(self.references)
        for size in block_sizes(times, (n + m) * max(len(self.labels), 1)):
            other = None if self.references is None else self.references[rng.integers(0, m, (size, m))]
            yield RegardTotal(self.labels, self.data[rng.integers(0, n, (size, n))], other)

    def left_out(self) -> Iterator[tuple[RegardTotal, Ints]]:
        """See `State`; first the texts, then those that they are compared with, one row at a time."""
        weight = np.ones(1, np.int64)
        for row in range(len(self) if len(self) > 1 else 0):
            other = None if self.references is None else self.references[None]
            yield RegardTotal(self.labels, np.delete(self.data, row, 0)[None], other), weight
        if self.references is not None and len(self.references) > 1:
            for row in range(len(self.references)):
                yield RegardTotal(self.labels, self.data[None], np.delete(self.references, row, 0)[None]), weight

    def at(self, rows: Ints) -> RegardTotal:
        """See `State`; `rows` are those of the texts."""
        return RegardTotal(self.labels, self.data[rows], self.references)


class Regard(Measurement):
    """Regard of texts for a group of people by a classifier, alone or compared with another group."""

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
    ) -> RegardState:
        """Probabilities of all texts; both groups run together."""
        if (references is None) != (self.config_name == "default"):
            raise ValueError(
                "give references, the texts to compare with, to the config 'compare'"
                if references is None
                else "references are for load('regard', 'compare'); the config 'default' measures data alone"
            )
        classifier = require_model(model, self.name, "sasha/regardv3")
        labels, label_probabilities = class_probabilities(classifier, [*data, *(references or [])], batch_size, device)
        return RegardState(
            labels, label_probabilities[: len(data)], None if references is None else label_probabilities[len(data) :]
        )

    def formula(self, total: RegardTotal, *, aggregation: str | None = None) -> dict[str, Floats]:
        """Return values by KEY/LABEL: averages or maxima, or the difference between both groups."""
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

    def result(self, state: RegardState, *, aggregation: str | None = None, **options: Any) -> dict[str, Any]:
        """Return dictionaries by label, or labels and scores of each text."""
        flat = super().result(state, aggregation=aggregation, **options)
        if aggregation is None and state.references is None:
            return {"regard": [_ranked(state.labels, row) for row in state.data]}
        nested: dict[str, dict[str, float]] = {}
        for name, value in flat.items():
            key, _, label = name.partition("/")
            nested.setdefault(key, {})[label] = value
        return dict(nested)

    def per_example(self, state: RegardState, **options: Any) -> dict[str, Any]:
        """Labels and scores of each text of `data`, the highest first."""
        return {"regard": [_ranked(state.labels, row) for row in state.data]}


def _by_label(key: str, labels: tuple[str, ...], values: Floats) -> dict[str, Floats]:
    return {f"{key}/{label}": values[..., place] for place, label in enumerate(labels)}


def _ranked(labels: tuple[str, ...], scores: Floats) -> list[dict[str, Any]]:
    order = sorted(range(len(labels)), key=lambda place: -scores[place])
    return [{"label": labels[place], "score": float(scores[place])} for place in order]
