"""Several models as one: their probabilities averaged, or their answers counted, each member's answer kept."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Attributable, Attribution, Inputs, ModelCard, ModelOutput, WordWeight

MOST = 16
"""Members of an ensemble."""


class EnsembleOptions(BaseModel):
    """Options of an ensemble in `model.yaml`.

    Members are named with their version, as in `nli-minilm@0123456789abcdef`, so that the ensemble's
    version determines its answers.
    """

    model_config = ConfigDict(extra="forbid")

    members: list[str] = Field(min_length=2, max_length=MOST)
    rule: Literal["mean", "vote"] = Field("mean", description="Mean of the probabilities, or the most common answer.")
    weights: list[float] = Field([], description="One for each member; by default all count the same.")

    @model_validator(mode="after")
    def _fits(self) -> "EnsembleOptions":
        if len(set(self.members)) != len(self.members):
            raise ValueError("A member stands twice among the members; give it a weight instead.")
        if wrong := [member for member in self.members if not all(member.partition("@"))]:
            raise ValueError(f"{wrong[0]!r} is not NAME@VERSION; `dynabench model list` shows both.")
        if self.weights and (len(self.weights) != len(self.members) or min(self.weights) <= 0):
            raise ValueError("weights needs one number above 0 for each member.")
        return self


class EnsembleModel(Alone):
    """Answers with its members' weighted mean or vote; `extras.members` has what each member said."""

    def __init__(self, card: ModelCard, options: EnsembleOptions, members: Sequence[Attributable]) -> None:
        shared = [method for method in members[0].card.methods if all(method in m.card.methods for m in members)]
        methods = (*shared, *(method for method in card.methods if method not in shared))
        super().__init__(replace(card, methods=methods, inside=all(member.card.inside for member in members)))
        self._shared = frozenset(shared) if options.rule == "mean" else frozenset()
        self._rule = options.rule
        self._members = members
        weights = options.weights or [1.0] * len(members)
        self._weights = [weight / sum(weights) for weight in weights]

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load an ensemble and its members; raises `Invalid` when one is missing, broken or answers something else."""
        card = spec.card(folder)
        options = EnsembleOptions.model_validate(spec.read(folder).options)
        members: list[Attributable] = []
        try:
            for name in options.members:
                members.append(_member(card, name, bulk))  # noqa: PERF401 - those opened so far are closed below
        except Exception:
            _close(members)
            raise
        return cls(card, options, members)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order; raises `Unavailable` when a member gives none."""
        member_outputs = [member.predict(batch) for member in self._members]
        return [self._joined(row) for row in zip(*member_outputs, strict=True)]

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """The members' weighted mean where each has the method, else by taking words away from all of them."""
        if method not in self._shared:
            return super().attribute(inputs, label, method, seconds)
        attributions = [member.attribute(inputs, label, method) for member in self._members]
        return _mean(attributions, self._weights)

    def close(self) -> None:
        """Close the members."""
        _close(self._members)

    def _joined(self, outputs: Sequence[ModelOutput]) -> ModelOutput:
        field = self.card.answer
        members = {
            member.card.name: {"answer": output.answer[field], "probabilities": output.probabilities}
            for member, output in zip(self._members, outputs, strict=True)
        }
        extras = {"members": members}
        member_probabilities = [output.probabilities for output in outputs if output.probabilities is not None]
        if self._rule == "mean" and len(member_probabilities) == len(outputs) and self.card.returns == "label":
            mixed = self._mixed(member_probabilities)
            return ModelOutput({field: max(self.card.labels, key=lambda label: mixed[label])}, mixed, extras)
        return ModelOutput({field: self._elected([output.answer[field] for output in outputs])}, None, extras)

    def _mixed(self, member_probabilities: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {
            label: sum(
                weight * probabilities[label]
                for weight, probabilities in zip(self._weights, member_probabilities, strict=True)
            )
            for label in self.card.labels
        }

    def _elected(self, answers: Sequence[Any]) -> Any:
        """The answer with most weight, spans compared by their places; of equals what the first member said."""
        votes: Counter[str] = Counter()
        for answer, weight in zip(answers, self._weights, strict=True):
            votes[_key(answer)] += weight  # type: ignore[assignment]
        best = max(votes.values())
        return next(answer for answer in answers if votes[_key(answer)] >= best - 1e-9)


def _member(card: ModelCard, reference: str, bulk: bool) -> Attributable:
    name, _, version = reference.partition("@")
    entry = catalog.entry(name, version)
    if entry.card is None or entry.card.kind == "ensemble":
        raise Invalid({"members": f"{name} {entry.reason or 'is an ensemble itself; name its members'}."})
    for field in ("inputs", "answer", "returns", "images"):
        mine, theirs = getattr(card, field), getattr(entry.card, field)
        if mine != theirs:
            raise Invalid({"members": f"{name} has {field} {theirs!r} where the ensemble says {mine!r}."})
    if set(card.labels) != set(entry.card.labels):
        raise Invalid({"members": f"{name} answers {', '.join(entry.card.labels)}, not {', '.join(card.labels)}."})
    return catalog.open_model(entry.folder, bulk)


def _close(members: Sequence[Attributable]) -> None:
    for member in members:
        member.close()  # type: ignore[attr-defined]


def _key(answer: Any) -> str:
    if not isinstance(answer, list):
        return str(answer)
    return repr([(span["start"], span["end"], span.get("label")) for span in answer])


def _mean(attributions: Sequence[Attribution], weights: Sequence[float]) -> Attribution:
    """Weights of the same words averaged; the completeness error is the largest that any member has."""
    fields: dict[str, list[WordWeight]] = {}
    for name in attributions[0].fields:
        columns = zip(*(attribution.fields[name] for attribution in attributions), strict=True)
        fields[name] = [
            replace(words[0], weight=sum(w.weight * share for w, share in zip(words, weights, strict=True)))
            for words in columns
        ]
    largest = max((abs(word.weight) for words in fields.values() for word in words), default=0.0) or 1.0
    scaled = {name: [replace(w, weight=w.weight / largest) for w in words] for name, words in fields.items()}
    errors = [
        attribution.completeness_error for attribution in attributions if attribution.completeness_error is not None
    ]
    cut = any(attribution.cut_short for attribution in attributions)
    return Attribution(attributions[0].method, attributions[0].label, scaled, max(errors, default=None), cut)
