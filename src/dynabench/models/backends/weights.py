"""The shared encoder's weights as its file has them, mapped into memory: processes on one machine share the pages."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor

from dynabench.kit.errors import Unavailable
from dynabench.models import encoder

EXPECTED = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
"""What the forward pass in `body` computes."""


class Weights:
    """A BERT encoder's tensors (Devlin et al., NAACL 2019) by name, without the pooler; fp32 or as stored."""

    def __init__(self, folder: Path) -> None:
        """Map the files of a folder; raises `Unavailable` when they are no such encoder."""
        from safetensors.torch import load_file

        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        strange = [name for name, value in EXPECTED.items() if config.get(name, value) != value]
        if strange:
            told = ", ".join(f"{name} {EXPECTED[name]!r}" for name in strange)
            raise Unavailable(f"The encoder in {folder} cannot be used: {told} is needed.")
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
def shared() -> Weights:
    """The weights of this process's encoder."""
    return Weights(encoder.find())
