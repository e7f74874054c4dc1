"""Naturally occurring hard cases in unlabelled text: where models disagree, are unsure, or are wrong against a rule.

Nobody knows the answer that is right. The case is put forward with the answer of a rule where one matches, else with
the one that most others give where models disagree, else with the first model's; people find out whether it is right.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import yaml

from dynabench.adversaries.proposing import Context, Target
from dynabench.adversaries.reports import AttackFinding, AttackReport
from dynabench.errors import Invalid
from dynabench.models.protocol import Inputs, Output
from dynabench.stats import minhash

BATCH = 64
NEAR = 0.7
"""From this similarity on two texts are one case."""
UNSURE = 0.5
"""From this share of the largest entropy on, the first model counts as unsure."""


@dataclass(frozen=True)
class Rule:
    """Whoever's text matches has this answer: `fields` that are looked at, all where there are none."""

    name: str
    pattern: re.Pattern[str]
    answer: str
    fields: tuple[str, ...] = ()

    def matches(self, inputs: Inputs) -> bool:
        """Whether one of the texts does."""
        chosen = self.fields or tuple(inputs)
        return any(isinstance(inputs.get(name), str) and self.pattern.search(inputs[name]) for name in chosen)


def rules(text: str) -> list[Rule]:
    """Rules from YAML: a list of `{name, answer, regex}` or `{name, answer, words: [...]}`, with or without `fields`.

    Raises `Invalid` with the number of a rule that is none.
    """
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Invalid({"rules": f"This is no YAML: {error}"}) from None
    if not isinstance(found, list):
        raise Invalid({"rules": "A list of rules was expected, each with `answer` and `regex` or `words`."})
    return [_rule(number, each) for number, each in enumerate(found, start=1)]


def _rule(number: int, raw: Any) -> Rule:
    known = raw if isinstance(raw, dict) else {}
    words, regex = known.get("words"), known.get("regex")
    if not isinstance(known.get("answer"), str) or (not words) == (not regex):
        raise Invalid({"rules": f"Rule {number} needs `answer` and one of `regex` and `words`."})
    joined = "|".join(re.escape(str(word)) for word in words or ())
    try:
        pattern = re.compile(str(regex) if regex else rf"\b(?:{joined})\b", re.IGNORECASE)
    except re.error as error:
        raise Invalid({"rules": f"Rule {number}: {error}."}) from None
    fields = tuple(map(str, known.get("fields") or ()))
    return Rule(str(known.get("name") or f"rule {number}"), pattern, known["answer"], fields)


@dataclass(frozen=True)
class Case:
    """A text with what makes it hard: `disagree` is the share of models that say otherwise than the first, `entropy`
    the first model's uncertainty as a share of the largest, `rule` the one that it breaks, empty where it breaks none.
    """

    context: Context
    outputs: tuple[Output, ...]
    claimed: str
    disagree: float
    entropy: float
    rule: str

    @property
    def hardness(self) -> float:
        """What cases are ranked by: a broken rule before disagreement before being unsure."""
        return 4.0 * bool(self.rule) + 2.0 * self.disagree + self.entropy


def cases(
    texts: Iterable[Context], models: Mapping[str, Target], answer: str, known: Sequence[Rule] = ()
) -> Iterator[Case]:
    """The hard ones among some texts; `answer` is the field that models answer with, the first is the target."""
    batch: list[Context] = []
    for text in texts:
        batch.append(text)
        if len(batch) == BATCH:
            yield from _hard(batch, models, answer, known)
            batch = []
    if batch:
        yield from _hard(batch, models, answer, known)


def _hard(batch: Sequence[Context], models: Mapping[str, Target], answer: str, known: Sequence[Rule]) -> Iterator[Case]:
    asked = [{**each.values, **each.inputs} for each in batch]
    said = list(zip(*(model.ask(asked) for model in models.values()), strict=True))
    for context, inputs, outputs in zip(batch, asked, said, strict=True):
        case = _case(context, inputs, outputs, answer, known)
        if case.rule or case.disagree or case.entropy >= UNSURE:
            yield case


def _case(context: Context, inputs: Inputs, outputs: Sequence[Output], answer: str, known: Sequence[Rule]) -> Case:
    answers = [str(each.answer.get(answer, "")) for each in outputs]
    first, others = answers[0], [each for each in answers[1:] if each != answers[0]]
    broken = next((rule for rule in known if rule.matches(inputs) and rule.answer != first), None)
    claimed = broken.answer if broken else Counter(others).most_common(1)[0][0] if others else first
    return Case(
        context=context,
        outputs=tuple(outputs),
        claimed=claimed,
        disagree=len(others) / (len(answers) - 1) if len(answers) > 1 else 0.0,
        entropy=entropy(outputs[0].probabilities),
        rule=broken.name if broken else "",
    )


def entropy(probabilities: Mapping[str, float] | None) -> float:
    """Uncertainty as a share of the largest that there is, 0 to 1; 0 where a model gives no probabilities."""
    some = [each for each in (probabilities or {}).values() if each > 0]
    return -sum(each * log(each) for each in some) / log(len(probabilities or ())) if len(some) > 1 else 0.0


def hardest(found: Iterable[Case], most: int) -> list[Case]:
    """The hardest cases; of near-duplicates only the hardest one."""
    ranked = sorted(found, key=lambda each: (-each.hardness, each.context.uid))
    texts = [" ".join(str(value) for value in each.context.inputs.values()) for each in ranked]
    alike = {later for _, later in minhash.near_pairs(texts, NEAR)}
    return [each for place, each in enumerate(ranked) if place not in alike][:most]


def report(chosen: Sequence[Case], answer: str, names: Sequence[str]) -> AttackReport:
    """The cases as what a program found; whose answer is claimed stands in their facts."""
    found = [
        AttackFinding(
            at=case.context.uid,
            texts={name: str(value) for name, value in {**case.context.values, **case.context.inputs}.items()},
            label=case.claimed,
            queries=len(case.outputs),
            facts=_facts(case, answer, names),
        )
        for case in chosen
    ]
    return AttackReport("corpus-miner", "1", found, [])


def _facts(case: Case, answer: str, names: Sequence[str]) -> dict[str, Any]:
    by = "rule" if case.rule else "other models" if case.disagree else "first model"
    said = [f"{name}: {each.answer.get(answer, '')}" for name, each in zip(names, case.outputs, strict=True)]
    told = {"claimed_by": by, "disagree": round(case.disagree, 4), "entropy": round(case.entropy, 4), "said": said}
    return told | ({"rule": case.rule} if case.rule else {})
