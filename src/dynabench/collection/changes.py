"""The search terms of an example: its words and its facets, in one index that both databases share.

A word is a run of letters, digits and marks, folded for comparison (NFKC, then case). Scripts that are
written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) have no such runs: there each
character is a term and so is each pair of neighbours, and a query finds texts that hold all of its
pairs. Accents count: `cafe` does not find `café`.

Terms are plain ASCII, so that neither database's own rules for words and quotes apply: an ASCII word is
its own term, any other is a digest. Terms that begin with an underscore are not words but facets:
`_verdict_correct`.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any, cast

from sqlalchemy import Select, Table, insert, select, update
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, ExampleChange, ExampleSource, FlagReview
from dynabench.rounds import arms
from dynabench.rounds.tables import Context, Round
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


def wanted(text: str) -> list[str]:
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
        for each in values.values():
            yield from strings(each)
    elif isinstance(values, list | tuple):
        for each in values:
            yield from strings(each)
    elif isinstance(values, int | float) and not isinstance(values, bool):
        yield str(values)


@lru_cache(maxsize=2**14)
def day_facets(day: date) -> tuple[str, str, str]:
    """The facets of a day: itself, its month, its year."""
    return facet("day", day.isoformat()), facet("month", f"{day:%Y-%m}"), facet("year", f"{day:%Y}")


def days_between(first: date, last: date) -> list[str]:
    """The fewest facets that cover the days `first` to `last`: whole years, else whole months, else days."""
    found = []
    day = first
    while day <= last:
        year_end, month_end = date(day.year, 12, 31), _month_end(day)
        if (day.month, day.day) == (1, 1) and year_end <= last:
            found.append(facet("year", f"{day:%Y}"))
            day = year_end
        elif day.day == 1 and month_end <= last:
            found.append(facet("month", f"{day:%Y-%m}"))
            day = month_end
        else:
            found.append(facet("day", day.isoformat()))
        if day == date.max:
            break
        day += timedelta(days=1)
    return found


def _month_end(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1) - timedelta(days=1) if day.year < 9999 else date.max


WRITTEN = ("author_id", "input", "answer", "fooled", "source", "start", "arm", "made_from", "at")
"""Columns of `Example` that `describe` reads."""


def describe(row: Any, *, explanations: Sequence[dict[str, Any]] = (), **changing: object) -> list[str]:
    """All terms of an example.

    `row` has `task_id`, `round` (the number), `context` (values), `tag` and the columns of `Example`; `changing` are
    the values of facets that may change (`search_index.CHANGING`) where they have changed.
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


SOURCES = tuple(ExampleSource)
CONTROL = len(SOURCES)  # added to the source's number where no model was asked, since headline rates leave those out
COUNTS = ("examples", "fooled", "validated", "resolved", "retracted", "hidden", "unknown")
_TABLE = cast(Table, ExampleChange.__table__)
_NEW_CHANGE = insert(_TABLE)  # built once: putting it together takes longer than running it


def note_change(
    session: Session,
    example_id: int | None,
    changed_terms: Iterable[str] | None = (),
    round_id: int | None = None,
    counts: str = "",
) -> None:
    """Write a change of an example; `changed_terms` is None where it is new, and all its terms are in the ledger."""
    row = _row(example_id, changed_terms, round_id, counts)
    session.connection().execute(_NEW_CHANGE, row)


def note_changes(session: Session, rows: Iterable[tuple[int | None, Iterable[str], int | None, str]]) -> None:
    """Write many changes at once, each as the arguments of `note_change`."""
    if values := [_row(*row) for row in rows]:
        session.connection().execute(_NEW_CHANGE, values)


def _row(
    example_id: int | None, changed_terms: Iterable[str] | None, round_id: int | None, counts: str
) -> dict[str, Any]:
    text = None if changed_terms is None else joined(changed_terms)
    return {"example_id": example_id, "round_id": round_id, "terms": text, "counts": counts}


def describe_counts(change: Mapping[str, Any], conditions: list[Any]) -> str:
    """Write a change of a `Tally` row as a line: its key, the tag of the examples' contexts, and what is added.

    `conditions` are the round's arms.
    """
    kind = kind_of(conditions, change["source"], change["arm"])
    values = [change["person_id"], kind, *(change[name] for name in ("day", "start", "arm", "tag"))]
    return json.dumps([*values, *(change[name] for name in COUNTS)], separators=(",", ":"))


def kind_of(conditions: list[Any], source: str, arm: str) -> int:
    """Return the number of a source, told apart by whether models are asked in the arm."""
    control = bool(conditions) and arm in arms.arms_without_targets(conditions)
    return SOURCES.index(source) + CONTROL * control


def read_terms(session: Session) -> list[tuple[int, Sequence[str]]]:
    """Return the examples' ids and terms of changes that are not folded, in their order."""
    return [(example_id, new_terms) for _, example_id, new_terms, *_ in read(session) if example_id is not None]


def read(session: Session, limit: int | None = None) -> list[tuple[int, int | None, Sequence[str], int | None, str]]:
    """Return the first changes that are not folded: id, example, terms, round, counts. One statement, one moment."""
    return [
        (
            row.id,
            row.example_id,
            describe(row) if row.terms is None else row.terms.split(),
            row.round_id,
            row.counts,
        )
        for row in session.execute(_changes().limit(limit))
    ]


def _changes() -> Select[Any]:
    return (
        select(
            *(ExampleChange.id, ExampleChange.example_id, ExampleChange.round_id, ExampleChange.terms),
            ExampleChange.counts,
            *(getattr(Example, name) for name in WRITTEN),
            *(Round.task_id, Round.number.label("round")),
            *(Context.values.label("context"), Context.tag),
        )
        .outerjoin(Example, (Example.id == ExampleChange.example_id) & ExampleChange.terms.is_(None))
        .outerjoin(Round, Round.id == Example.round_id)
        .outerjoin(Context, Context.id == Example.context_id)
        .order_by(ExampleChange.id)
    )


def drop_counts(session: Session, round_id: int) -> None:
    """Forget what changes say of the counts of a round."""
    session.execute(update(_TABLE).where(_TABLE.c.round_id == round_id).values(counts=""))
