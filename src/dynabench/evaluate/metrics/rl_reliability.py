"""The reliability of reinforcement learning."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.curves import (
    SPREADS,
    Series,
    drawdown,
    expected_tail,
    high_energy,
    joined,
    nearest,
    reach,
    slopes,
    smoothed,
    windows,
)
from dynabench.evaluate.plain import plain
from dynabench.evaluate.states.listed import Listed
from dynabench.language import N_

POINTS = tuple(range(50_000, 2_000_000, 100_000))
ONLINE = {
    "HighFreqEnergyWithinRuns": ("share of energy above freq_thresh, by run", "lower"),
    "IqrWithinRuns": ("interquartile range of slopes before each eval point, by run", "lower"),
    "IqrAcrossRuns": ("interquartile range of runs at each eval point", "lower"),
    "LowerCVaROnDiffs": ("mean of the lowest slopes, by run", "higher"),
    "LowerCVaROnDrawdown": ("mean of the lowest drawdowns, by run", "lower"),
    "LowerCVaROnAcross": ("mean of the lowest runs at each eval point", "higher"),
    "LowerCVaROnRaw": ("mean of the lowest rewards, by run", "higher"),
    "MadAcrossRuns": ("median absolute deviation of runs at each eval point", "lower"),
    "MadWithinRuns": ("median absolute deviation of slopes before each eval point, by run", "lower"),
    "MaxDrawdown": ("largest fall from an earlier peak, by run", "lower"),
    "StddevAcrossRuns": ("standard deviation of runs at each eval point", "lower"),
    "StddevWithinRuns": ("standard deviation of slopes before each eval point, by run", "lower"),
    "UpperCVaROnAcross": ("mean of the highest runs at each eval point", "higher"),
    "UpperCVaROnDiffs": ("mean of the highest slopes, by run", "higher"),
    "UpperCVaROnDrawdown": ("mean of the highest drawdowns, by run", "lower"),
    "UpperCVaROnRaw": ("mean of the highest rewards, by run", "higher"),
    "MedianPerfDuringTraining": ("median reward before each eval point, by run", "higher"),
}
OFFLINE = {
    "MadAcrossRollouts": ("median absolute deviation of rewards, by run", "lower"),
    "IqrAcrossRollouts": ("interquartile range of rewards, by run", "lower"),
    "StddevAcrossRollouts": ("standard deviation of rewards, by run", "lower"),
    "LowerCVaRAcrossRollouts": ("mean of the lowest rewards, by run", "higher"),
    "UpperCVaRAcrossRollouts": ("mean of the highest rewards, by run", "higher"),
    "MedianPerfAcrossRollouts": ("median reward, by run", "higher"),
}
RISING = [[100, 200, 300, 400, 500]], [[0.0, 1, 2, 1, 4]]


class RlReliability(Metric):
    """How much the rewards of training runs, or of rollouts of trained policies, vary and fall."""

    card = Card(
        description=N_(
            "The reliability of a reinforcement learning algorithm. Config online: learning curves of training runs, "
            "how they vary within and between runs and how far they fall. Config offline: rewards of rollouts of a "
            "fixed policy, a set for each run. Values are lists: by run, by eval point, or by run and eval point."
        ),
        formula=r"\mathrm{CVaR}_\alpha(X) = E[X \mid X \le q_\alpha(X)], \quad "
        r"\mathrm{drawdown}_t = \max_{s \le t} r_s - r_t, \quad \mathrm{slope}_t = \frac{r_t - r_{t-1}}{t - (t-1)}",
        inputs={
            "timesteps": "rising time steps of each run (offline: numbers of rollouts)",
            "rewards": "reward at each of them",
        },
        options={
            "baseline": "what rewards are divided by: default (online each curve's 95th percentile less its start, "
            "offline each set's median), a number, or None",
            "freq_thresh": "frequency that separates slow from fast changes",
            "window_size": "time steps around (or before) an eval point",
            "window_size_trimmed": "time steps before an eval point for slopes",
            "alpha": "share of values that make the tail of CVaR",
            "eval_points": "time steps at which runs are measured; by default 50,000 to 1,950,000 in steps of 100,000",
        },
        outputs=tuple(
            Output(name, text, None, None, better)  # type: ignore[arg-type]
            for name, (text, better) in {**ONLINE, **OFFLINE}.items()
        ),
        examples=(
            Example(
                "One run",
                dict(zip(("timesteps", "rewards"), RISING, strict=True)),
                {"MaxDrawdown": [1.0], "MedianPerfDuringTraining": [[1.5]], "StddevAcrossRuns": [None]},
                {"eval_points": [400], "window_size": 200, "window_size_trimmed": 200},
                "online",
            ),
            Example(
                "Two policies of five rollouts",
                {"timesteps": [range(5), range(5)], "rewards": [[-1, 2, 5, 7, 3], [6, 5, 1, 34, 2]]},
                {"IqrAcrossRollouts": [1.0, 0.8], "MedianPerfAcrossRollouts": [3.0, 5.0]},
                config="offline",
            ),
            Example(
                "A run that ends before it is measured",
                dict(zip(("timesteps", "rewards"), RISING, strict=True)),
                config="online",
                error="run 0 has no timestep",
            ),
        ),
        limits=(
            "The authors ask for ten runs or more. The spread of a single run, or of a window with a single slope, is "
            "None. A curve that does not rise cannot be divided by how far it rises, nor rollouts by a median of 0: "
            "give a baseline; where it falls, the default baseline turns signs around. The low-pass filter works in "
            "second-order sections; the original's form loses about 2 % at its default threshold, which compat=True "
            "reproduces. Energies suppose even time steps. No tests or intervals between algorithms. Without a config, "
            "online is taken."
        ),
        citation=(
            "Chan, Fishman, Canny, Korattikara and Guadarrama, Measuring the Reliability of Reinforcement Learning "
            "Algorithms, ICLR 2020."
        ),
        tasks=("reinforcement-learning",),
        references=("https://arxiv.org/abs/1912.05663", "https://github.com/google-research/rl-reliability-metrics"),
    )
    columns = {"timesteps": Series(), "rewards": Series()}
    configs = ("online", "offline")
    arrays = True

    def update(self, timesteps: list[Floats], rewards: list[Floats]) -> Listed[Floats]:
        """The curves."""
        return Listed(joined(timesteps, rewards))

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
            found: dict[str, Any] = plain(_offline(state.rows, baseline, alpha))
            return found
        points = Numbers().clean(POINTS if eval_points is None else eval_points, "eval_points")
        curves, scales = state.rows, _scales([reach(curve) for curve in state.rows], baseline, "does not rise")
        across = nearest(tuple(smoothed(curves, freq_thresh, self.compat)), points, window_size)
        scaled = nearest(tuple(smoothed(_divided(curves, scales), freq_thresh, self.compat)), points, window_size)
        measured: dict[str, Any] = {
            "HighFreqEnergyWithinRuns": [high_energy(curve, freq_thresh) for curve in curves],
            "MaxDrawdown": [drawdown(curve).max() for curve in curves],
            "MedianPerfDuringTraining": windows(curves, points, window_size, np.median),
        }
        steep = [slopes(curve) for curve in curves]
        for name, spread in SPREADS.items():
            within = windows(steep, points, window_size_trimmed, spread)
            measured[f"{name}WithinRuns"] = within / scales[:, None]
            measured[f"{name}AcrossRuns"] = spread(across) / np.median(scales)
        measured |= _tails(_divided(curves, scales), scaled, alpha)
        ordered: dict[str, Any] = plain({name: measured[name] for name in ONLINE})
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
    """What each run is divided by, shape (runs,): its own measure, one number, or 1."""
    if baseline is None:
        return np.ones(len(own))
    if isinstance(baseline, str) and baseline != "default":
        raise ValueError(f"no baseline {baseline!r}; there are default, a number, or None")
    scales = np.array(own, float) if baseline == "default" else np.full(len(own), float(baseline))
    if (scales == 0).any():
        run = int((scales == 0).argmax())
        what = f"run {run} {problem}, so nothing can be divided by that" if baseline == "default" else "baseline is 0"
        raise ValueError(f"{what}; give baseline=None or another number")
    return scales


def _divided(curves: Sequence[Floats], scales: Floats) -> list[Floats]:
    return [np.stack([curve[0], curve[1] / scale]) for curve, scale in zip(curves, scales, strict=True)]
