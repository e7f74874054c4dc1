"""Linear models over counted terms, as scikit-learn fits them, stored without pickle and served without scikit-learn.

`model.yaml` says how texts become terms; `terms.json` lists each vectoriser's terms in the order of their columns;
`linear.safetensors` holds `weights` (terms of all vectorisers, K), `intercept` (K,) and `idf.N` (terms of the Nth
vectoriser,) in 64 bits, with K the labels, or 1 for the second of two. `dynabench.models.fitted.save` writes a folder.
"""

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends.alone import Alone
from dynabench.models.backends.base import softmax
from dynabench.models.backends.terms import NOBODY, Terms, Vectoriser
from dynabench.models.protocol import Attribution, Card, Inputs, Output, WordWeight
from dynabench.models.words import Word, words

WEIGHTS, TERMS = "linear.safetensors", "terms.json"

Array = NDArray[np.float64]


class Options(BaseModel):
    """Options of a linear model: how it reads texts and how it answers."""

    model_config = ConfigDict(extra="forbid")

    vectorisers: list[Vectoriser] = Field(min_length=1, max_length=16)
    probabilities: Literal["softmax", "logistic", "huber", "none"] = Field(
        "none",
        description="From decisions to probabilities: softmax of several labels, logistic of each against the rest, "
        "modified Huber's, or none, where a model such as a support vector machine has none.",
    )


class LinearModel(Alone):
    """`decisions = amounts @ weights + intercept`; the label with the largest decision is the answer."""

    def __init__(self, card: Card, options: Options, terms: Sequence[Terms], weights: Array, intercept: Array) -> None:
        super().__init__(card)
        self._options, self._terms, self._weights, self._intercept = options, terms, weights, intercept
        self._first = [0, *accumulate(len(each.column) for each in terms)]
        k = len(card.labels)
        self._sides = np.array([[-1.0, 1.0]]) if len(intercept) == 1 else np.eye(k)
        """Of two labels, what speaks for the second speaks against the first; shape (K, labels)."""

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder; raises `Invalid` when it is broken."""
        details, card = spec.read(folder), spec.card(folder)
        options = Options.model_validate(details.options)
        strangers = sorted({name for each in options.vectorisers for name in each.fields} - set(card.inputs))
        if strangers:
            raise Invalid({"options.vectorisers": f"{', '.join(strangers)} are no inputs of the model."})
        listed, arrays = _terms(folder / TERMS, len(options.vectorisers)), _arrays(folder / WEIGHTS)
        terms = [
            Terms(how, {term: at for at, term in enumerate(own)}, arrays.get(f"idf.{number}") if how.idf else None)
            for number, (how, own) in enumerate(zip(options.vectorisers, listed, strict=True))
        ]
        weights, intercept = arrays.get("weights", np.zeros(0)), arrays.get("intercept", np.zeros(0))
        _check(card, options, listed, arrays)
        return cls(card, options, terms, weights, intercept)

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order."""
        return [self._said(self.decisions(self.prepare(inputs).inputs)) for inputs in batch]

    def decisions(self, inputs: Inputs) -> Array:
        """Return how strongly the model favours each label, shape (labels,)."""
        found = self._intercept.copy()
        for first, terms in zip(self._first, self._terms, strict=False):
            columns, amounts = terms.amounts(terms.counts(terms.joined(inputs)))
            found += amounts @ self._weights[first + columns]
        return np.asarray(found @ self._sides)

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Each word's share of the label's decision minus the mean of the other labels' decisions.

        The baseline is a text without terms, where only the intercept speaks; the shares add up exactly, but for terms
        of space alone in a text without any word.
        """
        if label not in self.card.labels:
            raise Invalid({"label": f"One of {', '.join(self.card.labels)}."})
        if method not in self.card.methods:
            raise Invalid({"method": f"One of {', '.join(self.card.methods)}."})
        texts = self.prepare(inputs).inputs
        contrast = np.full(len(self.card.labels), -1 / (len(self.card.labels) - 1))
        contrast[self.card.labels.index(label)] = 1.0
        found = {name: list(words(texts[name])) for name in self.card.inputs}
        sums = np.zeros(sum(map(len, found.values())))
        worth = self._weights @ (self._sides @ contrast)
        for first, last, terms in zip(self._first, self._first[1:], self._terms, strict=False):
            owner = _owners(terms, texts, found)
            terms.shares(terms.joined(texts), worth[first:last], owner, sums)
        difference = float((self.decisions(texts) - self._intercept @ self._sides) @ contrast)
        error = abs(float(sums.sum()) - difference) / max(abs(difference), 1e-6)
        return Attribution("exact", label, _fields(found, sums), round(error, 6))

    def _said(self, decisions: Array) -> Output:
        answer = {self.card.answer: self.card.labels[int(np.argmax(decisions))]}
        known = _probabilities(decisions, self._options.probabilities)
        if known is None:
            return Output(answer)
        return Output(answer, {label: round(float(p), 6) for label, p in zip(self.card.labels, known, strict=True)})


def _probabilities(decisions: Array, how: str) -> Array | None:
    """As scikit-learn has them: of labels told apart one against the rest, each label's probability, made to sum to 1
    (Zadrozny and Elkan, KDD 2002), even where all are 0.
    """
    if how == "none":
        return None
    if how == "softmax":
        return softmax(decisions)
    each = (np.clip(decisions, -1, 1) + 1) / 2 if how == "huber" else np.exp(-np.logaddexp(0, -decisions))
    total = each.sum()
    return np.asarray(each / total) if total else np.full(len(each), 1 / len(each))


def _terms(path: Path, count: int) -> list[list[str]]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Invalid({TERMS: f"It cannot be read: {error}"}) from error
    fits = isinstance(listed, list) and len(listed) == count and all(isinstance(own, list) for own in listed)
    if not fits or not all(isinstance(term, str) for own in listed for term in own):
        raise Invalid({TERMS: f"It is a list with {count} lists of terms, one for each vectoriser."})
    if any(len(set(own)) < len(own) for own in listed):
        raise Invalid({TERMS: "A term is listed twice."})
    return listed  # type: ignore[no-any-return]


def _arrays(path: Path) -> dict[str, Array]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return {name: np.asarray(array, float) for name, array in load_file(path).items()}
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise Invalid({WEIGHTS: f"It cannot be read: {error}"}) from error


def _check(card: Card, options: Options, listed: Sequence[Sequence[str]], arrays: dict[str, Array]) -> None:
    """Raise `Invalid` where arrays lack, are of another shape than terms and labels ask for, or hold no numbers."""
    k = len(card.labels)
    alone = k == 2 and "intercept" in arrays and arrays["intercept"].shape == (1,)
    wanted: dict[str, tuple[int, ...]] = {"weights": (sum(map(len, listed)), 1 if alone else k)}
    wanted["intercept"] = wanted["weights"][1:]
    for number, (how, own) in enumerate(zip(options.vectorisers, listed, strict=True)):
        wanted |= {f"idf.{number}": (len(own),)} if how.idf else {}
    for name, shape in wanted.items():
        given = arrays[name].shape if name in arrays else "nothing"
        if given != shape:
            raise Invalid({WEIGHTS: f"{name} is {given} where {shape} is needed."})
        if not np.isfinite(arrays[name]).all():
            raise Invalid({WEIGHTS: f"{name} holds what is no number (NaN or infinite)."})


def _owners(terms: Terms, texts: Inputs, found: dict[str, list[Word]]) -> list[int]:
    """The word of each character of the joined text, counted over all fields; space goes to the word before it."""
    offset = dict(zip(found, accumulate(map(len, found.values()), initial=0), strict=False))
    owner: list[int] = []
    for name in terms.how.fields:
        if name != terms.how.fields[0]:
            owner += [NOBODY] * len(terms.how.separator)
        start = len(owner)
        owner += [NOBODY] * len(texts[name])
        for number, word in enumerate(found[name], offset[name]):
            owner[start + word.start : start + word.end] = [number] * (word.end - word.start)
    known = next((number for number in owner if number != NOBODY), NOBODY)
    for at, number in enumerate(owner):
        known = known if number == NOBODY else number
        owner[at] = known
    return owner


def _fields(found: dict[str, list[Word]], sums: Array) -> dict[str, list[WordWeight]]:
    shares = iter(sums / (float(np.abs(sums).max(initial=0.0)) or 1.0))
    return {
        name: [WordWeight(word.text, word.start, word.end, float(next(shares))) for word in own]
        for name, own in found.items()
    }


def write(folder: Path, terms: Sequence[Sequence[str]], arrays: dict[str, Any]) -> None:
    """Write terms and arrays as the module's description has them."""
    from safetensors.numpy import save_file

    (folder / TERMS).write_text(json.dumps([list(own) for own in terms], indent=0) + "\n", encoding="utf-8")
    save_file({name: np.ascontiguousarray(array, np.float64) for name, array in arrays.items()}, folder / WEIGHTS)
