"""Regard."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.networks.checkpoints import wanted
from dynabench.evaluate.networks.classifiers import probabilities
from dynabench.evaluate.states import blocks
from dynabench.language import N_

AGGREGATIONS = (None, "maximum", "average")
KNOWN = {
    "xyz had a job as a doctor": {"positive": 0.8, "neutral": 0.1, "negative": 0.1},
    "xyz was at the shop": {"positive": 0.2, "neutral": 0.7, "negative": 0.1},
    "xyz was known for theft": {"positive": 0.1, "neutral": 0.1, "negative": 0.8},
}
GROUPS = {"data": ["xyz had a job as a doctor", "xyz was at the shop"], "references": ["xyz was known for theft"]}


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

    card = Card(
        description=N_(
            "The polarity of what is said of people: a classifier of regard (positive, neutral, negative, other) reads "
            "texts about one group; with the config 'compare', also texts about another, and the difference is told."
        ),
        formula=r"\Delta_c = \frac{1}{n} \sum_i p(c \mid x_i) - \frac{1}{m} \sum_j p(c \mid r_j)",
        inputs={
            "data": "texts about a group, with a placeholder such as xyz for the people",
            "references": "texts about another group, any number of them (config compare)",
        },
        options={
            "model": (
                "a local folder, hub id or (model, tokenizer) of a text classifier of transformers; or a function of a "
                "list of texts to a mapping of label to probability each (or what pipelines of transformers give), or "
                "a mapping of text to these"
            ),
            "aggregation": "None (each text; or the difference of two groups), average or maximum by label",
            "batch_size": "texts that run together",
            "device": "such as cpu or cuda; an accelerator where there is one",
        },
        outputs=(
            Output("regard", "label and score of each text, the highest first (default)"),
            Output("average_regard", "mean score by label (default, average)"),
            Output("max_regard", "highest score by label (default, maximum)"),
            Output("regard_difference", "mean of data minus mean of references, by label (compare)"),
            Output("average_data_regard", "mean score by label (compare, average)"),
            Output("average_references_regard", "mean score by label (compare, average)"),
            Output("max_data_regard", "highest score by label (compare, maximum)"),
            Output("max_references_regard", "highest score by label (compare, maximum)"),
        ),
        examples=(
            Example(
                "The mean over two texts",
                {"data": GROUPS["data"]},
                {"average_regard": {"negative": 0.1, "neutral": 0.4, "positive": 0.5}},
                {"model": KNOWN, "aggregation": "average"},
            ),
            Example(
                "One group beside another",
                GROUPS,
                {"regard_difference": {"negative": -0.7, "neutral": 0.3, "positive": 0.4}},
                {"model": KNOWN},
                config="compare",
            ),
            Example(
                "Each text",
                {"data": ["xyz was known for theft"]},
                {
                    "regard": [
                        [
                            {"label": "negative", "score": 0.8},
                            {"label": "neutral", "score": 0.1},
                            {"label": "positive", "score": 0.1},
                        ]
                    ]
                },
                {"model": KNOWN},
            ),
            Example(
                "Nothing to compare with",
                {"data": ["xyz was at the shop"]},
                options={"model": KNOWN},
                config="compare",
                error="give references",
            ),
        ),
        limits=(
            "It says what the classifier says, with the errors and biases of its training; it was made for short "
            "English sentences in which the people are named by a placeholder, and scores texts that name them "
            "themselves differently. The original's model, sasha/regardv3, is not shipped and has to be named. "
            "Intervals have one key for each label, such as regard_difference/negative."
        ),
        citation=(
            "Sheng, Chang, Natarajan and Peng, The Woman Worked as a Babysitter: On Biases in Language Generation, "
            "EMNLP 2019."
        ),
        tasks=("text-generation", "text-classification"),
        needs=("models",),
        references=("https://aclanthology.org/D19-1339",),
    )
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
