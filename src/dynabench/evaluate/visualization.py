"""Plots of results: radar, bars with intervals, reliability.

A spec is a dictionary that Altair (`altair.Chart.from_dict`), vl-convert, notebooks and browsers draw.
Colours are those of the pages: models are blue, lines are quiet, and a colour is never the only sign.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynabench.evaluate.columns import Floats, Numbers
from dynabench.kit.distributions import LIBRARY, install_command
from dynabench.kit.language import Amount, _, translate
from dynabench.stats.rates import wilson

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


__all__ = ["confusion_heat_map", "intervals_plot", "radar_plot", "reliability_diagram", "scores_histogram"]

Spec = dict[str, Any]
MODELS, INK, INK_2, LINE = "#1f5fbf", "#1c1b18", "#57534b", "#dfdbd1"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
TIP: Spec = {"tooltip": {"field": "tip", "type": "nominal"}}
MAX_SINGLE_BARS = 12  # so many different scores are shown one by one
MAX_NUMBERED_CLASSES = 20  # classes up to which a cell has room for its number


def confusion_heat_map(matrix: ArrayLike, labels: Sequence[Any] | None = None, title: str = "") -> Spec:
    """Return a confusion matrix, shape (K, K), rows being references.

    Shades show the share of the row, texts the number.

    Raises ValueError where the matrix is not square, has negative or missing numbers, or another number of labels.
    """
    counts = np.asarray(matrix, float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise ValueError(f"a confusion matrix has as many rows as columns, at least 1, not shape {counts.shape}")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("a confusion matrix holds numbers of examples, 0 or more")
    names = [str(label) for label in (range(len(counts)) if labels is None else labels)]
    if len(names) != len(counts) or len(set(names)) < len(names):
        raise ValueError(f"give each of the {len(counts)} classes a label of its own")
    cells = [_cell(counts, names, row, column) for row, column in np.ndindex(counts.shape)]
    place: Spec = {"type": "nominal", "sort": None}
    quiet: Spec = {"domain": False, "ticks": False}
    encoding: Spec = {
        "x": {
            "field": "prediction",
            "title": translate(_("Prediction")),
            "axis": {**quiet, "orient": "top", "labelAngle": 0},
            **place,
        },
        "y": {"field": "reference", "title": translate(_("Reference")), "axis": quiet, **place},
        **TIP,
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, 1], "range": [0.04, 0.6]},
    }
    tiles: Spec = {
        "mark": {"type": "rect", "color": MODELS, "stroke": LINE},
        "encoding": {**encoding, "fillOpacity": shade},
    }
    texts: Spec = {
        "mark": {"type": "text", "color": INK, "fontSize": 13},
        "encoding": {**encoding, "text": {"field": "label", "type": "nominal"}},
    }
    layers = [tiles, texts] if len(names) <= MAX_NUMBERED_CLASSES else [tiles]
    side = min(44 * len(names), 640)
    return _spec(cells, layers, title, translate(_("Confusion matrix of %(n)s classes", n=len(names))), height=side)


def reliability_diagram(confidences: ArrayLike, right: ArrayLike, bins: int = 10, title: str = "") -> Spec:
    """Return a chart of the share of right predictions by confidence, in equally wide bins, with 95 % intervals.

    `confidences` (n,) lie in [0, 1], `right` (n,) is 1 where the prediction is right. The line is where they agree.
    Raises ValueError for other values, unequal lengths, no rows or no bins.
    """
    sure, hit = (_column(values, name) for values, name in ((confidences, "confidences"), (right, "right")))
    if len(sure) != len(hit) or ((sure < 0) | (sure > 1)).any() or not np.isin(hit, (0, 1)).all() or bins < 1:
        raise ValueError("give confidences from 0 to 1, for each whether it was right (0 or 1), and at least one bin")
    place = np.minimum((sure * bins).astype(int), bins - 1)
    points = [_bin(sure[place == bin_number], hit[place == bin_number]) for bin_number in np.unique(place)]
    share: Spec = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
    across: Spec = {"x": {"field": "sure", "title": translate(_("Confidence")), **share}}
    line: Spec = {
        "data": {"values": [{"sure": 0, "value": 0}, {"sure": 1, "value": 1}]},
        "mark": {"type": "line", "color": INK_2, "strokeDash": [4, 4], "strokeWidth": 1},
        "encoding": {"x": across["x"], "y": {"field": "value", "type": "quantitative"}},
    }
    level: Spec = {
        **across,
        "y": {"field": "low", "title": translate(_("Right predictions")), **share},
        "y2": {"field": "high"},
    }
    layers = [line, *_dots(level, {**across, "y": {"field": "value", "type": "quantitative"}})]
    return _spec(
        points, layers, title, translate(_("Reliability of %(n)s predictions", n=Amount(len(sure)))), height=260
    )


def scores_histogram(scores: ArrayLike, name: str = "score", bins: int = 20, title: str = "") -> Spec:
    """Return a chart of the number of examples by score, (n,), with the mean as a line.

    Up to 12 different scores have a bar each. Raises ValueError for scores that are no finite numbers, and for
    none.
    """
    values = _column(scores, "scores")
    low, high, counts = _histogram(values, bins)
    bars = [
        {"low": a, "high": b, "n": n, "tip": _bar(_span(bar_low, other), n, len(values))}
        for a, b, n, bar_low, other in zip(*_edges(low, high), counts, low, high, strict=True)
    ]
    mean = float(values.mean())
    across: Spec = {"type": "quantitative", "title": name, "scale": {"zero": False, "nice": False}}
    if low == high:
        across["axis"] = {"values": low, "grid": False}
    columns: Spec = {
        "mark": {"type": "rect", "color": MODELS, "opacity": 0.75, "stroke": LINE},
        "encoding": {
            "x": {"field": "low", **across},
            "x2": {"field": "high"},
            "y": {"field": "n", "type": "quantitative", "title": translate(_("Examples"))},
            "y2": {"datum": 0},
            **TIP,
        },
    }
    tip = translate(_("mean %(value)s", value=f"{mean:.4g}"))
    at: Spec = {"data": {"values": [{"mean": mean, "tip": tip}]}, "encoding": {"x": {"field": "mean", **across}, **TIP}}
    rule: Spec = {**at, "mark": {"type": "rule", "color": INK, "strokeWidth": 2}}
    text: Spec = {**at, "mark": {"type": "text", "text": tip, "color": INK, "align": "left", "dx": 6, "y": -8}}
    return _spec(bars, [columns, rule, text], title, f"{name} of {len(values):,} examples", height=220)


def intervals_plot(intervals: Mapping[str, Mapping[str, Any]], name: str = "score", title: str = "") -> Spec:
    """Return a chart of values with their intervals as dots with whiskers, a row each, in the order of the mapping.

    `intervals` has for each name "low", "high" and the value under "score", "difference" or "value": so the
    "systems" of `compare` can be passed as they are. A line marks 0 for differences. Raises ValueError for an
    empty mapping.
    """
    points = [_point(str(row), dict(entry)) for row, entry in intervals.items()]
    if not points:
        raise ValueError("nothing to draw: give at least one value with its interval")
    differences = any("difference" in entry for entry in intervals.values())
    axis: Spec = {"grid": False, "domain": False, "ticks": False, "labelLimit": 300}
    rows: Spec = {"y": {"field": "name", "type": "nominal", "title": None, "sort": None, "axis": axis}}
    across: Spec = {"type": "quantitative", "title": name, "scale": {"zero": differences}}
    whisker: Spec = {**rows, "x": {"field": "low", **across}, "x2": {"field": "high"}}
    layers = _dots(whisker, {**rows, "x": {"field": "value", "type": "quantitative"}})
    if differences:
        zero: Spec = {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "color": INK_2, "strokeDash": [4, 4]},
            "encoding": {"x": {"datum": 0}},
        }
        layers.insert(0, zero)
    return _spec(points, layers, title, f"{name} with intervals", height=36 * len(points) + 8)


def _spec(values: list[dict[str, Any]], layers: list[Spec], title: str, description: str, height: int) -> Spec:
    axis = {"labelColor": INK_2, "titleColor": INK_2, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
    text = {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal", "titlePadding": 8}
    spec: Spec = {
        "$schema": SCHEMA,
        "description": title or description,
        "data": {"values": values},
        "layer": layers,
        "width": "container",
        "height": height,
        "config": {"font": FONT, "background": "transparent", "view": {"stroke": None}, "axis": {**axis, **text}},
    }
    if title:
        spec["title"] = {"text": title, "anchor": "start", "color": INK, "fontSize": 16}
    return spec


def _dots(whisker: Spec, dot: Spec) -> list[Spec]:
    return [
        {
            "mark": {"type": "rule", "color": MODELS, "strokeWidth": 2, "strokeCap": "round"},
            "encoding": {**whisker, **TIP},
        },
        {"mark": {"type": "circle", "color": MODELS, "size": 90, "opacity": 1}, "encoding": {**dot, **TIP}},
    ]


def _cell(counts: Floats, names: list[str], row: int, column: int) -> dict[str, Any]:
    count, total = float(counts[row, column]), float(counts[row].sum())
    share = count / total if total else 0.0
    tip = _(
        "%(true)s predicted as %(said)s: %(count)s of %(total)s (%(share)s)",
        true=names[row], said=names[column], count=f"{count:,.6g}", total=f"{total:,.6g}", share=Amount(share, ".1%"),
    )  # fmt: skip
    return {
        "reference": names[row],
        "prediction": names[column],
        "count": count,
        "share": share,
        "label": f"{count:,.4g}" if count != int(count) else f"{int(count):,}",
        "tip": translate(tip),
    }


def _bin(sure: Floats, hit: Floats) -> dict[str, Any]:
    rate = wilson(int(hit.sum()), len(hit))
    shares = {"sure": sure.mean(), "right": rate.value, "low": rate.low, "high": rate.high}
    amounts = {name: Amount(share, ".1%") for name, share in shares.items()}
    tip = translate(_("%(sure)s sure, %(right)s right (%(low)s to %(high)s), n %(n)s", **amounts, n=Amount(rate.n)))
    return {
        "sure": float(sure.mean()),
        "value": rate.value,
        "low": rate.low,
        "high": rate.high,
        "n": rate.n,
        "tip": tip,
    }


def _point(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    value = next((entry[key] for key in ("score", "difference", "value") if key in entry), None)
    low, high = entry.get("low"), entry.get("high")
    if value is None or low is None or high is None:
        raise ValueError(f"{name} needs a value (score, difference or value), low and high")
    tip = f"{name}: {value:.4g} ({low:.4g} to {high:.4g})" + (f", n {entry['n']:,}" if "n" in entry else "")
    return {"name": name, "value": float(value), "low": float(low), "high": float(high), "tip": tip}


def _histogram(values: Floats, bins: int) -> tuple[list[float], list[float], list[int]]:
    """Lower and upper ends and numbers of the bars."""
    different, counts = np.unique(values, return_counts=True)
    if len(different) <= MAX_SINGLE_BARS:
        return different.tolist(), different.tolist(), counts.tolist()
    counts, edges = np.histogram(values, bins)
    return edges[:-1].tolist(), edges[1:].tolist(), counts.tolist()


def _edges(low: list[float], high: list[float]) -> tuple[list[float], list[float]]:
    """Bounds of the drawn bars: single values get a breadth of a third of the smallest gap."""
    if low != high:
        return low, high
    half = float(np.diff(low).min()) / 6 if len(low) > 1 else 0.05 * max(abs(low[0]), 1.0)
    return [value - half for value in low], [value + half for value in low]


def _span(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else _("%(low)s to %(high)s", low=f"{low:.4g}", high=f"{high:.4g}")


def _bar(span: str, n: int, total: int) -> str:
    return translate(_("%(span)s: %(n)s of %(total)s", span=span, n=Amount(n), total=Amount(total)))


def _column(values: ArrayLike, name: str) -> Floats:
    column = Numbers().clean(values, name)
    if not len(column):
        raise ValueError(f"{name}: nothing to draw, give at least one")
    return column
