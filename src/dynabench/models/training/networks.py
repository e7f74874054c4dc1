"""Adapters over the shared encoder as they are trained on mixes: classifiers, and extractors of spans."""

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from dynabench.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends.network import Head, SpanHead
from dynabench.models.training import adapter, extractor
from dynabench.models.training.adapter import Example, Trained
from dynabench.models.training.descent import Examples, Network
from dynabench.models.training.extractor import Marked
from dynabench.models.training.mixing import Mix
from dynabench.models.training.recipes import Adapter

FRESH = Adapter(smoothing=0.05)
FURTHER = Adapter(smoothing=0.05, learning_rate=3e-4)
"""For adapters that have learnt already."""


class Adapted(Network):
    """An adapter and its head."""

    def __init__(self, mix: Mix, start: Path | None) -> None:
        """`start` is the folder of a model to go on from."""
        self.mix = mix
        self.plan = FURTHER if start else FRESH
        rank, alpha = _sizes(start) if start else (self.plan.rank, self.plan.alpha)
        self.plan = self.plan.model_copy(update={"rank": rank, "alpha": alpha})
        self.body = adapter.with_adapter(self.plan)
        self.head = self.made(self.body.config.hidden_size)
        if start:
            self._load(start)

    @abstractmethod
    def made(self, width: int) -> nn.Module:
        """An untrained head."""

    def modules(self) -> Mapping[str, nn.Module]:
        """See `Network`."""
        return {"body": self.body, "head": self.head}

    def save(self, folder: Path) -> dict[str, Any]:
        """See `Network`."""
        adapter.save(Trained(self.body, self.head, 0.0, 0.0, 0), folder)
        return {}

    def _load(self, start: Path) -> None:
        from peft import set_peft_model_state_dict
        from safetensors.torch import load_file

        details = spec.read(start)
        wanted = (self.kind, list(self.mix.inputs), list(self.mix.labels))
        if (details.kind, details.inputs, details.labels) != wanted:
            raise Invalid({"base": f"{details.name} has other inputs or labels, or is of kind {details.kind!r}."})
        set_peft_model_state_dict(self.body, _fp32(load_file(start / "adapter" / "adapter_model.safetensors")))
        self.head.load_state_dict(_fp32(load_file(start / "head.safetensors")))


def _sizes(start: Path) -> tuple[int, int]:
    try:
        config = json.loads((start / "adapter" / "adapter_config.json").read_text(encoding="utf-8"))
        return int(config["r"]), int(config["lora_alpha"])
    except (OSError, ValueError, KeyError) as error:
        raise Invalid({"base": f"{start} holds no adapter that can be read: {error}"}) from error


def _fp32(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value.float() for name, value in tensors.items()}


class Labelling(Adapted):
    """Chooses one of several labels."""

    kind = "adapter"

    def made(self, width: int) -> nn.Module:
        """See `Adapted`."""
        return Head(width, len(self.mix.labels), self.plan.head_dropout)

    def read(self, rows: Sequence[Any]) -> list[Example]:
        """See `Network`."""
        return adapter.examples_of(rows, self.mix.inputs, self.mix.labels, self.mix.max_length)

    def loss(self, batch: Examples) -> torch.Tensor:
        """See `Network`."""
        return adapter.loss_of(adapter.said(self.body, self.head, batch), batch, self.plan.smoothing)

    def judge(self, batch: Examples) -> tuple[float, float]:
        """Right answers."""
        return judged(adapter.said(self.body, self.head, batch), batch)


def judged(logits: torch.Tensor, batch: Examples) -> tuple[float, float]:
    """Right answers and summed cross entropy of logits (B, labels)."""
    labels = torch.tensor([example.label for example in batch], device=logits.device)
    hits = int((logits.argmax(-1) == labels).sum())
    return hits, float(cross_entropy(logits.float(), labels, reduction="sum"))


class Finding(Adapted):
    """Finds where an answer begins and ends."""

    kind = "extractor"

    def made(self, width: int) -> nn.Module:
        """See `Adapted`."""
        return SpanHead(width)

    def read(self, rows: Sequence[Any]) -> list[Marked]:
        """See `Network`."""
        return [found for row in rows if (found := extractor.marked(row, self.mix.max_length))]

    def loss(self, batch: Examples) -> torch.Tensor:
        """See `Network`."""
        return extractor.loss_of(self.body, self.head, batch, self.plan.smoothing)

    def judge(self, batch: Examples) -> tuple[float, float]:
        """Answers whose likeliest first and last piece are both right."""
        logits = adapter.said(self.body, self.head, batch)
        hits, lost = 0, 0.0
        for row, example in enumerate(batch):
            ends = logits[row, example.at : example.at + example.count].T
            right = torch.tensor([example.first, example.last], device=ends.device)
            hits += bool((ends.argmax(-1) == right).all())
            lost += float(cross_entropy(ends, right))
        return hits, lost
