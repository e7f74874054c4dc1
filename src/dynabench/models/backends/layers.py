"""Linear layers of the encoder, in the precisions that it can be served in.

oneDNN keeps the weights in blocks as its kernels read them. On an AMD EPYC with AVX-512 one core does 105 GFLOP/s
through torch's own linear layer (MKL), 240 through oneDNN in fp32 and 490 in bf16.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

Linear = Callable[[Tensor], Tensor]
"""Maps (N, inputs) to (N, outputs)."""
Make = Callable[[Tensor, Tensor], Linear]
"""Makes such a layer of an fp32 weight (outputs, inputs) and bias (outputs,)."""


def plain(weight: Tensor, bias: Tensor) -> Linear:
    """As torch has it: the only one that gradients pass, and the one that needs no memory of its own."""
    return lambda states: functional.linear(states, weight, bias)


def packed(weight: Tensor, bias: Tensor) -> Linear:
    """By oneDNN, in the precision of the weight (outputs, inputs)."""
    blocks = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    multiply = torch.ops.mkldnn._linear_pointwise.default
    return lambda states: multiply(states, blocks, bias, "none", [], "")


def short(weight: Tensor, bias: Tensor) -> Linear:
    """In bfloat16: by oneDNN where the processor has what that needs."""
    return (packed if _onednn() and torch.ops.mkldnn._is_mkldnn_bf16_supported() else plain)(
        weight.bfloat16(), bias.bfloat16()
    )


def quantised(weight: Tensor, bias: Tensor) -> Linear:
    """In int8: a scale for each output, and for the inputs a scale and a zero that are found anew for each call."""
    scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
    blocks = torch.ops.onednn.qlinear_prepack((weight / scales.unsqueeze(1)).round().to(torch.int8), None)
    zeros = torch.zeros(len(scales), dtype=torch.long)
    multiply = torch.ops.onednn.qlinear_pointwise.tensor

    def layer(states: Tensor) -> Tensor:
        least, most = states.aminmax()
        scale = ((most.clamp_min(0) - least.clamp_max(0)) / 255).clamp_min(1e-12)
        zero = (-least.clamp_max(0) / scale).round()
        whole = torch.addcdiv(zero, states, scale).round_().clamp_(0, 255).to(torch.uint8)
        given = (whole, scale.view(1), zero.to(torch.int32).view(1), blocks, scales, zeros, bias)
        result: Tensor = multiply(*given, 1.0, 0, torch.float32, "none", [], "")
        return result

    return layer


def fastest(weight: Tensor, bias: Tensor) -> Linear:
    """In fp32, by oneDNN where torch was built with it."""
    return (packed if _onednn() else plain)(weight, bias)


def _onednn() -> bool:
    return bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]


PRECISIONS: dict[str, Make] = {"exact": plain, "fp32": fastest, "bf16": short, "int8": quantised}
"""How linear layers are made of an fp32 weight and bias."""


def takes(make: Make) -> torch.dtype:
    """Return the dtype that a layer made by `make` reads and returns."""
    return torch.bfloat16 if make is short else torch.float32
