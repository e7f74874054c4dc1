"""Learned scores of texts: BLEURT, COMET and FrugalScore."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dynabench.evaluate.columns import Column, Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks.checkpoints import (
    CheckpointModule,
    as_function,
    ask_function,
    load_model,
    require_model,
)
from dynabench.evaluate.networks.encoders import sequence_logits
from dynabench.evaluate.states import Sums


def model_scores(
    model: Any,
    rows: Sequence[tuple[str, ...]],
    batch_size: int = 32,
    device: str | None = None,
    max_length: int | None = None,
) -> Floats:
    """Return the score that `model` gives each row of two or three texts, shape (n,).

    Args:
        model: a function of the list of rows to one number each; or a local folder, a hub id or a pair (model,
            tokenizer) of a sequence classifier of transformers with one output. It reads the first text of a row as
            its first segment and the others, joined by the tokenizer's separator, as its second.
        rows: n rows, as tuples of texts.
        batch_size: rows that run together.
        device: see `checkpoints.load_model`.
        max_length: tokens after which the texts of a row are cut, the longest first.

    Raises:
        ValueError: no such model, more than one output, or answers that are no numbers.
    """
    function = as_function(model)
    if function is not None:
        return _numbers(ask_function(function, list(rows), "one number"))
    loaded_model = load_model(model, "AutoModelForSequenceClassification", device)
    if loaded_model.model.config.num_labels != 1:
        raise ValueError(
            f"the model has {loaded_model.model.config.num_labels} outputs; a learnt metric is a regression with one "
            "(num_labels=1): choose such a checkpoint, or give a function"
        )
    between = loaded_model.tokenizer.sep_token or loaded_model.tokenizer.eos_token or " "
    columns = [[row[0] for row in rows], [between.join(row[1:]) for row in rows]]
    return _numbers(sequence_logits(loaded_model, columns, batch_size, max_length)[:, 0].tolist())


class LearnedMetric(CheckpointModule, Metric):
    """A metric whose model scores each row; its state has those scores."""

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean of all scores."""
        return {"mean_score": total[..., 0] / total[..., -1]}

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """Scores of all rows, and their mean."""
        return {"scores": state.rows[:, 0].tolist(), **super().result(state, **options)}

    def per_example(self, state: Sums, **options: Any) -> dict[str, Any]:
        """Scores of all rows."""
        return {"scores": state.rows[:, 0]}


class LearnedPairMetric(LearnedMetric):
    """A learnt metric of texts and references that in the original gives no mean."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Texts(), "references": Texts()}

    def compatible(self, result: dict[str, Any]) -> dict[str, Any]:
        """Without the mean."""
        return {"scores": result["scores"]}


def _numbers(answers: list[Any]) -> Floats:
    try:
        score_array = np.asarray(answers, float)
    except (TypeError, ValueError):
        score_array = np.zeros((0, 0))
    if score_array.ndim != 1:
        raise ValueError(f"the model gave {answers[0]!r:.80} for row 0; it has to give one number for each row")
    if not np.isfinite(score_array).all():
        row = int((~np.isfinite(score_array)).argmax())
        raise ValueError(f"the model gave {score_array[row]} for row {row}, which is no number to average")
    return score_array


class Bleurt(LearnedPairMetric, name="bleurt"):
    """Scores of a model that was trained on human ratings of texts against references."""

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
        chosen = require_model(model, self.name, "the TensorFlow checkpoint bleurt-base-128")
        rows = list(zip(references, predictions, strict=True))
        return Sums(model_scores(chosen, rows, batch_size, device, max_length))


class FrugalScore(LearnedPairMetric, name="frugalscore"):
    """Scores of a small model that was trained to reproduce an expensive metric."""

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
        chosen = require_model(model, self.name, "moussaKam/frugalscore_tiny_bert-base_bert-score")
        rows = list(zip(predictions, references, strict=True))
        return Sums(model_scores(chosen, rows, batch_size, device, max_length))


class Comet(LearnedMetric, name="comet"):
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
