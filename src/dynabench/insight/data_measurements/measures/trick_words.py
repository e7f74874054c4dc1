"""Agreement of the words that authors blame and the model's attributions."""

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult
from dynabench.insight.data_measurements.sample import Sample
from dynabench.kit.language import _
from dynabench.stats.clusters import difference

TITLE = _("Trick words")
ABOUT = _(
    "Of the words that authors marked as the trick, the share that is also among the same number of "
    "words with the highest attribution by the first target, compared with random words. If a task "
    "asks only for a written explanation, the example's words repeated in it count as marked. "
    "Intervals are clustered by writer."
)


def measure(sample: Sample) -> MeasureResult | None:
    """Agreement of marks and attributions, over chance."""
    has_marks = np.array([row.words is not None and row.words.marked > 0 for row in sample.rows], bool)
    if not has_marks.any():
        return None
    marked = np.array([row.words.marked if row.words else 0 for row in sample.rows], float)
    shared = np.array([row.words.shared if row.words else 0 for row in sample.rows], float)
    chance = np.array([row.words.chance if row.words else 0 for row in sample.rows], float)
    n, people = int(has_marks.sum()), len(np.unique(sample.writers[has_marks]))
    by_writer = [np.bincount(sample.writers, counts * has_marks, sample.people) for counts in (shared, chance, marked)]
    gap = difference(by_writer[0], by_writer[2], by_writer[1], by_writer[2])
    both, alone = sample.ratio(shared, marked, has_marks), sample.ratio(chance, marked, has_marks)
    figures = (
        Figure("above_chance", _("Above chance"), gap.value, gap.low, gap.high, n, "share"),
        Figure("shared", _("Marked words that mattered to the model"), both.value, both.low, both.high, n, "share"),
        Figure("chance", _("By chance"), alone.value, alone.low, alone.high, n, "share"),
    )
    if gap.low is not None and gap.low > 0:
        finding = _("Annotators name words that mattered to the model")
    elif gap.high is not None and gap.high < 0:
        finding = _("Annotators name words that mattered least to the model")
    else:
        finding = _("The words that annotators name and those that mattered to the model agree no more than by chance")
    return MeasureResult(finding, figures, (), people)
