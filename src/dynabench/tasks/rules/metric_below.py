"""Fooled when a metric of the evaluation library is too low."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pydantic import model_validator

from dynabench.evaluate import registry
from dynabench.evaluate.card import Output
from dynabench.evaluate.classes.labelled_spans import SpanLists
from dynabench.evaluate.loading import checked, trusting
from dynabench.evaluate.module import Module
from dynabench.language import Phrase, _
from dynabench.tasks.fields import LabelledSpans
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Line, Setting, refuse
from dynabench.tasks.words import texts_of

Option = str | int | float | bool
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
            why = error.args[0] if error.args and isinstance(error.args[0], Phrase) else str(error)[:266]
            refuse({"metric": _("This metric cannot be taken here: %(why)s", why=why)})
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
        said, right = texts_of(predicted), texts_of(claimed)
        return self._scale.of(said[0], right) if said and right else None

    def unfit(self, field: Field) -> str:
        """Metrics of labelled spans are of nothing else."""
        fits = not self._scale.spans or isinstance(field, LabelledSpans)
        return "" if fits else _("%(metric)s compares labelled spans; name a metric of texts.", metric=self.metric)

    @property
    def right_in_words(self) -> str:
        """When an answer counts as right, in a sentence."""
        name = f"{self.metric} ({self.output})" if self.output else self.metric
        return _(
            "An answer is right if its %(name)s against an accepted one is %(threshold)s or more.",
            name=name,
            threshold=f"{self.threshold:g}",
        )

    @property
    def _scale(self) -> "Scale":
        return _scale(self.metric, self.output, tuple(sorted(self.options.items())))


@dataclass(frozen=True)
class Scale:
    """A metric that is ready to compare two texts, or two lists of labelled spans, and which of its results counts."""

    module: Module
    output: Output
    several: bool  # whether one row may have several references

    @property
    def spans(self) -> bool:
        """Whether it compares labelled spans."""
        return isinstance(self.module.columns["predictions"], SpanLists)

    def of(self, predicted: Any, claimed: list[Any]) -> float:
        """Its value for one answer; of several claimed ones the best, where the metric takes one only.

        Raises ValueError where it is undefined.
        """
        return self._one(predicted, [claimed]) if self.several else max(self._one(predicted, [c]) for c in claimed)

    def share(self, value: float) -> float | None:
        """Where a value lies between lowest and highest, from 0 to 1."""
        low, high = self.output.low, self.output.high
        return None if low is None or high is None else min(max((value - low) / (high - low), 0.0), 1.0)

    def _one(self, predicted: Any, references: list[Any]) -> float:
        if self.spans and not predicted and not any(references):
            return float(self.output.high or 0)  # rightly nothing
        columns = {"predictions": [predicted], "references": references}
        module = self.module
        found = module.result(module.state(columns, **module.options), **module.options_for(module.result))
        return float(found[self.output.name])


@lru_cache(maxsize=100)
def _scale(name: str, output: str, options: tuple[tuple[str, Option], ...]) -> Scale:
    if "/" in name or "\\" in name or name.endswith(".py"):
        raise ValueError(_("name one of the library, or of a plug-in"))
    given: dict[str, Any] = dict(options)
    module = registry.find(name, "metric")(None, **given)
    if trusting(type(module)) or type(module).card.needs or type(module).card.resource:
        raise ValueError(checked(type(module)) or _("it loads models, reads files or runs code"))
    known = {each.name: each for each in type(module).card.outputs}
    if output and output not in known:
        raise ValueError(
            _("it has no output %(output)s; there are %(known)s", output=repr(output), known=", ".join(known))
        )
    chosen = known[output] if output else next(iter(known.values()))
    if chosen.better != "higher":
        raise ValueError(
            _("of its %(name)s less is better, or neither; take one of which more is better", name=chosen.name)
        )
    if isinstance(module.columns.get("predictions"), SpanLists):
        return Scale(module, chosen, several=False)
    try:
        module.clean({"predictions": ["a"], "references": [["a", "b"]]})
    except ValueError:
        return Scale(module, chosen, several=False)
    return Scale(module, chosen, several=True)
