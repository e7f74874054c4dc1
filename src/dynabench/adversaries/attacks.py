"""Attacks of an adversary on a target, context after context, and the files that contexts come from."""

import json
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.adversaries.perturbations import find_transformations, generator, names_on_axis
from dynabench.adversaries.protocol import (
    Adversary,
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    MeteredTarget,
    is_wrong,
)
from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Inputs, Model, ModelCard, ModelOutput
from dynabench.stats.rates import Rate, wilson

BATCH = 64
"""Inputs that a model in this process is given at once."""


class LocalTarget:
    """A model in this process as a target."""

    def __init__(self, model: Model) -> None:
        self.labels: Sequence[str] = model.card.labels
        self._model = model

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """Return one output for each input."""
        parts = (batch[at : at + BATCH] for at in range(0, len(batch), BATCH))
        return [output for part in parts for output in self._model.predict(part)]


@dataclass(frozen=True)
class Attempt:
    """The candidates of an adversary for one context whose input the target answers correctly."""

    context: AttackContext
    candidates: Sequence[AttackCandidate]
    queries: int
    seconds: float

    @property
    def fooled(self) -> AttackCandidate | None:
        """Return the first candidate that fools the target."""
        return next((candidate for candidate in self.candidates if candidate.fooled), None)


def attack(
    adversary: Adversary, target: AttackedModel, contexts: Iterable[AttackContext], budget: Budget
) -> Iterator[AttackCandidate]:
    """Yield every candidate for contexts whose input the target answers correctly; `budget` is for each context."""
    for attempt in run_attempts(adversary, target, contexts, budget):
        yield from attempt.candidates


def run_attempts(
    adversary: Adversary,
    target: AttackedModel,
    contexts: Iterable[AttackContext],
    budget: Budget,
    until: int | None = None,
) -> Iterator[Attempt]:
    """Yield one attempt for each context whose input the target answers correctly, at most `until` of them.

    The input itself is asked first, once, outside of the budget. Queries are counted here, not by the adversary.
    """
    count = 0
    for context in contexts:
        if count == until:
            return
        if context.inputs and context.answer and is_wrong(target.ask([context.inputs])[0], context.answer):
            continue
        metered, start = MeteredTarget(target, budget), time.monotonic()
        candidates = list(adversary.propose(context, metered, budget))
        count += 1
        yield Attempt(context, candidates, metered.queries, time.monotonic() - start)


@dataclass(frozen=True)
class AttackSummary:
    """An attack in figures; medians and means of nothing are None."""

    correct: int
    fooled: Rate
    queries_median: float | None
    queries_mean: float | None
    queries_fooled_median: float | None
    similarity: float | None
    changed: float | None
    seconds: float


def summarise_attempts(attempts: Sequence[Attempt]) -> AttackSummary:
    """Return the share fooled with Wilson's interval, the queries of all attempts and of successes.

    Of successes also the means of similarity and of the share of changed words.
    """
    successes = [(attempt, candidate) for attempt in attempts if (candidate := attempt.fooled)]
    facts = [candidate.facts for _, candidate in successes]
    return AttackSummary(
        len(attempts),
        wilson(len(successes), len(attempts)),
        _median([attempt.queries for attempt in attempts]),
        _mean([attempt.queries for attempt in attempts]),
        _median([attempt.queries for attempt, _ in successes]),
        _mean([fact["similarity"] for fact in facts if "similarity" in fact]),
        _mean([fact["changed"] / fact["words"] for fact in facts if fact.get("words")]),
        sum(attempt.seconds for attempt in attempts),
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def candidate_row(candidate: AttackCandidate) -> dict[str, Any]:
    """Return the candidate as JSON values, a row of a file."""
    output = candidate.output
    return {
        "context": candidate.context,
        "inputs": dict(candidate.inputs),
        "answer": dict(candidate.answer),
        "predicted": output.answer if output else None,
        "fooled": candidate.fooled,
        "queries": candidate.queries,
        "cost": candidate.cost,
        **({"facts": dict(candidate.facts)} if candidate.facts else {}),
    }


UNCHANGED_FIELDS = frozenset("uid id input_id label answer answers tag tags".split())
"""Fields of a row that no transformation changes."""


def read_start_texts(path: Path, inputs: list[str], contexts: list[str], answers: list[str]) -> list[AttackContext]:
    """Return the rows of a JSONL file as contexts, called by their `uid`, else by their line.

    A row is an example as exports write it (`context`, `input`, `answer`), or has its fields beside each other, the
    answer as `label` or under its own name. Raise `Invalid` with the number of a line that is neither.
    """
    return [_read_context(number, row, inputs, contexts, answers) for number, row in read_objects(path)]


def read_contexts(path: Path, card: ModelCard, fixed_inputs: Sequence[str] = ()) -> Iterator[AttackContext]:
    """Yield a context for each row of a JSONL file with the model's inputs and the right answer.

    `fixed_inputs` stay as they are. The answer is in the field that the model answers, or in `label`.
    Raise `Invalid` with the number of a row that lacks one of them.
    """
    unknown = sorted(set(fixed_inputs) - set(card.inputs))
    if unknown:
        raise Invalid({"keep": f"The model has no input {unknown[0]!r}; it has {', '.join(card.inputs)}."})
    for number, row in read_objects(path):
        answer = row.get(card.answer, row.get("label"))
        lacking = [name for name in card.inputs if not isinstance(row.get(name), str)]
        if lacking or answer is None:
            raise Invalid({"file": f"Line {number} lacks {lacking[0] if lacking else card.answer}."})
        inputs = {name: row[name] for name in card.inputs}
        values = {name: inputs[name] for name in fixed_inputs}
        yield AttackContext(str(row.get("uid", number)), values, inputs, {card.answer: answer})


def _read_context(
    number: int, row: dict[str, Any], inputs: list[str], contexts: list[str], answers: list[str]
) -> AttackContext:
    values, inputs_of_row, claimed = row.get("context"), row.get("input"), row.get("answer")
    if not isinstance(inputs_of_row, dict):
        inputs_of_row = {name: row[name] for name in inputs if name in row}
        values = {name: row[name] for name in contexts if name in row}
        label = row.get(answers[0], row.get("label")) if answers else None
        claimed = claimed if isinstance(claimed, dict) else {answers[0]: label} if label is not None else None
    if isinstance(values, dict) and isinstance(values.get("values"), dict):
        values = values["values"]
    if not inputs_of_row or not isinstance(claimed, dict):
        raise Invalid({"file": f"Line {number} has no input ({', '.join(inputs)}) or no answer."})
    return AttackContext(
        uid=str(row.get("uid") or f"line {number}"),
        values=values if isinstance(values, dict) else {},
        inputs=inputs_of_row,
        answer=claimed,
    )


def perturb_rows(path: Path, names: Sequence[str], seed: int, fields: Sequence[str] = ()) -> Iterator[str]:
    """Yield JSON lines: every row of a JSONL file, changed by every transformation that changes it.

    `names` may hold an axis for all of its transformations; `fields` are the texts that may change, empty for all but
    `UNCHANGED_FIELDS`. Raise `Invalid` with the number of a line that is no object.
    """
    transformations = find_transformations(member for name in names for member in (names_on_axis(name) or [name]))
    for number, row in read_objects(path):
        uid = str(row.get("uid", number))
        texts = {
            name: value
            for name, value in row.items()
            if isinstance(value, str) and (name in fields if fields else name not in UNCHANGED_FIELDS)
        }
        for transformation in transformations:
            changed = transformation.apply(texts, generator(seed, uid, transformation.name))
            if changed:
                new_texts = {name: edited.text for name, edited in changed.items()}
                kind = transformation.name
                identity = {"uid": f"{uid}#{kind}", "input_id": uid, "transformation": kind}
                yield json.dumps({**row, **new_texts, **identity}, ensure_ascii=False)
