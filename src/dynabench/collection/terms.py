"""The search terms of an example: its words and its facets, in one index that both databases share.

A word is a run of letters, digits and marks, folded for comparison (NFKC, then case). Scripts that are
written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) have no such runs: there each
character is a term and so is each pair of neighbours, and a query finds texts that hold all of its
pairs. Accents count: `cafe` does not find `café`.

Terms are plain ASCII, so that neither database's own rules for words and quotes apply: an ASCII word is
its own term, any other is a digest. Terms that begin with an underscore are not words but facets:
`_verdict_correct`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from dynabench.collection.tables import FlagReview
from dynabench.stats.verdict import Verdict

MOST_WORDS = 32  # of a query: more would only make it slow
LONGEST = 40  # characters of a word that is its own term

# Thai; Lao; Burmese; Khmer; Japanese syllables; ideographs with their extensions.
_UNSPACED = "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
_RUN = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]+|[^{_UNSPACED}\U00020000-\U0003ffff]+")
_SPACES = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]")
_ASCII = re.compile(r"[a-z0-9]+").findall
_PLAIN = re.compile(r"[a-z0-9]+").fullmatch
_FACET = re.compile(r"[a-z0-9-]+").fullmatch


def _runs(text: str) -> Iterator[str]:
    if text.isascii():
        yield from _ASCII(text.lower())
        return
    run: list[str] = []
    for character in unicodedata.normalize("NFKC", text).casefold():
        if unicodedata.category(character)[0] in "LNM":
            run.append(character)
        elif run:
            yield "".join(run)
            run = []
    if run:
        yield "".join(run)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _term(word: str) -> str:
    return word if _PLAIN(word) and len(word) <= LONGEST else f"u_{_digest(word)}"


def _pieces(text: str, query: bool) -> Iterator[str]:
    for run in _runs(text):
        if not _SPACES.search(run):
            yield run
            continue
        for part in _RUN.findall(run):
            if not _SPACES.match(part):
                yield part
                continue
            if len(part) == 1 or not query:
                yield from part
            yield from map("".join, pairwise(part))


def words(text: str) -> list[str]:
    """The terms under which a text is found, each once, in order."""
    if text.isascii():  # as below, but quick
        return list(dict.fromkeys(word if len(word) <= LONGEST else _term(word) for word in _ASCII(text.lower())))
    return list(dict.fromkeys(map(_term, _pieces(text, query=False))))


def query_terms(text: str) -> list[str]:
    """The terms that a query asks for, each once, in order."""
    return list(dict.fromkeys(map(_term, _pieces(text, query=True))))


@lru_cache(maxsize=2**14, typed=True)
def facet(name: str, value: object) -> str:
    """The term of a facet. Values that are no short plain names, such as tags, stand as digests."""
    text = ("no", "yes")[value] if isinstance(value, bool) else "unknown" if value is None else str(value)
    return f"_{name}_{text if _FACET(text) and len(text) <= LONGEST else 'u_' + _digest(text)}".replace("-", "_")


def strings(values: Any) -> Iterator[str]:
    """All texts within a value as the ledger keeps it: fields, lists of them, numbers as written."""
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from strings(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from strings(value)
    elif isinstance(values, int | float) and not isinstance(values, bool):
        yield str(values)


@lru_cache(maxsize=2**14)
def day_facets(day: date) -> tuple[str, str, str]:
    """The facets of a day: itself, its month, its year."""
    return facet("day", day.isoformat()), facet("month", f"{day:%Y-%m}"), facet("year", f"{day:%Y}")


def days_between(first: date, last: date) -> list[str]:
    """The fewest facets that cover the days `first` to `last`: whole years, else whole months, else days."""
    facets = []
    day = first
    while day <= last:
        year_end, month_end = date(day.year, 12, 31), _month_end(day)
        if (day.month, day.day) == (1, 1) and year_end <= last:
            facets.append(facet("year", f"{day:%Y}"))
            day = year_end
        elif day.day == 1 and month_end <= last:
            facets.append(facet("month", f"{day:%Y-%m}"))
            day = month_end
        else:
            facets.append(facet("day", day.isoformat()))
        if day == date.max:
            break
        day += timedelta(days=1)
    return facets


def _month_end(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1) - timedelta(days=1) if day.year < 9999 else date.max


WRITTEN = ("author_id", "input", "answer", "fooled", "source", "start", "arm", "made_from", "at")
"""Columns of `Example` that `describe` reads."""


def describe(row: Any, *, explanations: Sequence[dict[str, Any]] = (), **changing: object) -> list[str]:
    """All terms of an example.

    `row` has `task_id`, `round` (the number), `context` (values), `tag` and the columns of `Example`; `changing` are
    the values of facets that may change (`search.CHANGING`) where they have changed.
    """
    facets = {
        "task": row.task_id,
        "author": row.author_id,
        **{name: getattr(row, name) for name in ("round", "fooled", "source", "start", "arm", "tag")},
        "made": row.made_from is not None,
        "verdict": Verdict.PENDING,
        "retracted": False,
        "hidden": False,
        "flagged": False,
        "perturbed": False,
        "review": FlagReview.NONE,
        "noted": False,
        **changing,
    }
    texts = strings([row.context, row.input, row.answer, *explanations])
    text_terms = [term for string in texts for term in words(string)]
    day = day_facets(row.at.astimezone(UTC).date())
    return [*text_terms, *(facet(name, value) for name, value in facets.items()), *day]


def joined(terms: Iterable[str]) -> str:
    """Terms as they are stored: each once, between spaces."""
    return " ".join(dict.fromkeys(terms))
