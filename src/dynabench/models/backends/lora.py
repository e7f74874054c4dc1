"""LoRA adapters and the shared encoder's weights, as their files have them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dynabench.kit.errors import Unavailable
from dynabench.models import encoder

EXPECTED = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
"""What the forward pass in `body` computes."""


class EncoderWeights:
    """A BERT encoder's tensors (Devlin et al., NAACL 2019) by name, without the pooler; fp32 or as stored."""

    def __init__(self, folder: Path) -> None:
        """Map the files of a folder; raises `Unavailable` when they are no such encoder."""
        from safetensors.torch import load_file

        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        strange = [name for name, value in EXPECTED.items() if config.get(name, value) != value]
        if strange:
            requirement = ", ".join(f"{name} {EXPECTED[name]!r}" for name in strange)
            raise Unavailable(f"The encoder in {folder} cannot be used: {requirement} is needed.")
        self.layers = int(config["num_hidden_layers"])
        self.heads = int(config["num_attention_heads"])
        self.width = int(config["hidden_size"])
        self.epsilon = float(config["layer_norm_eps"])
        self._tensors = {
            name.removeprefix("bert."): value for name, value in load_file(folder / encoder.FILES[1]).items()
        }

    def __getitem__(self, name: str) -> Tensor:
        """A tensor in fp32."""
        return self._tensors[name].float()

    def linear(self) -> dict[str, tuple[int, int]]:
        """The linear layers by name, each with its (outputs, inputs)."""
        ours = (name for name in self._tensors if name.startswith("encoder.") and name.endswith(".weight"))
        shapes = {name.removesuffix(".weight"): tuple(self._tensors[name].shape) for name in ours}
        return {name: (shape[0], shape[1]) for name, shape in shapes.items() if len(shape) == 2}


@lru_cache(maxsize=1)
def shared_weights() -> EncoderWeights:
    """The weights of this process's encoder."""
    return EncoderWeights(encoder.find())


UNKNOWN = (
    "alpha_pattern",
    "exclude_modules",
    "fan_in_fan_out",
    "layer_replication",
    "layers_to_transform",
    "lora_bias",
    "modules_to_save",
    "trainable_token_indices",
    "use_bdlora",
    "use_dora",
    "use_qalora",
)
"""Settings of peft's that change what is computed, and that this reader does not know."""
PREFIX = "base_model.model."


@dataclass(frozen=True)
class Delta:
    """The addition of an adapter to linear layers with one input.

    `down` has shape (inputs, rank), `up` (rank, outputs).
    """

    down: Tensor
    up: Tensor

    def add(self, states: Tensor, output: Tensor) -> Tensor:
        """Add this for `states` (N, inputs) to the layers' `output` (N, outputs), in place."""
        return output.addmm_(states @ self.down, self.up)

    def to(self, dtype: torch.dtype) -> "Delta":
        """The same in another precision."""
        return Delta(self.down.to(dtype), self.up.to(dtype))


Deltas = tuple[Delta | None, ...]
"""One for each group of layers with one input, None where the adapter leaves it alone."""


class Lora:
    """An adapter's matrices in fp32, by name of the layer: A (rank, inputs), and B (outputs, rank) times its scale."""

    def __init__(self, matrices: Mapping[str, tuple[Tensor, Tensor]], shapes: Mapping[str, tuple[int, int]]) -> None:
        self._matrices = matrices
        self._shapes = shapes

    def delta(self, names: Sequence[str]) -> Delta | None:
        """Return the addition to layers with one input, whose outputs are concatenated in order; None for none."""
        if not any(name in self._matrices for name in names):
            return None
        nothing = {
            name: (torch.zeros(0, self._shapes[name][1]), torch.zeros(self._shapes[name][0], 0)) for name in names
        }
        parts = [self._matrices.get(name, nothing[name]) for name in names]
        up = torch.block_diag(*(b.t() for _, b in parts))  # type: ignore[no-untyped-call]
        return Delta(torch.cat([a for a, _ in parts]).t().contiguous(), up)


def read_lora(folder: Path, weights: EncoderWeights) -> Lora:
    """The adapter in a folder that peft wrote; raises ValueError or OSError when it does not fit the encoder."""
    from safetensors.torch import load

    config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    _check(config)
    stored = load((folder / "adapter_model.safetensors").read_bytes())
    shapes = weights.linear()
    layer_names = [name for name in shapes if _targeted(name, config["target_modules"], stored)]
    names = {f"{PREFIX}{name}.lora_{side}.weight" for name in layer_names for side in "AB"}
    if names != set(stored):
        raise ValueError(f"{len(names - set(stored))} weights are missing, {len(set(stored) - names)} are unknown")
    return Lora({name: _matrices(stored, name, shapes[name], config) for name in layer_names}, shapes)


def _check(config: Any) -> None:
    """Raises ValueError for an adapter that is more or other than low-rank matrices."""
    if not isinstance(config, dict) or config.get("peft_type") != "LORA" or not config.get("target_modules"):
        raise ValueError("adapter_config.json is not that of a LoRA adapter")
    strange = [name for name in UNKNOWN if config.get(name)]
    if config.get("bias", "none") != "none":
        strange.append("bias")
    if strange:
        raise ValueError(f"adapters with {', '.join(strange)} are not supported; leave it out and train again")


def _targeted(name: str, targets: str | list[str], stored: Mapping[str, Tensor]) -> bool:
    """Return whether a layer is adapted.

    A regular expression is not run, for it may never end: the stored weights decide.
    """
    if isinstance(targets, str):
        return targets == "all-linear" or f"{PREFIX}{name}.lora_A.weight" in stored
    return any(name == target or name.endswith(f".{target}") for target in targets)


def _matrices(
    stored: Mapping[str, Tensor], name: str, shape: tuple[int, int], config: Mapping[str, Any]
) -> tuple[Tensor, Tensor]:
    a, b = (stored[f"{PREFIX}{name}.lora_{side}.weight"].float() for side in "AB")
    rank = a.shape[0]
    if a.shape != (rank, shape[1]) or b.shape != (shape[0], rank):
        raise ValueError(f"{name} has matrices of {tuple(a.shape)} and {tuple(b.shape)}, which do not fit {shape}")
    if not (a.isfinite().all() and b.isfinite().all()):
        raise ValueError(f"{name} has weights that are no finite numbers; the training diverged")
    return a, b * (float(config["lora_alpha"]) / (rank**0.5 if config.get("use_rslora") else rank))
