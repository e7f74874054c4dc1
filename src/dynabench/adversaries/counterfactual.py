"""Minimal edits that change the right answer in a known way, and keep the rest of the text.

In the manner of counterfactually augmented data (Kaushik et al., ICLR 2020), by rules: a negation, an opposite, a
number, a quantifier, two people exchanged. Each rule says which answer becomes which; others are left alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dynabench.adversaries.perturbations.transformation import (
    NEGATIONS,
    Edit,
    SourceWord,
    apply_edits,
    replace_in_case,
    words,
)
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

Answers = Mapping[str, str]
"""The new right answer by the old one; other answers have no known new answer."""
LONGEST = 5_000
"""Characters of a text that is edited."""


@dataclass(frozen=True)
class CounterfactualRule:
    """A named edit of one text, and the new answer by the old one."""

    name: str
    edits: Callable[[str], list[Edit]]
    answers: Answers


_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_FORMS_OF_BE = frozenset("is are was were".split())
_OPPOSITES = dict(
    pair.split(":")
    for pair in """
    open:closed inside:outside indoors:outdoors asleep:awake standing:sitting young:old tall:short empty:full wet:dry
    clean:dirty hot:cold light:dark happy:sad alone:together slow:fast big:small large:tiny winning:losing up:down
    laughing:crying left:right above:below long:short near:far early:late alive:dead
    """.split()
)
_OPPOSITES |= {second: first for first, second in _OPPOSITES.items() if second != "short"}
_POLES = dict(
    pair.split(":")
    for pair in """
    good:bad great:terrible excellent:awful wonderful:dreadful best:worst better:worse fun:tedious funny:unfunny
    interesting:boring gripping:dull beautiful:ugly clever:stupid smart:dumb original:derivative fresh:stale
    entertaining:tiresome moving:unmoving convincing:unconvincing love:hate loved:hated loves:hates enjoy:dislike
    enjoyed:disliked success:failure succeeds:fails delightful:annoying charming:irritating brilliant:inept
    memorable:forgettable satisfying:unsatisfying inspired:uninspired perfect:flawed strong:weak friendly:rude
    delicious:disgusting pleasant:unpleasant happy:unhappy perfectly:poorly well:badly
    """.split()
)
_POLES |= {second: first for first, second in _POLES.items()}
_TRANSITIVE_VERBS = frozenset(
    "thanked greeted photographed hired followed interviewed chased called visited helped phoned fired invited taught "
    "hugged kissed paid fed warned watched".split()
)


def _negate(text: str) -> list[Edit]:
    """*is* becomes *is not*, once; nothing in texts with a negation, several clauses or a question."""
    text_words = words(text)
    verbs = [word for word in text_words if word.text.lower() in _FORMS_OF_BE]
    if len(verbs) != 1 or _has_negation(text_words) or re.search(r"[?;,]|\b(?:and|or|but|if|that|who)\b", text):
        return []
    verb = verbs[0]
    return [Edit(verb.end, verb.end, " not")] if not verb.begins_sentence else []


def _change_number(text: str) -> list[Edit]:
    """The only number, two more or, from five on, two fewer."""
    text_words = [word for word in words(text) if word.text.lower() in _NUMBERS and word.text.lower() != "one"]
    if len(text_words) != 1 or re.search(r"\d|at least|at most|more than|less than|fewer|about", text):
        return []
    at = _NUMBERS.index(text_words[0].text.lower())
    return [replace_in_case(text_words[0], _NUMBERS[at + 2 if at < 4 else at - 2])]


def _swap_only_word(table: Mapping[str, str]) -> Callable[[str], list[Edit]]:
    """The only word of the table, by its counterpart; nothing in texts with a negation."""

    def edits(text: str) -> list[Edit]:
        text_words = words(text)
        matches = [word for word in text_words if word.text.lower() in table and not word.may_be_name]
        return (
            [replace_in_case(matches[0], table[matches[0].text.lower()])]
            if len(matches) == 1 and not _has_negation(text_words)
            else []
        )

    return edits


def _replace_only_word(old: str, new: str) -> Callable[[str], list[Edit]]:
    return _swap_only_word({old: new})


def _exchange_roles(text: str) -> list[Edit]:
    """Two names on either side of a verb that says what one does to the other, exchanged."""
    text_words = words(text)
    for before, verb, after in zip(text_words, text_words[1:], text_words[2:], strict=False):
        both_names = before.text[0].isupper() and after.may_be_name
        if both_names and verb.text in _TRANSITIVE_VERBS and before.text != after.text and text.count(before.text) == 1:
            return [Edit(before.start, before.end, after.text), Edit(after.start, after.end, before.text)]
    return []


def _deny_text(text: str) -> list[Edit]:
    """The whole text quoted, and called wrong."""
    return [Edit(0, 0, 'It is wrong to say "'), Edit(len(text), len(text), '".')] if '"' not in text else []


def _has_negation(text_words: tuple[SourceWord, ...]) -> bool:
    return any(word.text.lower() in NEGATIONS or word.text.lower().endswith(("n't", "n’t")) for word in text_words)


_CONTRADICTS = {"entailment": "contradiction"}
_REVERSES = {"positive": "negative", "negative": "positive"}
RULES: Mapping[str, tuple[CounterfactualRule, ...]] = {
    "nli": (
        CounterfactualRule("negation", _negate, {"entailment": "contradiction", "neutral": "neutral"}),
        CounterfactualRule("number", _change_number, _CONTRADICTS),
        CounterfactualRule("opposite", _swap_only_word(_OPPOSITES), _CONTRADICTS),
        CounterfactualRule("quantifier, to all", _replace_only_word("some", "all"), {"entailment": "neutral"}),
        CounterfactualRule(
            "quantifier, to some", _replace_only_word("all", "some"), {"entailment": "entailment", "neutral": "neutral"}
        ),
        CounterfactualRule("roles", _exchange_roles, {"entailment": "neutral"}),
    ),
    "sentiment": (
        CounterfactualRule(
            "negation", lambda text: _negate(text) if _has_one_polar_word(text) else [], {"positive": "negative"}
        ),
        CounterfactualRule("opposite", _swap_only_word(_POLES), _REVERSES),
    ),
    "hate": (CounterfactualRule("denied", _deny_text, {"hateful": "not-hateful"}),),
}
"""By task; a rule that meets an answer it does not know does nothing."""


def _has_one_polar_word(text: str) -> bool:
    """Exactly one word of the text judges a thing."""
    return sum(word.text.lower() in _POLES for word in words(text)) == 1


class Counterfactual(Adversary):
    """Rules of a task over the context's input; for inference also over the premise itself, taken as its hypothesis."""

    name = "counterfactual"
    version = "1"

    def __init__(self, task: str = "") -> None:
        """`task` names the rules; empty: by the target's labels."""
        self._task = task

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield every edit that a rule allows, those that fool the target first."""
        rules = RULES.get(self._task or task_for_labels(target.labels), ())
        proposals = list(_edited_inputs(context, rules))
        try:
            yield from judge_proposals(context, MeteredTarget(target, budget), proposals)
        except BudgetSpent:
            return


def task_for_labels(labels: Any) -> str:
    """Return the task whose rules know these labels; empty where there is none."""
    for task, rules in RULES.items():
        if {label for rule in rules for label in (*rule.answers, *rule.answers.values())} <= set(labels):
            return task
    return ""


def _edited_inputs(
    context: AttackContext, rules: tuple[CounterfactualRule, ...]
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    for inputs, answer, base in _bases(context):
        [(field, label)] = list(answer.items())[:1]
        for name in changeable_fields(AttackContext(context.uid, context.values, inputs)):
            text = inputs[name]
            for rule in rules if len(text) <= LONGEST else ():
                edited = apply_edits(text, rule.edits(text)) if label in rule.answers else None
                if edited:
                    facts = {"rule": rule.name, "based_on": base, "was": label}
                    yield {**inputs, name: edited.text}, {**answer, field: rule.answers[label]}, facts


def _bases(context: AttackContext) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """The inputs to edit: the context's with its answer, and its premise as a hypothesis that follows from it."""
    if context.inputs and context.answer:
        yield context.inputs, context.answer, "input"
    premise = context.values.get("premise") or context.inputs.get("premise")
    if isinstance(premise, str) and premise:
        label = next(iter(context.answer), "label") if context.answer else "label"
        yield {**context.inputs, "premise": premise, "hypothesis": premise}, {label: "entailment"}, "premise"
