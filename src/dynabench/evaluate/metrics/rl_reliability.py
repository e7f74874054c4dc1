"""The reliability of reinforcement learning.

Source: Chan, Fishman, Canny, Korattikara and Guadarrama, Measuring the reliability of reinforcement learning
algorithms, ICLR 2020. A curve is an array (2, T): time steps, which rise, and rewards.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Numbers, as_list
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import ListState
from dynabench.evaluate.values import ratio, to_plain

Spread = Callable[[Floats], Any]
ORDER = 8  # of the Butterworth filter
PADDING = 27  # steps that the filter adds at both ends: three times its length


class Series(Column):
    """A series of numbers for each run, of any length; a list of arrays (T,)."""

    dtype = "list of numbers"
    text = "series of numbers of each run"

    def clean(self, values: Any, name: str) -> list[Floats]:
        """See `Numbers`. Raises ValueError where a run has fewer than two numbers."""
        series = [Numbers().clean(item, f"{name}: run {run}") for run, item in enumerate(as_list(values, name))]
        for run, numbers in enumerate(series):
            if len(numbers) < 2:
                raise ValueError(f"{name}: run {run} has {len(numbers)} values; a curve needs two or more")
        return series


def make_curves(timesteps: Sequence[Floats], rewards: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return curves. Raises ValueError for a run with unequal lengths, or whose time steps do not rise."""
    for run, (steps, values) in enumerate(zip(timesteps, rewards, strict=True)):
        if len(steps) != len(values):
            raise ValueError(f"run {run} has {len(steps):,} timesteps and {len(values):,} rewards; give one for each")
        if (np.diff(steps) <= 0).any():
            place = int((np.diff(steps) <= 0).argmax()) + 1
            raise ValueError(f"timesteps: run {run} does not rise at place {place}; sort it and keep each step once")
    return tuple(np.stack(pair) for pair in zip(timesteps, rewards, strict=True))


def interquartile(values: Floats) -> Any:
    """The distance of the quartiles of each column, shape (...)."""
    return np.subtract(*np.percentile(values, [75, 25], axis=0))


def median_deviation(values: Floats) -> Any:
    """The median absolute deviation from the median of each column, shape (...)."""
    return np.median(np.abs(values - np.median(values, axis=0)), axis=0)


def standard_deviation(values: Floats) -> Any:
    """The standard deviation of each column, shape (...); NaN for a single row."""
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1:], np.nan)


SPREADS: dict[str, Spread] = {"Iqr": interquartile, "Mad": median_deviation, "Stddev": standard_deviation}


def expected_tail(values: Floats, alpha: float, upper: bool = False) -> float:
    """The mean of the lowest (or highest) values, up to the quantile `alpha`: the conditional value at risk."""
    if upper:
        return -expected_tail(-values, alpha)
    bound = np.quantile(values, alpha)
    return float(values[values <= bound + 1e-12 * np.abs(bound)].mean())


def rise(curve: Floats) -> float:
    """Return the rise of a curve: its 95th percentile less its start."""
    return float(np.percentile(curve[1], 95) - curve[1, 0])


def drawdown(curve: Floats) -> Floats:
    """Return the distance of each reward below the highest before it, shape (T,)."""
    rewards = curve[1]
    return np.asarray(np.maximum.accumulate(rewards) - rewards)


def slopes(curve: Floats) -> Floats:
    """The change by time step: a curve (2, T - 1) at the later of both steps."""
    return np.stack([curve[0, 1:], np.diff(curve[1]) / np.diff(curve[0])])


def high_energy(curve: Floats, threshold: float) -> float:
    """The share of the energy above 0 that lies above a frequency; 0 for a constant curve. Even steps are supposed."""
    if curve[1].min() == curve[1].max():
        return 0.0
    energy = np.abs(np.fft.fft(curve[1])) ** 2
    frequency = np.fft.fftfreq(curve.shape[1], curve[0, 1] - curve[0, 0])
    return float(ratio(energy[frequency > threshold].sum(), energy[frequency > 0].sum()))


def window_measures(curves: Sequence[Floats], points: Floats, size: float, measure: Spread) -> Floats:
    """`measure` of the values in the `size` steps up to each point, shape (runs, points).

    Raises ValueError for a window without values.
    """
    window_values = np.empty((len(curves), len(points)))
    for run, (steps, values) in enumerate(curves):
        first = np.searchsorted(steps, points - size + 1, "left")
        last = np.searchsorted(steps, points, "right")
        if (first == last).any():
            point = points[int((first == last).argmax())]
            raise ValueError(
                f"run {run} has no timestep in the {size:,g} steps up to {point:,g}; choose other eval_points, or "
                "larger window_size and window_size_trimmed"
            )
        window_values[run] = [measure(values[start:stop]) for start, stop in zip(first, last, strict=True)]
    return window_values


def nearest_values(curves: Sequence[Floats], points: Floats, size: float) -> Floats:
    """The value at the step nearest to each point, shape (runs, points).

    Raises ValueError where it is half of `size` away, or more.
    """
    nearest_rows = np.empty((len(curves), len(points)))
    for run, (steps, values) in enumerate(curves):
        place = np.abs(steps[:, None] - points).argmin(0)
        far = np.abs(steps[place] - points) >= size / 2
        if far.any():
            raise ValueError(
                f"run {run} has no timestep less than {size / 2:,g} from {points[int(far.argmax())]:,g}; choose other "
                "eval_points or a larger window_size"
            )
        nearest_rows[run] = values[place]
    return nearest_rows


def smooth_curves(curves: Sequence[Floats], threshold: float, rough: bool = False) -> Iterator[Floats]:
    """Yield curves without frequencies above `threshold` (1 is half the rate of steps); 0 leaves them unchanged.

    In second-order sections: in one fraction (`rough`, as the authors have it) a filter of this order loses digits,
    at 0.01 some 2 % of a constant. Raises ValueError for a threshold outside [0, 1).
    """
    from scipy import signal

    if not 0 <= threshold < 1:
        raise ValueError(f"freq_thresh={threshold} lies outside [0, 1): 1 is half the rate of the time steps")
    for curve in curves:
        padding = min(curve.shape[1] - 1, PADDING)
        if not threshold:
            yield curve
        elif rough:
            numbers = signal.filtfilt(*signal.butter(ORDER, threshold), curve[1], padlen=padding)
            yield np.stack([curve[0], numbers])
        else:
            sections = signal.butter(ORDER, threshold, output="sos")
            yield np.stack([curve[0], signal.sosfiltfilt(sections, curve[1], padlen=padding)])


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
