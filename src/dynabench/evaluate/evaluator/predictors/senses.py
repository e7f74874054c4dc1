"""Predictors of images and sounds: image classification, audio classification, speech recognition."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dynabench.evaluate.evaluator.predictors.base import BatchAnswers
from dynabench.evaluate.evaluator.predictors.classifier import label_probabilities
from dynabench.evaluate.evaluator.predictors.media import LazyMediaColumn, read_image, read_sound
from dynabench.evaluate.evaluator.predictors.network import NetworkPredictor


class ImageLabelPredictor(NetworkPredictor):
    """The likeliest label of each image; `processor` is the image processor."""

    auto = "AutoModelForImageClassification"

    def encode(self, inputs: Sequence[Any]) -> LazyMediaColumn:
        """Images are read batch by batch."""
        return LazyMediaColumn(inputs, read_image)

    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Labels with probabilities of each image."""
        batch = self.processor(images=rows, return_tensors="pt").to(self.device)
        return BatchAnswers(label_probabilities(self.model(**batch).logits, self.labels, self.whole))


class SoundPredictor(NetworkPredictor):
    """Base of predictors of sounds; `processor` is the feature extractor."""

    def encode(self, inputs: Sequence[Any]) -> LazyMediaColumn:
        """Sounds are read batch by batch, at the model's sampling rate."""
        return LazyMediaColumn(inputs, partial(read_sound, rate=int(self.processor.sampling_rate)))

    def parts(self, rows: list[Any]) -> list[list[int]]:
        """Return groups of rows that may be computed together: a model without a mask would hear the padding."""
        if self._fixed() or getattr(self.processor, "return_attention_mask", False):
            return [list(range(len(rows)))]
        by_length: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            by_length.setdefault(len(row), []).append(place)
        return list(by_length.values())

    def features(self, rows: list[Any]) -> Any:
        """Return the model's input tensors. Raises ValueError for a sound longer than the model's fixed window."""
        rate, most = self.processor.sampling_rate, getattr(self.processor, "n_samples", None)
        for row in rows:
            if most is not None and len(row) > most:
                raise ValueError(
                    f"a sound lasts {len(row) / rate:.1f} s, the model hears {most / rate:.1f} s; split it"
                )
        padding = "max_length" if self._fixed() else True
        return self.processor(rows, sampling_rate=rate, padding=padding, return_tensors="pt").to(self.device)

    def _fixed(self) -> bool:
        """Every sound is padded to one length, as for Whisper and the spectrogram transformer."""
        return hasattr(self.processor, "n_samples") or getattr(self.processor, "max_length", None) is not None

    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Return the answers of all groups, in the order of the rows."""
        answers: list[Any] = [None] * len(rows)
        for places in self.parts(rows):
            for place, answer in zip(places, self.answers([rows[index] for index in places]), strict=True):
                answers[place] = answer
        return BatchAnswers(answers)

    def answers(self, rows: list[Any]) -> list[Any]:
        """Answers to sounds that are computed together."""
        raise NotImplementedError


class SoundLabelPredictor(SoundPredictor):
    """The likeliest label of each sound."""

    auto = "AutoModelForAudioClassification"

    def answers(self, rows: list[Any]) -> list[Any]:
        """Labels with probabilities of each sound."""
        return label_probabilities(self.model(**self.features(rows)).logits, self.labels, self.whole)


class Transcriber(SoundPredictor):
    """The text spoken in each sound, by a CTC model or an encoder with a decoder."""

    auto = "AutoModelForCTC"
    tokenizer: Any = None
    generation: Mapping[str, Any] = {}

    def answers(self, rows: list[Any]) -> list[Any]:
        """Return the transcripts of the sounds."""
        batch = self.features(rows)
        if getattr(self.model.config, "is_encoder_decoder", False):
            written = self.model.generate(**batch, **self.generation).tolist()
            return [self.tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in written]
        import torch

        ids = self.model(**batch).logits.argmax(-1)
        lengths = self.model._get_feat_extract_output_lengths(torch.tensor([len(row) for row in rows])).tolist()
        return [self.tokenizer.decode(token_ids[:size]) for token_ids, size in zip(ids.tolist(), lengths, strict=True)]
