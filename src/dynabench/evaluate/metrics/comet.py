"""COMET."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Texts
from dynabench.evaluate.networks.checkpoints import callable_of, wanted
from dynabench.evaluate.networks.regressors import Learnt, scores
from dynabench.evaluate.states import Sums
from dynabench.language import N_

KNOWN = {
    "Der Vogel singt.": {"The bird sings.": {"A bird is singing.": 0.9}},
    "Ein Lied.": {"A hull.": {"A song.": 0.3}},
}


class Comet(Learnt):
    """Scores of a model that was trained on human ratings of translations."""

    card = Card(
        description=N_(
            "A regression model reads the source, the translation and a reference translation, in whatever language "
            "each is, and says how good the translation is; it was trained on human ratings."
        ),
        formula=r"\text{score}_i = f(s_i, \hat y_i, r_i), \quad \text{mean} = \frac{1}{n} \sum_i \text{score}_i",
        inputs={
            "sources": "text that was translated",
            "predictions": "its translation",
            "references": "a right translation",
        },
        options={
            "model": (
                "a function of a list of {src, mt, ref} to one number each, such as the predict of Unbabel's package; "
                "a mapping by source of mappings by prediction of mappings by reference; or a local folder, hub id or "
                "(model, tokenizer) of a sequence classifier of transformers with one output. The module's config is "
                "its default"
            ),
            "gpus": "0 keeps a model of transformers off the accelerator",
            "progress_bar": "accepted for existing code; nothing is drawn",
            "batch_size": "rows that run together",
        },
        outputs=(
            Output("scores", "score of each example, on the scale of the model", better="higher"),
            Output("mean_score", "their mean, the score of the system", better="higher"),
        ),
        examples=(
            Example(
                "Two translations, with scores known before in place of a model",
                {
                    "sources": ["Der Vogel singt.", "Ein Lied."],
                    "predictions": ["The bird sings.", "A hull."],
                    "references": ["A bird is singing.", "A song."],
                },
                {"scores": [0.9, 0.3], "mean_score": 0.6},
                {"model": KNOWN},
            ),
            Example(
                "A model has to be given",
                {"sources": ["Ein Lied."], "predictions": ["A song."], "references": ["A song."]},
                error="comet needs a model",
            ),
        ),
        limits=(
            "The published COMET checkpoints (Unbabel/wmt22-comet-da and others) are no models of transformers: their "
            "layers are mixed and pooled by code of the package unbabel-comet. They are used here as a function: "
            "model=lambda rows: loaded.predict(rows).scores. A checkpoint of transformers itself has to be a sequence "
            "classifier with one output; it reads the prediction as first segment, and source and reference, joined by "
            "its separator, as second. Scores of different checkpoints do not compare."
        ),
        citation="Rei, Stewart, Farinha and Lavie, COMET: A Neural Framework for MT Evaluation, EMNLP 2020.",
        tasks=("translation",),
        needs=("models",),
        references=("https://aclanthology.org/2020.emnlp-main.213", "https://aclanthology.org/2022.wmt-1.52"),
    )
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
