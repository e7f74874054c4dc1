"""Linear layers on the CPU by oneDNN, with weights packed once.

Where torch computes them itself it asks MKL, which uses half the width of the vector units of processors that are not
Intel's: on an AMD EPYC with AVX-512 one core does 105 GFLOP/s that way and 235 this way (832 x 384 times 384 x 1536,
float32 both times). Sums are taken in another order, so logits differ in the last digits.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
