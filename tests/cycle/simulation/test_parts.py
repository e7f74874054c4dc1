"""How arms choose, and how differences get their intervals."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dynabench.cycle.simulation import choosing, comparing, report, sentences
from dynabench.cycle.simulation.choosing import View


def view(n: int, groups: int, wrong: float, seed: int = 0) -> View:
    rng = np.random.default_rng(seed)
    return View(np.arange(n) + 100, rng.integers(0, groups, n), rng.random(n) < wrong, rng.random(n))


def test_adversaries_take_one_fooling_row_of_a_context_and_count_all_tries():
    seen = view(400, 200, 0.3)
    chosen = choosing.adversarial(seen, 30, 5, np.random.default_rng(1))
    rows = chosen.places - 100
    assert seen.wrong[rows].all()
    assert len(set(seen.groups[rows])) == len(rows) == 30
    assert chosen.tries > 30
    assert chosen.filled == 0


def test_where_nothing_fools_the_least_sure_rows_that_were_tried_fill_the_round():
    seen = view(60, 60, 0.0)
    chosen = choosing.adversarial(seen, 10, 100, np.random.default_rng(1))
    assert chosen.filled == 10
    assert chosen.tries == 60
    assert set(chosen.places - 100) == set(np.argsort(seen.margin)[:10])


def test_an_adversary_leaves_a_context_after_as_many_misses():
    seen = View(np.arange(50), np.zeros(50, np.int64), np.zeros(50, bool), np.linspace(0, 1, 50))
    assert choosing.adversarial(seen, 2, 5, np.random.default_rng(0)).tries == 5


def test_half_of_a_mixed_round_fools():
    seen = view(400, 400, 0.2)
    chosen = choosing.mixed(seen, 20, 5, np.random.default_rng(2))
    assert len(set(chosen.places)) == 20
    assert seen.wrong[chosen.places - 100][:10].all()


def test_the_uncertain_arm_takes_the_smallest_margins():
    seen = view(100, 100, 0.5)
    chosen = choosing.uncertain(seen, 7, 5, np.random.default_rng(0))
    assert set(chosen.places - 100) == set(np.argsort(seen.margin)[:7])


def test_where_items_do_not_vary_the_interval_is_that_of_students_t_over_seeds():
    of_seeds = np.array([0.1, 0.3, 0.25, 0.2])
    found = comparing.crossed(np.repeat(of_seeds[:, None], 9, axis=1), np.arange(9))
    whole = stats.ttest_1samp(of_seeds, 0)
    assert (found.low, found.high) == pytest.approx(tuple(whole.confidence_interval(0.95)))
    assert found.p == pytest.approx(whole.pvalue)
    assert comparing.over_seeds(of_seeds) == found


def test_items_of_one_cluster_count_together():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=(1, 20)), 5, axis=1) + rng.normal(size=(3, 1)) * 0.01
    alone, grouped = (comparing.crossed(values, clusters) for clusters in (np.arange(100), np.repeat(np.arange(20), 5)))
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.2, -0.01, "beat"),
        (0.01, 0.2, "lost to"),
        (-0.1, 0.1, "cannot be told apart from"),
        (None, None, "cannot be told apart from"),
    ],
)
def test_beat_is_said_only_where_the_interval_leaves_out_nothing(low: float | None, high: float | None, said: str):
    assert sentences.verdict({"low": low, "high": high}) == said


def test_what_was_written_by_hand_below_a_report_stays(tmp_path: Path):
    page = tmp_path / "report.md"
    assert report._kept(page) == []
    page.write_text(f"# Figures of old\n\n{report.KEPT}\n\n## By hand\n")
    assert report._kept(page) == [f"{report.KEPT}\n\n## By hand"]
