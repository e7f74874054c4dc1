"""Sequence classification: one or two texts in, one of several labels out."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from dynabench.evaluate.evaluator.predictors.texts import TextLabelPredictor
from dynabench.models import words
from dynabench.models.attribution.gradient import log_odds
from dynabench.models.backends.architectures import gradients, labels, weights
from dynabench.models.backends.architectures.base import Architecture, computed, portions, refuse
from dynabench.models.backends.base import output
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.transformers import Options
from dynabench.models.kinds import GRADIENTS
from dynabench.models.protocol import Attribution, Card, Inputs, Output
from dynabench.models.spec import Spec


class SequenceClassifier(Architecture):
    """The probability of each label, by softmax."""

    auto = "AutoModelForSequenceClassification"
    predictor = TextLabelPredictor

    def __init__(self, card: Card, details: Spec, options: Options, parts: weights.Parts) -> None:
        super().__init__(card, details, options, parts)
        config = self.model.config
        several = config.problem_type == "multi_label_classification" or config.num_labels == 1
        told = "It gives one number, or one for each of labels that may hold together; a choice of one is needed."
        refuse(several, weights=told)
        self.meant = labels.matched(self.run.labels, card.labels, options.labels)

    @classmethod
    def fits(cls, card: Card, options: Options) -> None:
        """See `Architecture`."""
        refuse(card.returns != "label", returns="A text-classification model returns a label.")
        refuse(len(card.inputs) > 2 or bool(card.images), inputs="It reads one or two texts.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`; what exceeds the model is cut, of two texts from the longer."""
        texts = [[inputs[name]] for name in self.card.inputs]
        row = self.run.encoded(*texts, max_length=self.limit(), truncation=True)[0]
        return row, len(row["input_ids"])

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[Output]:
        """See `Architecture`."""
        found: dict[int, Output] = {}
        sizes = [len(row["input_ids"]) for row in rows]
        room = self.room if self.run.processor.pad_token_id is not None and self._pads() else 1
        for part in portions(sizes, room):
            with computed(len(part), sizes[part[0]]):
                logits = self.model(**self.run.padded([rows[row] for row in part])).logits.float()
                logits = labels.gathered(logits, self.meant, len(self.card.labels)).cpu().numpy()
            found.update((row, output(self.card, one)) for row, one in zip(part, logits, strict=True))
        return [found[row] for row in range(len(rows))]

    def _pads(self) -> bool:
        """Return whether the model has a padding token: decoders look for the last token before the padding."""
        return self.model.config.pad_token_id is not None

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """By gradients, towards the log-odds of the label against all others."""
        if method not in GRADIENTS:
            return None
        refuse(label not in self.card.labels, label=f"One of {', '.join(self.card.labels)}.")
        texts = [[inputs[name]] for name in self.card.inputs]
        cut = {"max_length": self.limit(), "truncation": True}
        found = self.run.processor(*texts, return_offsets_mapping=True, verbose=False, **cut)
        limit = self.limit()
        said = tuple(tuple(words.first_words(inputs[name], limit)) for name in self.card.inputs)
        ids = found["input_ids"][0]
        owner = gradients.owners(found["offset_mapping"][0], found.sequence_ids(0), said)
        row = {name: values[0] for name, values in found.items() if name != "offset_mapping"}
        asked = gradients.Asked(
            label,
            self.run.padded([row]),
            partial(self._value, number=self.card.labels.index(label)),
            self.card.inputs,
            Pieces(tuple(ids), (0,) * len(ids), owner, said),
            gradients.blank_of(self.run.processor),
        )
        return gradients.explain(self.twin, asked, method)

    def _value(self, said: Any, number: int) -> torch.Tensor:
        return log_odds(labels.gathered(said.logits.float(), self.meant, len(self.card.labels)), number)
