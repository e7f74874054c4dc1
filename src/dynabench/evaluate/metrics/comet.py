"""COMET."""

from typing import Any

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.networks.checkpoints import as_function, require_model
from dynabench.evaluate.networks.regressors import LearnedMetric, model_scores
from dynabench.evaluate.states import Sums


class Comet(LearnedMetric):
    """Scores of a model that was trained on human ratings of translations."""

    columns = {"sources": Texts(), "predictions": Texts(), "references": Texts()}

    def update(
        self,
        sources: list[str],
        predictions: list[str],
        references: list[str],
        *,
        model: Any = None,
        gpus: int | None = None,
        progress_bar: bool = False,
        batch_size: int = 32,
    ) -> Sums:
        """The score of each row."""
        chosen = require_model(model, self.name, "Unbabel/wmt22-comet-da, which its own package has to load")
        if callable(chosen) and as_function(chosen):
            inputs = [
                {"src": source, "mt": prediction, "ref": reference}
                for source, prediction, reference in zip(sources, predictions, references, strict=True)
            ]
            return Sums(model_scores(lambda rows: chosen(inputs), [("",)] * len(inputs)))
        if as_function(chosen):
            return Sums(model_scores(chosen, list(zip(sources, predictions, references, strict=True))))
        rows = list(zip(predictions, sources, references, strict=True))
        return Sums(model_scores(chosen, rows, batch_size, "cpu" if gpus == 0 else None))

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """The mean and the scores of all rows."""
        all_scores = super().result(state, **options)
        return {"mean_score": all_scores["mean_score"], "scores": all_scores["scores"]}
