"""The reliability of reinforcement learning."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.curves import (
    SPREADS,
    Series,
    drawdown,
    expected_tail,
    high_energy,
    make_curves,
    nearest_values,
    rise,
    slopes,
    smooth_curves,
    window_measures,
)
from dynabench.evaluate.plain_values import to_plain
from dynabench.evaluate.states.list_state import ListState

POINTS = tuple(range(50_000, 2_000_000, 100_000))
ONLINE_KEYS = (
    "HighFreqEnergyWithinRuns",
    "IqrWithinRuns",
    "IqrAcrossRuns",
    "LowerCVaROnDiffs",
    "LowerCVaROnDrawdown",
    "LowerCVaROnAcross",
    "LowerCVaROnRaw",
    "MadAcrossRuns",
    "MadWithinRuns",
    "MaxDrawdown",
    "StddevAcrossRuns",
    "StddevWithinRuns",
    "UpperCVaROnAcross",
    "UpperCVaROnDiffs",
    "UpperCVaROnDrawdown",
    "UpperCVaROnRaw",
    "MedianPerfDuringTraining",
)


class RlReliability(Metric):
    """Variation and drops of the rewards of training runs, or of rollouts of trained policies."""

    columns = {"timesteps": Series(), "rewards": Series()}
    configs = ("online", "offline")
    arrays = True

    def update(self, timesteps: list[Floats], rewards: list[Floats]) -> ListState[Floats]:
        """The curves."""
        return ListState(make_curves(timesteps, rewards))

    def result(
        self,
        state: Any,
        *,
        baseline: float | Literal["default"] | None = "default",
        freq_thresh: float = 0.01,
        window_size: float = 100_000,
        window_size_trimmed: float = 99_000,
        alpha: float = 0.05,
        eval_points: Sequence[float] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """See the card. Raises ValueError for windows without values, and baselines of 0."""
        if not 0 < alpha < 1:
            raise ValueError(f"alpha={alpha} is no share between 0 and 1; 0.05 takes the worst 5 %")
        if self.config_name == "offline":
            offline_scores: dict[str, Any] = to_plain(_offline(state.rows, baseline, alpha))
            return offline_scores
        points = Numbers().clean(POINTS if eval_points is None else eval_points, "eval_points")
        curves, scales = state.rows, _scales([rise(curve) for curve in state.rows], baseline, "does not rise")
        across = nearest_values(tuple(smooth_curves(curves, freq_thresh, self.compat)), points, window_size)
        scaled = nearest_values(
            tuple(smooth_curves(_divided(curves, scales), freq_thresh, self.compat)), points, window_size
        )
        measured: dict[str, Any] = {
            "HighFreqEnergyWithinRuns": [high_energy(curve, freq_thresh) for curve in curves],
            "MaxDrawdown": [drawdown(curve).max() for curve in curves],
            "MedianPerfDuringTraining": window_measures(curves, points, window_size, np.median),
        }
        steep = [slopes(curve) for curve in curves]
        for name, spread in SPREADS.items():
            within = window_measures(steep, points, window_size_trimmed, spread)
            measured[f"{name}WithinRuns"] = within / scales[:, None]
            measured[f"{name}AcrossRuns"] = spread(across) / np.median(scales)
        measured |= _tails(_divided(curves, scales), scaled, alpha)
        ordered: dict[str, Any] = to_plain({name: measured[name] for name in ONLINE_KEYS})
        return ordered


def _tails(curves: list[Floats], across: Floats, alpha: float) -> dict[str, list[float]]:
    targets = {
        "Diffs": [slopes(curve)[1] for curve in curves],
        "Drawdown": [drawdown(curve) for curve in curves],
        "Raw": [curve[1] for curve in curves],
        "Across": list(across.T),
    }
    return {
        f"{tail}CVaROn{target}": [expected_tail(values, alpha, tail == "Upper") for values in series]
        for target, series in targets.items()
        for tail in ("Lower", "Upper")
    }


def _offline(curves: tuple[Floats, ...], baseline: Any, alpha: float) -> dict[str, Any]:
    sets = [curve[1] for curve in curves]
    medians = np.array([np.median(values) for values in sets])
    scales = _scales(medians, baseline, "has a median of 0")
    spreads = {
        f"{name}AcrossRollouts": [spread(values) for values in sets] / scales
        for name, spread in (("Mad", SPREADS["Mad"]), ("Iqr", SPREADS["Iqr"]), ("Stddev", SPREADS["Stddev"]))
    }
    scaled = [values / scale for values, scale in zip(sets, scales, strict=True)]
    tails = {
        f"{tail}CVaRAcrossRollouts": [expected_tail(values, alpha, tail == "Upper") for values in scaled]
        for tail in ("Lower", "Upper")
    }
    return {**spreads, **tails, "MedianPerfAcrossRollouts": medians}


def _scales(own: Any, baseline: Any, problem: str) -> Floats:
    """The divisor of each run, shape (runs,): its own measure, one number, or 1."""
    if baseline is None:
        return np.ones(len(own))
    if isinstance(baseline, str) and baseline != "default":
        raise ValueError(f"no baseline {baseline!r}; there are default, a number, or None")
    scales = np.array(own, float) if baseline == "default" else np.full(len(own), float(baseline))
    if (scales == 0).any():
        run = int((scales == 0).argmax())
        reason = f"run {run} {problem}, so nothing can be divided by that" if baseline == "default" else "baseline is 0"
        raise ValueError(f"{reason}; give baseline=None or another number")
    return scales


def _divided(curves: Sequence[Floats], scales: Floats) -> list[Floats]:
    return [np.stack([curve[0], curve[1] / scale]) for curve, scale in zip(curves, scales, strict=True)]
