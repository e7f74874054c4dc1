"""Every figure of a finished experiment, as JSON values."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dynabench.cycle.simulation import comparing, qualities
from dynabench.cycle.simulation.encoding import Vectors
from dynabench.cycle.simulation.history import Floats, History
from dynabench.cycle.simulation.plan import Plan
from dynabench.stats.clusters import Estimate
from dynabench.stats.corrections import holm

MEASURES = {
    "test_area": "test rows, mean over all rounds",
    "test_last": "test rows, after the last round",
    "suite_area": "suite, mean over all rounds",
    "suite_last": "suite, after the last round",
    "first_last": "examples that fooled the first target, after the last round",
    "own_last": "examples that fooled the adversarial arm's targets, after the last round",
}
"""What arms are compared by: the error on these."""
CHOSEN = {"first_last": "fixed", "own_last": "adversarial"}
"""By measure the arm whose rounds' test parts it is taken on; where the arm is not run, nor is it."""
Result = dict[str, Any]


def others(plan: Plan) -> tuple[str, ...]:
    """The arms that are compared with `random`."""
    return tuple(arm for arm in plan.arms if arm != "random")


def of(history: History, vectors: Vectors) -> Result:
    """All figures; differences are an arm's error minus that of the arm `random`, so that less than 0 is better."""
    found = _contrasts(history)
    return {
        "task": history.plan.task,
        "plan": asdict(history.plan),
        "material": _material(history),
        "start": _start(history),
        "errors": {
            arm: {on: history.errors(arm, on).mean((0, 2)).tolist() for on in ("test", "suite")}
            for arm in history.plan.arms
        },
        "bands": _bands(history),
        "contrasts": found,
        "equal_tries": _equal_tries(history),
        "phenomena": _phenomena(history),
        "sources": _sources(history),
        "parts": _parts(history),
        "qualities": _qualities(history, vectors),
        "labels": _shares(history, history.material.pool.labels, len(history.material.labels)),
        "drawn_from": _shares(history, *_numbered(history)),
    }


def _material(history: History) -> Result:
    material, parts = history.material, history.splits[0]
    names = sorted(set(material.pool.sources))
    return {
        "fields": list(material.fields),
        "labels": list(material.labels),
        "rows": len(material.pool),
        "sources": {name: material.pool.sources.count(name) for name in names},
        "suite": material.suite_name,
        "phenomena": len(set(material.suite.sources)),
        "items": len(material.suite),
        "nearest": material.nearest,
        "test": len(parts.test),
        "later": len(parts.later),
        "candidates": len(parts.candidates),
        "majority": float(np.bincount(material.pool.labels[parts.test]).max() / len(parts.test)),
    }


def _start(history: History) -> Result:
    return {on: float(history.errors("random", on)[:, 0].mean()) for on in ("test", "suite")}


def _contrasts(history: History) -> list[Result]:
    """Each arm against `random` by each measure, with Holm's correction over all of them."""
    rows = []
    for arm in others(history.plan):
        for measure, estimate in _measured(history, arm).items():
            level = _levels(history, arm)[measure]
            rows.append({"arm": arm, "measure": measure, "error": level, **asdict(estimate)})
    return _corrected(rows)


def _levels(history: History, arm: str) -> dict[str, float]:
    test, suite = history.errors(arm, "test"), history.errors(arm, "suite")
    return {
        "test_area": float(test[:, 1:].mean()),
        "test_last": float(test[:, -1].mean()),
        "suite_area": float(suite[:, 1:].mean()),
        "suite_last": float(suite[:, -1].mean()),
    } | {
        measure: float(history.on_parts(arm, of)[:, -1].mean())
        for measure, of in CHOSEN.items()
        if of in history.plan.arms
    }


def _measured(history: History, arm: str) -> dict[str, Estimate]:
    test = history.errors(arm, "test").astype(float) - history.errors("random", "test")
    suite = history.errors(arm, "suite").astype(float) - history.errors("random", "suite")
    rows, kinds = history.test_clusters, np.array(history.material.suite.sources)
    parts = {
        measure: comparing.over_seeds(
            (history.on_parts(arm, of)[:, -1] - history.on_parts("random", of)[:, -1]).mean(1)
        )
        for measure, of in CHOSEN.items()
        if of in history.plan.arms
    }
    return {
        "test_area": comparing.crossed(test[:, 1:].mean(1), rows),
        "test_last": comparing.crossed(test[:, -1], rows),
        "suite_area": comparing.crossed(suite[:, 1:].mean(1), kinds),
        "suite_last": comparing.crossed(suite[:, -1], kinds),
        **parts,
    }


def _corrected(rows: list[Result]) -> list[Result]:
    p = holm([1.0 if row["p"] is None else row["p"] for row in rows])
    return [{**row, "holm": float(each)} for row, each in zip(rows, p, strict=True)]


def _bands(history: History) -> Result:
    """The difference on the test rows after each round, with its interval, of each arm."""
    random = history.errors("random", "test")
    found: Result = {}
    for arm in others(history.plan):
        differences = history.errors(arm, "test").astype(float) - random
        each = [
            comparing.crossed(differences[:, number], history.test_clusters)
            for number in range(1, differences.shape[1])
        ]
        found[arm] = [asdict(estimate) for estimate in each]
    return found


def _equal_tries(history: History) -> Result:
    """The adversarial arm after the last round whose tries, all together, are no more than those of `random` at the
    end, against `random` at the end."""
    tries = history.numbers("adversarial", "tries").cumsum(1)
    budget = history.numbers("random", "tries").sum(1)
    rounds = (tries <= budget[:, None]).sum(1)
    adversarial, random = history.errors("adversarial", "test"), history.errors("random", "test")
    then = np.array([adversarial[seed, number] for seed, number in enumerate(rounds)], float)
    estimate = comparing.crossed(then - random[:, -1], history.test_clusters)
    return {"rounds": float(rounds.mean()), "error": float(then.mean()), **asdict(estimate)}


def _phenomena(history: History) -> list[Result]:
    names = np.array(history.material.suite.sources)
    errors = {arm: history.errors(arm, "suite")[:, -1].astype(float) for arm in history.plan.arms}
    first = history.errors("random", "suite")[:, 0].astype(float)
    rows = []
    for name in dict.fromkeys(history.material.suite.sources):
        chosen = names == name
        difference = comparing.over_seeds((errors["adversarial"] - errors["random"])[:, chosen].mean(1))
        means = {arm: float(each[:, chosen].mean()) for arm, each in errors.items()}
        rows.append({"phenomenon": name, "start": float(first[:, chosen].mean()), **means, **asdict(difference)})
    return _corrected(rows)


def _sources(history: History) -> list[Result]:
    of_test = np.array(history.material.pool.sources)[history.splits[0].test]
    errors = {arm: history.errors(arm, "test")[:, -1].astype(float) for arm in history.plan.arms}
    rows = []
    for name in sorted(set(of_test.tolist())):
        chosen = of_test == name
        difference = (errors["adversarial"] - errors["random"])[:, chosen]
        means = {arm: float(each[:, chosen].mean()) for arm, each in errors.items()}
        estimate = comparing.crossed(difference, history.test_clusters[chosen])
        rows.append({"source": name, "n": int(chosen.sum()), **means, **asdict(estimate)})
    return _corrected(rows)


def _parts(history: History) -> Result:
    """Later models on earlier rounds: of the adversarial arm, the mean over seeds by model and round."""
    errors = history.on_parts("adversarial", "adversarial")
    last = history.plan.rounds
    before = np.array([[errors[seed, number, number] for number in range(last)] for seed in range(len(errors))])
    after = np.array([[errors[seed, number + 1, number] for number in range(last)] for seed in range(len(errors))])
    return {
        "matrix": errors.mean(0).tolist(),
        "before": asdict(comparing.over_seeds(before.mean(1))),
        "after": asdict(comparing.over_seeds(after.mean(1))),
        "last": asdict(comparing.over_seeds(errors[:, -1].mean(1))),
        "caught": asdict(comparing.over_seeds((errors[:, -1] - before).mean(1))),
    }


def _qualities(history: History, vectors: Vectors) -> Result:
    """Means over rounds, differences from `random` with their intervals, and curves by round."""
    figures = {arm: qualities.of_rounds(history, arm, vectors) for arm in history.plan.arms}
    marks = sorted({*range(5, history.plan.rounds + 1, 5), history.plan.rounds})
    given = {arm: np.array([qualities.artifacts(history, arm, last) for last in marks]).T for arm in history.plan.arms}
    found: Result = {}
    for name in (*qualities.OF_A_ROUND, "artifact"):
        of_arm = given if name == "artifact" else {arm: figures[arm][name] for arm in history.plan.arms}
        found[name] = {
            arm: {"curve": np.nanmean(of_arm[arm], 0).tolist(), **_against(of_arm[arm], of_arm["random"], name)}
            for arm in history.plan.arms
        }
    found["marks"] = marks
    found["filled"] = {
        arm: float(history.numbers(arm, "filled").sum() / history.plan.seeds) for arm in history.plan.arms
    }
    return found


def _against(values: Floats, random: Floats, name: str) -> Result:
    """Of artifacts the last mark, of others the mean over rounds."""
    mine, theirs = (each[:, -1] if name == "artifact" else np.nanmean(each, 1) for each in (values, random))
    return {"own": asdict(comparing.over_seeds(mine)), "difference": asdict(comparing.over_seeds(mine - theirs))}


def _numbered(history: History) -> tuple[Any, int]:
    names = sorted(set(history.material.pool.sources))
    return np.array([names.index(name) for name in history.material.pool.sources], np.int64), len(names)


def _shares(history: History, kinds: Any, count: int) -> Result:
    places = history.splits[0].candidates
    pool = np.bincount(kinds[places], minlength=count) / len(places)
    return {"pool": pool.tolist()} | {
        arm: qualities.shares(history, arm, kinds, count).mean(0).tolist() for arm in history.plan.arms
    }
