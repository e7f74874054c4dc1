"""Charts, pictures and texts of numbers: each chart has its finding as title and its numbers as a table."""

from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.leaderboards.board_views import Matrix, PeopleAndModels, Plot
from dynabench.benchmark.leaderboards.row_views import Transfer
from dynabench.benchmark.leaderboards.saturation_plot import ClosedGap, saturation_plot
from dynabench.benchmark.ranking import BoardRanking, RankedEntrant
from dynabench.benchmark.standings import Entrant, ScoreCell
from dynabench.kit.language import _, ngettext, translate
from dynabench.stats.rates import FEW_ROWS, Rate
from dynabench.web.charts import (
    INK,
    INK_2,
    LINE,
    MODELS,
    SHADES,
    Chart,
    ChartRow,
    ShadedCell,
    ShadedTable,
    chart_data,
    compile_chart,
    rate_plot,
)
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
    between = translate(_("%(low)s to %(high)s", **ends)) if sign else f"{ends['low']}–{ends['high']}"
    return between.replace("%", "")


def cell_text(cell: ScoreCell | None, metric: Measure) -> str:
    """A score with its interval."""
    if cell is None:
        return NONE
    between = interval_text(cell.low, cell.high, metric)
    return f"{score_text(cell.value, metric)} ({between})" if between else score_text(cell.value, metric)


def axis_title(metric: Measure) -> str:
    """A measure's name with its unit, and which way is better where that is less."""
    unit = f" ({metric.unit})" if metric.unit else ""
    name = f"{translate(metric.title)}{unit}"
    return translate(_("%(name)s, lower is better", name=name)) if metric.better == "lower" else name


def p_value_text(p: float | None) -> str:
    """A p value: `0.03`, `< 0.001`."""
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


MAX_PICTURE_ROWS = 30  # rows of a picture


def board_finding(ranking: BoardRanking, name: str) -> str:
    """Return a sentence that sums up a board."""
    ranked = [row for row in ranking.rows if row.rank]
    if not ranked:
        return _("%(name)s: no model ranked yet", name=name)
    first = [row.entrant.name for row in ranked if row.rank and row.rank.group == 1]
    if len(first) == 1:
        if len(ranked) > 1:
            return _("%(name)s: %(model)s leads", name=name, model=first[0])
        return _("%(name)s: %(model)s is the only ranked model", name=name, model=first[0])
    return _("%(name)s: %(few)s of %(all)s share the lead", name=name, few=len(first), all=len(ranked))


def board_chart(ranking: BoardRanking, rows: Sequence[RankedEntrant], name: str) -> dict[str, Any]:
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
    title = alt.TitleParams(
        board_finding(ranking, name), anchor="start", color=INK, fontSize=16, fontWeight=600, offset=16
    )
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


def matrix_finding(matrix: Matrix) -> str:
    """Return a sentence that sums up a matrix."""
    whole = [line for line in matrix.lines if line.overall is not None]
    if not whole:
        return _("Models over rounds")
    if len(matrix.data) < 2:
        return _("%(metric)s of %(n)s models", metric=matrix.metric.title, n=len(matrix.lines))
    ways = [_trend_direction(line.trend, matrix.metric.direction) for line in matrix.lines if line.trend]
    risen, fallen = ways.count(1), ways.count(-1)
    first = matrix.first
    if len(first) == 1:
        best = _("%(name)s leads over %(n)s columns", name=first[0].entrant.label, n=len(matrix.data))
    else:
        best = _("%(few)s of %(all)s models share the lead", few=len(first), all=len(whole))
    if risen or fallen:
        words = {"best": best, "risen": risen, "fallen": fallen, "n": len(ways)}
        return _("%(best)s; over the rounds, better: %(risen)s of %(n)s models, worse: %(fallen)s", **words)
    return best


def _trend_direction(trend: ScoreCell, direction: int) -> int:
    """1 where a model clearly does better over rounds, -1 where it does worse, 0 where neither is clear."""
    if trend.low is None or trend.high is None or trend.low <= 0 <= trend.high:
        return 0
    return direction if trend.low > 0 else -direction


def pareto_finding(plot: Plot) -> str:
    """Return a sentence that names the models of the Pareto front."""
    front = [point.entrant.label for point in plot.points if not point.dominated]
    named = ", ".join(front[:2]) + ("…" if len(front) > 2 else "")
    words = {"n": len(front), "all": len(plot.points), "names": named}
    return _("%(n)s of %(all)s models are Pareto-optimal: %(names)s", **words)


def saturation_chart(standings: Sequence[PeopleAndModels]) -> Chart | None:
    """Return a chart of how far models have come from the first model's score to that of people.

    Return None where no round has two models that raised the best score, with people's accuracy above the first.
    """
    steps, rows = {}, []
    for standing in standings:
        gaps = []
        for step in standing.steps:
            reached = f"{step.saturation:+.2f}".replace("-", MINUS)
            gaps.append(ClosedGap(step.at, step.saturation, f"{step.entrant.label}: {percent(step.score, 1)}"))
            rows.append(
                [f"{standing.round}", f"{step.at:%Y-%m-%d}", step.entrant.label, percent(step.score, 1), reached]
            )
        steps[standing.round] = gaps
    plot = saturation_plot(steps)
    if plot is None:
        return None
    done = [standing for standing in standings if standing.steps]
    near = sum(standing.steps[-1].saturation >= 0 for standing in done)
    title = ngettext(
        "Models have reached human level on %(near)s of %(num)s round",
        "Models have reached human level on %(near)s of %(num)s rounds",
        len(done),
        near=near,
    )
    if near == 0:
        title = ngettext(
            "Models are behind people on %(num)s round", "Models are behind people on all %(num)s rounds", len(done)
        )
    columns: Columns = [_("Round"), _("Day"), _("Best model"), (_("Score"), "num"), (_("Progress: −1 to 0"), "num")]
    note = _("The best score so far on each round: the first model is at −100%, people at 0.")
    return Chart(title, plot, note, columns, rows)


def transfer_chart(models: Sequence[Entrant], transfer: Transfer) -> Chart:
    """Of the rows that fool one model (rows), the share that fool another too (columns), alike models side by side."""
    rows = []
    for i in transfer.order:
        cells = tuple(_transfer_cell(models, transfer, i, j) for j in transfer.order)
        share = percent(float(transfer.rates[i]), 1)
        rows.append((translate(_("%(name)s (wrong on %(share)s)", name=models[i].label, share=share)), cells))
    if not any(cell for _name, cells in rows for cell in cells):
        return Chart(_("No model errors"), None)
    names = tuple(models[at].label for at in transfer.order)
    plot = ShadedTable(translate(_("Rows that fool…")), names, tuple(rows))
    note = _(
        "Of the rows that fool the model on the left, the share that also fools the model above. "
        "Models with similar errors are next to each other."
    )
    return Chart(_together(models, transfer), plot, note)


def _transfer_cell(models: Sequence[Entrant], transfer: Transfer, i: int, j: int) -> ShadedCell | None:
    value = float(transfer.shares[i, j])
    if i == j or np.isnan(value):
        return None
    words = {"one": models[i].label, "other": models[j].label, "share": percent(value, 1)}
    tip = translate(_("%(share)s of what fools %(one)s also fools %(other)s", **words))
    return ShadedCell(percent(value), round(SHADES * value), tip)


MAX_TAGS = 8
"""Tags in one picture of a model's errors."""


def errors_by_tag(
    metric: Measure, whole: ScoreCell | None, slices: Sequence[tuple[str, ScoreCell]], people: Rate | None = None
) -> Chart | None:
    """Return a model's scores on the tags of a dataset, the worst first, with lines for all rows and people.

    Tags with few rows are left out where two others have enough. Return None for metrics that are no shares, and with
    fewer than two tags.
    """
    many = [pair for pair in slices if pair[1].n >= FEW_ROWS]
    tags = (many if len(many) > 1 else slices)[:MAX_TAGS]
    if metric.scale != 100 or len(tags) < 2:
        return None
    rows = []
    for tag, cell in tags:
        few = f" · {translate(_('few rows'))}" if cell.n < FEW_ROWS else ""
        note = f"{interval_text(cell.low, cell.high, metric)} · n {number(cell.n)}{few}"
        rows.append(ChartRow(tag, cell.value, percent(cell.value), note, cell.low, cell.high))
    tag, worst = tags[0]
    title = _("No tag is clearly harder than all rows together")
    if whole is not None and worst.high is not None and worst.high < whole.value:
        values = {"tag": tag, "value": percent(worst.value), "whole": percent(whole.value)}
        title = _("Hardest tag: “%(tag)s” with %(value)s, against %(whole)s on all rows", **values)
    note = _("%(metric)s by tag with 95%% intervals; the dashed line is for all rows.", metric=metric.title)
    return Chart(
        title,
        rate_plot(rows, "models", whole.value if whole is not None else None, people.value if people else None),
        note,
    )


def _together(models: Sequence[Entrant], transfer: Transfer) -> str:
    """The two models that share most, by the smaller of both shares."""
    both = np.minimum(transfer.shares, transfer.shares.T)
    both[np.isnan(both)] = -1
    np.fill_diagonal(both, -1)
    i, j = np.unravel_index(int(both.argmax()), both.shape)
    first, second = sorted((models[int(i)].label, models[int(j)].label))
    share = float(both[i, j])
    if share == 1:
        return _("Shared errors: every row that fools %(one)s or %(other)s fools both", one=first, other=second)
    words = {"one": first, "other": second, "share": percent(floor(100 * share) / 100)}
    return _(
        "Shared errors: of the rows that fool %(one)s or %(other)s, at least %(share)s also fool the other", **words
    )
