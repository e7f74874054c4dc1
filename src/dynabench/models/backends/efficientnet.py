"""Photographs by EfficientNet-Lite0, as trained on ImageNet; its thousand classes are added up to everyday names.

EfficientNet (Tan and Le, ICML 2019) without squeeze-and-excitation and with ReLU6: Google's Lite variant. The weights
are a package of their own. They were trained by TensorFlow, so that padding is TensorFlow's.
"""

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import map_coordinates
from scipy.special import logsumexp
from torch import Tensor, nn
from torch.nn import functional

from dynabench.kit.errors import Invalid
from dynabench.models import pictures, runtime, spec
from dynabench.models.backends.base import Alone, Backend, Prepared, check_explained, softmax
from dynabench.models.backends.efficientnet_files import (
    CLASSES,
    CLASSES_FILE,
    EfficientNetOptions,
    find_weights,
    read_classes,
)
from dynabench.models.protocol import Attribution, Inputs, ModelCard, ModelOutput
from dynabench.models.validity import check_outputs

EDGE, MARGIN = 224, 32
"""Points of the square that the model reads, cut from the middle of a picture whose shorter side has MARGIN more."""
MIDDLE, SPREAD = 127.0, 128.0
"""Of the three colours, by which inputs were scaled in training."""
CELLS = 14
"""Rows and columns of a map that cover the square."""
MOST_CELLS = 64
BATCH = 8
EPSILON = 1e-3
STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80),
          (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))  # fmt: skip
"""Repeats, kernel, stride of the first, expansion, channels out."""
STEM, HEAD = 32, 1280
PIECES = 1024
"""What a picture counts as where the number of threads is chosen."""


class SameConv(nn.Conv2d):
    """A convolution padded as TensorFlow pads: where the padding is odd, right and bottom get one more."""

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of a batch (B, channels, H, W)."""
        down, across = (
            max((-(-size // step) - 1) * step + kernel - size, 0)
            for size, step, kernel in zip(input.shape[-2:], self.stride, self.kernel_size, strict=True)
        )
        padded = functional.pad(input, (across // 2, across - across // 2, down // 2, down - down // 2))
        return functional.conv2d(padded, self.weight, None, self.stride, 0, self.dilation, self.groups)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=EPSILON)


class InvertedResidual(nn.Module):
    """Widen, filter each channel, narrow; with the input added where the shapes fit. Names are the weights' own."""

    def __init__(self, channels: int, out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = channels * expansion
        if expansion > 1:
            self._expand_conv = SameConv(channels, wide, 1, bias=False)
            self._bn0 = _norm(wide)
        self._depthwise_conv = SameConv(wide, wide, kernel, stride, groups=wide, bias=False)
        self._bn1 = _norm(wide)
        self._project_conv = SameConv(wide, out, 1, bias=False)
        self._bn2 = _norm(out)
        self.expands, self.adds = expansion > 1, stride == 1 and channels == out

    def forward(self, input: Tensor) -> Tensor:
        """The block's output (B, out, H, W)."""
        wide = functional.relu6(self._bn0(self._expand_conv(input))) if self.expands else input
        wide = functional.relu6(self._bn1(self._depthwise_conv(wide)))
        narrow: Tensor = self._bn2(self._project_conv(wide))
        return narrow + input if self.adds else narrow


class LiteNetwork(nn.Module):
    """EfficientNet-Lite0: pixels (B, 3, H, W) in, logits of ImageNet's classes out."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = SameConv(3, STEM, 3, 2, bias=False)
        self._bn0 = _norm(STEM)
        widths = (STEM, *(stage[-1] for stage in STAGES))
        self._blocks = nn.ModuleList(
            InvertedResidual(out if place else channels, out, kernel, 1 if place else stride, expansion)
            for (channels, _), (repeats, kernel, stride, expansion, out) in zip(pairwise(widths), STAGES, strict=True)
            for place in range(repeats)
        )
        self._conv_head = SameConv(widths[-1], HEAD, 1, bias=False)
        self._bn1 = _norm(HEAD)
        self._fc = nn.Linear(HEAD, CLASSES)

    def features(self, pixels: Tensor) -> Tensor:
        """Return the input of the last layer (B, HEAD, rows, columns), before it is averaged over the places."""
        hidden = functional.relu6(self._bn0(self._conv_stem(pixels)))
        for block in self._blocks:
            hidden = block(hidden)
        return functional.relu6(self._bn1(self._conv_head(hidden)))

    def forward(self, pixels: Tensor) -> Tensor:
        """Logits (B, classes)."""
        logits: Tensor = self._fc(self.features(pixels).mean((2, 3)))
        return logits


def load_network(path: Path, sha256: str) -> LiteNetwork:
    """Return the network with the weights of a file; raises `Invalid` for other weights than `sha256` names."""
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise Invalid({"weights": f"{path.name} holds other weights than this model was made with."})
    network = LiteNetwork()
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network.eval().requires_grad_(False)


@dataclass(frozen=True)
class SeenPicture:
    """Inputs with the square that the model reads of a picture of `size`, (3, EDGE, EDGE); all cost the same."""

    inputs: Inputs
    pixels: Tensor
    size: tuple[int, int]

    def __len__(self) -> int:
        return 1


def square_side(size: tuple[int, int]) -> float:
    """Return the side, in points of the picture, of the square in its middle that the model reads."""
    return min(size) * EDGE / (EDGE + MARGIN)


def read_square(picture: Image.Image) -> Tensor:
    """Return the middle of a picture as the network reads it, (3, EDGE, EDGE)."""
    side = square_side(picture.size)
    x, y = ((length - side) / 2 for length in picture.size)
    square = picture.resize((EDGE, EDGE), Image.Resampling.BICUBIC, (x, y, x + side, y + side))
    return torch.from_numpy((np.asarray(square, np.float32) - MIDDLE) / SPREAD).permute(2, 0, 1).contiguous()


class EfficientNetModel(Alone):
    """One picture in, the everyday name of what it shows out; a name's probability is the sum over its classes."""

    room: int | None = 4 * BATCH

    def __init__(self, card: ModelCard, network: LiteNetwork, members: NDArray[np.bool_]) -> None:
        super().__init__(card)
        self._network = network
        self._members = members
        self._explaining = threading.Lock()

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load the weights from their package; raises `Invalid` when the folder or the package does not fit."""
        card = spec.card(folder)
        options = EfficientNetOptions.model_validate(spec.read(folder).options)
        if len(card.inputs) != 1 or card.images != card.inputs or card.returns != "label":
            raise Invalid({"inputs": "It reads one picture and returns a label."})
        members = read_classes(folder / CLASSES_FILE, card.labels)
        return cls(card, load_network(find_weights(), options.weights_sha256), members)

    def prepare(self, inputs: Inputs) -> Any:
        """Decode the picture; raises `Invalid` for what is none."""
        checked = super().prepare(inputs).inputs
        [name] = self.card.images
        picture = pictures.open_picture(checked[name], name)
        return SeenPicture(checked, read_square(picture), picture.size)

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[ModelOutput]:
        """One checked output per call, in order."""
        seen = [prepared for _, prepared in calls]
        parts = [seen[start : start + BATCH] for start in range(0, len(seen), BATCH)]
        logits = [self._logits(torch.stack([picture.pixels for picture in part])) for part in parts]
        outputs = [self._output(row) for rows in logits for row in rows]
        return check_outputs(self.card, [picture.inputs for picture in seen], outputs)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Weights of places of the picture towards `label`: Grad-CAM, or by covering one part after the other."""
        check_explained(self.card, label, method)
        seen = self.prepare(inputs)
        with self._explaining:
            weigh = self.covering_map if method == pictures.METHOD else self.activation_map
            square = weigh(seen.pixels, label)
        [name] = self.card.images
        return Attribution(method, label, {}, maps={name: spread_map(square, seen.size)})

    def activation_map(self, pixels: Tensor, label: str) -> NDArray[np.float64]:
        """Grad-CAM (Selvaraju et al., ICCV 2017) of a label's log-odds, signed: one weight for each place, unscaled.

        Behind the features come only a mean and a linear layer, so that the gradient needs no backward pass.
        """
        with self._computing(1):
            features = self._network.features(pixels[None])
            logits = self._network._fc(features.mean((2, 3)))[0].double().numpy()
        members = self._members[self.card.labels.index(label)]
        slope = np.zeros(CLASSES)
        slope[members], slope[~members] = softmax(logits[members]), -softmax(logits[~members])
        channels = slope @ self._network._fc.weight.double().numpy()
        return np.asarray(np.einsum("c,chw->hw", channels, features[0].double().numpy()))

    def covering_map(self, pixels: Tensor, label: str) -> NDArray[np.float64]:
        """Return the loss of a label's log-odds when each part of the square is covered with its mean colour."""
        step = EDGE // pictures.GRID
        covered = pixels.repeat(pictures.GRID**2, 1, 1, 1)
        for place in range(pictures.GRID**2):
            y, x = (step * part for part in divmod(place, pictures.GRID))
            covered[place, :, y : y + step, x : x + step] = pixels.mean((1, 2))[:, None, None]
        rows = torch.cat([pixels[None], covered])
        members = self._members[self.card.labels.index(label)]
        logits = np.concatenate([self._logits(rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)])
        odds = logsumexp(logits[:, members], 1) - logsumexp(logits[:, ~members], 1)
        return np.asarray(odds[0] - odds[1:]).reshape(pictures.GRID, pictures.GRID)

    def _logits(self, pixels: Tensor) -> NDArray[np.float64]:
        with self._computing(len(pixels)):
            return np.asarray(self._network(pixels).double().numpy())

    def _output(self, logits: NDArray[np.floating[Any]]) -> ModelOutput:
        by_label = self._members @ softmax(logits)
        best = int(np.argmax(by_label))
        probabilities = {label: round(float(p), 6) for label, p in zip(self.card.labels, by_label, strict=True)}
        return ModelOutput({self.card.answer: self.card.labels[best]}, probabilities)

    @staticmethod
    def _computing(count: int) -> Any:
        runtime.use_threads(PIECES * count)
        return torch.inference_mode()


def spread_map(square: NDArray[np.float64], size: tuple[int, int]) -> list[list[float]]:
    """Return the map of the square in the middle as a map of a picture of `size` (width, height).

    Its largest magnitude is 1; what the model did not see weighs nothing.
    """
    side = square_side(size)
    columns, rows = (min(MOST_CELLS, max(1, round(length / side * CELLS))) for length in size)
    shares = []
    for count, length in ((rows, size[1]), (columns, size[0])):
        middles = (np.arange(count) + 0.5) * length / count
        shares.append((middles - (length - side) / 2) / side)  # of the square, from 0 to 1
    seen = np.outer(*((share > 0) & (share < 1) for share in shares))
    places = [share * edge - 0.5 for share, edge in zip(shares, square.shape, strict=True)]
    spread = map_coordinates(square, np.meshgrid(*places, indexing="ij"), order=1, mode="nearest") * seen
    scaled: list[list[float]] = (spread / (float(np.abs(spread).max(initial=0.0)) or 1.0)).round(4).tolist()
    return scaled
