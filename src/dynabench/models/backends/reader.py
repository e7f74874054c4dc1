"""Questions of any kind about a passage: an extractor and a yes/no classifier, and the evidence that joins them."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.backends.base import Alone
from dynabench.models.backends.ngram import NgramModel
from dynabench.models.backends.spans import Span, best, likeliest, ranked
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput

if TYPE_CHECKING:
    from dynabench.models.backends.encoded import ExtractorModel, FoundAnswers


NAMES = (
    *("log_probability", "lead", "strength", "answers", "words_found", "words_missing", "words_beside"),
    *("numbers_missing", "capitals_missing", "negation", "no_person", "no_time", "no_number", "length"),
)
STEM = 5
"""Words that begin with so many common letters count as one."""
SENTENCE = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"[\w'’-]+")
NEGATIONS = frozenset("not never no none neither nor without cannot".split())
NUMBERS = dict(
    zip(
        (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        ).split(),
        range(21),
        strict=True,
    )
)
NUMBER = re.compile(rf"\d[\d,.]*\d|\d|\b(?:{'|'.join(NUMBERS)}|hundred|thousand|million|billion|half)\b", re.IGNORECASE)
SMALL = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been being do does did has have had can "
    "could will would should may might must that this these those it its their his her they he she what which who "
    "whom whose when where why how many much long old often there than then into about after before between during "
    "name called kind type sort one".split()
)


def weigh_evidence(question: str, passage: str, candidates: Sequence[Span], strength: float) -> NDArray[np.float64]:
    """The numbers of `NAMES` (14,) for the best of the `candidates`, of which there is at least one.

    `strength` is the highest sum of start and end logits.
    """
    (_, (chosen, *_)), *_ = texts = ranked(candidates)
    shares = [sum(span.probability for span in group) for _, group in texts]
    others = sorted(shares[1:], reverse=True)
    first = math.log(max(shares[0], 1e-9))
    beside = _sentence(passage, chosen)
    question_stems = _stems(question)
    passage_stems, near = _stems(passage), _stems(beside)
    lacking = [stem for stem in question_stems if stem not in passage_stems]
    names = [word for word in WORD.findall(question)[1:] if word[:1].isupper()]
    opening = question.lower()
    return np.array(
        [
            first,
            first - math.log(max(others[0] if others else 0.0, 1e-9)),
            strength,
            -sum(share * math.log(share) for share in shares if share > 0),
            1 - len(lacking) / max(len(question_stems), 1),
            len(lacking),
            sum(stem in near for stem in question_stems) / max(len(question_stems), 1),
            sum(number not in passage for number in re.findall(r"\d+", question)),
            sum(word.lower()[:STEM] not in passage_stems for word in names),
            float(_negated(question) != _negated(beside)),
            float(bool(re.match(r"who|whom|whose", opening)) and not any(c.isupper() for c in chosen.text)),
            float(bool(re.search(r"\bwhen\b|what year|what date|what day", opening)) and not _timely(chosen.text)),
            float(bool(re.search(r"\bhow (?:many|much|old|long)\b", opening)) and not NUMBER.search(chosen.text)),
            math.log1p(len(chosen.text.split())),
        ]
    )


def found_share(question: str, passage: str) -> float:
    """The share of a question's words that the passage has, from 0 to 1."""
    question_stems, passage_stems = _stems(question), _stems(passage)
    return sum(stem in passage_stems for stem in question_stems) / max(len(question_stems), 1)


def _stems(text: str) -> frozenset[str]:
    bare_words = (word.lower().removesuffix("'s").removesuffix("’s") for word in WORD.findall(text))
    return frozenset(word[:STEM] for word in bare_words if word not in SMALL)


def _negated(text: str) -> bool:
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in WORD.findall(text.lower()))


def _timely(text: str) -> bool:
    return bool(re.search(r"\d|day|month|year|century|decade|spring|summer|autumn|fall|winter|war", text.lower()))


def _sentence(passage: str, chosen: Span) -> str:
    """The sentence in which an answer begins."""
    ends = [match.end() for match in SENTENCE.finditer(passage)]
    start = max((end for end in ends if end <= chosen.start), default=0)
    return passage[start : min((end for end in ends if end > chosen.start), default=len(passage))]


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


class ReaderOptions(BaseModel):
    """Options of a reader: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    members: list[str] = Field(
        min_length=2, max_length=2, description="NAME@VERSION of an extractor, and of a classifier of yes and no."
    )


class ReaderWeights(BaseModel):
    """The content of `reader.json`: a logistic regression over `evidence.NAMES`, with a threshold.

    The reader gives no answer where the probability of having none is above the threshold.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    mean: list[float] = Field(min_length=len(NAMES), max_length=len(NAMES))
    scale: list[float] = Field(min_length=len(NAMES), max_length=len(NAMES))
    weight: list[float] = Field(min_length=len(NAMES), max_length=len(NAMES))
    bias: float
    threshold: float = Field(ge=0, le=1, description="Unanswerable where that is more probable than this.")


class ReaderModel(Alone):
    """Reads a question and a passage, in this order."""

    def __init__(
        self, card: ModelCard, extractor: "ExtractorModel", decider: NgramModel, weights: ReaderWeights
    ) -> None:
        super().__init__(card)
        self._extractor, self._decider, self._weights = extractor, decider, weights

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder and its two members; raises `Invalid` when something is missing or broken."""
        from dynabench.models.backends.encoded import ExtractorModel  # with torch, which listing does not need

        card, options = spec.card(folder), ReaderOptions.model_validate(spec.read(folder).options)
        if card.returns != "text" or len(card.inputs) != 2:
            raise Invalid({"returns": "A reader has two inputs, question and passage, and returns text."})
        try:
            weights = ReaderWeights.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
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

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        question_field, passage_field = self.card.inputs
        decided = [place for place, inputs in enumerate(batch) if YES_NO.match(inputs[question_field].strip())]
        outputs = dict(zip(decided, self._decide([batch[place] for place in decided]), strict=True))
        rest = [place for place in range(len(batch)) if place not in outputs]
        candidates = self._extractor.candidates([batch[place] for place in rest])
        for place, answers in zip(rest, candidates, strict=True):
            outputs[place] = self._extracted(batch[place][question_field], batch[place][passage_field], answers)
        return [outputs[place] for place in range(len(batch))]

    def close(self) -> None:
        """Close the members."""
        self._extractor.close()
        self._decider.close()

    def _decide(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Yes or no; unanswerable where the passage lacks most of the question's words."""
        question_field, passage_field = self.card.inputs
        outputs = []
        for inputs, output in zip(batch, self._decider.predict(batch), strict=True):
            covered = found_share(inputs[question_field], inputs[passage_field]) >= COMMON
            answer = output.answer[self._decider.card.answer] if covered else NONE
            outputs.append(ModelOutput({self.card.answer: answer}, output.probabilities if covered else None))
        return outputs

    def _extracted(self, question: str, passage: str, answers: "FoundAnswers") -> ModelOutput:
        """The best words of the passage, unless the evidence is against them."""
        if not answers.spans:
            return ModelOutput({self.card.answer: NONE}, {NONE: 1.0})
        none = self.unanswerable(weigh_evidence(question, passage, answers.spans, answers.strength))
        chances = {
            text: round((1 - none) * chance, 6)
            for text, chance in likeliest(answers.spans, best(answers.spans)).items()
        }
        chances[NONE] = round(none, 6)
        answer = NONE if none > self._weights.threshold else answered(question, answers)
        return ModelOutput({self.card.answer: answer}, chances)

    def unanswerable(self, numbers: np.ndarray) -> float:
        """Return the probability that the passage has no answer."""
        own = self._weights
        scaled = (numbers - np.array(own.mean)) / np.array(own.scale)
        return float(1 / (1 + np.exp(-(scaled @ np.array(own.weight) + own.bias))))


def answered(question: str, answers: "FoundAnswers") -> str:
    """The best answer in the form that the question asks for: a number, several things, or words of the passage."""
    texts = [group[0].text for _, group in ranked(answers.spans)]
    if COUNT.search(question):
        counted = next((text for text in texts[:5] if NUMBER.search(text)), None)
        return NUMBER.search(counted)[0] if counted else texts[0]  # type: ignore[index]
    if match := SEVERAL.search(question):
        count = {"both": 2}.get(match[1].lower()) or NUMBERS.get(match[1].lower()) or int(match[1])
        parts = [part for part in JOINTS.split(texts[0]) if part]
        return APART.join(parts if len(parts) > 1 else _apart(answers, count))
    return texts[0]


def _apart(answers: "FoundAnswers", count: int) -> list[str]:
    """So many of the best answers that share no words, in the order of the passage."""
    chosen: list[Span] = []
    for _, (span, *_) in ranked(answers.spans):
        if len(chosen) < count and all(span.end <= other.start or other.end <= span.start for other in chosen):
            chosen.append(span)
    return [span.text for span in sorted(chosen, key=lambda span: span.start)]


def _member(card: ModelCard, reference: str, bulk: bool) -> "ExtractorModel | NgramModel":
    name, _, version = reference.partition("@")
    entry = catalog.entry(name, version)
    if entry.card is None:
        raise Invalid({"members": f"{name} {entry.reason}"})
    if set(entry.card.inputs) != set(card.inputs):
        raise Invalid({"members": f"{name} reads {', '.join(entry.card.inputs)}, not {', '.join(card.inputs)}."})
    model: ExtractorModel | NgramModel = catalog.open_model(entry.folder, bulk)  # type: ignore[assignment]
    return model
