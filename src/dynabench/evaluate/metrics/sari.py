"""SARI."""

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import simplification


class Sari(Metric):
    """Words that a simplified text keeps, deletes and adds as its references do."""

    columns = {"sources": Texts(), "predictions": Texts(), "references": References()}

    def update(self, sources: list[str], predictions: list[str], references: list[list[str]]) -> Sums:
        """SARI of each row: see `simplification`."""
        return Sums(simplification.sari_scores(sources, predictions, references))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Return the mean of the rows."""
        return {"sari": 100 * total[..., 0] / total[..., -1]}
