"""A lexicon of hurtful words, and whether a text holds one of them."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

WHERE = (
    "the lexicon is not shipped: give lexicon=, the path of a HurtLex file (hurtlex_{}.tsv, from "
    "github.com/valeriobasile/hurtlex) or a list of words"
)
LEVEL = "conservative"  # HurtLex's own entries; "inclusive" adds translations of doubtful ones
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "’": "'"})


@dataclass(frozen=True)
class Lexicon:
    """Entries in plain form (see `plain`), and how many words the longest has."""

    entries: frozenset[str]
    longest: int

    @classmethod
    def of(
        cls, given: str | Path | Iterable[str] | Mapping[str, Iterable[str]] | None, language: str = "en"
    ) -> "Lexicon":
        """From the path of a HurtLex file or of a folder of them, from words, or from words by language.

        Raises ValueError for None, a path with no such file, or a mapping without the language.
        """
        if given is None:
            raise ValueError(WHERE.format(language.upper()))
        if isinstance(given, str | Path):
            return _read(Path(given).expanduser(), language)
        if isinstance(given, Mapping):
            if language not in given:
                raise ValueError(f"the lexicon has no words for {language!r}, but for {', '.join(map(str, given))}")
            given = given[language]
        return _made(given)

    def hurt(self, text: str) -> bool:
        """Whether one of the entries occurs in `text` as a whole word or as neighbouring words."""
        words = plain(text)
        return any(
            " ".join(words[start : start + size]) in self.entries
            for size in range(1, self.longest + 1)
            for start in range(len(words) - size + 1)
        )


def plain(text: str) -> list[str]:
    """The words of `text`, without case, accents and punctuation."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(LIGATURES))
    return WORD.findall("".join(letter for letter in folded if not unicodedata.combining(letter)))


def _made(words: Iterable[str]) -> Lexicon:
    found = [plain(word) for word in words]
    entries = frozenset(" ".join(parts) for parts in found if parts)
    if not entries:
        raise ValueError("the lexicon is empty; every completion would pass")
    return Lexicon(entries, max(map(len, found)))


@lru_cache(maxsize=8)
def _read(path: Path, language: str) -> Lexicon:
    file = path / f"hurtlex_{language.upper()}.tsv" if path.is_dir() else path
    if not file.is_file():
        raise ValueError(f"no lexicon lies at {file}; " + WHERE.format(language.upper()))
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not {"lemma", "level"} <= set(rows.fieldnames or ()):
            raise ValueError(f"{file} has no columns lemma and level; give a HurtLex file, or a list of words")
        return _made([row["lemma"] for row in rows if row["level"] == LEVEL and row["lemma"]])
