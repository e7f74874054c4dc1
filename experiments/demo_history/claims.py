"""The texts that the demo's people write, with the answers that are right, read from the files in `texts/`."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

TEXTS = Path(__file__).parent / "texts"
WOMEN = ("Ada", "Noor", "Lena", "Mei", "Chioma", "Ines", "Freya", "Tara", "Yuki", "Sofia", "Hala", "Rosa")
MEN = ("Omar", "Jonas", "Kofi", "Pavel", "Luca", "Hiro", "Diego", "Sami", "Erik", "Tomas", "Ravi", "Yusuf")
NLI_LABELS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
PASSAGES_OF_FAMILY = 16
PAIRS_OF_SCENES = 17
"""Premises of two scenes in each theme."""


@dataclass(frozen=True)
class Claim:
    """One text that an author may write, the right answer, and the phenomenon that it plays on.

    `why` explains why the answer is right. `key` is equal for texts made from one pattern.
    """

    input: dict[str, Any]
    answer: dict[str, Any]
    phenomenon: str
    key: str
    why: str = ""


@dataclass
class ClaimBank:
    """Claims by the values of the context that they fit; those under the empty key fit any context."""

    claims: dict[str, list[Claim]] = field(default_factory=lambda: defaultdict(list))
    uses: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    written_texts: set[str] = field(default_factory=set)

    def candidates(self, context: str, answer: dict[str, Any] | None, rng: random.Random) -> list[Claim]:
        """Return the unused claims for a context, with this answer if one is given, the least used patterns first."""
        fitting = self.claims.get(context, []) if context else self.claims.get("", [])
        unused = [
            claim for claim in fitting
            if repr(claim) not in self.written_texts and (answer is None or claim.answer == answer)
        ]  # fmt: skip
        rng.shuffle(unused)
        return sorted(unused, key=lambda claim: self.uses[claim.key])

    def take(self, claim: Claim) -> None:
        """Note that a claim was written."""
        self.uses[claim.key] += 1
        self.written_texts.add(repr(claim))


@dataclass(frozen=True)
class Premise:
    """A premise of one or two scenes, with its claims."""

    text: str
    tag: str
    claims: tuple[Claim, ...]


@cache
def premises() -> tuple[Premise, ...]:
    """Return all premises: each scene alone, then pairs of scenes of one theme, with names chosen in turn."""
    themes = _read("nli")
    rows = list[Premise]()
    number = 0
    for theme, scenes in themes.items():
        pairs = sorted(combinations(range(len(scenes)), 2), key=lambda pair: (pair[1] - pair[0], pair))
        chosen = [(index,) for index in range(len(scenes))] + pairs[:PAIRS_OF_SCENES]
        for places in chosen:
            names = {"a": WOMEN[number % len(WOMEN)], "b": MEN[(number * 5 + number // 12) % len(MEN)]}
            number += 1
            parts = [scenes[place] for place in places]
            text = " ".join(_filled(part["p"], names) for part in parts)
            claims = [claim for part in parts for claim in _hypotheses(part, names)]
            rows.append(Premise(text, theme, tuple(claims)))
    return tuple(rows)


def _hypotheses(scene: dict[str, Any], names: dict[str, str]) -> Iterator[Claim]:
    for short, label in NLI_LABELS.items():
        for line in scene[short]:
            phenomenon, _, text = line.partition("| ")
            yield Claim({"hypothesis": _filled(text, names)}, {"label": label}, phenomenon, text)


def _filled(text: str, names: dict[str, str]) -> str:
    for short, name in names.items():
        text = text.replace("{" + short + "}", name)
    return text


def sentiment_prompts() -> Iterator[tuple[str, str]]:
    """Yield the prompts of the sentiment task with their tags."""
    for tag, prompts in _read("sentiment-prompts").items():
        yield from ((prompt, tag) for prompt in prompts)


def statements(bank: str) -> list[Claim]:
    """Return all statements of a bank of patterns, `sentiment` or `hate`: each pattern with each of its things."""
    document = _read(bank)
    rows = list[Claim]()
    number = 0
    for phenomenon, group in document["statements"].items():
        for label in set(group) - {"why"}:
            for pattern in group[label]:
                fillings = document.get("things", [""]) if "{thing}" in pattern else [""]
                for filling in fillings:
                    number += 1
                    names = {"a": WOMEN[number % len(WOMEN)], "b": MEN[number % len(MEN)], "thing": filling}
                    text = _filled(pattern, names)
                    statement = {"statement": text[0].upper() + text[1:]}
                    rows.append(Claim(statement, {"label": label}, phenomenon, pattern, group["why"]))
    return rows


@dataclass(frozen=True)
class Passage:
    """A passage with the questions that it answers."""

    text: str
    tag: str
    claims: tuple[Claim, ...]


@cache
def passages() -> tuple[Passage, ...]:
    """Return the passages of all families: each with other values, and variants of sentences drawn once."""
    document = _read("qa")
    rng, rows = random.Random("passages"), list[Passage]()
    for tag, parts in document["families"].items():
        sentences = [part for part in parts if isinstance(part, list)]
        questions = [part for part in parts if isinstance(part, dict)]
        for _ in range(PASSAGES_OF_FAMILY):
            values = _drawn_values(document["words"], rng)
            text = " ".join(_filled(rng.choice(variants), values) for variants in sentences)
            text = re.sub(r"(^|[.!?] )([a-z])", lambda match: match[1] + match[2].upper(), text)
            claims = [claim for question in questions if (claim := _question(question, text, values))]
            rows.append(Passage(text, tag, tuple(claims)))
    return tuple(rows)


def _drawn_values(words: dict[str, list[str]], rng: random.Random) -> dict[str, str]:
    values = {}
    for name, options in words.items():
        for suffix, value in zip(("", "2", "3"), rng.sample(options, 3), strict=True):
            values[name + suffix] = value
    if values["year"] > values["year2"]:
        values["year"], values["year2"] = values["year2"], values["year"]
    return values


def _question(question: dict[str, str], text: str, values: dict[str, str]) -> Claim | None:
    """The question with its answer marked in the passage; None where the answer stands there never or twice."""
    matches = list(re.finditer(rf"\b{re.escape(_filled(question['a'], values))}\w*", text, re.IGNORECASE))
    if len(matches) != 1:
        return None
    match = matches[0]
    span = {"start": match.start(), "end": match.end(), "text": match.group()}
    return Claim({"question": _filled(question["q"], values)}, {"answer": [span]}, question["about"], question["q"])


def qa_bank() -> ClaimBank:
    """Return the bank of question answering, by passage."""
    bank = ClaimBank()
    for passage in passages():
        bank.claims[passage.text].extend(passage.claims)
    return bank


def nli_bank() -> ClaimBank:
    """Return the bank of the inference task, by premise."""
    bank = ClaimBank()
    for premise in premises():
        bank.claims[premise.text].extend(premise.claims)
    return bank


def statement_bank(name: str) -> ClaimBank:
    """Return a bank of statements, which fit any context."""
    bank = ClaimBank()
    bank.claims[""].extend(statements(name))
    return bank


@cache
def _read(name: str) -> Any:
    return yaml.safe_load((TEXTS / f"{name}.yaml").read_text("utf-8"))
