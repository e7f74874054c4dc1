"""Agreement of the words that authors blame and the model's attributions."""

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult
from dynabench.insight.data_measurements.sample import Sample
from dynabench.kit.language import _
from dynabench.stats.clusters import difference

TITLE = _("Trick words")
ABOUT = _(
    "Of the words that authors marked as the trick, the share that is among as many words that the first target’s "
    "attribution weighs most; beside it what words drawn at random would share. Where a task asks for an explanation "
    "in words alone, the words of the example that it repeats count as marked. Intervals are clustered by writer."
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
        Figure("shared", _("Marked words that the model looked at"), both.value, both.low, both.high, n, "share"),
        Figure("chance", _("By chance"), alone.value, alone.low, alone.high, n, "share"),
    )
    if gap.low is not None and gap.low > 0:
        finding = _("The words that tricked the model, people say, are words it looked at")
    elif gap.high is not None and gap.high < 0:
        finding = _("The words that people blame are those that the model looked at least")
    else:
        finding = _("The words that people blame and those that the model looked at agree no more than by chance")
    return MeasureResult(finding, figures, (), people)
