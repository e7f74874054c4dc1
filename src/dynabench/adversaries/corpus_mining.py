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

from dynabench.adversaries.protocol import AttackContext, AttackedModel
from dynabench.adversaries.reports import AttackFinding, AttackReport
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Inputs, ModelOutput
from dynabench.stats import minhash

BATCH = 64
NEAR = 0.7
"""From this similarity on two texts are one case."""
UNSURE = 0.5
"""From this share of the largest entropy on, the first model counts as unsure."""


@dataclass(frozen=True)
class AnswerRule:
    """A pattern and the answer of texts that match it, in `fields` or, where there are none, in all fields."""

    name: str
    pattern: re.Pattern[str]
    answer: str
    fields: tuple[str, ...] = ()

    def matches(self, inputs: Inputs) -> bool:
        """Return whether one of the texts matches."""
        chosen = self.fields or tuple(inputs)
        return any(isinstance(inputs.get(name), str) and self.pattern.search(inputs[name]) for name in chosen)


def read_rules(text: str) -> list[AnswerRule]:
    """Return rules from YAML: a list of `{name, answer, regex}` or `{name, answer, words: [...]}`.

    `fields` is optional.
    Raise `Invalid` with the number of an invalid rule.
    """
    try:
        items = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Invalid({"rules": f"This is no YAML: {error}"}) from None
    if not isinstance(items, list):
        raise Invalid({"rules": "A list of rules was expected, each with `answer` and `regex` or `words`."})
    return [_parse_rule(number, item) for number, item in enumerate(items, start=1)]


def _parse_rule(number: int, raw: Any) -> AnswerRule:
    item = raw if isinstance(raw, dict) else {}
    words, regex = item.get("words"), item.get("regex")
    if not isinstance(item.get("answer"), str) or (not words) == (not regex):
        raise Invalid({"rules": f"Rule {number} needs `answer` and one of `regex` and `words`."})
    joined = "|".join(re.escape(str(word)) for word in words or ())
    try:
        pattern = re.compile(str(regex) if regex else rf"\b(?:{joined})\b", re.IGNORECASE)
    except re.error as error:
        raise Invalid({"rules": f"Rule {number}: {error}."}) from None
    fields = tuple(map(str, item.get("fields") or ()))
    return AnswerRule(str(item.get("name") or f"rule {number}"), pattern, item["answer"], fields)


@dataclass(frozen=True)
class HardCase:
    """A hard text.

    `disagree` is the share of models that answer otherwise than the first, `entropy` the first model's uncertainty as a
    share of the largest, `rule` the rule that it breaks, or empty.
    """

    context: AttackContext
    outputs: tuple[ModelOutput, ...]
    claimed: str
    disagree: float
    entropy: float
    rule: str

    @property
    def hardness(self) -> float:
        """Return the rank of the case: a broken rule before disagreement before uncertainty."""
        return 4.0 * bool(self.rule) + 2.0 * self.disagree + self.entropy


def find_hard_cases(
    texts: Iterable[AttackContext], models: Mapping[str, AttackedModel], answer: str, rules: Sequence[AnswerRule] = ()
) -> Iterator[HardCase]:
    """Yield the hard cases among texts; `answer` is the models' answer field, the first model is the target."""
    batch: list[AttackContext] = []
    for text in texts:
        batch.append(text)
        if len(batch) == BATCH:
            yield from _hard_cases_in(batch, models, answer, rules)
            batch = []
    if batch:
        yield from _hard_cases_in(batch, models, answer, rules)


def _hard_cases_in(
    batch: Sequence[AttackContext], models: Mapping[str, AttackedModel], answer: str, rules: Sequence[AnswerRule]
) -> Iterator[HardCase]:
    inputs_of = [{**context.values, **context.inputs} for context in batch]
    outputs_of = list(zip(*(model.ask(inputs_of) for model in models.values()), strict=True))
    for context, inputs, outputs in zip(batch, inputs_of, outputs_of, strict=True):
        case = _assess(context, inputs, outputs, answer, rules)
        if case.rule or case.disagree or case.entropy >= UNSURE:
            yield case


def _assess(
    context: AttackContext, inputs: Inputs, outputs: Sequence[ModelOutput], answer: str, rules: Sequence[AnswerRule]
) -> HardCase:
    answers = [str(output.answer.get(answer, "")) for output in outputs]
    first, others = answers[0], [output for output in answers[1:] if output != answers[0]]
    broken = next((rule for rule in rules if rule.matches(inputs) and rule.answer != first), None)
    claimed = broken.answer if broken else Counter(others).most_common(1)[0][0] if others else first
    return HardCase(
        context=context,
        outputs=tuple(outputs),
        claimed=claimed,
        disagree=len(others) / (len(answers) - 1) if len(answers) > 1 else 0.0,
        entropy=entropy(outputs[0].probabilities),
        rule=broken.name if broken else "",
    )


def entropy(probabilities: Mapping[str, float] | None) -> float:
    """Return the uncertainty as a share of the largest possible, 0 to 1; 0 without probabilities."""
    positive = [probability for probability in (probabilities or {}).values() if probability > 0]
    return (
        -sum(probability * log(probability) for probability in positive) / log(len(probabilities or ()))
        if len(positive) > 1
        else 0.0
    )


def choose_hardest(cases: Iterable[HardCase], most: int) -> list[HardCase]:
    """Return the hardest cases; of near-duplicates only the hardest."""
    ranked = sorted(cases, key=lambda case: (-case.hardness, case.context.uid))
    texts = [" ".join(str(value) for value in case.context.inputs.values()) for case in ranked]
    alike = {later for _, later in minhash.near_pairs(texts, NEAR)}
    return [case for place, case in enumerate(ranked) if place not in alike][:most]


def build_report(chosen: Sequence[HardCase], answer: str, names: Sequence[str]) -> AttackReport:
    """Return the cases as findings of a program; their facts name the source of the claimed answer."""
    findings = [
        AttackFinding(
            at=case.context.uid,
            texts={name: str(value) for name, value in {**case.context.values, **case.context.inputs}.items()},
            label=case.claimed,
            queries=len(case.outputs),
            facts=_case_facts(case, answer, names),
        )
        for case in chosen
    ]
    return AttackReport("corpus-miner", "1", findings, [])


def _case_facts(case: HardCase, answer: str, names: Sequence[str]) -> dict[str, Any]:
    by = "rule" if case.rule else "other models" if case.disagree else "first model"
    answers = [f"{name}: {output.answer.get(answer, '')}" for name, output in zip(names, case.outputs, strict=True)]
    facts = {"claimed_by": by, "disagree": round(case.disagree, 4), "entropy": round(case.entropy, 4), "said": answers}
    return facts | ({"rule": case.rule} if case.rule else {})
