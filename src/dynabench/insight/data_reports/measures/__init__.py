"""Measures of any data, in the order of pages: what each shows, and the function that computes it."""

from collections.abc import Callable
from dataclasses import dataclass

from dynabench.insight.data_measurements.measures import artifacts as round_artifacts
from dynabench.insight.data_measurements.measures import similarity, texts
from dynabench.insight.data_measurements.results import MeasureResult, RoundMeasure
from dynabench.insight.data_reports.measured import MeasuredData
from dynabench.insight.data_reports.measures import basics, comparing, copies, learned, themes, vocabulary
from dynabench.kit.language import _


@dataclass(frozen=True)
class DataMeasure:
    """A measure of data; `about` says how it is computed and how to read it. It applies where it returns a result."""

    title: str
    about: str
    measure: Callable[[MeasuredData], MeasureResult | None]


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure of two data sets."""

    title: str
    about: str
    measure: Callable[[MeasuredData, MeasuredData], MeasureResult | None]


def _of_sample(measure: RoundMeasure) -> Callable[[MeasuredData], MeasureResult | None]:
    return lambda data: measure.measure(data.sample) if data.chosen else None


MEASURES: dict[str, DataMeasure] = {
    "general": DataMeasure(
        _("General statistics"),
        _("Rows, words, and texts without a word, of all rows."),
        basics.general,
    ),
    "labels": DataMeasure(
        _("Labels"),
        _(
            "The share of each label with Wilson’s interval, of all rows. Evenness is the entropy of the shares "
            "divided by that of equal shares. Skewness is that of the labels numbered by name."
        ),
        basics.labels,
    ),
    "lengths": DataMeasure(
        _("Text lengths"),
        _("Words of each column, of all rows. If means differ by label, length alone gives something away."),
        basics.lengths,
    ),
    "languages": DataMeasure(
        _("Languages"),
        _(
            "The language of texts of at least 20 letters by a naive Bayes model of bytes (langid), and the "
            "script of most letters. Short texts are often taken for a related language."
        ),
        basics.languages,
    ),
    "readability": DataMeasure(
        _("Readability"),
        _(
            "Words per sentence, letters per word, and the readability index of both (ARI: roughly the US school "
            "grade; Smith and Senter 1967). For languages with spaces between words; negations and readability "
            "for English."
        ),
        _of_sample(texts.complexity),
    ),
    "tags": DataMeasure(_("Tags"), _("The share of rows with each tag; a row can have several."), basics.tags),
    "vocabulary": DataMeasure(
        _("Vocabulary"),
        _(
            "Words of all rows, in small letters. The list leaves out function words of English. In scripts "
            "without spaces each character counts as a word."
        ),
        vocabulary.vocabulary,
    ),
    "zipf": DataMeasure(
        _("Zipf’s law"),
        _(
            "The discrete power law of word counts by maximum likelihood, from the count on where it fits best. p"
            " is the share of 100 data sets drawn from the law, and fitted in the same way, that fit worse: below"
            " 0.1 the law is implausible (Clauset, Shalizi and Newman 2009). Natural language has an exponent "
            "over ranks near 1."
        ),
        vocabulary.zipf,
    ),
    "duplicates": DataMeasure(
        _("Duplicates"),
        _(
            "Exact copies of all columns, without spaces at their ends, in all rows; near copies have a Jaccard "
            "similarity of at least 0.8 over groups of four characters."
        ),
        copies.duplicates,
    ),
    "splits": DataMeasure(
        _("Leakage between splits"),
        _(
            "Rows of one split that another has too: exact copies, near copies (Jaccard similarity of at least "
            "0.8) and rows of the same meaning (cosine similarity of embeddings of at least 0.9)."
        ),
        copies.splits,
    ),
    "artifacts": DataMeasure(
        _("Annotation artifacts"),
        _(
            "A naive Bayes classifier over words and word pairs sees only part of a row. Its cross-validated "
            "accuracy is compared with always giving the most frequent label. p values come from 199 shuffles of "
            "the labels, Holm-corrected. On a random sample of up to 5,000 rows."
        ),
        _of_sample(round_artifacts.artifacts),
    ),
    "telling_words": DataMeasure(
        _("Words that give the label away"),
        _(
            "Words that occur with one label more often than by chance, by pointwise mutual information (100 "
            "added to every count). The p value is that of the largest deviation among all words and labels when "
            "labels are shuffled (Westfall and Young)."
        ),
        _of_sample(round_artifacts.telling_words),
    ),
    "associations": DataMeasure(
        _("Word association (nPMI)"),
        _(
            "For two identity terms, the words that share rows with one more than with the other. nPMI is ln(p(t,"
            " w) / (p(t) p(w))) / −ln p(t, w) over all rows, from −1 (never together) to 1 (always together). "
            "Intervals: 1,000 bootstrap samples of the rows. Terms need 10 rows, words 5."
        ),
        vocabulary.associations,
    ),
    "groups": DataMeasure(
        _("Toxicity and sentiment by group"),
        _(
            "Mean scores of English texts that mention a term, or of a column of groups, with intervals, and their "
            "difference from all other texts."
        ),
        learned.groups,
    ),
    "label_errors": DataMeasure(
        _("Label errors"),
        _(
            "Confident learning (Northcutt, Jiang and Chuang 2021): a softmax regression over words and word "
            "pairs predicts each row’s label without having seen it (five folds); rows that reach another label’s"
            " mean confidence are doubtful."
        ),
        learned.label_errors,
    ),
    "outliers": DataMeasure(
        _("Unusual texts"),
        _(
            "Perplexity by character under a model of five characters in a row (Witten and Bell) of the other "
            "half of the texts: other languages, markup and noise come first. Unusual is more than three robust "
            "standard deviations above the median."
        ),
        learned.outliers,
    ),
    "diversity": DataMeasure(
        _("Diversity"),
        _(
            "Self-BLEU is the mean BLEU-4 of each text against all others: lower is more diverse. Distinct-n is "
            "the share of different n-grams. Spread is the mean cosine distance between embeddings. Of 200 random"
            " texts."
        ),
        _of_sample(similarity.diversity),
    ),
    "themes": DataMeasure(
        _("Themes"),
        _(
            "Clusters of up to 1,000 random texts by the mean cosine similarity of their embeddings (average "
            "linkage), from close to loose; each has at least 10 texts. Words are those more frequent inside than"
            " outside. The map shows the two principal components."
        ),
        themes.themes,
    ),
}
"""Every measure of one data set by name."""

COMPARED: dict[str, ComparedMeasure] = {
    "differences": ComparedMeasure(
        _("Differences"),
        _(
            "Tests that both come from the same source: means and distributions of lengths and the mix of labels,"
            " of all rows; words by the Jensen–Shannon divergence against 99 random splits of 1,000 rows of each."
        ),
        comparing.differences,
    ),
    "shared_rows": ComparedMeasure(
        _("Leakage"),
        _(
            "Rows of one that the other has too: exact copies, near copies (Jaccard similarity of at least 0.8) "
            "and rows of the same meaning (cosine similarity of embeddings of at least 0.9)."
        ),
        comparing.shared_rows,
    ),
    "shared_words": ComparedMeasure(
        _("Shared vocabulary"),
        _(
            "The share of words that both have, and the words whose frequencies differ most, by the "
            "log-likelihood ratio (Dunning 1993)."
        ),
        comparing.shared_words,
    ),
}
"""Every measure of two data sets by name."""
