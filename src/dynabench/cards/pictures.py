"""A picture of a result, where one says more than the numbers."""

from typing import Any

from dynabench.cards.service import Asked
from dynabench.evaluate.faces.pictures import picture
from dynabench.web.charts import Chart


def of(asked: Asked, per_example: dict[str, Any]) -> Chart | None:
    """A chart of what was computed; None where there is nothing to draw."""
    found = picture(asked.entry.module, asked.columns, per_example)
    if found is None:
        return None
    import vl_convert

    spec: dict[str, Any] = vl_convert.vegalite_to_vega(found.spec)
    first, *rest = found.columns
    return Chart(found.title, spec, [first, *((name, "num") for name in rest)], [list(row) for row in found.rows])
