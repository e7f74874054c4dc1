"""Questions about pictures: a picture and a text in, one of the answers that the model knows out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from dynabench.models import pictures, words
from dynabench.models.attribution import patches
from dynabench.models.backends.architectures import gradients
from dynabench.models.backends.architectures.base import refuse
from dynabench.models.backends.architectures.images import TOKENS, ImageClassifier, Sees
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.transformers import Options
from dynabench.models.protocol import Attribution, Card, Inputs

WORDS = 256


class SeesAndReads(Sees):
    """A model of pictures and texts, with what scales the one and cuts the other into tokens."""

    def joined(self, rows: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        """One batch of rows: texts and pictures padded, the mask says what is real."""
        padded: dict[str, list[torch.Tensor]] = {name: [] for name in rows[0]}
        most = {
            name: [max(row[name].shape[at] for row in rows) for at in range(rows[0][name].dim())] for name in padded
        }
        for row in rows:
            for name, value in row.items():
                whole = value.new_zeros((1, *most[name][1:]))
                whole[tuple(slice(size) for size in value.shape)] = value
                padded[name].append(whole)
        return super().joined([{name: torch.cat(values) for name, values in padded.items()}])


class VisualQuestions(ImageClassifier):
    """A classifier over answers, such as ViLT (Kim, Son and Kim, ICML 2021)."""

    auto = "AutoModelForVisualQuestionAnswering"
    processor = "AutoProcessor"
    predictor = SeesAndReads

    @classmethod
    def fits(cls, card: Card, options: Options) -> None:
        """See `Architecture`."""
        refuse(card.returns != "label", returns="A visual-question-answering model returns one of its answers.")
        wrong = len(card.inputs) != 2 or len(card.images) != 1
        refuse(wrong, images="It reads a picture and a text: name the picture here.")

    @property
    def text(self) -> str:
        """The input that is a text."""
        return next(name for name in self.card.inputs if name not in self.card.images)

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`; a text that exceeds the model is cut."""
        row = dict(self._read(inputs))
        row.pop("offset_mapping", None)
        return row, TOKENS + row["input_ids"].shape[1]

    def _read(self, inputs: Inputs) -> Any:
        name = self.card.images[0]
        picture = pictures.opened(inputs[name], name)
        tokenizer = self.run.processor.tokenizer
        limit = min(getattr(self.model.config, "max_position_embeddings", WORDS) or WORDS, self.details.max_length)
        text = tokenizer([inputs[self.text]], truncation=True, max_length=limit, return_offsets_mapping=True)
        seen = self.run.processor.image_processor(images=[picture], return_tensors="pt")
        row = {key: torch.tensor(value) for key, value in text.items()}
        return {**row, **seen}

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """By gradients, picture and words together; by covering and leaving out, each for itself."""
        if method in ("gradient", "integrated_gradients"):
            return super().explain(inputs, label, method)
        return None

    def _asked(self, inputs: Inputs, row: Any, label: str) -> gradients.Asked:
        text = inputs[self.text]
        said = (tuple(words.first_words(text, WORDS)),)
        ids = tuple(row["input_ids"][0].tolist())
        offsets = self._read(inputs)["offset_mapping"][0].tolist()
        owner = gradients.owners(offsets, [0] * len(ids), said)
        pieces = Pieces(ids, (0,) * len(ids), owner, said)
        blank = gradients.blank_of(self.run.processor.tokenizer)
        return replace(super()._asked(inputs, row, label), fields=[self.text], pieces=pieces, blank=blank)

    def drawn(self, model: Any, found: Attribution, inputs: Inputs) -> Attribution:
        """With a map by covering beside the words' weights by leaving out."""
        return patches.added(model, found, inputs) if found.method == patches.METHOD else found
