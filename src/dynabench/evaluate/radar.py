"""The radar plot, drawn with matplotlib."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.kit.distributions import LIBRARY, install_command

DEFAULTS: dict[str, Any] = {
    "axes_args": {},
    "rad_ln_args": {"visible": True},
    "outer_ring": {"visible": True},
    "angle_ln_args": {"visible": True},
    "rgrid_tick_lbls_args": {"fontsize": 12},
    "theta_tick_lbls": {"fontsize": 12},
    "theta_tick_lbls_pad": 3,
    "theta_tick_lbls_brk_lng_wrds": True,
    "theta_tick_lbls_txt_wrap": 15,
    "incl_endpoint": False,
    "marker": "o",
    "markersize": 3,
    "legend_loc": "upper right",
    "bbox_to_anchor": (2, 1),
}
RINGS = 3
MARGIN = 0.1  # of an axis's spread, that it reaches below the smallest and above the largest value


def radar_plot(
    data: Sequence[Mapping[str, float]],
    model_names: Sequence[str],
    invert_range: Sequence[str] | None = (),
    config: Mapping[str, Any] | None = None,
    fig: Any = None,
) -> Any:
    """Draw several models' scores as polygons over one axis for each metric, each axis with a scale of its own.

    Args:
        data: for each model its scores by metric; all models need the same metrics.
        model_names: for each model its name in the legend.
        invert_range: metrics of which less is better: their axes run from the largest value to the smallest.
        config: appearance; the keys are those of `DEFAULTS`.
        fig: the matplotlib figure to draw on; a new one by default.

    Returns:
        the figure, with one polar axes on which 0 is the centre and 1 the outer ring of every metric.

    Raises:
        ValueError: no models, other metrics or names than models have, scores that are no finite numbers.
        ImportError: matplotlib is not installed.
    """
    metrics, scores = _scores(data, model_names)
    inverted = list(invert_range or ())
    unknown = [name for name in inverted if name not in metrics]
    if unknown:
        raise ValueError(f"invert_range names {', '.join(unknown)}; the data has {', '.join(metrics)}")
    strange = [key for key in config or {} if key not in DEFAULTS]
    if strange:
        raise ValueError(f"config knows no {', '.join(strange)}; its keys are {', '.join(DEFAULTS)}")
    look = {**DEFAULTS, **(config or {})}
    start, end = _ranges(scores, np.isin(metrics, inverted))
    axes = (_figure() if fig is None else fig).add_axes((0.1, 0.1, 0.8, 0.8), polar=True, **look["axes_args"])
    angles = np.linspace(0, 2 * np.pi, len(metrics), endpoint=False)
    _frame(axes, angles, metrics, look)
    _scales(axes, angles, start, end, look)
    closed = [*range(len(metrics)), 0]
    for name, row in zip(model_names, (scores - start) / (end - start), strict=True):
        axes.plot(angles[closed], row[closed], marker=look["marker"], markersize=look["markersize"], label=str(name))
    axes.legend(loc=look["legend_loc"], bbox_to_anchor=look["bbox_to_anchor"])
    return axes.figure


def _figure() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "radar_plot draws with matplotlib, which is not installed: pip install matplotlib "
            f"(it also comes with {install_command(LIBRARY, 'models')})"
        ) from None
    return pyplot.figure()


def _scores(data: Sequence[Mapping[str, float]], names: Sequence[str]) -> tuple[list[str], Floats]:
    """The metrics and each model's scores, shape (models, metrics)."""
    if not len(data) or len(data) != len(names):
        raise ValueError(f"give one name for each model, and at least one: there are {len(data)} and {len(names)}")
    metrics = list(data[0])
    for name, model_scores in zip(names, data, strict=True):
        if set(model_scores) != set(metrics):
            raise ValueError(f"{name} has {', '.join(model_scores) or 'nothing'}, {names[0]} has {', '.join(metrics)}")
        for metric in metrics:
            if not isinstance(model_scores[metric], int | float | np.number) or not np.isfinite(model_scores[metric]):
                raise ValueError(f"{metric} of {name} is {model_scores[metric]!r}; a radar plot needs finite numbers")
    if not metrics:
        raise ValueError("a radar plot needs at least one metric")
    return metrics, np.array([[float(model_scores[metric]) for metric in metrics] for model_scores in data])


def _ranges(scores: Floats, inverted: Any) -> tuple[Floats, Floats]:
    """Values of the centre and the outer ring on each axis. Where all models are equal, they stand half-way."""
    low, high = scores.min(0), scores.max(0)
    spread = high - low
    margin = np.where(spread > 0, spread, np.maximum(np.abs(high), 1.0)) * MARGIN
    low, high = low - margin, high + margin
    return np.where(inverted, high, low), np.where(inverted, low, high)


def _frame(axes: Any, angles: Floats, metrics: list[str], look: Mapping[str, Any]) -> None:
    """Rings, spokes and the names of the metrics, clockwise from the top."""
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_axisbelow(True)
    axes.set_ylim(0, 1)
    axes.set_yticks(np.linspace(0, 1, RINGS, endpoint=look["incl_endpoint"]), labels=[])
    axes.yaxis.grid(**look["rad_ln_args"])
    axes.xaxis.grid(**look["angle_ln_args"])
    axes.spines["polar"].set(**look["outer_ring"])
    width, broken = look["theta_tick_lbls_txt_wrap"], look["theta_tick_lbls_brk_lng_wrds"]
    names = ["\n".join(textwrap.wrap(name, width, break_long_words=broken)) for name in metrics]
    axes.set_xticks(angles, labels=names, **look["theta_tick_lbls"])
    axes.tick_params(axis="x", pad=look["theta_tick_lbls_pad"])
    for label, angle in zip(axes.get_xticklabels(), angles, strict=True):
        side = round(float(np.sin(angle)), 6)
        label.set_horizontalalignment("center" if side == 0 else "left" if side > 0 else "right")


def _scales(axes: Any, angles: Floats, start: Floats, end: Floats, look: Mapping[str, Any]) -> None:
    """The values that the rings have on each axis; none at the centre, where all axes meet."""
    rings = np.linspace(0, 1, RINGS, endpoint=look["incl_endpoint"])[1:]
    for angle, low, high in zip(angles, start, end, strict=True):
        for ring in rings:
            axes.text(
                angle,
                ring,
                f"{low + ring * (high - low):.3g}",
                ha="center",
                va="bottom",
                **look["rgrid_tick_lbls_args"],
            )
