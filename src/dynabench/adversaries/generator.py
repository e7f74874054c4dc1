"""An adversary that learns from the examples that fooled the target before.

The change between an input and the example made of it becomes an operator: these words in the place of those, or words
put in at the beginning or at the end. Phrases with which examples that fooled begin or end become operators too.
Which operator is tried next is drawn by Thompson sampling over its successes, beside the meaning-preserving
transformations, which are there from the start.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from random import Random
from typing import Any, NamedTuple

from dynabench.adversaries.perturbations import find_transformations, names_on_axis
from dynabench.adversaries.perturbations.transformation import match_case
from dynabench.adversaries.protocol import (
    Adversary,
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
    changeable_fields,
    judge_proposals,
)

WORDS = 4
"""Words of an operator on either side at most."""
AT_LEAST = 2
"""Examples that begin or end alike before that becomes an operator."""
STEP = 8
"""Operators tried at once."""
LONGEST = 5_000
"""Characters of a text that is learnt from or changed."""
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


class Operator(NamedTuple):
    """`kind` is `replace`, `begin`, `end` or `transform`; `new` the words put in, or a transformation's name."""

    kind: str
    old: str
    new: str


@dataclass
class OperatorRecord:
    """Counts of the tries in which an operator fooled the target, and did not."""

    fooled: int = 0
    missed: int = 0


@dataclass(frozen=True)
class SeenExample:
    """An example of the round: inputs, the answer that is right, whether it fooled, and what it was made from if that
    is known."""

    inputs: Mapping[str, Any]
    answer: Mapping[str, Any]
    fooled: bool
    origin: Mapping[str, Any] | None = None


class Generator(Adversary):
    """An adversary that repeats successful changes; it learns from the examples of `feed` and from its own tries."""

    name = "generator"
    version = "1"

    def __init__(self, seed: int = 0, transformations: bool = True) -> None:
        self._random = Random(seed)
        self._seed = seed
        self.records: dict[Operator, OperatorRecord] = {}
        self._edge_operators: dict[bool, Counter[Operator]] = {True: Counter(), False: Counter()}
        for name in names_on_axis("robustness") if transformations else ():
            self.records[Operator("transform", "", name)] = OperatorRecord()

    def feed(self, examples: Iterable[SeenExample]) -> None:
        """Learn from examples, of people or of programs."""
        for example in examples:
            for name, text in example.inputs.items():
                if not isinstance(text, str) or len(text) > LONGEST:
                    continue
                old = (example.origin or {}).get(name)
                if isinstance(old, str) and len(old) <= LONGEST:
                    for operator in _differences(old, text):
                        self._count_outcome(operator, example.fooled)
                elif example.origin is None:
                    self._edge_operators[example.fooled].update(_edges(text))
        for operator, count in self._edge_operators[True].items():
            if count >= AT_LEAST:
                self.records[operator] = OperatorRecord(count, self._edge_operators[False][operator])

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield candidates in the order of a draw that favours successful operators; their answer is the context's."""
        metered = MeteredTarget(target, budget)
        tries = self._tries(context) if context.answer else []
        try:
            for at in range(0, len(tries), STEP):
                candidates = judge_proposals(
                    context, metered, [(inputs, context.answer or {}, facts) for inputs, facts in tries[at : at + STEP]]
                )
                for candidate in candidates:
                    self._count_outcome(Operator(*candidate.facts["operator"]), bool(candidate.fooled))
                yield from candidates
                if len(candidates) < STEP:
                    return
        except BudgetSpent:
            return

    def _tries(self, context: AttackContext) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Inputs to try in the order of a draw from each operator's Beta(fooled + 1, missed + 1), with their facts."""
        ranked = sorted(
            (
                (self._random.betavariate(record.fooled + 1, record.missed + 1), operator)
                for operator, record in self.records.items()
            ),
            reverse=True,
        )
        tries, seen = list[tuple[dict[str, Any], dict[str, Any]]](), set[str]()
        for _, operator in ranked:
            for name in changeable_fields(context):
                text = context.inputs[name]
                new = self._apply_operator(operator, text, context.uid) if len(text) <= LONGEST else None
                if new and new != text and new not in seen:
                    seen.add(new)
                    record = self.records[operator]
                    facts = {"operator": list(operator), "won": record.fooled, "lost": record.missed}
                    tries.append(({**context.inputs, name: new}, facts))
        return tries

    def _apply_operator(self, operator: Operator, text: str, uid: str) -> str | None:
        if operator.kind == "begin":
            return f"{operator.new} {text}"
        if operator.kind == "end":
            return f"{text.rstrip()} {operator.new}"
        if operator.kind == "replace":
            match = re.search(rf"(?<!\w){re.escape(operator.old)}(?!\w)", text, re.I)
            return text[: match.start()] + match_case(match[0], operator.new) + text[match.end() :] if match else None
        [transformation] = find_transformations([operator.new])
        edited_texts = transformation.apply({"": text}, Random(f"{self._seed}:{uid}:{operator.new}"))
        return edited_texts[""].text if edited_texts else None

    def _count_outcome(self, operator: Operator, fooled: bool) -> None:
        record = self.records.setdefault(operator, OperatorRecord())
        record.fooled += fooled
        record.missed += not fooled


def _differences(old: str, new: str) -> Iterator[Operator]:
    """The operators of few words that make the new text from `old`."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        gone, come = " ".join(before[i1:i2]), " ".join(after[j1:j2])
        if tag == "equal" or i2 - i1 > WORDS or not 0 < j2 - j1 <= WORDS:
            continue
        if gone:
            yield Operator("replace", gone.lower(), come.lower())
        elif i1 == 0:
            yield Operator("begin", "", come)
        elif i1 >= len(before) - 1:
            yield Operator("end", "", come)


def _edges(text: str) -> set[Operator]:
    """The first and last two to four words of a text that has more than them."""
    tokens = _TOKEN.findall(text)
    sizes = [size for size in range(2, WORDS + 1) if size < len(tokens)]
    first = {Operator("begin", "", " ".join(tokens[:size])) for size in sizes}
    return first | {Operator("end", "", " ".join(tokens[-size:])) for size in sizes}
