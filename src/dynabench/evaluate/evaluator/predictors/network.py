"""Base of predictors that run models of transformers: loading, device, tokenizing, padding and packed weights.

Where torch computes them itself it asks MKL, which uses half the width of the vector units of processors that are not
Intel's: on an AMD EPYC with AVX-512 one core does 105 GFLOP/s that way and 235 this way (832 x 384 times 384 x 1536,
float32 both times). Sums are taken in another order, so logits differ in the last digits.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynabench.evaluate.evaluator import fingerprint
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.networks import checkpoints
from dynabench.evaluate.networks.checkpoints import token_limit

MAX_WEIGHT_BYTES = 1 << 30  # bytes of weights: packing needs as much again


@contextmanager
def packed_weights(model: Any) -> Iterator[None]:
    """Run the model's float32 linear layers on packed weights within the context.

    Weights must not change meanwhile.
    """
    layers = _linear(model)
    changed = []
    try:
        for layer in layers:
            forward = _forward(layer)
            if forward is None:
                break
            layer.forward = forward
            changed.append(layer)
        yield
    finally:
        for layer in changed:
            del layer.forward  # the class's own shows again


def _linear(model: Any) -> list[Any]:
    """The layers that can be packed: none where that would take too much memory, or torch lacks oneDNN."""
    import torch

    if not torch.backends.mkldnn.is_available() or torch.is_autocast_enabled("cpu"):  # type: ignore[no-untyped-call]
        return []
    linear_layers = [
        layer for layer in model.modules() if type(layer) is torch.nn.Linear and "forward" not in vars(layer)
    ]
    plain = [
        float_layer
        for float_layer in linear_layers
        if float_layer.weight.dtype == torch.float32 and float_layer.weight.device.type == "cpu"
    ]
    return plain if sum(float_layer.weight.nbytes for float_layer in plain) <= MAX_WEIGHT_BYTES else []


def _forward(layer: Any) -> Callable[[Any], Any] | None:
    """The layer's function with its weight packed; None where this torch cannot."""
    import torch

    try:
        weight = layer.weight.detach().to_mkldnn()
        multiply = torch.ops.mkldnn._linear_pointwise.default
    except (AttributeError, RuntimeError):
        return None
    bias = layer.bias

    def forward(values: Any) -> Any:
        if values.dtype != torch.float32 or not values.numel():
            return torch.nn.functional.linear(values, layer.weight, bias)
        return multiply(values, weight, bias, "none", [], "")

    return forward


PADS = {"attention_mask": 0, "token_type_ids": 0}


class NetworkPredictor(Predictor):
    """A model of transformers with its tokenizer (or feature extractor), run without gradients and dropout."""

    warms_up = True

    def __init__(self, model: Any, processor: Any, device: Any = None) -> None:
        """`device` is a number (-1 for the processor), a torch device or its name; None takes a GPU if there is one."""
        self.model = model
        self.processor = processor
        self.wanted = device
        self.device = str(device_of(device) or _device(model))
        labels = getattr(model.config, "id2label", None) or {}
        self.labels = tuple(str(labels[number]) for number in sorted(labels))

    def identity(self) -> str:
        """Return fingerprints of the model and its tokenizer, the token limit, and the answer settings."""
        parts = [fingerprint.fingerprint_network(self.model), fingerprint.fingerprint_tokenizer(self.processor)]
        return "-".join([*parts, fingerprint.fingerprint_value([self.limit(), self.answer_settings()])])

    def answer_settings(self) -> Any:
        """Return the settings that the answers depend on."""
        return None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Move the model to its device and into evaluation mode; a model that was in training returns to it."""
        import torch

        training = self.model.training
        self.model.eval()
        if self.device != str(_device(self.model)):
            self.model.to(self.device)
        try:
            with torch.inference_mode(), packed_weights(self.model):
                yield
        finally:
            self.model.train(training)

    def limit(self) -> int | None:
        """Return the number of tokens that the model reads at once; None where there is no limit."""
        return token_limit(checkpoints.LoadedModel(self.model, self.processor))

    def encoded(self, *texts: Sequence[str] | None, **options: Any) -> list[dict[str, Any]]:
        """Return token ids and the tokenizer's other outputs, a dictionary a row.

        `options` are the tokenizer's keywords.
        """
        limit = self.limit()
        cut = {"truncation": True, "max_length": limit} if limit else {}
        columns = [column for column in texts if column is not None]
        encoding = self.processor(*columns, **{**cut, **options}, verbose=False)
        names = [name for name in encoding if name != "overflow_to_sample_mapping"]
        return [dict(zip(names, row, strict=True)) for row in zip(*(encoding[name] for name in names), strict=True)]

    def padded(self, rows: Sequence[Mapping[str, Any]], side: str | None = None) -> dict[str, Any]:
        """Return tensors (rows, longest row) of the model's inputs; `side` is where the padding goes."""
        import torch

        side = side or self.processor.padding_side
        longest = max(len(row["input_ids"]) for row in rows)
        tensors = {}
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            if name in rows[0]:
                fill = self._pad_id() if name == "input_ids" else PADS[name]
                lists = [_extended(row[name], longest, fill, side) for row in rows]
                tensors[name] = torch.tensor(lists, device=self.device)
        return tensors

    def _pad_id(self) -> int:
        for token_id in (self.processor.pad_token_id, self.processor.eos_token_id):
            if token_id is not None:
                return int(token_id)
        return 0


def tokens_of(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of tokens in rows, without padding."""
    return sum(len(row["input_ids"]) for row in rows)


def is_network(model: Any) -> bool:
    """Return whether `model` is a model of transformers."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module) and hasattr(model, "config")


def is_pipeline(model: Any) -> bool:
    """Return whether `model` is one of the pipelines of transformers itself, whose parts can be run natively."""
    return type(model).__module__.startswith("transformers.pipelines") and hasattr(model, "model")


def load_network(path: str | Path, auto: str) -> Any:
    """Return the model at a path (or of this name on the hub), in the precision of its file, by the auto class `auto`.

    Raises ValueError where there is none, and where weights are missing, which transformers would make up.
    """
    return checkpoints.read_model(checkpoints.locate_model(str(path)), auto)


def load_processor(processor: Any, model: Any, auto: str) -> Any:
    """Return the tokenizer or feature extractor.

    The object, the one at the path, or by default the one beside the model.

    Raises ValueError where the model does not say where its processor is.
    """
    if processor is not None and not isinstance(processor, str | Path):
        return processor
    path = processor or getattr(model, "name_or_path", "") or getattr(model.config, "_name_or_path", "")
    if not path:
        raise ValueError(
            "this model does not say where its tokenizer or feature extractor is: pass it beside the model"
        )
    return checkpoints.read_pretrained(checkpoints.locate_model(str(path)), auto)


def device_of(device: Any) -> Any:
    """Return a torch device; None where the caller names none and there is no GPU."""
    import torch

    if device is None:
        return torch.device("cuda:0") if torch.cuda.is_available() else None
    if isinstance(device, int):
        return torch.device("cpu" if device < 0 else f"cuda:{device}")
    return torch.device(device)


def _device(model: Any) -> Any:
    parameter = next(iter(model.parameters()), None)
    return parameter.device if parameter is not None else "cpu"


def _extended(values: list[int], size: int, fill: int, side: str) -> list[int]:
    more = [fill] * (size - len(values))
    return more + values if side == "left" else values + more
