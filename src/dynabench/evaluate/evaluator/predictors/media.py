"""Predictors of images and sounds, and the reading of both."""

import io
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.evaluator.predictors.base import NetworkPredictor, PredictedBatch
from dynabench.evaluate.evaluator.predictors.texts import label_probabilities


class LazyMediaColumn(Sequence[Any]):
    """A column whose values `reader` reads on access."""

    def __init__(self, values: Sequence[Any], reader: Any) -> None:
        self.values = values
        self.reader = reader

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: Any) -> Any:
        return self.reader(self.values[row], row)


def read_image(value: Any, row: int) -> Any:
    """Return a Pillow image in RGB from an image, a path, bytes, an array (H, W[, 3]) or a dictionary of them.

    Raises ValueError, naming the row, for anything else and for an image that cannot be read.
    """
    from PIL import Image

    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    try:
        if isinstance(value, bytes):
            value = Image.open(io.BytesIO(value))
        elif isinstance(value, str | Path):
            value = Image.open(value)
        elif isinstance(value, np.ndarray | list):
            value = Image.fromarray(np.asarray(value, np.uint8))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"the image of row {row} cannot be read: {error}") from None
    if not isinstance(value, Image.Image):
        raise ValueError(f"row {row} is {value!r}, not an image; give an image, a path, bytes or an array")
    return value.convert("RGB")


def read_sound(value: Any, row: int, rate: int) -> NDArray[np.float32]:
    """Return samples (n,) at `rate` from an array, a dictionary of `array` and `sampling_rate`, bytes or a path.

    Several channels are averaged. WAV files are read by SciPy, others by the package soundfile. Raises ValueError,
    naming the row, for anything else.
    """
    source_rate: int = rate
    if hasattr(value, "get_all_samples"):  # the decoder that newer `datasets` give
        samples = value.get_all_samples()
        value = {"array": np.asarray(samples.data), "sampling_rate": samples.sample_rate}
    if isinstance(value, Mapping):
        source_rate = int(value.get("sampling_rate") or rate)
        value = next((value[key] for key in ("array", "raw", "bytes", "path") if value.get(key) is not None), None)
    if isinstance(value, str | Path | bytes):
        source_rate, value = _decode_sound(value, row)
    try:
        wave = np.asarray(value, np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"row {row} is no sound; give samples, {{array, sampling_rate}} or a path") from None
    if not wave.ndim or not wave.size or not np.isfinite(wave).all():
        raise ValueError(f"the sound of row {row} has no samples or samples that are no numbers; drop it")
    if wave.ndim == 2:
        wave = wave.mean(int(np.argmin(wave.shape)))
    return wave if source_rate == rate else _resample(wave, source_rate, rate)


def _decode_sound(source: Any, row: int) -> tuple[int, NDArray[np.float32]]:
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    if content[:4] == b"RIFF":
        from scipy.io import wavfile

        rate, samples = wavfile.read(io.BytesIO(content))
        if samples.dtype.kind == "f":
            return int(rate), samples.astype(np.float32)
        middle, half = (128, 128) if samples.dtype == np.uint8 else (0, np.iinfo(samples.dtype).max + 1)
        return int(rate), ((samples.astype(np.float64) - middle) / half).astype(np.float32)
    try:
        soundfile = import_module("soundfile")
    except ImportError:
        raise ValueError(
            f"the sound of row {row} is no WAV file; other kinds are read with: pip install soundfile"
        ) from None
    samples, rate = soundfile.read(io.BytesIO(content), dtype="float32")
    return int(rate), samples


def _resample(wave: NDArray[np.float32], source_rate: int, rate: int) -> NDArray[np.float32]:
    from math import gcd

    from scipy.signal import resample_poly

    common = gcd(source_rate, rate)
    resampled: NDArray[np.float32] = resample_poly(wave, rate // common, source_rate // common).astype(np.float32)
    return resampled


class ImageLabelPredictor(NetworkPredictor):
    """The likeliest label of each image; `processor` is the image processor."""

    auto = "AutoModelForImageClassification"

    def encode(self, inputs: Sequence[Any]) -> LazyMediaColumn:
        """Images are read batch by batch."""
        return LazyMediaColumn(inputs, read_image)

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Labels with probabilities of each image."""
        batch = self.processor(images=rows, return_tensors="pt").to(self.device)
        return PredictedBatch(label_probabilities(self.model(**batch).logits, self.labels, self.whole))


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

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return the answers of all groups, in the order of the rows."""
        answers: list[Any] = [None] * len(rows)
        for places in self.parts(rows):
            for place, answer in zip(places, self.answers([rows[index] for index in places]), strict=True):
                answers[place] = answer
        return PredictedBatch(answers)

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
