"""Fooling rules: when a model's answer and the claimed one are so different that the model was fooled.

A rule is one function over the two values of one answer field. The same rule says whether a validator's blind answer
agrees with the claim.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

from dynabench.tasks.fields import Field
from dynabench.tasks.section import Name, Section, Setting

EnsembleRule = Literal["any", "majority", "all"]


class Fooled(Section):
    """The `fooled:` part of a config: a rule, what it looks at, and its threshold."""

    rule: Literal["differs", "f1_below", "not_in"] = Setting("differs", description="Name of the fooling rule.")
    fields: list[Name] = Setting([], description="Answer fields that count; all of them when empty.")
    judged_by: ClassVar[Literal["annotator", "validators", "model"] | None] = None
    threshold: float = Setting(0.4, gt=0, le=1, description="f1_below: fooled when the word F1 is lower than this.")

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field) -> bool:
        """Whether an answer counts as right wherever answers are called right or wrong: some accepted answer is one by
        which the model would not be fooled, or which it is itself (no answer, where there is none)."""
        fools = RULES[self.rule]
        return any(predicted == each or not fools(predicted, each, field, self) for each in accepted)

    @property
    def right_in_words(self) -> str:
        """When an answer counts as right, in a sentence."""
        return {
            "differs": "An answer is right if it is the same as one that is accepted.",
            "f1_below": f"An answer is right if the F1 of its words and those of an accepted one is {self.threshold:g} "
            "or more.",
            "not_in": "An answer is right if it has the words of an accepted one, leaving case, articles and "
            "punctuation aside.",
        }[self.rule]


def differs(predicted: Any, claimed: Any, field: Field, config: Fooled) -> bool:
    """The model's answer is not the claimed one."""
    return not field.same(predicted, claimed)


def f1_below(predicted: Any, claimed: Any, field: Field, config: Fooled) -> bool:
    """The two answers share too few words; of several claimed answers the nearest counts."""
    answers = _texts(predicted)
    return all(word_f1(answer, claim) < config.threshold for answer in answers for claim in _texts(claimed))


def not_in(predicted: Any, claimed: Any, field: Field, config: Fooled) -> bool:
    """The model's answer is none of the claimed ones, leaving case, articles and punctuation aside."""
    accepted = {tuple(answer_words(claim)) for claim in _texts(claimed)}
    return all(tuple(answer_words(answer)) not in accepted for answer in _texts(predicted))


RULES: dict[str, Callable[[Any, Any, Field, Fooled], bool]] = {
    "differs": differs,
    "f1_below": f1_below,
    "not_in": not_in,
}


def word_f1(predicted: str, claimed: str) -> float:
    """F1 over the words of two answers, from 0 to 1, as SQuAD scores them (Rajpurkar et al. 2016, section 6.1).

    Lower case, without ASCII punctuation and English articles; two answers without words are equal.
    """
    first, second = answer_words(predicted), answer_words(claimed)
    if not first or not second:
        return float(first == second)
    common = sum((Counter(first) & Counter(second)).values())
    return 2 * common / (len(first) + len(second))


def answer_words(text: str) -> list[str]:
    """The words of an answer that count: lower case, without ASCII punctuation and English articles."""
    bare = text.casefold().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def ensemble_fooled(rule: EnsembleRule, flags: Iterable[bool | None]) -> bool | None:
    """Whether an ensemble is fooled when `any`, a `majority` (more than half) or `all` of its members are.

    None for a member, or for the ensemble, is not known: it is known as soon as the rest cannot change it. Raises
    ValueError for an empty ensemble or an unknown rule.
    """
    members = list(flags)
    if not members:
        raise ValueError("an ensemble has at least one member")
    needed = {"any": 1, "majority": len(members) // 2 + 1, "all": len(members)}
    if rule not in needed:
        raise ValueError(f"an ensemble is fooled when any, majority or all are, not {rule!r}")
    fooled, unknown = members.count(True), members.count(None)
    if fooled >= needed[rule]:
        return True
    return None if fooled + unknown >= needed[rule] else False


def _texts(value: Any) -> list[str]:
    """An answer as texts: itself, the members of a list, or what each span covers."""
    items = value if isinstance(value, list) else [value]
    return [str(item["text"]) if isinstance(item, dict) and "text" in item else str(item) for item in items]
