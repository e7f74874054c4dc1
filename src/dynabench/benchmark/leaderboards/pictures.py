"""A board as a picture: scores with their intervals, best first; its title is what it found."""

from collections.abc import Sequence
from typing import Any

from dynabench.benchmark.ranking import BoardRanking, RankedEntrant
from dynabench.kit.language import _
from dynabench.web.charts import INK, INK_2, LINE, MODELS, chart_data, compile_chart

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
