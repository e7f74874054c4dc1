"""Charts, pictures and texts of numbers: each chart has its finding as title and its numbers as a table."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.leaderboards.board_views import Matrix, MatrixLine, ParetoPoint, PeopleAndModels, Plot
from dynabench.benchmark.leaderboards.row_views import Transfer
from dynabench.benchmark.ranking import BoardRanking, RankedEntrant
from dynabench.benchmark.standings import Entrant, ScoreCell
from dynabench.kit.language import _, ngettext, said
from dynabench.web import plots
from dynabench.web.charts import INK, INK_2, LINE, MODELS, Chart, chart_data, compile_chart
from dynabench.web.filters import NONE, number, percent

MINUS = "\N{MINUS SIGN}"


def score_text(value: float | None, metric: Measure, sign: bool = False) -> str:
    """`81.2%`, `34.5`, `1.25`: a score in its metric's unit; `sign` is for differences."""
    if value is None or value != value:
        return NONE
    scaled = value * metric.scale
    digits = 1 if metric.scale == 100 or abs(scaled) >= 10 else 3 if abs(scaled) < 1 else 2
    scaled = round(scaled, digits) + 0.0  # no negative nought
    before = MINUS if scaled < 0 else "+" if sign else ""
    percent = "%" if metric.unit == "%" and not sign else ""
    return before + number(abs(scaled), digits) + percent


def interval_text(low: float | None, high: float | None, metric: Measure, sign: bool = False) -> str:
    """`79.0–83.1`: an interval; empty where none is known, or nothing varied."""
    if low is None or high is None or (low == high and metric.cost):
        return ""
    ends = {"low": score_text(low, metric, sign), "high": score_text(high, metric, sign)}
    between = said(_("%(low)s to %(high)s", **ends)) if sign else f"{ends['low']}–{ends['high']}"
    return between.replace("%", "")


def cell_text(of: ScoreCell | None, metric: Measure) -> str:
    """A score with its interval."""
    if of is None:
        return NONE
    between = interval_text(of.low, of.high, metric)
    return f"{score_text(of.value, metric)} ({between})" if between else score_text(of.value, metric)


def axis_title(metric: Measure) -> str:
    """A measure's name with its unit, and which way is better where that is less."""
    unit = f" ({metric.unit})" if metric.unit else ""
    name = f"{said(metric.title)}{unit}"
    return said(_("%(name)s, less is better", name=name)) if metric.better == "lower" else name


def p_value_text(p: float | None) -> str:
    """A p value: `0.03`, `< 0.001`."""
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


MAX_PICTURE_ROWS = 30  # rows of a picture


def board_finding(of: BoardRanking, name: str) -> str:
    """Return a sentence that sums up a board."""
    ranked = [row for row in of.rows if row.rank]
    if not ranked:
        return _("%(name)s: nothing is ranked yet", name=name)
    first = [row.entrant.name for row in ranked if row.rank and row.rank.group == 1]
    if len(first) == 1:
        if len(ranked) > 1:
            return _("%(name)s: %(model)s leads", name=name, model=first[0])
        return _("%(name)s: %(model)s is the only one ranked", name=name, model=first[0])
    return _("%(name)s: %(few)s of %(all)s share the lead", name=name, few=len(first), all=len(ranked))


def board_chart(of: BoardRanking, rows: Sequence[RankedEntrant], name: str) -> dict[str, Any]:
    """A Vega spec of the first `MOST` ranked rows."""
    import altair as alt

    points = [
        {"name": f"{row.rank}  {row.entrant.name[:40]}", "value": row.score.value, "low": row.score.low,
         "high": row.score.high}
        for row in rows if row.rank
    ][:MAX_PICTURE_ROWS]  # fmt: skip
    base = alt.Chart(chart_data(points)).encode(
        y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(grid=False, domain=False, ticks=False, labelLimit=320))
    )
    x = alt.X("low:Q", title="Dynascore, with 95% interval", scale=alt.Scale(zero=False), axis=alt.Axis(gridColor=LINE))
    whisker = base.mark_rule(color=MODELS, strokeWidth=2, strokeCap="round").encode(x=x, x2="high:Q")
    dot = base.mark_circle(color=MODELS, size=80, opacity=1).encode(x="value:Q")
    text = base.mark_text(align="left", dy=-11, color=INK_2, fontSize=11).encode(
        x="value:Q", text=alt.Text("value:Q", format=".2f")
    )
    title = alt.TitleParams(board_finding(of, name), anchor="start", color=INK, fontSize=16, fontWeight=600, offset=16)
    return compile_chart(
        alt.layer(whisker, dot, text).properties(width=560, height=max(60, 30 * len(points)), title=title)
    )


def render_picture(spec: dict[str, Any], kind: str) -> bytes:
    """The picture as `svg` or `png`, on white."""
    import vl_convert

    spec = {**spec, "background": "white", "padding": 20}
    if kind == "png":
        return bytes(vl_convert.vega_to_png(spec, scale=2))
    return str(vl_convert.vega_to_svg(spec)).encode()


Columns = list[str | tuple[str, str]]
MAX_CHART_MODELS = 30
"""Models in one picture; the table has all."""
IN_LOOP = "\N{BULLSEYE}"


def matrix_chart(of: Matrix) -> Chart | None:
    """The heat map of a matrix; None where it has no cell."""
    cells = []
    for line in of.lines[:MAX_CHART_MODELS]:
        for data, one in zip(of.data, line.cells, strict=True):
            if one is not None:
                name, title = line.entrant.label, _column(data.title, data.round)
                loop = f" {IN_LOOP}" if data.round in line.loop and data.round is not None else ""
                where = said(_(" · in the loop")) if loop else ""
                tip = f"{name}, {title}: {cell_text(one, of.metric)}, n {number(one.n)}{where}"
                shown = {
                    "label": score_text(one.value, of.metric) + loop,
                    "note": interval_text(one.low, one.high, of.metric),
                }
                cells.append({"row": name, "column": title, "value": one.value, "tip": tip, **shown})
    if not cells:
        return None
    columns: Columns = [
        _("Model"),
        *((_column(each.title, each.round), "num") for each in of.data),
        (_("Overall"), "num"),
        (_("Per round"), "num"),
    ]
    note = _(
        "%(metric)s with 95%% intervals. %(in_loop)s marks rounds that were collected against the model.",
        metric=axis_title(of.metric),
        in_loop=IN_LOOP,
    )
    rows = [_matrix_row(line, of) for line in of.lines]
    order = [_column(each.title, each.round) for each in of.data]
    return Chart(_matrix_finding(of), plots.heat_map(cells, of.metric.better, order), columns, rows, note)


def _column(title: str, round: int | None) -> str:
    return title if round is None else said(_("Round %(n)s", n=round))


def _matrix_row(line: MatrixLine, of: Matrix) -> list[str]:
    trend = line.trend
    slope = score_text(trend.value, of.metric, True) if trend else ""
    between = f" ({interval_text(trend.low, trend.high, of.metric, True)})" if trend and trend.low is not None else ""
    cells = []
    for data, one in zip(of.data, line.cells, strict=True):
        rate = line.loop.get(data.round) if data.round is not None else None
        loop = said(_(" · in the loop, vMER %(value)s", value=percent(rate.value, 1))) if rate is not None else ""
        cells.append(cell_text(one, of.metric) + loop)
    return [line.entrant.label, *cells, cell_text(line.overall, of.metric), slope + between]


def _matrix_finding(of: Matrix) -> str:
    whole = [line for line in of.lines if line.overall is not None]
    if not whole or len(of.data) < 2:
        return _("%(metric)s of %(n)s models", metric=of.metric.title, n=len(of.lines))
    ways = [_trend_direction(line.trend, of.metric.direction) for line in of.lines if line.trend]
    risen, fallen = ways.count(1), ways.count(-1)
    first = of.first
    if len(first) == 1:
        best = _("%(name)s leads over %(n)s columns", name=first[0].entrant.label, n=len(of.data))
    else:
        best = _("%(few)s of %(all)s models share the lead", few=len(first), all=len(whole))
    if risen or fallen:
        told = {"best": best, "risen": risen, "fallen": fallen, "n": len(ways)}
        return _("%(best)s; over rounds %(risen)s of %(n)s models do better and %(fallen)s worse", **told)
    return best


def _trend_direction(trend: ScoreCell, direction: int) -> int:
    """1 where a model clearly does better over rounds, -1 where it does worse, 0 where neither is clear."""
    if trend.low is None or trend.high is None or trend.low <= 0 <= trend.high:
        return 0
    return direction if trend.low > 0 else -direction


def pareto_chart(of: Plot) -> Chart | None:
    """The plot of two measures; None without points."""
    if not of.points:
        return None
    front = [each.entrant.label for each in of.points if not each.dominated]
    named = ", ".join(front[:4]) + ("…" if len(front) > 4 else "")
    told = {"n": len(front), "all": len(of.points), "names": named}
    title = _("%(n)s of %(all)s models are Pareto-optimal: %(names)s", **told)
    columns: Columns = [_("Model"), (axis_title(of.x), "num"), (axis_title(of.y), "num"), _("Beaten on both")]
    rows = [
        [each.entrant.label, cell_text(each.x, of.x), cell_text(each.y, of.y), _("yes") if each.dominated else _("no")]
        for each in of.points
    ]
    spec = plots.scatter([_point(each, of) for each in of.points], axis_title(of.x), axis_title(of.y))
    return Chart(
        title, spec, columns, rows, _("Grey models are beaten by another on both axes. Bars are 95% intervals.")
    )


def _point(each: ParetoPoint, of: Plot) -> dict[str, object]:
    tip = f"{each.entrant.label}: {cell_text(each.x, of.x)}, {cell_text(each.y, of.y)}"
    made: dict[str, object] = {"name": each.entrant.label, "dominated": each.dominated, "tip": tip}
    for name, one, metric in (("x", each.x, of.x), ("y", each.y, of.y)):
        for end, value in (("", one.value), ("_low", one.low), ("_high", one.high)):
            made[name + end] = None if value is None else value * metric.scale
    return made


def saturation_chart(of: Sequence[PeopleAndModels]) -> Chart | None:
    """Return a chart of how far models have come from the first model's score to that of people.

    Return None where no round has scores of both.
    """
    points, rows = [], []
    for each in of:
        for step in each.steps:
            day, told = f"{step.at:%Y-%m-%d}", f"{step.saturation:+.2f}".replace("-", "\N{MINUS SIGN}")
            name = _column("", each.round)
            tip = f"{name}, {step.entrant.label}: {told} ({percent(step.score, 1)})"
            points.append({"series": name, "at": step.at.isoformat(), "value": step.saturation, "tip": tip})
            rows.append([f"{each.round}", day, step.entrant.label, percent(step.score, 1), told])
    if not points:
        return None
    done = [each for each in of if each.steps]
    near = sum(each.steps[-1].saturation >= 0 for each in done)
    title = ngettext(
        "Models have reached people on %(near)s of %(num)s round",
        "Models have reached people on %(near)s of %(num)s rounds",
        len(done),
        near=near,
    )
    columns: Columns = [_("Round"), _("Day"), _("Best model"), (_("Score"), "num"), (_("Of the way: −1 to 0"), "num")]
    note = _("The best score so far on each round: the first model is at −1, people are at 0.")
    return Chart(title, plots.saturation_lines(points), columns, rows, note)


def transfer_chart(models: Sequence[Entrant], of: Transfer) -> Chart:
    """Of the rows that fool one model (rows), the share that fool another too (columns), alike models side by side."""
    names = [models[at].label for at in of.order]
    cells = []
    for i, j in product(of.order, of.order):
        value = float(of.shares[i, j])
        if i != j and not np.isnan(value):
            one, other, share = models[i].label, models[j].label, percent(value)
            told = {"one": one, "other": other, "share": percent(value, 1)}
            tip = said(_("Of what fools %(one)s, %(share)s fools %(other)s too", **told))
            cells.append({"row": one, "column": other, "value": value, "label": share, "note": "", "tip": tip})
    columns: Columns = [_("What fools…"), *((_("also fools %(name)s", name=name), "num") for name in names)]
    rows = [_transfer_row(models, of, i) for i in of.order]
    title = _("No model errs") if not cells else _together(models, of)
    note = _(
        "Share of the rows that fool the model on the left which fool the one above too. "
        "Models that fall together stand together."
    )
    return Chart(title, plots.heat_map(cells, columns=names, whole=True) if cells else {}, columns, rows, note)


def _transfer_row(models: Sequence[Entrant], of: Transfer, i: int) -> list[str]:
    head = _("%(name)s (wrong on %(share)s)", name=models[i].label, share=percent(float(of.rates[i]), 1))
    return [head, *("" if i == j else percent(float(of.shares[i, j])) for j in of.order)]


def _together(models: Sequence[Entrant], of: Transfer) -> str:
    """The two models that share most, by the smaller of both shares."""
    both = np.minimum(of.shares, of.shares.T)
    both[np.isnan(both)] = -1
    np.fill_diagonal(both, -1)
    i, j = np.unravel_index(int(both.argmax()), both.shape)
    one, other = sorted((models[int(i)].label, models[int(j)].label))
    share = float(both[i, j])
    if share == 1:
        return _("Shared errors: everything that fools %(one)s or %(other)s fools both", one=one, other=other)
    told = {"one": one, "other": other, "share": percent(share)}
    return _("Shared errors: at least %(share)s of what fools %(one)s or %(other)s fools both", **told)
