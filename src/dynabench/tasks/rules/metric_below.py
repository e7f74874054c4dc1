"""Fooled when a metric of the evaluation library is too low."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import model_validator

from dynabench.evaluate import loading
from dynabench.evaluate.card import Output
from dynabench.evaluate.loading import missing_requirement, needs_trusted_input
from dynabench.evaluate.metrics.labelled_spans_f1 import SpanLists
from dynabench.evaluate.module import Module
from dynabench.kit.language import Phrase, _
from dynabench.tasks.answer_words import texts_of
from dynabench.tasks.fields import LabelledSpans
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Line, Setting, refuse_keys

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
    def _known(self) -> "MetricBelow":
        try:
            sample: Any = SPANS if self._scale.spans else "one plain text"
            self._scale.of(sample, [sample, sample])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            refuse_keys({"metric": _("This metric cannot be taken here: %(reason)s", reason=_reason(error))})
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
            return self._scale.of(predicted or [], [claimed or []])
        predicted_texts, right = texts_of(predicted), texts_of(claimed)
        return self._scale.of(predicted_texts[0], right) if predicted_texts and right else None

    def unfit(self, field: Field) -> str:
        """Metrics of labelled spans are of nothing else."""
        fits = not self._scale.spans or isinstance(field, LabelledSpans)
        return "" if fits else _("%(metric)s compares labelled spans; name a metric of texts.", metric=self.metric)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        name = f"{self.metric} ({self.output})" if self.output else self.metric
        return _(
            "An answer is right if its %(name)s against an accepted one is %(threshold)s or more.",
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

    def of(self, predicted: Any, claimed: list[Any]) -> float:
        """Return the metric for one answer; of several claimed ones the best, where the metric takes one only.

        Raises ValueError where it is undefined.
        """
        return self._one(predicted, [claimed]) if self.several else max(self._one(predicted, [c]) for c in claimed)

    def share(self, value: float) -> float | None:
        """Return the position of a value between lowest and highest, from 0 to 1; None for an unbounded metric."""
        low, high = self.output.low, self.output.high
        return None if low is None or high is None else min(max((value - low) / (high - low), 0.0), 1.0)

    def _one(self, predicted: Any, references: list[Any]) -> float:
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
        raise ValueError(_("name one of the library, or of a plug-in"))
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
            _("of its %(output)s less is better, or neither; take one of which more is better", output=chosen.name)
        )
    if isinstance(module.columns.get("predictions"), SpanLists):
        return MetricScale(module, chosen, several=False)
    try:
        module.clean({"predictions": ["a"], "references": [["a", "b"]]})
    except ValueError:
        return MetricScale(module, chosen, several=False)
    return MetricScale(module, chosen, several=True)
