"""COMET."""

from typing import Any

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.networks.checkpoints import callable_of, wanted
from dynabench.evaluate.networks.regressors import Learnt, scores
from dynabench.evaluate.states import Sums


class Comet(Learnt):
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
        chosen = wanted(model, self.name, "Unbabel/wmt22-comet-da, which its own package has to load")
        if callable(chosen) and callable_of(chosen):
            named = [
                {"src": source, "mt": said, "ref": reference}
                for source, said, reference in zip(sources, predictions, references, strict=True)
            ]
            return Sums(scores(lambda rows: chosen(named), [("",)] * len(named)))
        if callable_of(chosen):
            return Sums(scores(chosen, list(zip(sources, predictions, references, strict=True))))
        rows = list(zip(predictions, sources, references, strict=True))
        return Sums(scores(chosen, rows, batch_size, "cpu" if gpus == 0 else None))

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """The mean and the scores of all rows."""
        found = super().result(state, **options)
        return {"mean_score": found["mean_score"], "scores": found["scores"]}
