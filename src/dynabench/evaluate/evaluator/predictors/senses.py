"""Models that see and hear: image classification, audio classification, speech recognition."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dynabench.evaluate.evaluator.predictors.base import Said
from dynabench.evaluate.evaluator.predictors.classifier import labelled
from dynabench.evaluate.evaluator.predictors.media import Opened, picture, sound
from dynabench.evaluate.evaluator.predictors.network import Network


class Seer(Network):
    """The likeliest label of each image; `processor` is the image processor."""

    auto = "AutoModelForImageClassification"

    def encode(self, inputs: Sequence[Any]) -> Opened:
        """Images are read batch by batch."""
        return Opened(inputs, picture)

    def predict(self, rows: list[Any]) -> Said:
        """Labels with probabilities of each image."""
        batch = self.processor(images=rows, return_tensors="pt").to(self.device)
        return Said(labelled(self.model(**batch).logits, self.labels, self.whole))


class Hearer(Network):
    """What models of sound have in common; `processor` is the feature extractor."""

    def encode(self, inputs: Sequence[Any]) -> Opened:
        """Sounds are read batch by batch, at the model's sampling rate."""
        return Opened(inputs, partial(sound, rate=int(self.processor.sampling_rate)))

    def parts(self, rows: list[Any]) -> list[list[int]]:
        """Places of rows that may be computed together: a model without a mask would hear the padding."""
        if self._fixed() or getattr(self.processor, "return_attention_mask", False):
            return [list(range(len(rows)))]
        alike: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            alike.setdefault(len(row), []).append(place)
        return list(alike.values())

    def features(self, rows: list[Any]) -> Any:
        """Tensors that the model takes. Raises ValueError for a sound longer than the model's fixed window."""
        rate, most = self.processor.sampling_rate, getattr(self.processor, "n_samples", None)
        for row in rows:
            if most is not None and len(row) > most:
                raise ValueError(
                    f"a sound lasts {len(row) / rate:.1f} s, the model hears {most / rate:.1f} s; split it"
                )
        padding = "max_length" if self._fixed() else True
        return self.processor(rows, sampling_rate=rate, padding=padding, return_tensors="pt").to(self.device)

    def _fixed(self) -> bool:
        """Whether every sound is filled up to one length, as for Whisper and the spectrogram transformer."""
        return hasattr(self.processor, "n_samples") or getattr(self.processor, "max_length", None) is not None

    def predict(self, rows: list[Any]) -> Said:
        """Answers of all parts, in order."""
        answers: list[Any] = [None] * len(rows)
        for places in self.parts(rows):
            for place, answer in zip(places, self.answers([rows[one] for one in places]), strict=True):
                answers[place] = answer
        return Said(answers)

    def answers(self, rows: list[Any]) -> list[Any]:
        """Answers to sounds that are computed together."""
        raise NotImplementedError


class Listener(Hearer):
    """The likeliest label of each sound."""

    auto = "AutoModelForAudioClassification"

    def answers(self, rows: list[Any]) -> list[Any]:
        """Labels with probabilities of each sound."""
        return labelled(self.model(**self.features(rows)).logits, self.labels, self.whole)


class Transcriber(Hearer):
    """What is said in each sound, by a CTC model or one that writes."""

    auto = "AutoModelForCTC"
    tokenizer: Any = None
    generation: Mapping[str, Any] = {}

    def answers(self, rows: list[Any]) -> list[Any]:
        """Texts."""
        batch = self.features(rows)
        if getattr(self.model.config, "is_encoder_decoder", False):
            written = self.model.generate(**batch, **self.generation).tolist()
            return [self.tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in written]
        import torch

        ids = self.model(**batch).logits.argmax(-1)
        lengths = self.model._get_feat_extract_output_lengths(torch.tensor([len(row) for row in rows])).tolist()
        return [self.tokenizer.decode(one[:size]) for one, size in zip(ids.tolist(), lengths, strict=True)]
