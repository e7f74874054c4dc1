"""What a search asks of a target: within its budget, and how sure the target is of the right answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.adversaries.proposing import Candidate, Context, Metered, Spent
from dynabench.models.protocol import Output


def some(metered: Metered, batch: Sequence[Mapping[str, Any]]) -> list[Output]:
    """Answers to the first of the batch, as many as the budget has queries left; raises `Spent` where it has none."""
    left = metered.left
    if batch and left is not None and left <= 0:
        raise Spent
    return metered.ask(batch if left is None else batch[:left])


def wrong(output: Output, answer: Mapping[str, Any]) -> bool:
    """Whether the target's answer differs from the right one in any field that both have."""
    return any(output.answer[name] != value for name, value in answer.items() if name in output.answer)


def sure(output: Output, answer: Mapping[str, Any]) -> float:
    """The probability of the right answer; 1 or 0 of a target that tells none."""
    for label in answer.values():
        if output.probabilities is not None and isinstance(label, str) and label in output.probabilities:
            return output.probabilities[label]
    return 0.0 if wrong(output, answer) else 1.0


def judged(
    context: Context,
    metered: Metered,
    proposals: Sequence[tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]],
) -> list[Candidate]:
    """Proposals (inputs, the answer that is right, facts) as candidates with what the target says to them, those that
    fool it first; as many as the budget has queries left."""
    outputs = some(metered, [inputs for inputs, _, _ in proposals])
    made = [
        Candidate(context.uid, inputs, answer, output, wrong(output, answer), 1, facts=facts)
        for (inputs, answer, facts), output in zip(proposals, outputs, strict=False)
    ]
    return sorted(made, key=lambda one: not one.fooled)
