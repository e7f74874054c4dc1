"""Behavioural tests after CheckList (Ribeiro et al. 2020): suites, their adversary, and suites that others released."""

import hashlib
import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from dynabench.adversaries.perturbations import find_transformations, generator
from dynabench.adversaries.protocol import (
    Adversary,
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
    ask_within_budget,
    changeable_fields,
    confidence,
    is_wrong,
    judge_proposals,
)
from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import ModelOutput

ITEMS_PER_PHENOMENON = 36
"""Items of a phenomenon, by default."""
SLOT = re.compile(r"\{([a-z]+)(\d?)(?:\.([a-z]+))?\}")
"""`{word}`; `{word2}` is another one than `{word}`; `{word.part}` is a part of a word that has several."""
_SHIPPED = files("dynabench.adversaries") / "templates"

Word = str | dict[str, str]


@dataclass(frozen=True)
class SuiteItem:
    """One test: the inputs, the right answer, and the phenomenon."""

    uid: str
    inputs: dict[str, str]
    answer: dict[str, Any]
    phenomenon: str


class Phenomenon(BaseModel):
    """A phenomenon and its templates; each template has the task's input fields and the answer's."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9 -]{1,60}$")
    about: str
    templates: list[dict[str, str]] = Field(min_length=1)


class Suite(BaseModel):
    """A file of templates. `answer` is the field that the templates' last key fills."""

    model_config = ConfigDict(extra="forbid")

    name: str
    title: str
    task: str
    licence: str
    answer: str
    words: dict[str, list[Word]] = {}
    phenomena: list[Phenomenon] = Field(min_length=1)

    @model_validator(mode="after")
    def _slots_have_words(self) -> "Suite":
        for phenomenon in self.phenomena:
            for template in phenomenon.templates:
                for word, _, part in SLOT.findall(" ".join(template.values())):
                    entries = self.words.get(word)
                    if not entries:
                        raise ValueError(f"{phenomenon.name}: there are no words for {{{word}}}")
                    if any(isinstance(entry, str) if part else isinstance(entry, dict) for entry in entries):
                        raise ValueError(f"{phenomenon.name}: {{{word}}} is used with parts and without")
        return self

    def items(self, most: int = ITEMS_PER_PHENOMENON) -> Iterator[SuiteItem]:
        """Yield at most `most` items of each phenomenon, none twice."""
        for phenomenon in self.phenomena:
            share = -(-most // len(phenomenon.templates))
            samples = [_fill_template(template, self.words, share) for template in phenomenon.templates]
            rows = [row for part in itertools.zip_longest(*samples) for row in part if row is not None]
            for number, row in enumerate(rows[:most], 1):
                inputs = {name: value for name, value in row.items() if name != self.answer}
                uid = f"{phenomenon.name.replace(' ', '-')}-{number}"
                yield SuiteItem(uid, inputs, self._answer(row), phenomenon.name)

    def _answer(self, row: Mapping[str, str]) -> dict[str, Any]:
        """The answer; of extracted answers, `field: text` becomes the place of that text in the field."""
        value = row[self.answer]
        field, separator, text = value.partition("::")
        if not separator:
            return {self.answer: value}
        start = row[field].index(text)
        return {self.answer: [{"start": start, "end": start + len(text), "text": text}]}


def shipped_suites() -> list[str]:
    """Return the names of the suites in this package."""
    return sorted(Path(str(file)).stem for file in _SHIPPED.iterdir() if str(file).endswith(".yaml"))


def load_suite(name: str) -> Suite:
    """Return a suite of this package, or of a YAML file by its path; raise `Invalid`."""
    path = Path(name)
    if name not in shipped_suites() and not path.is_file():
        raise Invalid(
            {"suite": f"There is no suite {name!r}; there are {', '.join(shipped_suites())}, or name a file."}
        )
    text = (_SHIPPED / f"{name}.yaml").read_text("utf-8") if name in shipped_suites() else path.read_text("utf-8")
    try:
        return Suite.model_validate(yaml.safe_load(text))
    except (ValueError, yaml.YAMLError) as error:
        raise Invalid({"suite": str(error)}) from error


def _fill_template(template: Mapping[str, str], words: Mapping[str, Sequence[Word]], most: int) -> list[dict[str, str]]:
    """A fixed sample of the ways to fill a template's slots, in the order of their digests."""
    slots = sorted({(word, number) for text in template.values() for word, number, _ in SLOT.findall(text)})
    ways = itertools.product(*(range(len(words[word])) for word, _ in slots))
    distinct = (way for way in ways if len({(slot[0], at) for slot, at in zip(slots, way, strict=True)}) == len(slots))
    template_key = repr(sorted(template.items()))
    chosen = sorted(distinct, key=lambda way: hashlib.sha256(f"{template_key}{way}".encode()).digest())[:most]
    fillings = ({slot: words[slot[0]][at] for slot, at in zip(slots, way, strict=True)} for way in chosen)
    return [
        {name: _fill_sentence(text, entry_by_slot) for name, text in template.items()} for entry_by_slot in fillings
    ]


def _fill_sentence(text: str, entry_by_slot: Mapping[tuple[str, str], Word]) -> str:
    """The text with its slots filled; what begins with a slot begins with a capital, unless it is a single word."""
    filled = SLOT.sub(lambda match: _word_for_slot(match, entry_by_slot), text)
    return filled[0].upper() + filled[1:] if text.startswith("{") and " " in text else filled


def _word_for_slot(match: re.Match[str], entry_by_slot: Mapping[tuple[str, str], Word]) -> str:
    word, number, part = match.groups()
    value = entry_by_slot[word, number]
    return value[part] if isinstance(value, dict) else value


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
    items = load_suite(name).items()
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

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield failures only, as they are found."""
        metered = MeteredTarget(target, budget)
        if context.inputs and context.answer:
            tests = list(_tests_of_input(context, self._seed))
        else:
            tests = random.Random(f"{self._seed}:{context.uid}").sample(self._tests, len(self._tests))
        try:
            yield from _failures(context, metered, tests)
        except BudgetSpent:
            return


def _failures(
    context: AttackContext, metered: MeteredTarget, tests: Sequence[ChecklistTest]
) -> Iterator[AttackCandidate]:
    functionality_tests = iter([test for test in tests if test.kind == "MFT"])
    while batch := list(islice(functionality_tests, STEP)):
        proposals = [(test.inputs[0], test.answer or {}, _test_facts(test)) for test in batch]
        yield from (candidate for candidate in judge_proposals(context, metered, proposals) if candidate.fooled)
    for test in tests:
        if test.kind != "MFT":
            yield from _failures_of_variants(context, metered, test)


def _failures_of_variants(
    context: AttackContext, metered: MeteredTarget, test: ChecklistTest
) -> Iterator[AttackCandidate]:
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
            yield AttackCandidate(context.uid, inputs, answer, output, is_wrong(output, answer), queries, facts=facts)
            queries = 0


def _movement(test: ChecklistTest, first: ModelOutput, output: ModelOutput) -> float:
    """The distance that the probability went the expected way; negative against it."""
    label = {"": test.label} if test.label else first.answer
    change = confidence(output, label) - confidence(first, label)
    return change if test.expected == "up" else -change


def _test_facts(test: ChecklistTest) -> dict[str, Any]:
    return {"test": test.name, "kind": test.kind, **({"capability": test.capability} if test.capability else {})}


def _tests_of_input(context: AttackContext, seed: int) -> Iterator[ChecklistTest]:
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
