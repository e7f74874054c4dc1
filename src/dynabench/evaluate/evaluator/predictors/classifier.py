"""Sequence classification: a text, or two, in; a label out."""

from collections.abc import Sequence
from typing import Any

from dynabench.evaluate.evaluator.predictors.base import Said
from dynabench.evaluate.evaluator.predictors.network import Network, tokens_of


class Classifier(Network):
    """The likeliest label of each text (or pair) and its probability."""

    auto = "AutoModelForSequenceClassification"

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Inputs are texts, or dictionaries of `text` and `text_pair`."""
        if not inputs or isinstance(inputs[0], str):
            return self.encoded(list(inputs))
        return self.encoded([one["text"] for one in inputs], [one["text_pair"] for one in inputs])

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Tokens."""
        return [len(row["input_ids"]) for row in encoded]

    def predict(self, rows: list[Any]) -> Said:
        """Labels with probabilities of each row."""
        if self.model.config.pad_token_id is None and len({len(row["input_ids"]) for row in rows}) > 1:
            answers = [self._of([row])[0] for row in rows]  # without a padding token, rows cannot be filled up
        else:
            answers = self._of(rows)
        return Said(answers, tokens_of(rows))

    def _of(self, rows: list[Any]) -> list[Any]:
        return labelled(self.model(**self.padded(rows)).logits, self.labels, self.whole)


def labelled(logits: Any, labels: Sequence[str], whole: bool = False) -> list[Any]:
    """`{label, score}` of the largest of the logits (n, labels), or where the `whole` is asked for a list of all.

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
