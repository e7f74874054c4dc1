"""FrugalScore."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.networks.checkpoints import wanted
from dynabench.evaluate.networks.regressors import LearntOfPairs, scores
from dynabench.evaluate.states import Sums
from dynabench.language import N_

KNOWN = {"the bird sang": {"the bird sings": 0.9}, "an old song": {"a green hull": 0.5}}


class FrugalScore(LearntOfPairs):
    """Scores of a small model that learnt to say what an expensive metric says."""

    card = Card(
        description=N_(
            "A small regression model reads prediction and reference together and says what an expensive metric, such "
            "as BERTScore or MoverScore with a large model, would have said; it was trained on that metric's scores."
        ),
        formula=r"\text{score}_i = w^\top \text{BERT}(\hat y_i, r_i)_{[CLS]} + b",
        inputs={"predictions": "text of each example", "references": "right text of each example"},
        options={
            "model": (
                "a local folder, hub id or (model, tokenizer) of a sequence classifier of transformers with one "
                "output; or a function of a list of (prediction, reference) to one number each, or a mapping by "
                "prediction of mappings by reference. The module's config is its default"
            ),
            "batch_size": "pairs that run together",
            "max_length": "tokens after which a pair is cut",
            "device": "cpu or gpu; an accelerator where there is one",
        },
        outputs=(
            Output("scores", "score of each example, on the scale of the metric that was learnt", better="higher"),
            Output("mean_score", "their mean", better="higher"),
        ),
        examples=(
            Example(
                "Two pairs, with scores known before in place of a model",
                {"predictions": ["the bird sang", "an old song"], "references": ["the bird sings", "a green hull"]},
                {"scores": [0.9, 0.5], "mean_score": 0.7},
                {"model": KNOWN},
            ),
            Example(
                "A model has to be given",
                {"predictions": ["the bird sang"], "references": ["the bird sings"]},
                error="frugalscore needs a model",
            ),
        ),
        limits=(
            "No checkpoint is shipped; those of the authors (moussaKam/frugalscore_*) are of the architecture that is "
            "read here, but have not been run by us. It inherits the biases of the metric that it learnt, adds its own "
            "error, and was trained on English. What comes after 128 tokens of a pair is not read by default."
        ),
        citation=(
            "Kamal Eddine, Shang, Tixier and Vazirgiannis, FrugalScore: Learning Cheaper, Lighter and Faster "
            "Evaluation Metrics for Automatic Text Generation, ACL 2022."
        ),
        tasks=("text-generation", "translation", "summarization"),
        needs=("models",),
        references=("https://arxiv.org/abs/2110.08559",),
    )

    def update(
        self,
        predictions: list[str],
        references: list[str],
        *,
        model: Any = None,
        batch_size: int = 32,
        max_length: int = 128,
        device: str | None = None,
    ) -> Sums:
        """The score of each row."""
        chosen = wanted(model, self.name, "moussaKam/frugalscore_tiny_bert-base_bert-score")
        rows = list(zip(predictions, references, strict=True))
        return Sums(scores(chosen, rows, batch_size, device, max_length))
