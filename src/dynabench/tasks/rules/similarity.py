"""Rules that ask how near an answer comes to a claimed one."""

import unicodedata
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from dynabench.evaluate import loading
from dynabench.evaluate.card import Output
from dynabench.evaluate.loading import missing_requirement, needs_trusted_input
from dynabench.evaluate.metrics.labelled_spans_f1 import SpanLists
from dynabench.evaluate.metrics.short_answers import normalize_vqa_answer, vqa_agreement
from dynabench.evaluate.module import Module
from dynabench.kit.language import Phrase, _
from dynabench.tasks.fields import LabelledSpans
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Line, Setting, refuse_keys
from dynabench.tasks.words import answer_words, texts_of, word_f1


class NearnessRule(Rule):
    """A rule by which an answer fools whose nearness to the claimed one, from 0 to 1, is under a threshold."""

    threshold: float

    @property
    def bound(self) -> float:
        """The threshold."""
        return self.threshold

    @abstractmethod
    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """Return the nearness of two answers, from 0 to 1; of several claimed answers the nearest counts."""

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """Return whether the nearness is under the threshold."""
        return self.nearness(predicted, claimed, field) < self.threshold


class F1Below(NearnessRule):
    """The two answers share too few words: word F1 as in SQuAD (Rajpurkar et al. 2016, section 6.1), under the bound
    of AdversarialQA (Bartolo et al. 2020)."""

    rule: Literal["f1_below"] = Setting("f1_below", description="Fooled when the F1 of shared words is too low.")
    threshold: float = Setting(0.4, gt=0, le=1, description="Fooled when the word F1 is lower than this.")

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """The word F1 of the two that are nearest."""
        predicted_texts = texts_of(predicted)
        return max(
            (word_f1(predicted_text, other) for predicted_text in predicted_texts for other in texts_of(claimed)),
            default=0.0,
        )

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        bound = f"{self.threshold:g}"
        return _("An answer is right if its word F1 against an accepted one is at least %(bound)s.", bound=bound)


class OverlapBelow(NearnessRule):
    """Two sets overlap too little: Jaccard's index (1912), intersection over union, or the F1 of Dice (1945).

    The members of a list (options, marked texts, tags) are compared whole, without case and outer blanks; of a single
    text its words are the set. Two empty sets are the same.
    """

    rule: Literal["overlap_below"] = Setting("overlap_below", description="Fooled when two sets share too little.")
    threshold: float = Setting(0.5, gt=0, le=1, description="Fooled when the overlap is lower than this.")
    measure: Literal["jaccard", "f1"] = Setting("jaccard", description="Intersection over union, or F1.")

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """The overlap."""
        return set_overlap(_members(predicted), _members(claimed), self.measure)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        measure = "Jaccard's index" if self.measure == "jaccard" else "the F1"
        return _(
            "An answer is right if its %(measure)s with an accepted one is at least %(threshold)s.",
            measure=measure,
            threshold=f"{self.threshold:g}",
        )


def set_overlap(first: frozenset[str], second: frozenset[str], measure: Literal["jaccard", "f1"]) -> float:
    """Return the share that two sets have in common, from 0 to 1; 1 for two empty sets."""
    if not first and not second:
        return 1.0
    common = len(first & second)
    return common / len(first | second) if measure == "jaccard" else 2 * common / (len(first) + len(second))


def _members(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(answer_words(value))
    return frozenset(unicodedata.normalize("NFC", " ".join(text.split())).casefold() for text in texts_of(value))


class VqaBelow(NearnessRule):
    """VQA accuracy under a threshold (Antol et al., VQA: Visual Question Answering, ICCV 2015).

    An answer is wholly right where at least three people gave it, a third for each otherwise, averaged over leaving out
    each person; answers are compared without case, articles and punctuation. One claimed answer has to be met.
    """

    rule: Literal["vqa_below"] = Setting("vqa_below", description="Fooled when VQA accuracy is too low.")
    threshold: float = Setting(1, gt=0, le=1, description="Fooled when VQA accuracy is lower than this.")

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """VQA accuracy; of several predicted texts the first counts."""
        people = Counter(map(normalize_vqa_answer, texts_of(claimed)))
        predicted_texts = texts_of(predicted)
        if not predicted_texts or not people:
            return 0.0
        same, all_ = people[normalize_vqa_answer(predicted_texts[0])], people.total()
        return round(float(vqa_agreement(np.array([same], float), np.array([all_], float))[0]), 12)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, inputs: Values = NOTHING) -> bool:
        """Return whether the answer is right; the accepted answers are those of all people, and count together."""
        people = [text for accepted_answer in accepted for text in texts_of(accepted_answer)]
        return predicted is None if not people else not self.differs(predicted, people, field)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _(
            "An answer is right if its VQA accuracy among the accepted ones is at least %(threshold)s.",
            threshold=f"{self.threshold:g}",
        )


Option = str | int | float | bool
LONGEST = 300 - len("This metric cannot be taken here: ")
SPANS = [{"start": 0, "end": 1, "label": "any"}]


class MetricBelow(Rule):
    """A metric of one answer against the claimed one, such as `chrf` (Popović 2015), is under a threshold.

    Of texts, or with `labelled_spans_f1` of labelled spans, and where higher is better; the threshold is in the
    metric's own unit (`chrf` and `sacrebleu` go to 100, `bleu` and `rouge` to 1). Corpus BLEU of one short sentence is
    often 0: chrF suits single answers better.
    """

    rule: Literal["metric_below"] = Setting("metric_below", description="Fooled when a metric is too low.")
    metric: Line = Setting(description="Name of a metric of the evaluation library that compares texts or spans.")
    threshold: float = Setting(description="Fooled when the metric is lower than this, in the metric's own unit.")
    output: Line = Setting("", description="Which of its results counts; the first when empty.")
    options: dict[str, Option] = Setting({}, max_length=10, description="The metric's own options.")

    @model_validator(mode="after")
    def _metric_fits(self) -> "MetricBelow":
        try:
            sample: Any = SPANS if self._scale.spans else "one plain text"
            self._scale.compare(sample, [sample, sample])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            refuse_keys({"metric": _("This metric cannot be used here: %(reason)s", reason=_reason(error))})
        return self

    @property
    def bound(self) -> float | None:
        """The threshold between the lowest and the highest value; None where the metric is unbounded."""
        return self._scale.share(self.threshold)

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The metric is under the threshold; no answer is."""
        value = self._value(predicted, claimed)
        return value is None or value < self.threshold

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float | None:
        """The metric between its lowest and highest value."""
        value = self._value(predicted, claimed)
        return 0.0 if value is None else self._scale.share(value)

    def _value(self, predicted: Any, claimed: Any) -> float | None:
        """The metric; None where there is no text to compare."""
        if self._scale.spans:
            return self._scale.compare(predicted or [], [claimed or []])
        predicted_texts, right = texts_of(predicted), texts_of(claimed)
        return self._scale.compare(predicted_texts[0], right) if predicted_texts and right else None

    def unfit(self, field: Field) -> str:
        """Metrics of labelled spans are of nothing else."""
        fits = not self._scale.spans or isinstance(field, LabelledSpans)
        return "" if fits else _("%(metric)s compares labelled spans; name a metric of texts.", metric=self.metric)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        name = f"{self.metric} ({self.output})" if self.output else self.metric
        return _(
            "An answer is right if its %(name)s against an accepted one is at least %(threshold)s.",
            name=name,
            threshold=f"{self.threshold:g}",
        )

    @property
    def _scale(self) -> "MetricScale":
        return _scale(self.metric, self.output, tuple(sorted(self.options.items())))


@dataclass(frozen=True)
class MetricScale:
    """A metric that is ready to compare two texts, or two lists of labelled spans, and the result that counts."""

    module: Module
    output: Output
    several: bool  # whether one row may have several references

    @property
    def spans(self) -> bool:
        """True where the metric compares labelled spans."""
        return isinstance(self.module.columns["predictions"], SpanLists)

    def compare(self, predicted: Any, claimed: list[Any]) -> float:
        """Return the metric for one answer; of several claimed ones the best, where the metric takes one only.

        Raises ValueError where it is undefined.
        """
        return (
            self._compare_with(predicted, [claimed])
            if self.several
            else max(self._compare_with(predicted, [c]) for c in claimed)
        )

    def share(self, value: float) -> float | None:
        """Return the position of a value between lowest and highest, from 0 to 1; None for an unbounded metric."""
        low, high = self.output.low, self.output.high
        return None if low is None or high is None else min(max((value - low) / (high - low), 0.0), 1.0)

    def _compare_with(self, predicted: Any, references: list[Any]) -> float:
        if self.spans and not predicted and not any(references):
            return float(self.output.high or 0)  # rightly nothing
        columns = {"predictions": [predicted], "references": references}
        module = self.module
        scores = module.result(module.state(columns, **module.options), **module.options_for(module.result))
        return float(scores[self.output.name])


def _reason(error: Exception) -> str:
    """The module's message, perhaps translatable; of a long one the beginning."""
    message = error.args[0] if error.args and isinstance(error.args[0], Phrase) else str(error)
    return message if len(message) <= LONGEST else message[:LONGEST]


@lru_cache(maxsize=100)
def _scale(name: str, output: str, options: tuple[tuple[str, Option], ...]) -> MetricScale:
    if "/" in name or "\\" in name or name.endswith(".py"):
        raise ValueError(_("use a metric of the library or a plug-in"))
    option_values: dict[str, Any] = dict(options)
    module = loading.find_module(name, "metric")(None, **option_values)
    if needs_trusted_input(type(module)) or type(module).card.needs or type(module).card.resource:
        raise ValueError(missing_requirement(type(module)) or _("it loads models, reads files or runs code"))
    outputs = {output_entry.name: output_entry for output_entry in type(module).card.outputs}
    if output and output not in outputs:
        raise ValueError(
            _("it has no output %(output)s; there are %(known)s", output=repr(output), known=", ".join(outputs))
        )
    chosen = outputs[output] if output else next(iter(outputs.values()))
    if chosen.better != "higher":
        raise ValueError(
            _(
                "its output %(output)s is better when lower, or has no direction; choose one that is "
                "better when higher",
                output=chosen.name,
            )
        )
    if isinstance(module.columns.get("predictions"), SpanLists):
        return MetricScale(module, chosen, several=False)
    try:
        module.clean({"predictions": ["a"], "references": [["a", "b"]]})
    except ValueError:
        return MetricScale(module, chosen, several=False)
    return MetricScale(module, chosen, several=True)
