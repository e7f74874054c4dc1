"""Suites of tests as an adversary: minimum functionality, invariance and directional expectation.

In the manner of CheckList (Ribeiro et al., ACL 2020). Without an input to start from, the suite's own tests are
proposed; with one, it is changed so that its answer must stay (invariance) or must not become less likely (direction).
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from dynabench.adversaries.perturbations import find, generator
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.search.asking import judged, some, sure, wrong
from dynabench.adversaries.search.drafts import changeable
from dynabench.adversaries.templates import suite
from dynabench.models.protocol import Output

Kind = Literal["MFT", "INV", "DIR"]
Expected = Literal["up", "down"]
TOLERANCE = 0.1
"""How far a probability may go the wrong way, as CheckList has it."""
STEP = 16
"""Tests asked at once."""
INVARIANT = ("contractions_expanded", "contractions_made", "punctuation_removed", "numerals", "spelling_variants",
             "misspellings", "upper_case", "whitespace_added")  # fmt: skip
"""Transformations that an answer must not depend on."""
PHRASES: Mapping[str, Sequence[str]] = {
    "positive": ("I would recommend it to everybody.", "I enjoyed every minute.", "What a pleasure."),
    "negative": ("I would not recommend it to anybody.", "I regret every minute.", "What a disappointment."),
}
"""Sentences that must not make their label less likely, wherever it is the answer."""


class Case(NamedTuple):
    """One test. An MFT has one input and its `answer`; the others an input and its variants, the original first.

    `expected` of a DIR is the way that the probability of `label` must not leave by more than the tolerance; without a
    `label` that of the answer to the original.
    """

    name: str
    kind: Kind
    inputs: Sequence[Mapping[str, Any]]
    answer: Mapping[str, Any] | None = None
    label: str = ""
    expected: Expected = "up"
    capability: str = ""


def of_suite(name: str) -> list[Case]:
    """The tests of a suite of this package, or of a YAML file by its path; raises `Invalid`."""
    items = suite.load(name).items()
    return [Case(one.phenomenon, "MFT", [one.inputs], one.answer, capability=one.phenomenon) for one in items]


class Checklist(Adversary):
    """Proposes what fails: tests of a suite where the context has no input, changes of its input where it has.

    `suite` is a name or a YAML file, `tests` are tests of another origin such as `checklist_files.read`; without
    either, there are changes of inputs alone. The order of tests is drawn by `seed`: a small budget reaches many.
    """

    name = "checklist"
    version = "1"

    def __init__(self, suite: str = "", tests: Sequence[Case] = (), seed: int = 0) -> None:
        self._tests = [*(of_suite(suite) if suite else ()), *tests]
        self._seed = seed

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """Failures only, as they are found."""
        metered = Metered(target, budget)
        started = bool(context.inputs and context.answer)
        tests = list(_of_input(context, self._seed)) if started else self._drawn(context.uid)
        try:
            yield from _failures(context, metered, tests)
        except Spent:
            return

    def _drawn(self, uid: str) -> list[Case]:
        return random.Random(f"{self._seed}:{uid}").sample(self._tests, len(self._tests))


def _failures(context: Context, metered: Metered, tests: Sequence[Case]) -> Iterator[Candidate]:
    plain = iter([test for test in tests if test.kind == "MFT"])
    while part := list(islice(plain, STEP)):
        proposals = [(test.inputs[0], test.answer or {}, _facts(test)) for test in part]
        yield from (each for each in judged(context, metered, proposals) if each.fooled)
    for test in tests:
        if test.kind != "MFT":
            yield from _against_the_first(context, metered, test)


def _against_the_first(context: Context, metered: Metered, test: Case) -> Iterator[Candidate]:
    """Variants whose answers, or probabilities, are not what the original's say they must be."""
    outputs = some(metered, test.inputs)
    if len(outputs) < 2 or (test.answer and wrong(outputs[0], test.answer)):
        return
    first, answer, queries = outputs[0], test.answer or outputs[0].answer, len(outputs)
    for inputs, output in zip(test.inputs[1:], outputs[1:], strict=False):
        moved = _moved(test, first, output)
        fails = wrong(output, answer) if test.kind == "INV" else moved < -TOLERANCE
        if fails:
            facts = {**_facts(test), **({"moved": round(moved, 4)} if test.kind == "DIR" else {})}
            yield Candidate(context.uid, inputs, answer, output, wrong(output, answer), queries, facts=facts)
            queries = 0


def _moved(test: Case, first: Output, output: Output) -> float:
    """How far the probability went the way that is expected; negative against it."""
    label = {"": test.label} if test.label else first.answer
    change = sure(output, label) - sure(first, label)
    return change if test.expected == "up" else -change


def _facts(test: Case) -> dict[str, Any]:
    return {"test": test.name, "kind": test.kind, **({"capability": test.capability} if test.capability else {})}


def _of_input(context: Context, seed: int) -> Iterator[Case]:
    """Tests made of the context's input: transformations that keep its answer, and phrases that speak for it."""
    names, answer = changeable(context), context.answer or {}
    for one in find(INVARIANT):
        texts = {name: context.inputs[name] for name in names}
        if changed := one.apply(texts, generator(seed, context.uid, one.name)):
            now = {**context.inputs, **{name: edited.text for name, edited in changed.items()}}
            yield Case(one.name, "INV", [context.inputs, now], answer)
    labels = [value for value in answer.values() if isinstance(value, str) and value in PHRASES]
    for label in labels:
        for phrase in PHRASES[label] if names else ():
            now = {**context.inputs, names[-1]: f"{context.inputs[names[-1]].rstrip()} {phrase}"}
            yield Case(f"adding: {phrase}", "DIR", [context.inputs, now], answer, label)
