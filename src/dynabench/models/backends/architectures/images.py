"""Pictures in: image classification, and questions about pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from dynabench.evaluate.evaluator.predictors.base import NetworkPredictor, PredictedBatch
from dynabench.models import pictures, words
from dynabench.models.backends.architectures import base, gradients, readers
from dynabench.models.backends.architectures.base import Architecture, computed, refuse
from dynabench.models.backends.base import output
from dynabench.models.backends.encoder_gradients import log_odds
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.transformers import TransformersOptions
from dynabench.models.protocol import Attribution, Inputs, Model, ModelCard, ModelOutput
from dynabench.models.spec import Spec

TOKENS = 196
"""What a picture counts as: the patches of the usual size in the usual picture."""


class Sees(NetworkPredictor):
    """A model of pictures, with what scales them."""

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Logits of each row of tensors."""
        return PredictedBatch(self.model(**self.joined(rows)).logits.float().tolist())

    def joined(self, rows: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        """One batch of rows, each of which is one already."""
        batch = {name: torch.cat([row[name] for row in rows]).to(self.device) for name in rows[0]}
        return {
            name: tensor.to(self.model.dtype) if tensor.is_floating_point() else tensor
            for name, tensor in batch.items()
        }

    def limit(self) -> int | None:
        """Pictures have no length."""
        return None


class ImageClassifier(Architecture):
    """The probability of each label, by softmax."""

    auto = "AutoModelForImageClassification"
    processor = "AutoImageProcessor"
    predictor = Sees
    room = 16 * TOKENS

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        self.meant = readers.matched(self.run.labels, card.labels, options.labels)

    @classmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """See `Architecture`."""
        refuse(card.returns != "label", returns="An image-classification model returns a label.")
        refuse(len(card.inputs) != 1 or card.images != card.inputs, images="It reads one picture: name it here, too.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`: tensors of one row, as the model reads them."""
        name = self.card.images[0]
        tensors = self.run.processor(images=[pictures.open_picture(inputs[name], name)], return_tensors="pt")
        return dict(tensors), TOKENS

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """See `Architecture`."""
        outputs: list[ModelOutput] = []
        step = max(1, self.room // TOKENS)
        for start in range(0, len(rows), step):
            part = list(rows[start : start + step])
            with computed(len(part), TOKENS):
                own_logits = torch.tensor(self.run.predict(part).answers)
            logits = readers.gathered(own_logits, self.meant, len(self.card.labels)).numpy()
            outputs += [output(self.card, row) for row in logits]
        return outputs

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """By gradients with respect to pixels from a grey picture, or by covering one part after the other."""
        refuse(label not in self.card.labels, label=f"One of {', '.join(self.card.labels)}.")
        if method == pictures.METHOD:
            return Attribution(method, label, {})
        row, _ = self.encode(inputs)
        return gradients.explain(self.twin, self._make_subject(inputs, row, label), method)

    def _make_subject(self, inputs: Inputs, row: Any, label: str) -> gradients.ExplanationSubject:
        name = self.card.images[0]
        picture = pictures.open_picture(inputs[name], name)
        covered = seen(getattr(self.run.processor, "image_processor", self.run.processor), picture.size)
        value = partial(self._value, number=self.card.labels.index(label))
        return gradients.ExplanationSubject(label, self.run.joined([row]), value, picture=name, covered=covered)

    def _value(self, model_output: Any, number: int) -> torch.Tensor:
        return log_odds(readers.gathered(model_output.logits.float(), self.meant, len(self.card.labels)), number)

    def drawn(self, model: Model, attribution: Attribution, inputs: Inputs) -> Attribution:
        """With a map by covering (beside the words' weights, if any), where that was asked for."""
        return (
            pictures.weigh_patches(model, attribution, inputs) if attribution.method == pictures.METHOD else attribution
        )


def seen(processor: Any, size: tuple[int, int]) -> tuple[float, float]:
    """The share (height, width) around its middle that is left of a picture of `size` (width, height) when it has been
    scaled and cut.
    """
    crop = getattr(processor, "crop_size", None)
    scaled = getattr(processor, "size", None) if getattr(processor, "do_resize", False) else None
    if not getattr(processor, "do_center_crop", False) or not crop:
        return 1.0, 1.0
    width, height = float(size[0]), float(size[1])
    if scaled and (edge := _side_length(scaled, "shortest_edge")):
        width, height = (side * edge / min(size) for side in size)
    elif scaled and _side_length(scaled, "height"):
        width, height = float(_side_length(scaled, "width") or 1), float(_side_length(scaled, "height") or 1)
    return min(1.0, (_side_length(crop, "height") or height) / height), min(
        1.0, (_side_length(crop, "width") or width) / width
    )


def _side_length(sizes: Any, name: str) -> float | None:
    length = sizes.get(name) if isinstance(sizes, Mapping) else getattr(sizes, name, None)
    return None if length is None else float(length)


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
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
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
        picture = pictures.open_picture(inputs[name], name)
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

    def _make_subject(self, inputs: Inputs, row: Any, label: str) -> gradients.ExplanationSubject:
        text = inputs[self.text]
        field_words = (tuple(words.first_words(text, WORDS)),)
        ids = tuple(row["input_ids"][0].tolist())
        offsets = self._read(inputs)["offset_mapping"][0].tolist()
        owner = gradients.owners(offsets, [0] * len(ids), field_words)
        pieces = Pieces(ids, (0,) * len(ids), owner, field_words)
        blank = gradients.blank_of(self.run.processor.tokenizer)
        return replace(super()._make_subject(inputs, row, label), fields=[self.text], pieces=pieces, blank=blank)
