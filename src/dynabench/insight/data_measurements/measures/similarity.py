"""Likeness of examples: to those of earlier rounds, near-duplicates, and the diversity of a round."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import exp, log

import numpy as np

from dynabench.evaluate.tokens import near_duplicate_groups
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, describe_measure, make_columns
from dynabench.insight.data_measurements.sample import Floats, RoundSample, SampledExample, words
from dynabench.kit.language import Amount, _
from dynabench.stats import clusters, minhash, p_values

DEALS = 99
MOST = 1_000
LEVEL = 0.05


@describe_measure(
    _("Compared with earlier rounds"),
    _(
        "The Jensen–Shannon divergence of word frequencies in bits: 0 if the same words are equally "
        "frequent, 1 if no word is shared. Two halves of one round differ too, so it is compared with "
        "random splits of both rounds' examples, with a p value from 99 such splits. New words are words "
        "of this round that occur in none of the other’s examples. Rounds are compared using equally "
        "many examples."
    ),
)
def similarity(sample: RoundSample) -> MeasureResult | None:
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


def diverging(
    mine: Sequence[SampledExample], theirs: Sequence[SampledExample], rng: np.random.Generator
) -> tuple[float, float, float]:
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


def _fresh(mine: Sequence[SampledExample], theirs: Sequence[SampledExample]) -> tuple[float, int]:
    """The share of the words of `mine`, as often as they occur, that are none of `theirs`; and how many examples."""
    known_words = {word for row in theirs for text in row.texts.values() for word in words(text)}
    own_words = [word for row in mine for text in row.texts.values() for word in words(text)]
    return sum(word not in known_words for word in own_words) / max(len(own_words), 1), len(mine)


def _answers(mine: Sequence[SampledExample], theirs: Sequence[SampledExample]) -> float | None:
    """Half the sum of differences of the shares of answers: 0 for the same mix."""
    own_counts, other = (Counter(row.label for row in some if row.label is not None) for some in (mine, theirs))
    if not own_counts or not other:
        return None
    a, b = sum(own_counts.values()), sum(other.values())
    return sum(abs(own_counts[label] / a - other[label] / b) for label in {*own_counts, *other}) / 2


NEAR = 0.8


@describe_measure(
    _("Near-duplicates"),
    _(
        "Examples whose text has a Jaccard similarity of at least 0.8 with another, over groups of four "
        "characters without punctuation. All pairs are compared exactly. Intervals are clustered by "
        "writer."
    ),
)
def near_duplicates(sample: RoundSample) -> MeasureResult | None:
    """The share of examples with a near-duplicate: in the round, by another writer, and in earlier rounds."""
    n = len(sample.rows)
    if n < 2:
        return None
    before = [("\n".join(row.texts.values())) for earlier_round in sample.earlier for row in earlier_round.rows]
    alike, by_others, again = np.zeros(n), np.zeros(n), np.zeros(n)
    sizes: list[tuple[int, int]] = []
    for rows in near_duplicate_groups(
        [*sample.whole, *before], NEAR, lambda text: minhash.shingle_hashes(text).tolist()
    ):
        here = [row for row in rows if row < n]
        again[here] = len(here) < len(rows)
        if len(here) > 1:
            alike[here] = 1
            people = len(np.unique(sample.writers[here]))
            by_others[here] = people > 1
            sizes.append((len(here), people))
    figures = []
    for name, label, values in (
        ("alike", _("Examples with a near-duplicate"), alike),
        ("by_others", _("By another writer"), by_others),
        ("again", _("Near-duplicates of earlier rounds"), again),
    ):
        if name != "again" or sample.earlier:
            part = sample.share(values)
            figures.append(Figure(name, label, part.value, part.low, part.high, n, "share"))
    header = make_columns(("size", _("Similar examples"), "count"), ("groups", _("Groups"), "count"))
    counted = sorted({size for size, _ in sizes})
    counts = tuple((size, sum(group_size == size for group_size, _ in sizes)) for size in counted)
    tables = (
        (Table("groups", _("Groups of near-duplicates"), header, counts, (sample.people,) * len(counts)),)
        if counts
        else ()
    )
    finding = (
        _("%(some)s of %(n)s examples have a near-duplicate", some=Amount(int(alike.sum())), n=Amount(n))
        if alike.any()
        else _("No near-duplicates")
    )
    return MeasureResult(finding, tuple(figures), tables, sample.people)


TEXTS = 200
ORDERS = 4


@describe_measure(
    _("Diversity"),
    _(
        "Self-BLEU is the mean BLEU-4 of each text against all others as references: lower is more "
        "diverse. Distinct-n is the share of different n-grams. Spread is the mean cosine distance "
        "between the sentence embeddings of two texts. All three depend on the number of texts, so they "
        "use 200 random texts, or all if a round has fewer."
    ),
)
def diversity(sample: RoundSample) -> MeasureResult | None:
    """Self-BLEU, distinct-n for n from 1 to 3, and the spread of embeddings."""
    chosen = np.sort(sample.rng().permutation(len(sample.rows))[:TEXTS])
    texts = [sample.words[row] for row in chosen if sample.words[row]]
    writers = np.array([sample.writers[row] for row in chosen if sample.words[row]], np.int64)
    if len(texts) < 2:
        return None
    scores = self_bleu(texts)
    mean = clusters.ratio(np.bincount(writers, scores), np.bincount(writers))
    figures = [Figure("self_bleu", _("Self-BLEU"), mean.value, mean.low, mean.high, len(texts))]
    figures += [
        Figure(f"distinct_{n}", _("Distinct-%(n)s", n=n), distinct(texts, n), n=len(texts), kind="share")
        for n in (1, 2, 3)
    ]
    if sample.embed is not None:
        vectors = sample.embed([sample.whole[row] for row in chosen])
        figures.append(Figure("spread", _("Spread of embeddings"), spread(vectors), n=len(vectors)))
    people = len(np.unique(writers))
    note = (
        "" if len(texts) == TEXTS else _("Over %(n)s texts: compare only with rounds of the same number.", n=len(texts))
    )
    finding = _(
        "Self-BLEU %(bleu)s, distinct-2 %(distinct)s",
        bleu=Amount(mean.value or 0, ".2f"),
        distinct=Amount(figures[2].value or 0, ".0%"),
    )
    return MeasureResult(finding, tuple(figures), (), people, note)


def self_bleu(texts: Sequence[Sequence[str]]) -> Floats:
    """BLEU-4 of each text against all others, shape (n,): with one added to counts above unigrams (Lin and Och 2004).

    Zhu and others, Texygen, SIGIR 2018. An n-gram's largest count elsewhere is the largest of all, or, for the text
    that holds it, the second largest: so that one pass over all texts is enough.
    """
    logs = np.zeros(len(texts))
    for order in range(1, ORDERS + 1):
        counts = [Counter(zip(*(words[at:] for at in range(order)), strict=False)) for words in texts]
        best: dict[tuple[str, ...], tuple[int, int, int]] = defaultdict(lambda: (0, 0, -1))
        for row, held in enumerate(counts):
            for gram, count in held.items():
                first, second, owner = best[gram]
                best[gram] = (count, first, row) if count > first else (first, max(second, count), owner)
        for row, held in enumerate(counts):
            hits = sum(min(count, best[gram][1 if best[gram][2] == row else 0]) for gram, count in held.items())
            total, added = sum(held.values()), order > 1
            logs[row] += log((hits + added) / (total + added)) if hits + added and total + added else -np.inf
    lengths = np.array([len(words) for words in texts])
    return np.array([exp(logs[row] / ORDERS + _brevity(lengths, row)) for row in range(len(texts))])


def _brevity(lengths: np.ndarray, row: int) -> float:
    """The logarithm of the brevity penalty against the other text whose length is closest, the shorter of two."""
    others = np.delete(lengths, row)
    gaps = np.abs(others - lengths[row])
    closest = int(others[gaps == gaps.min()].min())
    return min(0.0, 1 - closest / int(lengths[row]))


def distinct(texts: Sequence[Sequence[str]], n: int) -> float | None:
    """The share of different n-grams among all (Li and others, NAACL 2016); None where there are none."""
    grams = [gram for words in texts for gram in zip(*(words[at:] for at in range(n)), strict=False)]
    return len(set(grams)) / len(grams) if grams else None


def spread(vectors: Floats) -> float | None:
    """The mean cosine distance of two different rows of `vectors`, shape (n, d)."""
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    n = len(units)
    total = float((units.sum(0) ** 2).sum())
    return 1 - (total - n) / (n * (n - 1)) if n > 1 else None
