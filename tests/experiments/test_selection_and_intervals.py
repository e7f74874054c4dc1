"""Selection of examples by arms, and intervals of differences."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from experiments.simulation import findings, intervals, report, selection
from experiments.simulation.selection import Candidates


def candidates(n: int, groups: int, wrong: float, seed: int = 0) -> Candidates:
    rng = np.random.default_rng(seed)
    return Candidates(np.arange(n) + 100, rng.integers(0, groups, n), rng.random(n) < wrong, rng.random(n))


def test_adversaries_take_one_fooling_row_of_a_context_and_count_all_tries():
    rows = candidates(400, 200, 0.3)
    selected = selection.select_adversarial(rows, 30, 5, np.random.default_rng(1))
    positions = selected.rows - 100
    assert rows.wrong[positions].all()
    assert len(set(rows.groups[positions])) == len(positions) == 30
    assert selected.tries > 30
    assert selected.unfooled == 0


def test_where_nothing_fools_the_least_sure_rows_that_were_tried_fill_the_round():
    rows = candidates(60, 60, 0.0)
    selected = selection.select_adversarial(rows, 10, 100, np.random.default_rng(1))
    assert selected.unfooled == 10
    assert selected.tries == 60
    assert set(selected.rows - 100) == set(np.argsort(rows.margin)[:10])


def test_an_adversary_leaves_a_context_after_as_many_misses():
    rows = Candidates(np.arange(50), np.zeros(50, np.int64), np.zeros(50, bool), np.linspace(0, 1, 50))
    assert selection.select_adversarial(rows, 2, 5, np.random.default_rng(0)).tries == 5


def test_half_of_a_mixed_round_fools():
    rows = candidates(400, 400, 0.2)
    selected = selection.select_mixed(rows, 20, 5, np.random.default_rng(2))
    assert len(set(selected.rows)) == 20
    assert rows.wrong[selected.rows - 100][:10].all()


def test_the_uncertain_arm_takes_the_smallest_margins():
    rows = candidates(100, 100, 0.5)
    selected = selection.select_uncertain(rows, 7, 5, np.random.default_rng(0))
    assert set(selected.rows - 100) == set(np.argsort(rows.margin)[:7])


def test_where_items_do_not_vary_the_interval_is_that_of_students_t_over_seeds():
    seed_means = np.array([0.1, 0.3, 0.25, 0.2])
    estimate = intervals.estimate_crossed_mean(np.repeat(seed_means[:, None], 9, axis=1), np.arange(9))
    whole = stats.ttest_1samp(seed_means, 0)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(whole.confidence_interval(0.95)))
    assert estimate.p == pytest.approx(whole.pvalue)
    assert intervals.estimate_seed_mean(seed_means) == estimate


def test_items_of_one_cluster_count_together():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=(1, 20)), 5, axis=1) + rng.normal(size=(3, 1)) * 0.01
    alone, grouped = (
        intervals.estimate_crossed_mean(values, clusters) for clusters in (np.arange(100), np.repeat(np.arange(20), 5))
    )
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.2, -0.01, "beat"),
        (0.01, 0.2, "lost to"),
        (-0.1, 0.1, "cannot be told apart from"),
        (None, None, "cannot be told apart from"),
    ],
)
def test_beat_is_said_only_where_the_interval_leaves_out_nothing(low: float | None, high: float | None, outcome: str):
    assert findings.describe_outcome({"low": low, "high": high}) == outcome


def test_what_was_written_by_hand_below_a_report_stays(tmp_path: Path):
    page = tmp_path / "report.md"
    assert report.read_handwritten_part(page) == []
    page.write_text(f"# Old figures\n\n{report.HANDWRITTEN_MARK}\n\n## By hand\n")
    assert report.read_handwritten_part(page) == [f"{report.HANDWRITTEN_MARK}\n\n## By hand"]
