"""Sequence classification: a label for a text or a pair of texts."""

from collections.abc import Sequence
from typing import Any

from dynabench.evaluate.evaluator.predictors.base import BatchAnswers
from dynabench.evaluate.evaluator.predictors.network import NetworkPredictor, tokens_of


class TextLabelPredictor(NetworkPredictor):
    """The likeliest label of each text (or pair) and its probability."""

    auto = "AutoModelForSequenceClassification"

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Tokenize texts, or dictionaries of `text` and `text_pair`."""
        if not inputs or isinstance(inputs[0], str):
            return self.encoded(list(inputs))
        return self.encoded([pair["text"] for pair in inputs], [pair["text_pair"] for pair in inputs])

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the tokens of each row."""
        return [len(row["input_ids"]) for row in encoded]

    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Return labels with probabilities of each row."""
        if self.model.config.pad_token_id is None and len({len(row["input_ids"]) for row in rows}) > 1:
            answers = [self._of([row])[0] for row in rows]  # without a padding token, rows cannot be filled up
        else:
            answers = self._of(rows)
        return BatchAnswers(answers, tokens_of(rows))

    def _of(self, rows: list[Any]) -> list[Any]:
        return label_probabilities(self.model(**self.padded(rows)).logits, self.labels, self.whole)


def label_probabilities(logits: Any, labels: Sequence[str], whole: bool = False) -> list[Any]:
    """Return `{label, score}` of the largest of the logits (n, labels), or with `whole` a list of all labels.

    Scores are probabilities; one logit alone goes through a sigmoid.
    """
    chances = logits.float().sigmoid() if logits.shape[-1] == 1 else logits.float().softmax(-1)
    if whole:
        rows = chances.tolist()
        return [[{"label": label, "score": score} for label, score in zip(labels, row, strict=True)] for row in rows]
    scores, places = chances.max(-1)
    return [
        {"label": labels[place], "score": score} for score, place in zip(scores.tolist(), places.tolist(), strict=True)
    ]
