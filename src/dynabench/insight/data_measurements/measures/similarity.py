"""Distance of a round's examples from those of earlier rounds."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Floats, Row, Sample, words
from dynabench.kit.language import _
from dynabench.stats import p_values

TITLE = _("Compared with earlier rounds")
ABOUT = _(
    "The Jensen–Shannon divergence of word frequencies in bits: 0 if the same words are equally "
    "frequent, 1 if no word is shared. Two halves of one round differ too, so it is compared with "
    "random splits of both rounds' examples, with a p value from 99 such splits. New words are words "
    "of this round that occur in none of the other’s examples. Rounds are compared using equally "
    "many examples."
)
DEALS = 99
MOST = 1_000
LEVEL = 0.05


def measure(sample: Sample) -> MeasureResult | None:
    """Each earlier round by divergence, new words, and the difference in answers."""
    compared = [compared_round for compared_round in sample.earlier if compared_round.rows]
    if not compared or not sample.rows:
        return None
    rng = sample.rng()
    rows, people = [], []
    for compared_round in compared:
        size = min(len(sample.rows), len(compared_round.rows), MOST)
        mine = [sample.rows[at] for at in rng.permutation(len(sample.rows))[:size]]
        theirs = [compared_round.rows[at] for at in rng.permutation(len(compared_round.rows))[:size]]
        seen, chance, p = diverging(mine, theirs, rng)
        fresh, total = _fresh(mine, theirs)
        rows.append((_("Round %(n)s", n=compared_round.number), seen, chance, p, fresh, _answers(mine, theirs), total))
        people.append(min(len({row.writer for row in some}) for some in (mine, theirs)))
    header = make_columns(
        ("round", _("Round"), "text"), ("divergence", _("Divergence, bits"), "number"),
        ("chance", _("By chance"), "number"),
        ("p", "p", "p"), ("new_words", _("New words"), "share"), ("answers", _("Difference of answers"), "share"),
        ("n", _("Examples per round"), "count"),
    )  # fmt: skip
    last = rows[-1]
    figures = (
        Figure("divergence", _("Divergence from round %(n)s", n=compared[-1].number), last[1], n=last[6]),
        Figure("new_words", _("New words since round %(n)s", n=compared[-1].number), last[4], n=last[6], kind="share"),
    )
    other = _("The words do not differ clearly from round %(n)s", n=compared[-1].number)
    if last[3] < LEVEL:
        other = _("The words differ from round %(n)s", n=compared[-1].number)
    table = Table("rounds", _("This round and earlier ones"), header, tuple(rows), tuple(people))
    return MeasureResult(other, figures, (table,), min(people))


def diverging(mine: Sequence[Row], theirs: Sequence[Row], rng: np.random.Generator) -> tuple[float, float, float]:
    """The divergence of two rounds, its mean where rows are dealt to both at random, and the p value of the first."""
    from scipy.sparse import csr_array

    held = [Counter(word for text in row.texts.values() for word in words(text)) for row in (*mine, *theirs)]
    number = {word: place for place, word in enumerate(sorted({word for held_words in held for word in held_words}))}
    places = np.array([number[word] for held_words in held for word in held_words], np.int64)
    counts = np.array([count for held_words in held for count in held_words.values()], float)
    starts = np.concatenate([[0], np.cumsum([len(held_words) for held_words in held])]).astype(np.int64)
    rows = csr_array((counts, places, starts), shape=(len(held), max(len(number), 1)))
    first = np.arange(len(held)) < len(mine)
    dealt = np.stack([first, *(rng.permutation(first) for _ in range(DEALS))]).astype(float)
    values = divergence((rows.T @ dealt.T).T, (rows.T @ (1 - dealt).T).T)
    return float(values[0]), float(values[1:].mean()), p_values.shuffle_p_value(float(values[0]), values[1:])


def divergence(first: Floats, second: Floats) -> Floats:
    """Jensen-Shannon divergence in bits of counts, both of shape (..., words)."""
    p = first / np.maximum(first.sum(-1, keepdims=True), 1)
    q = second / np.maximum(second.sum(-1, keepdims=True), 1)
    middle = (p + q) / 2
    per_word: Floats = (_entropy(middle) - (_entropy(p) + _entropy(q)) / 2).clip(0, 1)
    return per_word


def _entropy(shares: Floats) -> Floats:
    entropies: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(-1)
    return entropies


def _fresh(mine: Sequence[Row], theirs: Sequence[Row]) -> tuple[float, int]:
    """The share of the words of `mine`, as often as they occur, that are none of `theirs`; and how many examples."""
    known_words = {word for row in theirs for text in row.texts.values() for word in words(text)}
    own_words = [word for row in mine for text in row.texts.values() for word in words(text)]
    return sum(word not in known_words for word in own_words) / max(len(own_words), 1), len(mine)


def _answers(mine: Sequence[Row], theirs: Sequence[Row]) -> float | None:
    """Half the sum of differences of the shares of answers: 0 for the same mix."""
    own_counts, other = (Counter(row.label for row in some if row.label is not None) for some in (mine, theirs))
    if not own_counts or not other:
        return None
    a, b = sum(own_counts.values()), sum(other.values())
    return sum(abs(own_counts[label] / a - other[label] / b) for label in {*own_counts, *other}) / 2
