"""Rows that occur again: exact copies in all rows, near copies in a sample, and what splits share."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_reports.measured import EMBEDDED, Floats, MeasuredData, excerpt, unit_vectors, whole_text
from dynabench.insight.data_reports.profile import text_hash
from dynabench.insight.data_reports.sources import DataRow
from dynabench.kit.language import Amount, _
from dynabench.stats.minhash import UnionFind, near_pairs
from dynabench.stats.rates import wilson

NEAR = 0.8
CLOSE = 0.9
"""Cosine similarity of embeddings from which on two texts say nearly the same."""
TOP = 20
NEAR_ROWS = 20_000
"""Rows that are compared with each other for near copies, drawn at random from more."""


def duplicates(data: MeasuredData) -> MeasureResult | None:
    """The share of rows that repeat an earlier one, copies with different labels, and near copies in a sample."""
    hashes, codes = data.profile.hashes.arrays()
    n = len(hashes)
    if n < 2:
        return None
    kinds, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    repeats = n - len(kinds)
    rate = wilson(repeats, n)
    copied = float(counts[counts > 1].sum() / n)
    figures = [
        Figure("repeated", _("Rows that repeat an earlier one"), rate.value, rate.low, rate.high, n, "share"),
        Figure("copied", _("Rows that have a copy"), copied, n=n, kind="share"),
    ]
    if (codes >= 0).any():
        clashing = _clashing(inverse, codes, len(kinds))
        figures.append(
            Figure("contradictory", _("Rows with a copy that has another label"), clashing / n, n=n, kind="share")
        )
    tables = _repeated_table(data, kinds, counts)
    near, sampled, groups = _near(data)
    if sampled > 1:
        part = wilson(near, sampled)
        figures.append(Figure("near", _("Rows with a near copy"), part.value, part.low, part.high, sampled, "share"))
    if groups:
        tables = (*tables, groups)
    note = (
        ""
        if sampled == n
        else _("Near copies: among %(n)s random rows; in all rows there are more.", n=Amount(sampled))
    )
    finding = (
        _("%(share)s of rows repeat an earlier one", share=Amount(repeats / n, ".1%"))
        if repeats
        else _("No row occurs twice")
    )
    return MeasureResult(finding, tuple(figures), tables, note=note)


def _clashing(inverse: NDArray[np.intp], codes: NDArray[np.int32], kinds: int) -> int:
    """Return the number of labelled rows whose text also occurs with another label."""
    labelled = codes >= 0
    least, most = np.full(kinds, np.iinfo(np.int32).max, np.int32), np.full(kinds, -1, np.int32)
    np.minimum.at(least, inverse[labelled], codes[labelled])
    np.maximum.at(most, inverse[labelled], codes[labelled])
    return int((least < most)[inverse[labelled]].sum())


def _repeated_table(data: MeasuredData, kinds: NDArray[np.uint64], counts: NDArray[np.intp]) -> tuple[Table, ...]:
    """The most repeated texts of the sample with their number in all rows."""
    if not (counts > 1).any():
        return ()
    texts: dict[int, str] = {}
    for _place, row in data.drawn:
        texts.setdefault(text_hash(row), whole_text(row))
    at = np.searchsorted(kinds, np.array(list(texts), np.uint64))
    times = {key: int(counts[place]) if place < len(kinds) and kinds[place] == key else 1
             for key, place in zip(texts, at.tolist(), strict=True)}  # fmt: skip
    ordered = sorted((key for key in texts if times[key] > 1), key=lambda key: (-times[key], texts[key]))[:TOP]
    rows = tuple((excerpt(texts[key]) or _("(empty)"), times[key]) for key in ordered)
    header = make_columns(("text", _("Text"), "text"), ("times", _("Times"), "count"))
    return (Table("repeated", _("Most repeated rows"), header, rows, (0,) * len(rows)),) if rows else ()


def _near(data: MeasuredData) -> tuple[int, int, Table | None]:
    rows = [row for _place, row in data.drawn]
    if len(rows) > NEAR_ROWS:
        rows = [rows[place] for place in np.sort(data.rng().choice(len(rows), NEAR_ROWS, replace=False))]
    texts = [whole_text(row) for row in rows]
    linked = UnionFind()
    members: set[int] = set()
    for first, second in near_pairs(texts, NEAR):
        linked.join((first, second))
        members |= {first, second}
    groups: dict[object, list[int]] = {}
    for place in sorted(members):
        groups.setdefault(linked.root(place), []).append(place)
    unlike = [places for places in groups.values() if len({texts[place].strip() for place in places}) > 1]
    ordered = sorted(unlike, key=lambda places: -len(places))[:TOP]
    lines = tuple((len(places), *_two(texts, places)) for places in ordered)
    header = make_columns(
        ("size", _("Similar rows"), "count"), ("first", _("One of them"), "text"), ("second", _("Another"), "text")
    )
    table = Table("near", _("Groups of near copies"), header, lines, (0,) * len(lines)) if lines else None
    return len(members), len(rows), table


def _two(texts: Sequence[str], places: Sequence[int]) -> tuple[str, str]:
    first = texts[places[0]]
    return excerpt(first), excerpt(next(texts[place] for place in places if texts[place].strip() != first.strip()))


def splits(data: MeasuredData) -> MeasureResult | None:
    """For each split the share of its rows that another split has too: exactly, nearly, and in meaning."""
    names = [name for name, _count in data.profile.splits.most_common(8)]
    if len(names) < 2:
        return None
    hashes, _codes = data.profile.hashes.arrays()
    places = {name: place for place, name in enumerate(data.profile.splits)}
    of_split = {name: hashes[data.profile.split_codes == places[name]] for name in names}
    sampled = {name: [row for _place, row in data.drawn if row.split == name][:NEAR_ROWS] for name in names}
    meaning = _split_vectors(data, sampled)
    rows = []
    for name in names:
        for other in names:
            if name != other:
                copies = int(np.isin(of_split[name], np.unique(of_split[other])).sum())
                near = near_share(sampled[name], sampled[other])
                close = close_share(meaning.get(name), meaning.get(other))
                rows.append((name, other, copies / len(of_split[name]), copies, near, close, len(of_split[name])))
    header = make_columns(
        ("split", _("Rows of"), "text"), ("other", _("also in"), "text"), ("share", _("Exact copies"), "share"),
        ("copies", _("Rows"), "count"), ("near", _("Near copies"), "share"), ("close", _("Same meaning"), "share"),
        ("n", "n", "count"),
    )  # fmt: skip
    worst = max(rows, key=lambda row: row[2])
    shared = max(row[3] for row in rows)
    figures = (Figure("largest", _("Largest share in another split"), worst[2], n=worst[6], kind="share"),)
    finding = (
        _(
            "%(share)s of “%(split)s” is also in “%(other)s”",
            share=Amount(worst[2], ".1%"),
            split=worst[0],
            other=worst[1],
        )
        if shared
        else _("No row is in two splits")
    )
    table = Table("splits", _("Rows that splits share"), header, tuple(rows), (0,) * len(rows))
    return MeasureResult(finding, figures, (table,), note=leakage_note())


def leakage_note() -> str:
    """Return the explanation of the columns of near and embedded copies."""
    return _(
        "Exact copies are counted in all rows; near copies and rows of the same meaning in random samples, so that "
        "in large data there are more."
    )


def near_share(rows: Sequence[DataRow], others: Sequence[DataRow]) -> float | None:
    """Return the share of rows that have a near copy among others."""
    if not rows or not others:
        return None
    texts = [*map(whole_text, others), *map(whole_text, rows)]
    first = len(others)
    linked = UnionFind()
    held: set[int] = set()
    for place, other_place in near_pairs(texts, NEAR):
        linked.join((place, other_place))
        held |= {place, other_place}
    roots = {linked.root(place) for place in held if place < first}
    return sum(place in held and linked.root(place) in roots for place in range(first, len(texts))) / len(rows)


def close_share(vectors: Floats | None, others: Floats | None) -> float | None:
    """Return the share of unit vectors, shape (n, d), that have one of `others` close to them; None without vectors."""
    if vectors is None or others is None or not len(vectors) or not len(others):
        return None
    return float(((vectors @ others.T).max(1) >= CLOSE).mean())


def _split_vectors(data: MeasuredData, sampled: dict[str, list[DataRow]]) -> dict[str, Floats]:
    if data.embed is None:
        return {}
    most = EMBEDDED // len(sampled)
    vectors = {}
    for name, rows in sampled.items():
        texts = [text for text in map(whole_text, rows) if text]
        places = np.sort(data.rng().permutation(len(texts))[:most])
        if len(places):
            vectors[name] = unit_vectors(data.embed([texts[place] for place in places]))
    return vectors
