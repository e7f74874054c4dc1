"""Choices in the usual forms of other people's data, and which of them a right answer or a model's answer names."""

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.intake.mapping import value_at, value_key
from dynabench.kit.language import _

LETTERS = string.ascii_uppercase
GROUPS = ("", "option", "opt", "op", "choice", "ending", "answer", "ans", "sol", "candidate", "distractor")
"""Beginnings of the names of columns that hold a choice each, before a letter or a number."""
_GROUP = re.compile(r"(.*?)[\W_]*([A-Ha-h]|\d{1,2})")
_LETTER = re.compile(r"[\"'(\[]*([A-Za-z])[\"')\].:]*")
_BEGINNING = re.compile(r"[\"'(\[]*([A-Z])[)\].:](\s|$)")
_STATED = re.compile(r"\banswer(?:\s+is)?\s*:?\s*[\"'(\[*]*([A-Z])\b")
_WORD = re.compile(r"\w+")
_LINE = re.compile(r"[A-Z]\. (.*)")


class UnfitValue(ValueError):
    """Raised for a value that does not fit its role, with the reason."""


@dataclass(frozen=True)
class ChoiceList:
    """The choices of a row, and what the data call them (empty where they have no names)."""

    texts: Sequence[str]
    names: Sequence[str] = ()

    @property
    def letters(self) -> str:
        """The letters that models answer with."""
        return LETTERS[: len(self.texts)]

    def as_text(self) -> str:
        """Return the choices as models get them: a line for each, with its letter."""
        return "\n".join(f"{letter}. {text}" for letter, text in zip(self.letters, self.texts, strict=True))

    @classmethod
    def of_text(cls, text: str) -> "ChoiceList":
        """Return the choices that `as_text` wrote."""
        return cls([match[1] for line in text.split("\n") if (match := _LINE.fullmatch(line))])


def find_group(columns: Sequence[str]) -> str:
    """Return the columns that hold a choice each, such as `A,B,C,D`, with commas between; empty where none do."""
    groups: dict[str, list[str]] = {}
    for column in columns:
        match = _GROUP.fullmatch(column)
        if match and match[1].casefold().rstrip("_ .-") in GROUPS and "," not in column:
            groups.setdefault(match[1].casefold(), []).append(column)
    largest = max(groups.values(), key=len, default=[])
    return ",".join(largest) if len(largest) > 1 else ""


def read_choices(row: Mapping[str, Any], column: str) -> ChoiceList:
    """Return the choices in a column, or in several with commas between; raises `UnfitValue`.

    One column holds a list of texts, `{text: [...], label: [...]}`, or an object with a text for each name.
    """
    value = value_at(row, column)
    if value is None and "," in column:
        texts = [value_at(row, name.strip()) for name in column.split(",")]
        while texts and texts[-1] in (None, ""):  # some rows have fewer choices
            texts.pop()
        return _choice_list(texts, (), column)
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):
        names = value.get("label")
        return _choice_list(value["text"], names if isinstance(names, list) else (), column)
    if isinstance(value, Mapping):
        return _choice_list(list(value.values()), list(value), column)
    if isinstance(value, list):
        texts = [item.get("text") if isinstance(item, Mapping) else item for item in value]
        names = [item.get("label") for item in value if isinstance(item, Mapping) and item.get("label") is not None]
        return _choice_list(texts, names, column)
    raise UnfitValue(_("The column %(column)s holds no list of choices.", column=column))


def _choice_list(texts: Sequence[Any], names: Iterable[Any], column: str) -> ChoiceList:
    read_texts = [" ".join(value_key(text).split()) for text in texts if isinstance(text, str | int | float)]
    if len(read_texts) != len(texts) or "" in read_texts or not 2 <= len(read_texts) <= len(LETTERS):
        message = _("The column %(column)s needs 2 to %(most)s choices, each with a text.", most=len(LETTERS),
                    column=column)  # fmt: skip
        raise UnfitValue(message)
    read_names = [value_key(name).strip() for name in names]
    return ChoiceList(read_texts, read_names if len(read_names) == len(read_texts) else ())


def read_right_choice(value: Any, choices: ChoiceList, base: str, column: str) -> str:
    """Return the letter of the right choice: named by its name, text, letter or number; raises `UnfitValue`.

    Numbers count from `base`; where that is empty, a number is the text of a choice, or else counts from 0.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not (text := value_key(value).strip()):
        raise UnfitValue(_("The column %(column)s holds no answer.", column=column))
    if text in choices.names:
        return choices.letters[choices.names.index(text)]
    is_number = text.isdecimal()
    by_text = _letter_of_text(text, choices) if not is_number or (not base and isinstance(value, str)) else ""
    if by_text:
        return by_text
    if is_number and 0 <= (place := int(text) - int(base or 0)) < len(choices.texts):
        return choices.letters[place]
    match = _LETTER.fullmatch(text)
    if match and match[1].upper() in choices.letters:
        return match[1].upper()
    raise UnfitValue(
        _("%(answer)s in %(column)s is none of the %(n)s choices.", answer=text[:50], column=column,
          n=len(choices.texts))
    )  # fmt: skip


def _letter_of_text(text: str, choices: ChoiceList) -> str:
    """The letter of the only choice that reads so; empty where none does, or several."""
    folded = " ".join(text.split()).casefold().rstrip(".")
    places = [place for place, choice in enumerate(choices.texts) if choice.casefold().rstrip(".") == folded]
    return choices.letters[places[0]] if len(places) == 1 else ""


def guess_base(answers: Iterable[tuple[Any, ChoiceList]]) -> str:
    """Return from which number on the right answers count: `0` or `1`; empty where they are no numbers."""
    pairs = [(value_key(value).strip(), choices) for value, choices in answers if isinstance(value, str | int | float)]
    if not pairs or not all(text.isdecimal() for text, _choices in pairs):
        return ""
    if all(text in choices.names or _letter_of_text(text, choices) for text, choices in pairs):
        return ""
    numbers = [(int(text), len(choices.texts)) for text, choices in pairs]
    return "1" if all(number > 0 for number, _n in numbers) and any(number == n for number, n in numbers) else "0"


def read_answered_choice(answer: str, choices: ChoiceList) -> str:
    """Return the letter that a model's text names; the text itself, which is wrong, where it names none for certain."""
    text = answer.strip()
    match = _LETTER.fullmatch(text)
    if match and match[1].upper() in choices.letters:
        return match[1].upper()
    if letter := _letter_of_text(text, choices):
        return letter
    for pattern in (_BEGINNING.match(text), _STATED.search(text)):
        if pattern and pattern[1] in choices.letters:
            return pattern[1]
    written = _in_words(text)
    named = [letter for letter, choice in zip(choices.letters, choices.texts, strict=True)
             if _in_words(choice) in written]  # fmt: skip
    return named[0] if len(named) == 1 else answer


def _in_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
