"""A lexicon of hurtful words, and a test of texts for them."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

NO_LEXICON = (
    "the lexicon is not shipped: give lexicon=, the path of a HurtLex file (hurtlex_{}.tsv, from "
    "github.com/valeriobasile/hurtlex) or a list of words"
)
LEVEL = "conservative"  # HurtLex's own entries; "inclusive" adds translations of doubtful ones
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "’": "'"})


@dataclass(frozen=True)
class HurtfulLexicon:
    """Entries as plain words (see `plain_words`), and the number of words in the longest entry."""

    entries: frozenset[str]
    longest: int

    @classmethod
    def of(
        cls, source: str | Path | Iterable[str] | Mapping[str, Iterable[str]] | None, language: str = "en"
    ) -> "HurtfulLexicon":
        """Read the path of a HurtLex file or of a folder of them, words, or words by language.

        Raises ValueError for None, a path with no such file, or a mapping without the language.
        """
        if source is None:
            raise ValueError(NO_LEXICON.format(language.upper()))
        if isinstance(source, str | Path):
            return _read(Path(source).expanduser(), language)
        if isinstance(source, Mapping):
            if language not in source:
                raise ValueError(f"the lexicon has no words for {language!r}, but for {', '.join(map(str, source))}")
            source = source[language]
        return _make_lexicon(source)

    def hurt(self, text: str) -> bool:
        """Return whether an entry occurs in `text` as a whole word or as neighbouring words."""
        words = plain_words(text)
        return any(
            " ".join(words[start : start + size]) in self.entries
            for size in range(1, self.longest + 1)
            for start in range(len(words) - size + 1)
        )


def plain_words(text: str) -> list[str]:
    """Return the words of `text`, without case, accents and punctuation."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(LIGATURES))
    return WORD.findall("".join(letter for letter in folded if not unicodedata.combining(letter)))


def _make_lexicon(words: Iterable[str]) -> HurtfulLexicon:
    word_lists = [plain_words(word) for word in words]
    entries = frozenset(" ".join(parts) for parts in word_lists if parts)
    if not entries:
        raise ValueError("the lexicon is empty; every completion would pass")
    return HurtfulLexicon(entries, max(map(len, word_lists)))


@lru_cache(maxsize=8)
def _read(path: Path, language: str) -> HurtfulLexicon:
    file = path / f"hurtlex_{language.upper()}.tsv" if path.is_dir() else path
    if not file.is_file():
        raise ValueError(f"no lexicon lies at {file}; " + NO_LEXICON.format(language.upper()))
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not {"lemma", "level"} <= set(rows.fieldnames or ()):
            raise ValueError(f"{file} has no columns lemma and level; give a HurtLex file, or a list of words")
        return _make_lexicon([row["lemma"] for row in rows if row["level"] == LEVEL and row["lemma"]])
