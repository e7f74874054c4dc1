"""An adversary that learns what fools the target from what fooled it before.

What was changed between an input and the example made of it becomes an operator: these words in the place of those, or
words put in at the beginning or at the end. Phrases with which examples that fooled begin or end become operators too.
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

from dynabench.adversaries.perturbations import find, of
from dynabench.adversaries.perturbations.words import like
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.search.asking import judged
from dynabench.adversaries.search.drafts import changeable

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
class Record:
    """How often an operator fooled the target, and how often not."""

    won: int = 0
    lost: int = 0


@dataclass(frozen=True)
class Seen:
    """An example of the round: inputs, the answer that is right, whether it fooled, and what it was made from if that
    is known."""

    inputs: Mapping[str, Any]
    answer: Mapping[str, Any]
    fooled: bool
    origin: Mapping[str, Any] | None = None


class Generator(Adversary):
    """Applies what worked; `feed` it with examples, and it learns from its own tries as well."""

    name = "generator"
    version = "1"

    def __init__(self, seed: int = 0, transformations: bool = True) -> None:
        self._random = Random(seed)
        self._seed = seed
        self.records: dict[Operator, Record] = {}
        self._edges: dict[bool, Counter[Operator]] = {True: Counter(), False: Counter()}
        for name in of("robustness") if transformations else ():
            self.records[Operator("transform", "", name)] = Record()

    def feed(self, examples: Iterable[Seen]) -> None:
        """Learn from examples, of people or of programs."""
        for one in examples:
            for name, text in one.inputs.items():
                if not isinstance(text, str) or len(text) > LONGEST:
                    continue
                old = (one.origin or {}).get(name)
                if isinstance(old, str) and len(old) <= LONGEST:
                    for operator in _differences(old, text):
                        self._note(operator, one.fooled)
                elif one.origin is None:
                    self._edges[one.fooled].update(_edges(text))
        for operator, won in self._edges[True].items():
            if won >= AT_LEAST:
                self.records[operator] = Record(won, self._edges[False][operator])

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """Candidates as they are tried, those drawn first that worked most; the claimed answer is the context's."""
        metered = Metered(target, budget)
        tries = self._tries(context) if context.answer else []
        try:
            for at in range(0, len(tries), STEP):
                made = judged(
                    context, metered, [(inputs, context.answer or {}, facts) for inputs, facts in tries[at : at + STEP]]
                )
                for each in made:
                    self._note(Operator(*each.facts["operator"]), bool(each.fooled))
                yield from made
                if len(made) < STEP:
                    return
        except Spent:
            return

    def _tries(self, context: Context) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Inputs to try in the order of a draw from each operator's Beta(won + 1, lost + 1), with their facts."""
        drawn = sorted(
            (
                (self._random.betavariate(record.won + 1, record.lost + 1), operator)
                for operator, record in self.records.items()
            ),
            reverse=True,
        )
        made, seen = list[tuple[dict[str, Any], dict[str, Any]]](), set[str]()
        for _, operator in drawn:
            for name in changeable(context):
                text = context.inputs[name]
                new = self._applied(operator, text, context.uid) if len(text) <= LONGEST else None
                if new and new != text and new not in seen:
                    seen.add(new)
                    record = self.records[operator]
                    facts = {"operator": list(operator), "won": record.won, "lost": record.lost}
                    made.append(({**context.inputs, name: new}, facts))
        return made

    def _applied(self, operator: Operator, text: str, uid: str) -> str | None:
        if operator.kind == "begin":
            return f"{operator.new} {text}"
        if operator.kind == "end":
            return f"{text.rstrip()} {operator.new}"
        if operator.kind == "replace":
            found = re.search(rf"(?<!\w){re.escape(operator.old)}(?!\w)", text, re.I)
            return text[: found.start()] + like(found[0], operator.new) + text[found.end() :] if found else None
        [one] = find([operator.new])
        changed = one.apply({"": text}, Random(f"{self._seed}:{uid}:{operator.new}"))
        return changed[""].text if changed else None

    def _note(self, operator: Operator, fooled: bool) -> None:
        record = self.records.setdefault(operator, Record())
        record.won += fooled
        record.lost += not fooled


def _differences(old: str, new: str) -> Iterator[Operator]:
    """What was done to `old`, in operators of few words."""
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
