"""Suites of tests as an adversary: minimum functionality, invariance and directional expectation.

In the manner of CheckList (Ribeiro et al., ACL 2020). Without an input to start from, the suite's own tests are
proposed; with one, it is changed so that its answer must stay (invariance) or must not become less likely (direction).

CheckList's released files are pickles, which are programs: they are not read here. `read_released_suite` reads JSON
lines: a line is one test, an object with `test`, `type` (MFT, INV, DIR), `capability`, `labels` (one for all, or a
list) and `data`; an MFT's datum is an input, that of another is a list of the original and its variants. An input is a
text, or a list of texts in the order of the fields.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dynabench.adversaries import template_suites
from dynabench.adversaries.perturbations import find_transformations, generator
from dynabench.adversaries.protocol import (
    Adversary,
    Budget,
    BudgetSpent,
    Candidate,
    Context,
    MeteredTarget,
    Target,
    ask_within_budget,
    changeable_fields,
    confidence,
    is_wrong,
    judge_proposals,
)
from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Output

Kind = Literal["MFT", "INV", "DIR"]
Expected = Literal["up", "down"]
TOLERANCE = 0.1
"""The distance that a probability may go the wrong way, as CheckList has it."""
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


class ChecklistTest(NamedTuple):
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


def suite_tests(name: str) -> list[ChecklistTest]:
    """Return the tests of a suite of this package, or of a YAML file by its path; raise `Invalid`."""
    items = template_suites.load_suite(name).items()
    return [
        ChecklistTest(item.phenomenon, "MFT", [item.inputs], item.answer, capability=item.phenomenon) for item in items
    ]


class Checklist(Adversary):
    """An adversary that proposes failures: tests of a suite where the context has no input, else changes of its input.

    `suite` is a name or a YAML file, `tests` are tests of another origin such as `read_released_suite`; without
    either, there are changes of inputs alone. The order of tests is drawn by `seed`: a small budget reaches many.
    """

    name = "checklist"
    version = "1"

    def __init__(self, suite: str = "", tests: Sequence[ChecklistTest] = (), seed: int = 0) -> None:
        self._tests = [*(suite_tests(suite) if suite else ()), *tests]
        self._seed = seed

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """Yield failures only, as they are found."""
        metered = MeteredTarget(target, budget)
        started = bool(context.inputs and context.answer)
        tests = list(_tests_of_input(context, self._seed)) if started else self._shuffled_tests(context.uid)
        try:
            yield from _failures(context, metered, tests)
        except BudgetSpent:
            return

    def _shuffled_tests(self, uid: str) -> list[ChecklistTest]:
        return random.Random(f"{self._seed}:{uid}").sample(self._tests, len(self._tests))


def _failures(context: Context, metered: MeteredTarget, tests: Sequence[ChecklistTest]) -> Iterator[Candidate]:
    functionality_tests = iter([test for test in tests if test.kind == "MFT"])
    while batch := list(islice(functionality_tests, STEP)):
        proposals = [(test.inputs[0], test.answer or {}, _test_facts(test)) for test in batch]
        yield from (candidate for candidate in judge_proposals(context, metered, proposals) if candidate.fooled)
    for test in tests:
        if test.kind != "MFT":
            yield from _failures_of_variants(context, metered, test)


def _failures_of_variants(context: Context, metered: MeteredTarget, test: ChecklistTest) -> Iterator[Candidate]:
    """Variants whose answers or probabilities break the expectation that the original's answer sets."""
    outputs = ask_within_budget(metered, test.inputs)
    if len(outputs) < 2 or (test.answer and is_wrong(outputs[0], test.answer)):
        return
    first, answer, queries = outputs[0], test.answer or outputs[0].answer, len(outputs)
    for inputs, output in zip(test.inputs[1:], outputs[1:], strict=False):
        movement = _movement(test, first, output)
        fails = is_wrong(output, answer) if test.kind == "INV" else movement < -TOLERANCE
        if fails:
            facts = {**_test_facts(test), **({"moved": round(movement, 4)} if test.kind == "DIR" else {})}
            yield Candidate(context.uid, inputs, answer, output, is_wrong(output, answer), queries, facts=facts)
            queries = 0


def _movement(test: ChecklistTest, first: Output, output: Output) -> float:
    """The distance that the probability went the expected way; negative against it."""
    label = {"": test.label} if test.label else first.answer
    change = confidence(output, label) - confidence(first, label)
    return change if test.expected == "up" else -change


def _test_facts(test: ChecklistTest) -> dict[str, Any]:
    return {"test": test.name, "kind": test.kind, **({"capability": test.capability} if test.capability else {})}


def _tests_of_input(context: Context, seed: int) -> Iterator[ChecklistTest]:
    """Tests made of the context's input: transformations that keep its answer, and phrases that support it."""
    names, answer = changeable_fields(context), context.answer or {}
    for transformation in find_transformations(INVARIANT):
        texts = {name: context.inputs[name] for name in names}
        if changed := transformation.apply(texts, generator(seed, context.uid, transformation.name)):
            new_inputs = {**context.inputs, **{name: edited.text for name, edited in changed.items()}}
            yield ChecklistTest(transformation.name, "INV", [context.inputs, new_inputs], answer)
    labels = [value for value in answer.values() if isinstance(value, str) and value in PHRASES]
    for label in labels:
        for phrase in PHRASES[label] if names else ():
            new_inputs = {**context.inputs, names[-1]: f"{context.inputs[names[-1]].rstrip()} {phrase}"}
            yield ChecklistTest(f"adding: {phrase}", "DIR", [context.inputs, new_inputs], answer, label)


SENTIMENT: Mapping[str, str] = {"0": "negative", "1": "neutral", "2": "positive"}
"""The meaning of the labels in the suite for sentiment."""
DIRECTIONS: Mapping[str, tuple[str, Expected]] = {
    "intensifiers": ("", "up"),
    "reducers": ("", "down"),
    '"used to" should reduce': ("", "down"),
    "add positive phrases": ("negative", "down"),
    "add negative phrases": ("positive", "down"),
}
"""By test of the suite for sentiment, the label (empty: the answer to the original) and where its probability must not
turn back from; the released files hold none of it but in their programs."""


def read_released_suite(
    path: Path,
    fields: Sequence[str],
    answer: str,
    labels: Mapping[str, str] = SENTIMENT,
    directions: Mapping[str, tuple[str, Expected]] = DIRECTIONS,
) -> list[ChecklistTest]:
    """Return the tests that can be judged: MFTs with a label that `labels` knows, INVs, and DIRs in `directions`.

    `fields` are the input fields by the order in the file. Raise `Invalid` with the number of a line that is no test.
    """
    tests = list[ChecklistTest]()
    for number, row in read_objects(path):
        try:
            tests += _read_tests(row, fields, answer, labels, directions)
        except (ValueError, KeyError, TypeError) as error:
            raise Invalid({"file": f"Line {number} is no test of a suite: {error}"}) from error
    return tests


def _read_tests(
    row: Mapping[str, Any],
    fields: Sequence[str],
    answer: str,
    labels: Mapping[str, str],
    directions: Mapping[str, tuple[str, Expected]],
) -> Iterator[ChecklistTest]:
    name, kind, capability = str(row["test"]), row["type"], str(row.get("capability") or "")
    if kind not in ("MFT", "INV", "DIR"):
        raise ValueError(f"type {kind!r} is none of MFT, INV and DIR")
    data = list(row["data"])
    row_labels = row.get("labels")
    label_of_datum = list(row_labels) if isinstance(row_labels, list) else [row_labels] * len(data)
    if len(label_of_datum) != len(data):
        raise ValueError("as many labels as data were expected")
    for datum, label in zip(data, label_of_datum, strict=True):
        if datum is None:
            continue
        if kind == "MFT":
            if str(label) in labels:
                yield ChecklistTest(
                    name, kind, [_input_fields(datum, fields)], {answer: labels[str(label)]}, capability=capability
                )
        elif kind == "INV" or name in directions:
            expected_label, expected = directions.get(name, ("", "up"))
            yield ChecklistTest(
                name,
                kind,
                [_input_fields(variant, fields) for variant in datum],
                None,
                expected_label,
                expected,
                capability,
            )


def _input_fields(datum: Any, fields: Sequence[str]) -> dict[str, str]:
    values = [datum] if isinstance(datum, str) else list(datum)
    if len(values) != len(fields) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"an input is {len(fields)} texts: {', '.join(fields)}")
    return dict(zip(fields, values, strict=True))
