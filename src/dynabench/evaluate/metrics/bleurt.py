"""BLEURT."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.networks.checkpoints import wanted
from dynabench.evaluate.networks.regressors import LearntOfPairs, scores
from dynabench.evaluate.states import Sums
from dynabench.language import N_

KNOWN = {"the bird sings": {"the bird sang": 0.8}, "a green hull": {"an old song": -0.4}}


class Bleurt(LearntOfPairs):
    """Scores of a model that was trained on human ratings of texts against references."""

    card = Card(
        description=N_(
            "A regression model reads reference and prediction together and says how well the prediction conveys the "
            "reference; it was trained on synthetic pairs and then on human ratings."
        ),
        formula=r"\text{score}_i = w^\top \text{BERT}(r_i, \hat y_i)_{[CLS]} + b",
        inputs={"predictions": "text of each example", "references": "right text of each example"},
        options={
            "model": (
                "a local folder, hub id or (model, tokenizer) of a sequence classifier of transformers with one "
                "output; or a function of a list of (reference, prediction) to one number each, or a mapping by "
                "reference of mappings by prediction. The module's config is its default"
            ),
            "batch_size": "pairs that run together",
            "device": "such as cpu or cuda; an accelerator where there is one",
            "max_length": "tokens after which a pair is cut; by default what the model reads",
        },
        outputs=(
            Output("scores", "score of each example, on the scale of the model", better="higher"),
            Output("mean_score", "their mean", better="higher"),
        ),
        examples=(
            Example(
                "Two pairs, with scores known before in place of a model",
                {
                    "predictions": ["the bird sang", "an old song"],
                    "references": ["the bird sings", "a green hull"],
                },
                {"scores": [0.8, -0.4], "mean_score": 0.2},
                {"model": KNOWN},
            ),
            Example(
                "A model has to be given",
                {"predictions": ["the bird sang"], "references": ["the bird sings"]},
                error="bleurt needs a model",
            ),
        ),
        limits=(
            "Checkpoints of BLEURT as Google published them are TensorFlow models and cannot be read here. Conversions "
            "to transformers' own BertForSequenceClassification or RemBertForSequenceClassification with one output "
            "can, such as those of BLEURT-base and BLEURT-large; conversions with code of their own (BLEURT-20) need "
            "their package and are given as a function. Scores of different checkpoints do not compare; they are "
            "roughly between -1 and 1, without limits, and judge languages and domains of the training best."
        ),
        citation="Sellam, Das and Parikh, BLEURT: Learning Robust Metrics for Text Generation, ACL 2020.",
        tasks=("text-generation", "translation", "summarization"),
        needs=("models",),
        references=("https://aclanthology.org/2020.acl-main.704",),
    )

    def update(
        self,
        predictions: list[str],
        references: list[str],
        *,
        model: Any = None,
        batch_size: int = 32,
        device: str | None = None,
        max_length: int | None = None,
    ) -> Sums:
        """The score of each row."""
        chosen = wanted(model, self.name, "the TensorFlow checkpoint bleurt-base-128")
        rows = list(zip(references, predictions, strict=True))
        return Sums(scores(chosen, rows, batch_size, device, max_length))
