"""Measures by models: doubtful labels, unusual texts, and toxicity and sentiment of texts about groups."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.insight.data_measurements.measures.artifacts import bag_of_words
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Floats, words
from dynabench.insight.data_reports.measured import MeasuredData, excerpt, whole_text
from dynabench.insight.data_reports.measures import basics
from dynabench.insight.data_reports.sources import DataRow
from dynabench.kit.language import Amount, _
from dynabench.models import catalog
from dynabench.models.protocol import Attributable
from dynabench.stats import clusters
from dynabench.stats.character_model import cross_fitted_perplexities
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.confident_learning import find_doubtful_labels
from dynabench.stats.p_values import holm
from dynabench.stats.softmax_regression import out_of_fold_probabilities

Marks = NDArray[np.bool_]
LISTED = 30
LEAST_CLASS = 10
"""Rows that a label needs to be told from others."""
PENALTY = 1.0
UNUSUAL = 2_000
"""Texts whose perplexity is computed, drawn at random from more."""
LEAST_CHARACTERS = 10
SCORED = 2_000
"""Texts that models score."""
LEAST_GROUP = 10
"""Texts about a group that are needed for its figures."""


def label_errors(data: MeasuredData) -> MeasureResult | None:
    """Labels that disagree with a classifier that was fitted on other rows, by confident learning."""
    rows = [row for row in data.chosen if row.label in data.label_names and whole_text(row)]
    counts = {name: sum(row.label == name for row in rows) for name in data.label_names}
    names = [name for name, count in counts.items() if count >= LEAST_CLASS]
    rows = [row for row in rows if row.label in names]
    if len(names) < 2:
        return None
    labels = np.array([names.index(row.label) for row in rows], np.int64)
    features = tf_idf([words_by_column(row.texts) for row in rows])
    probabilities = out_of_fold_probabilities(features, labels, len(names), data.rng(), PENALTY)
    doubts = find_doubtful_labels(labels, probabilities)
    right = probabilities.argmax(1) == labels
    accuracy, most = float(right.mean()), max(counts.values()) / len(rows)
    lines = tuple(
        (excerpt(whole_text(rows[at])), names[labels[at]], names[other], float(probabilities[at, labels[at]]),
         float(probabilities[at, other]))
        for at, other in zip(doubts.rows[:LISTED].tolist(), doubts.suggested[:LISTED].tolist(), strict=True)
    )  # fmt: skip
    header = make_columns(
        ("text", _("Text"), "text"), ("label", _("Label"), "text"), ("suggested", _("Perhaps"), "text"),
        ("own", _("Probability of the label"), "share"), ("other", _("Of the other"), "share"),
    )  # fmt: skip
    figures = (
        Figure("noise", _("Labels that are probably wrong"), doubts.noise, n=len(rows), kind="share"),
        Figure("doubtful", _("Doubtful rows"), float(len(doubts.rows)), n=len(rows), kind="count"),
        Figure("accuracy", _("Right answers of the classifier"), accuracy, n=len(rows), kind="share"),
        Figure("majority", _("Most frequent label"), most, n=len(rows), kind="share"),
    )
    note, finding = "", _("%(n)s of %(of)s labels look wrong", n=Amount(len(doubts.rows)), of=Amount(len(rows)))
    if accuracy < most + 0.05:
        finding = _("Words alone do not tell which labels are wrong")
        note = _(
            "The classifier hardly does better than always giving the most frequent label: do not rely on this list."
        )
    tables = (Table("doubtful", _("Most doubtful labels"), header, lines, (0,) * len(lines)),) if lines else ()
    return MeasureResult(finding, figures, tables, note=note)


def words_by_column(texts: Sequence[str]) -> list[str]:
    """Return the words of a row's texts, each marked with the number of its column where there are several."""
    if len(texts) == 1:
        return words(texts[0])
    return [f"{place}:{word}" for place, text in enumerate(texts) for word in words(text)]


def tf_idf(texts: Sequence[Sequence[str]], least: int = 2) -> Any:
    """Return unit rows of presence times inverse document frequency of words and pairs; sparse, (n, words)."""
    from scipy.sparse import diags_array

    present, _vocabulary = bag_of_words(texts, least, pairs=True)
    rows = np.asarray(present.sum(0)).ravel()
    weighted = present @ diags_array(np.log((1 + len(texts)) / (1 + rows)) + 1)
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(1)).ravel())
    return (diags_array(1 / np.maximum(norms, 1e-12)) @ weighted).tocsr()


def outliers(data: MeasuredData) -> MeasureResult | None:
    """Texts that a model of the other texts' characters expects least."""
    texts = [text for text in map(whole_text, data.chosen) if len(text) >= LEAST_CHARACTERS]
    if len(texts) < 50:
        return None
    if len(texts) > UNUSUAL:
        texts = [texts[place] for place in np.sort(data.rng().permutation(len(texts))[:UNUSUAL])]
    values = cross_fitted_perplexities(texts, data.rng())
    order = np.argsort(-values, kind="stable")
    logs = np.log(values)
    middle = float(np.median(logs))
    spread = 1.4826 * float(np.median(np.abs(logs - middle)))
    unusual = int((logs > middle + 3 * spread).sum())
    rows = tuple((excerpt(texts[at]), float(values[at])) for at in order[:LISTED])
    header = make_columns(("text", _("Text"), "text"), ("perplexity", _("Perplexity"), "number"))
    figures = (
        Figure("unusual", _("Unusual texts"), unusual / len(texts), n=len(texts), kind="share"),
        Figure("median", _("Median perplexity by character"), float(np.exp(middle)), n=len(texts)),
        Figure("mean", _("Mean perplexity by character"), float(values.mean()), n=len(texts)),
    )
    finding = _("%(n)s of %(of)s texts are unlike the others", n=Amount(unusual), of=Amount(len(texts)))
    table = Table("unusual", _("Most unusual texts"), header, rows, (0,) * len(rows))
    return MeasureResult(finding, figures, (table,))


@lru_cache(maxsize=2)
def _scorer(task: str, encoder: bool) -> Attributable | None:
    """The shipped model of a task: over the encoder where that is here, else over n-grams."""
    names = [f"{task}-minilm", f"{task}-ngram"] if encoder else [f"{task}-ngram"]
    entries = {entry.name: entry for entry in catalog.find([catalog.BUILTIN]) if entry.card}
    entry = next((entries[name] for name in names if name in entries), None)
    return catalog.open_model(entry.folder, bulk=True) if entry else None


def groups(data: MeasuredData) -> MeasureResult | None:
    """Toxicity and sentiment of texts by the identity term that they mention, or by the column of groups."""
    column = bool(data.profile.columns.group)
    rows, members = _rows_of_groups(data, column)
    if not rows:
        return None
    readable = [not basics.is_foreign(whole_text(row)) for row in rows]
    covered = Figure("english", _("Texts that the models of English can read"), sum(readable) / len(rows),
                     n=len(rows), kind="share")  # fmt: skip
    rows, members = list(compress(rows, readable)), list(compress(members, readable))
    names = sorted({name for names_of_row in members for name in names_of_row})
    sizes = {name: sum(name in names_of_row for names_of_row in members) for name in names}
    names = [name for name in names if sizes[name] >= LEAST_GROUP]
    scores = _scores([whole_text(row) for row in rows], data.embed is not None) if names else {}
    if not scores:
        return _unread_groups(covered) if not all(readable) else None
    here = {name: np.array([name in names_of_row for names_of_row in members]) for name in names}
    none = np.array([not names_of_row for names_of_row in members])
    tables, figures, findings = [], [covered], 0
    for kind, label, values in ((kind, label, values) for kind, (label, values) in scores.items()):
        estimates = [_mean_gap(values, here[name], ~here[name] if column else none) for name in names]
        corrected = holm([1.0 if gap.p is None else gap.p for _mean, gap in estimates])
        table_rows = tuple(
            (name, mean.value, mean.low, mean.high, gap.value, float(p), sizes[name])
            for name, (mean, gap), p in zip(names, estimates, corrected, strict=True)
        )
        findings += int((corrected < 0.05).sum())
        header = make_columns(
            ("group", _("Group") if column else _("Term"), "text"), ("mean", label, "number"),
            ("low", _("from"), "number"),
            ("high", _("to"), "number"), ("gap", _("Above the others"), "number"), ("p", _("p (Holm)"), "p"),
            ("n", "n", "count"),
        )  # fmt: skip
        others = values if column else values[none]
        line = float(others.mean()) if len(others) else None
        tables.append(Table(kind, label, header, table_rows, (0,) * len(table_rows), "intervals", line))
        named = (
            _("%(score)s, all texts", score=label) if column else _("%(score)s, texts without such a term", score=label)
        )
        figures.append(Figure(kind, named, line, n=len(others)))
    finding = (
        _("Toxicity or sentiment differs for some groups")
        if findings
        else _("Toxicity and sentiment do not clearly differ by group")
    )
    note = _(
        "English only: texts that are clearly in another language are left out. The models make errors of their own "
        "about groups: read the texts."
    )
    return MeasureResult(finding, tuple(figures), tuple(tables), note=note)


def _unread_groups(covered: Figure) -> MeasureResult:
    """The result where too few texts are in English."""
    share = Amount(covered.value or 0.0, ".0%")
    return MeasureResult(
        _("Not measured: the models read English only, which is %(share)s of the texts", share=share), (covered,)
    )


def _scores(texts: Sequence[str], encoder: bool) -> dict[str, tuple[str, Floats]]:
    """The probability of being hateful, and that of positive minus that of negative sentiment; of each text."""
    scores = {}
    hate, sentiment = _scorer("hate", encoder), _scorer("sentiment", encoder)
    if hate is not None:
        outputs = hate.predict([{"statement": text} for text in texts])
        values = np.array([(output.probabilities or {}).get("hateful", 0.0) for output in outputs])
        scores["toxicity"] = (_("Toxicity"), values)
    if sentiment is not None:
        shares = [output.probabilities or {} for output in sentiment.predict([{"statement": text} for text in texts])]
        values = np.array([share.get("positive", 0.0) - share.get("negative", 0.0) for share in shares])
        scores["sentiment"] = (_("Sentiment, −1 to 1"), values)
    return scores


def _rows_of_groups(data: MeasuredData, column: bool) -> tuple[list[DataRow], list[set[str]]]:
    """Return rows with the groups of each: in equal parts those with a group and those without, drawn at random."""
    rows = [row for _place, row in data.drawn if whole_text(row)]
    members = [{row.group} - {""} if column else set(words(whole_text(row))) & data.profile.terms for row in rows]
    chosen: list[int] = []
    for with_group, most in ((True, SCORED), (False, 0 if column else SCORED // 2)):
        places = [place for place, names_of_row in enumerate(members) if bool(names_of_row) is with_group]
        chosen += [places[at] for at in data.rng().permutation(len(places))[:most]]
    return [rows[place] for place in chosen], [members[place] for place in chosen]


def _mean_gap(values: Floats, here: Marks, others: Marks) -> tuple[ClusteredEstimate, ClusteredEstimate]:
    mine, theirs = here.astype(float), others.astype(float)
    mean = clusters.ratio(values[here], mine[here])
    return mean, clusters.difference(values * mine, mine, values * theirs, theirs)
