"""A picture of a result, where one says more than the numbers."""

from typing import Any

from dynabench.cards.service import Asked
from dynabench.web.charts import Chart


def of(asked: Asked, result: dict[str, Any]) -> Chart | None:
    """A chart of what was computed; None where there is nothing to draw."""
    return None
