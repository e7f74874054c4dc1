"""Minimal edits that change the right answer in a known way, and keep the rest of the text.

In the manner of counterfactually augmented data (Kaushik et al., ICLR 2020), by rules: a negation, an opposite, a
number, a quantifier, two people exchanged. Each rule says which answer becomes which; others are left alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dynabench.adversaries.perturbations.edits import Edit, edit
from dynabench.adversaries.perturbations.words import NEGATIONS, Word, like, words
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.search.asking import judged
from dynabench.adversaries.search.drafts import changeable

Answers = Mapping[str, str]
"""The new right answer by the old one; an answer that is not here is not known to become anything."""
LONGEST = 5_000
"""Characters of a text that is edited."""


@dataclass(frozen=True)
class Rule:
    """A named edit of one text, and what becomes of the answer."""

    name: str
    edits: Callable[[str], list[Edit]]
    answers: Answers


_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_BE = frozenset("is are was were".split())
_OPPOSITES = dict(
    pair.split(":")
    for pair in """
    open:closed inside:outside indoors:outdoors asleep:awake standing:sitting young:old tall:short empty:full wet:dry
    clean:dirty hot:cold light:dark happy:sad alone:together slow:fast big:small large:tiny winning:losing up:down
    laughing:crying left:right above:below long:short near:far early:late alive:dead
    """.split()
)
_OPPOSITES |= {right: left for left, right in _OPPOSITES.items() if right != "short"}
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
_POLES |= {right: left for left, right in _POLES.items()}
_DONE_TO = frozenset(
    "thanked greeted photographed hired followed interviewed chased called visited helped phoned fired invited taught "
    "hugged kissed paid fed warned watched".split()
)
_QUANTIFIERS = {"all": "some", "every": "some", "some": "all", "everybody": "somebody", "somebody": "everybody"}


def _negation(text: str) -> list[Edit]:
    """*is* becomes *is not*, once; nothing in texts with a negation, several clauses or a question."""
    found = words(text)
    verbs = [word for word in found if word.text.lower() in _BE]
    if len(verbs) != 1 or _negated(found) or re.search(r"[?;,]|\b(?:and|or|but|if|that|who)\b", text):
        return []
    verb = verbs[0]
    return [Edit(verb.end, verb.end, " not")] if not verb.begins else []


def _numbers(text: str) -> list[Edit]:
    """The only number, two more or, from five on, two fewer."""
    found = [word for word in words(text) if word.text.lower() in _NUMBERS and word.text.lower() != "one"]
    if len(found) != 1 or re.search(r"\d|at least|at most|more than|less than|fewer|about", text):
        return []
    at = _NUMBERS.index(found[0].text.lower())
    return [_put(found[0], _NUMBERS[at + 2 if at < 4 else at - 2])]


def _swapped(table: Mapping[str, str]) -> Callable[[str], list[Edit]]:
    """The only word of the table, by its counterpart; nothing in texts with a negation."""

    def edits(text: str) -> list[Edit]:
        found = words(text)
        known = [word for word in found if word.text.lower() in table and not word.name]
        return [_put(known[0], table[known[0].text.lower()])] if len(known) == 1 and not _negated(found) else []

    return edits


def _only(old: str, new: str) -> Callable[[str], list[Edit]]:
    return _swapped({old: new})


def _roles(text: str) -> list[Edit]:
    """Two names on either side of a verb that says what one does to the other, exchanged."""
    found = words(text)
    for before, verb, after in zip(found, found[1:], found[2:], strict=False):
        named = before.text[0].isupper() and after.name
        if named and verb.text in _DONE_TO and before.text != after.text and text.count(before.text) == 1:
            return [Edit(before.start, before.end, after.text), Edit(after.start, after.end, before.text)]
    return []


def _denied(text: str) -> list[Edit]:
    """The whole text quoted, and called wrong."""
    return [Edit(0, 0, 'It is wrong to say "'), Edit(len(text), len(text), '".')] if '"' not in text else []


def _put(word: Word, new: str) -> Edit:
    return Edit(word.start, word.end, like(word.text, new))


def _negated(found: tuple[Word, ...]) -> bool:
    return any(word.text.lower() in NEGATIONS or word.text.lower().endswith(("n't", "n’t")) for word in found)


_OTHER = {"entailment": "contradiction"}
_TURNS = {"positive": "negative", "negative": "positive"}
RULES: Mapping[str, tuple[Rule, ...]] = {
    "nli": (
        Rule("negation", _negation, {"entailment": "contradiction", "neutral": "neutral"}),
        Rule("number", _numbers, _OTHER),
        Rule("opposite", _swapped(_OPPOSITES), _OTHER),
        Rule("quantifier, to all", _only("some", "all"), {"entailment": "neutral"}),
        Rule("quantifier, to some", _only("all", "some"), {"entailment": "entailment", "neutral": "neutral"}),
        Rule("roles", _roles, {"entailment": "neutral"}),
    ),
    "sentiment": (
        Rule("negation", lambda text: _negation(text) if _polar(text) else [], {"positive": "negative"}),
        Rule("opposite", _swapped(_POLES), _TURNS),
    ),
    "hate": (Rule("denied", _denied, {"hateful": "not-hateful"}),),
}
"""By task; a rule that meets an answer it does not know does nothing."""


def _polar(text: str) -> bool:
    """Whether exactly one word says what is thought of a thing."""
    return sum(word.text.lower() in _POLES for word in words(text)) == 1


class Counterfactual(Adversary):
    """Rules of a task over the context's input; for inference also over the premise itself, taken as its hypothesis."""

    name = "counterfactual"
    version = "1"

    def __init__(self, task: str = "") -> None:
        """`task` names the rules; empty: by the target's labels."""
        self._task = task

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """Every edit that a rule allows, those that fool the target first."""
        rules = RULES.get(self._task or task_of(target.labels), ())
        proposals = list(_edited(context, rules))
        try:
            yield from judged(context, Metered(target, budget), proposals)
        except Spent:
            return


def task_of(labels: Any) -> str:
    """The task whose rules know these labels; empty where none does."""
    for task, rules in RULES.items():
        if {label for rule in rules for label in (*rule.answers, *rule.answers.values())} <= set(labels):
            return task
    return ""


def _edited(
    context: Context, rules: tuple[Rule, ...]
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    for inputs, answer, based in _bases(context):
        [(field, label)] = list(answer.items())[:1]
        for name in changeable(Context(context.uid, context.values, inputs)):
            text = inputs[name]
            for rule in rules if len(text) <= LONGEST else ():
                done = edit(text, rule.edits(text)) if label in rule.answers else None
                if done:
                    facts = {"rule": rule.name, "based_on": based, "was": label}
                    yield {**inputs, name: done.text}, {**answer, field: rule.answers[label]}, facts


def _bases(context: Context) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """What is edited: the context's input with its answer, and its premise as a hypothesis that follows from it."""
    if context.inputs and context.answer:
        yield context.inputs, context.answer, "input"
    premise = context.values.get("premise") or context.inputs.get("premise")
    if isinstance(premise, str) and premise:
        label = next(iter(context.answer), "label") if context.answer else "label"
        yield {**context.inputs, "premise": premise, "hypothesis": premise}, {label: "entailment"}, "premise"
