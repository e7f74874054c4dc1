"""A chart of a result, where it shows more than the numbers."""

from typing import Any

from dynabench.evaluate.results import chart_of_result
from dynabench.site.cards.service import Computation
from dynabench.web.charts import Chart


def result_chart(computation: Computation, per_example: dict[str, Any]) -> Chart | None:
    """Return a chart of the result; None where there is nothing to draw."""
    chart = chart_of_result(computation.entry.module, computation.columns, per_example)
    if chart is None:
        return None
    import vl_convert

    spec: dict[str, Any] = vl_convert.vegalite_to_vega(chart.spec)
    first, *rest = chart.columns
    return Chart(chart.title, spec, [first, *((name, "num") for name in rest)], [list(row) for row in chart.rows])
