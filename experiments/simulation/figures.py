"""All figures of a finished experiment, as JSON values."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.p_values import holm
from experiments.simulation import qualities
from experiments.simulation.history import ExperimentHistory
from experiments.simulation.intervals import estimate_crossed_mean, estimate_seed_mean
from experiments.simulation.plan import ExperimentPlan
from experiments.simulation.selection import FloatArray
from experiments.simulation.text_vectors import VectorsByKey

MEASURES = {
    "test_area": "test rows, mean over all rounds",
    "test_last": "test rows, after the last round",
    "suite_area": "suite, mean over all rounds",
    "suite_last": "suite, after the last round",
    "first_last": "examples that fooled the first target, after the last round",
    "own_last": "examples that fooled the adversarial arm's targets, after the last round",
}
"""The errors by which arms are compared."""
COLLECTING_ARMS = {"first_last": "fixed", "own_last": "adversarial"}
"""Measures on test examples of rounds, with the arm that collected them; without that arm there is no such measure."""
Figures = dict[str, Any]


def list_other_arms(plan: ExperimentPlan) -> tuple[str, ...]:
    """List the arms that are compared with `random`."""
    return tuple(arm for arm in plan.arms if arm != "random")


def compute_figures(history: ExperimentHistory, vectors: VectorsByKey) -> Figures:
    """Compute all figures; a difference is an arm's error minus that of the arm `random`: below 0 is better."""
    return {
        "task": history.plan.task,
        "plan": history.plan.as_options(),
        "material": _describe_data(history),
        "start": {name: float(history.errors("random", name)[:, 0].mean()) for name in ("test", "suite")},
        "errors": {
            arm: {name: history.errors(arm, name).mean((0, 2)).tolist() for name in ("test", "suite")}
            for arm in history.plan.arms
        },
        "bands": _compare_by_round(history),
        "contrasts": _compare_arms(history),
        "equal_tries": _compare_at_equal_tries(history),
        "phenomena": _compare_phenomena(history),
        "sources": _compare_sources(history),
        "parts": _test_on_earlier_rounds(history),
        "qualities": _summarize_qualities(history, vectors),
        "labels": _compute_shares(history, history.data.pool.labels, len(history.data.labels)),
        "drawn_from": _compute_shares(history, *_number_sources(history)),
    }


def _describe_data(history: ExperimentHistory) -> Figures:
    data, split = history.data, history.splits[0]
    names = sorted(set(data.pool.sources))
    return {
        "fields": list(data.fields),
        "labels": list(data.labels),
        "rows": len(data.pool),
        "sources": {name: data.pool.sources.count(name) for name in names},
        "suite": data.suite_name,
        "phenomena": len(set(data.suite.sources)),
        "items": len(data.suite),
        "nearest": data.nearest,
        "test": len(split.test),
        "later": len(split.later),
        "candidates": len(split.candidates),
        "majority": float(np.bincount(data.pool.labels[split.test]).max() / len(split.test)),
    }


def _compare_arms(history: ExperimentHistory) -> list[Figures]:
    """Compare each arm with `random` by each measure, with Holm's correction over all of them."""
    rows = []
    for arm in list_other_arms(history.plan):
        levels = _compute_levels(history, arm)
        for measure, estimate in _estimate_differences(history, arm).items():
            rows.append({"arm": arm, "measure": measure, "error": levels[measure], **asdict(estimate)})
    return _add_holm(rows)


def _compute_levels(history: ExperimentHistory, arm: str) -> dict[str, float]:
    test, suite = history.errors(arm, "test"), history.errors(arm, "suite")
    return {
        "test_area": float(test[:, 1:].mean()),
        "test_last": float(test[:, -1].mean()),
        "suite_area": float(suite[:, 1:].mean()),
        "suite_last": float(suite[:, -1].mean()),
    } | {
        measure: float(history.errors_on_rounds(arm, collecting_arm)[:, -1].mean())
        for measure, collecting_arm in COLLECTING_ARMS.items()
        if collecting_arm in history.plan.arms
    }


def _estimate_differences(history: ExperimentHistory, arm: str) -> dict[str, ClusteredEstimate]:
    test = history.errors(arm, "test").astype(float) - history.errors("random", "test")
    suite = history.errors(arm, "suite").astype(float) - history.errors("random", "suite")
    rows, phenomena = history.test_clusters, np.array(history.data.suite.sources)
    on_rounds = {
        measure: estimate_seed_mean(
            (
                history.errors_on_rounds(arm, collecting_arm)[:, -1]
                - history.errors_on_rounds("random", collecting_arm)[:, -1]
            ).mean(1)
        )
        for measure, collecting_arm in COLLECTING_ARMS.items()
        if collecting_arm in history.plan.arms
    }
    return {
        "test_area": estimate_crossed_mean(test[:, 1:].mean(1), rows),
        "test_last": estimate_crossed_mean(test[:, -1], rows),
        "suite_area": estimate_crossed_mean(suite[:, 1:].mean(1), phenomena),
        "suite_last": estimate_crossed_mean(suite[:, -1], phenomena),
        **on_rounds,
    }


def _add_holm(rows: list[Figures]) -> list[Figures]:
    corrected = holm([1.0 if row["p"] is None else row["p"] for row in rows])
    return [{**row, "holm": float(p)} for row, p in zip(rows, corrected, strict=True)]


def _compare_by_round(history: ExperimentHistory) -> Figures:
    """Estimate the difference of each arm on the test rows after each round."""
    random = history.errors("random", "test")
    bands: Figures = {}
    for arm in list_other_arms(history.plan):
        differences = history.errors(arm, "test").astype(float) - random
        bands[arm] = [
            asdict(estimate_crossed_mean(differences[:, number], history.test_clusters))
            for number in range(1, differences.shape[1])
        ]
    return bands


def _compare_at_equal_tries(history: ExperimentHistory) -> Figures:
    """Compare the adversarial arm with `random` after its last round, at an equal number of tries.

    The adversarial arm is taken after the last round at which the sum of its tries is not above that of `random`.
    """
    tries = history.numbers("adversarial", "tries").cumsum(1)
    budget = history.numbers("random", "tries").sum(1)
    rounds = (tries <= budget[:, None]).sum(1)
    adversarial, random = history.errors("adversarial", "test"), history.errors("random", "test")
    errors = np.array([adversarial[seed, number] for seed, number in enumerate(rounds)], float)
    estimate = estimate_crossed_mean(errors - random[:, -1], history.test_clusters)
    return {"rounds": float(rounds.mean()), "error": float(errors.mean()), **asdict(estimate)}


def _compare_phenomena(history: ExperimentHistory) -> list[Figures]:
    names = np.array(history.data.suite.sources)
    errors = {arm: history.errors(arm, "suite")[:, -1].astype(float) for arm in history.plan.arms}
    first = history.errors("random", "suite")[:, 0].astype(float)
    rows = []
    for name in dict.fromkeys(history.data.suite.sources):
        items = names == name
        difference = estimate_seed_mean((errors["adversarial"] - errors["random"])[:, items].mean(1))
        means = {arm: float(arm_errors[:, items].mean()) for arm, arm_errors in errors.items()}
        rows.append({"phenomenon": name, "start": float(first[:, items].mean()), **means, **asdict(difference)})
    return _add_holm(rows)


def _compare_sources(history: ExperimentHistory) -> list[Figures]:
    test_sources = np.array(history.data.pool.sources)[history.splits[0].test]
    errors = {arm: history.errors(arm, "test")[:, -1].astype(float) for arm in history.plan.arms}
    rows = []
    for name in sorted(set(test_sources.tolist())):
        items = test_sources == name
        difference = (errors["adversarial"] - errors["random"])[:, items]
        means = {arm: float(arm_errors[:, items].mean()) for arm, arm_errors in errors.items()}
        estimate = estimate_crossed_mean(difference, history.test_clusters[items])
        rows.append({"source": name, "n": int(items.sum()), **means, **asdict(estimate)})
    return _add_holm(rows)


def _test_on_earlier_rounds(history: ExperimentHistory) -> Figures:
    """Test later models of the adversarial arm on its earlier rounds; the matrix is the mean over seeds."""
    errors = history.errors_on_rounds("adversarial", "adversarial")
    rounds = range(history.plan.rounds)
    before = np.array([[seed_errors[number, number] for number in rounds] for seed_errors in errors])
    after = np.array([[seed_errors[number + 1, number] for number in rounds] for seed_errors in errors])
    return {
        "matrix": errors.mean(0).tolist(),
        "before": asdict(estimate_seed_mean(before.mean(1))),
        "after": asdict(estimate_seed_mean(after.mean(1))),
        "last": asdict(estimate_seed_mean(errors[:, -1].mean(1))),
        "caught": asdict(estimate_seed_mean((errors[:, -1] - before).mean(1))),
    }


def _summarize_qualities(history: ExperimentHistory, vectors: VectorsByKey) -> Figures:
    """Compute the means over rounds, their differences from `random` with intervals, and the values by round."""
    arms = history.plan.arms
    by_round = {arm: qualities.measure_rounds(history, arm, vectors) for arm in arms}
    marks = sorted({*range(5, history.plan.rounds + 1, 5), history.plan.rounds})
    artifacts = {arm: np.array([qualities.measure_artifacts(history, arm, last) for last in marks]).T for arm in arms}
    summary: Figures = {}
    for name in (*qualities.ROUND_QUALITIES, "artifact"):
        values = artifacts if name == "artifact" else {arm: by_round[arm][name] for arm in arms}
        summary[name] = {
            arm: {
                "curve": np.nanmean(values[arm], 0).tolist(),
                **_compare_quality(values[arm], values["random"], name),
            }
            for arm in arms
        }
    summary["marks"] = marks
    summary["filled"] = {arm: float(history.numbers(arm, "unfooled").sum() / history.plan.seeds) for arm in arms}
    return summary


def _compare_quality(values: FloatArray, random: FloatArray, name: str) -> Figures:
    """Compare the last value of artifacts, and the mean over rounds of other qualities."""
    arm_values, random_values = (
        array[:, -1] if name == "artifact" else np.nanmean(array, 1) for array in (values, random)
    )
    return {
        "own": asdict(estimate_seed_mean(arm_values)),
        "difference": asdict(estimate_seed_mean(arm_values - random_values)),
    }


def _number_sources(history: ExperimentHistory) -> tuple[Any, int]:
    names = sorted(set(history.data.pool.sources))
    return np.array([names.index(name) for name in history.data.pool.sources], np.int64), len(names)


def _compute_shares(history: ExperimentHistory, kinds: Any, count: int) -> Figures:
    candidates = history.splits[0].candidates
    pool = np.bincount(kinds[candidates], minlength=count) / len(candidates)
    return {"pool": pool.tolist()} | {
        arm: qualities.measure_shares(history, arm, kinds, count).mean(0).tolist() for arm in history.plan.arms
    }
