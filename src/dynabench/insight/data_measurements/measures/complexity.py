"""Complexity of texts."""

import re

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult
from dynabench.insight.data_measurements.sample import Sample, words
from dynabench.kit.language import Amount, _
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.rates import Rate

TITLE = _("Complexity")
ABOUT = _(
    "Words per sentence, letters per word, and the readability index derived from both (ARI: roughly "
    "the US school grade; Smith and Senter 1967). Negations and numbers; and the share of an "
    "example’s words that also occur in its context, a cue that models like to use. For languages "
    "with spaces between words; negations and readability for English. Intervals are clustered by "
    "writer."
)
_END = re.compile(r"[.!?…]+(?=\s|$)")
_NEGATIONS = frozenset(
    "not n't no never none nobody nothing nowhere neither nor without cannot hardly barely scarcely".split()
)
_CONTRACTED = re.compile(r"n['’]t$")


def measure(sample: Sample) -> MeasureResult | None:
    """Means over examples."""
    lengths = np.array([len(held) for held in sample.words], float)
    if not lengths.sum():
        return None
    letters = np.array([sum(map(len, held)) for held in sample.words], float)
    sentences = np.array([max(len(_END.findall(text)), 1) for text in sample.whole], float)
    written = lengths > 0
    readable = np.where(written, 4.71 * letters / np.maximum(lengths, 1) + 0.5 * lengths / sentences - 21.43, 0)
    n = int(written.sum())
    parts: list[tuple[str, str, ClusteredEstimate | Rate, int, bool]] = [
        ("readability", _("Readability index (ARI)"), sample.mean(readable, written), n, False),
        ("sentence", _("Words per sentence"), sample.ratio(lengths, sentences, written), n, False),
        ("word", _("Letters per word"), sample.ratio(letters, lengths), n, False),
        ("negated", _("Examples with a negation"), sample.share([_negated(held) for held in sample.words]), n, True),
        ("numbers", _("Examples with a number"), sample.share([_numbered(held) for held in sample.words]), n, True),
    ]
    shared = [_shared(held, set(words(row.context))) for held, row in zip(sample.words, sample.rows, strict=True)]
    has_context = np.array([bool(row.context) for row in sample.rows], bool) & written
    if has_context.any():
        label = _("Words that also occur in the context")
        parts.append(("shared", label, sample.ratio(shared, lengths, has_context), int(has_context.sum()), True))
    figures = tuple(
        Figure(name, label, total.value, total.low, total.high, count, "share" if share else "number")
        for name, label, total, count, share in parts
    )
    finding = _(
        "%(words)s words per sentence, %(negated)s with a negation",
        words=Amount(figures[1].value or 0, ".1f"),
        negated=Amount(figures[3].value or 0, ".0%"),
    )
    return MeasureResult(finding, figures, (), sample.people)


def _negated(held: list[str]) -> float:
    return float(any(word in _NEGATIONS or _CONTRACTED.search(word) for word in held))


def _numbered(held: list[str]) -> float:
    return float(any(any(map(str.isdigit, word)) for word in held))


def _shared(held: list[str], context: set[str]) -> float:
    return float(sum(word in context for word in held))
