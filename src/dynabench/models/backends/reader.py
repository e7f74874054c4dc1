"""Questions of any kind about a passage: an extractor and a yes/no classifier asked, their answers weighed and joined.

An answer is one text: words of the passage, several parted by `; `, a number, `yes`, `no`, or `unanswerable`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.backends import evidence
from dynabench.models.backends.alone import Alone
from dynabench.models.backends.ngram import NgramModel
from dynabench.models.backends.spans import Span, best, likeliest, ranked
from dynabench.models.protocol import Card, Inputs, Output

if TYPE_CHECKING:
    from dynabench.models.backends.extractor import ExtractorModel, Found

FILE = "reader.json"
NONE = "unanswerable"
APART = "; "
YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?\b(?!.*\bor\b)",
    re.IGNORECASE,
)
COUNT = re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE)
SEVERAL = re.compile(r"\b(?:what|which|who|name|list)\b.{0,40}?\b(two|three|four|five|six|both|[2-6])\b", re.IGNORECASE)
COMMON = 0.5
"""Share of the words of a yes/no question that the passage has at least, where the answer is there."""
JOINTS = re.compile(r"\s*(?:,\s*(?:and|or)\b|,|;|\band\b|\bor\b)\s*")


class Options(BaseModel):
    """Options of a reader: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    members: list[str] = Field(
        min_length=2, max_length=2, description="NAME@VERSION of an extractor, and of a classifier of yes and no."
    )


class Weights(BaseModel):
    """The content of `reader.json`: a logistic regression over `evidence.NAMES`, with a threshold.

    The reader gives no answer where the probability of having none is above the threshold.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    mean: list[float] = Field(min_length=len(evidence.NAMES), max_length=len(evidence.NAMES))
    scale: list[float] = Field(min_length=len(evidence.NAMES), max_length=len(evidence.NAMES))
    weight: list[float] = Field(min_length=len(evidence.NAMES), max_length=len(evidence.NAMES))
    bias: float
    threshold: float = Field(ge=0, le=1, description="Unanswerable where that is more probable than this.")


class ReaderModel(Alone):
    """Reads a question and a passage, in this order."""

    def __init__(self, card: Card, extractor: "ExtractorModel", decider: NgramModel, weights: Weights) -> None:
        super().__init__(card)
        self._extractor, self._decider, self._weights = extractor, decider, weights

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder and its two members; raises `Invalid` when something is missing or broken."""
        from dynabench.models.backends.extractor import (
            ExtractorModel,
        )  # with torch, which listing models need not import

        card, options = spec.card(folder), Options.model_validate(spec.read(folder).options)
        if card.returns != "text" or len(card.inputs) != 2:
            raise Invalid({"returns": "A reader has two inputs, question and passage, and returns text."})
        try:
            weights = Weights.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            raise Invalid({FILE: f"It cannot be read: {error}"}) from error
        if min(weights.scale) <= 0:
            raise Invalid({FILE: "Scales are above 0."})
        extractor = _member(card, options.members[0], bulk)
        try:
            decider = _member(card, options.members[1], bulk)
            if not isinstance(extractor, ExtractorModel) or not isinstance(decider, NgramModel):
                raise Invalid({"members": "They are an extractor, then an n-gram model."})
            if set(decider.card.labels) != {"yes", "no"}:
                raise Invalid(
                    {"members": f"{decider.card.name} says {', '.join(decider.card.labels)}, not yes and no."}
                )
        except Invalid:
            extractor.close()
            raise
        return cls(card, extractor, decider, weights)

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order."""
        asked, given = self.card.inputs
        decided = [place for place, inputs in enumerate(batch) if YES_NO.match(inputs[asked].strip())]
        said = dict(zip(decided, self._decide([batch[place] for place in decided]), strict=True))
        rest = [place for place in range(len(batch)) if place not in said]
        found = self._extractor.candidates([batch[place] for place in rest])
        for place, each in zip(rest, found, strict=True):
            said[place] = self._extracted(batch[place][asked], batch[place][given], each)
        return [said[place] for place in range(len(batch))]

    def close(self) -> None:
        """Close the members."""
        self._extractor.close()
        self._decider.close()

    def _decide(self, batch: Sequence[Inputs]) -> list[Output]:
        """Yes or no; unanswerable where the passage lacks most of the question's words."""
        asked, given = self.card.inputs
        made = []
        for inputs, output in zip(batch, self._decider.predict(batch), strict=True):
            known = evidence.found_share(inputs[asked], inputs[given]) >= COMMON
            answer = output.answer[self._decider.card.answer] if known else NONE
            made.append(Output({self.card.answer: answer}, output.probabilities if known else None))
        return made

    def _extracted(self, question: str, passage: str, found: "Found") -> Output:
        """The best words of the passage, unless the evidence is against them."""
        if not found.spans:
            return Output({self.card.answer: NONE}, {NONE: 1.0})
        none = self.unanswerable(evidence.of(question, passage, found.spans, found.strength))
        chances = {
            text: round((1 - none) * chance, 6) for text, chance in likeliest(found.spans, best(found.spans)).items()
        }
        chances[NONE] = round(none, 6)
        answer = NONE if none > self._weights.threshold else answered(question, found)
        return Output({self.card.answer: answer}, chances)

    def unanswerable(self, numbers: np.ndarray) -> float:
        """Return the probability that the passage has no answer."""
        own = self._weights
        scaled = (numbers - np.array(own.mean)) / np.array(own.scale)
        return float(1 / (1 + np.exp(-(scaled @ np.array(own.weight) + own.bias))))


def answered(question: str, found: "Found") -> str:
    """The best answer in the form that the question asks for: a number, several things, or words of the passage."""
    texts = [group[0].text for _, group in ranked(found.spans)]
    if COUNT.search(question):
        counted = next((text for text in texts[:5] if evidence.NUMBER.search(text)), None)
        return evidence.NUMBER.search(counted)[0] if counted else texts[0]  # type: ignore[index]
    if asked := SEVERAL.search(question):
        wanted = {"both": 2}.get(asked[1].lower()) or evidence.NUMBERS.get(asked[1].lower()) or int(asked[1])
        parts = [part for part in JOINTS.split(texts[0]) if part]
        return APART.join(parts if len(parts) > 1 else _apart(found, wanted))
    return texts[0]


def _apart(found: "Found", wanted: int) -> list[str]:
    """So many of the best answers that share no words, in the order of the passage."""
    taken: list[Span] = []
    for _, (span, *_) in ranked(found.spans):
        if len(taken) < wanted and all(span.end <= other.start or other.end <= span.start for other in taken):
            taken.append(span)
    return [span.text for span in sorted(taken, key=lambda span: span.start)]


def _member(card: Card, reference: str, bulk: bool) -> "ExtractorModel | NgramModel":
    name, _, version = reference.partition("@")
    entry = catalog.entry(name, version)
    if entry.card is None:
        raise Invalid({"members": f"{name} {entry.reason}"})
    if set(entry.card.inputs) != set(card.inputs):
        raise Invalid({"members": f"{name} reads {', '.join(entry.card.inputs)}, not {', '.join(card.inputs)}."})
    model: ExtractorModel | NgramModel = catalog.open_model(entry.folder, bulk)  # type: ignore[assignment]
    return model
