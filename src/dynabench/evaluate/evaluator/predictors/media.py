"""Images and sounds as arrays, from paths, bytes, arrays or dictionaries. Reading them is no part of inference."""

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
