"""Classifiers of the transformers library as they are trained on mixes: all their weights, or adapters merged in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import encoder, runtime, spec
from dynabench.models.runtime import trains_in_bf16
from dynabench.models.training import adapter
from dynabench.models.training.descent import Examples, Network
from dynabench.models.training.learning import Settings
from dynabench.models.training.mixing import Mix
from dynabench.models.training.networks import judged
from dynabench.models.training.recipes import Adapter

WHOLE = Adapter(epochs=3, learning_rate=5e-5, batch=16)
MERGED = Adapter(epochs=4, learning_rate=5e-4, batch=16)


@dataclass(frozen=True)
class Tokens:
    """One input as the tokenizer gives it; `pieces` are its tokens."""

    given: Mapping[str, list[int]]
    label: int
    allowed: tuple[bool, ...]

    @property
    def pieces(self) -> list[int]:
        """The tokens."""
        return self.given["input_ids"]


class Sequences(Network):
    """A sequence classifier with a head for the mix's labels."""

    kind = "transformers"

    def __init__(self, mix: Mix, settings: Settings) -> None:
        if len(mix.inputs) > 2:
            raise Invalid({"method": "It reads one or two texts."})
        self.mix = mix
        self.plan = WHOLE if settings.method == "full" else MERGED
        self.processor, self.model = _loaded(mix, settings)
        if settings.method == "lora":
            from peft import LoraConfig, get_peft_model

            config = LoraConfig(
                task_type="SEQ_CLS",
                r=self.plan.rank,
                lora_alpha=self.plan.alpha,
                lora_dropout=self.plan.lora_dropout,
                target_modules="all-linear",
            )
            self.model = get_peft_model(self.model, config)

    def modules(self) -> Mapping[str, nn.Module]:
        """See `Network`."""
        return {"model": self.model}

    def read(self, rows: Sequence[Any]) -> list[Tokens]:
        """See `Network`."""
        texts = [[row.inputs[name] for row in rows] for name in self.mix.inputs]
        limit = min(self.mix.max_length, self.processor.model_max_length)
        given = self.processor(*texts, truncation=True, max_length=limit) if rows else {}
        labels = list(self.mix.labels)
        return [
            Tokens(
                {name: values[at] for name, values in given.items()},
                labels.index(row.label),
                adapter.allowed(row, labels),
            )
            for at, row in enumerate(rows)
        ]

    def _said(self, batch: Examples) -> torch.Tensor:
        device = next(self.model.parameters()).device
        padded = self.processor.pad([dict(example.given) for example in batch], return_tensors="pt")
        with torch.autocast(device.type, torch.bfloat16, enabled=trains_in_bf16(device.type)):
            logits: torch.Tensor = self.model(**{name: value.to(device) for name, value in padded.items()}).logits
        return logits.float()

    def loss(self, batch: Examples) -> torch.Tensor:
        """See `Network`."""
        return adapter.loss_of(self._said(batch), batch, self.plan.smoothing)

    def judge(self, batch: Examples) -> tuple[float, float]:
        """Right answers."""
        return judged(self._said(batch), batch)

    def save(self, folder: Path) -> dict[str, Any]:
        """See `Network`."""
        model = self.model.merge_and_unload() if hasattr(self.model, "merge_and_unload") else self.model
        model.cpu().save_pretrained(folder)
        self.processor.save_pretrained(folder)
        (folder / spec.README).unlink(missing_ok=True)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config.pop("_name_or_path", None)  # the folder that it was found in on this machine
        (folder / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return {"architecture": "text-classification"}


def _loaded(mix: Mix, settings: Settings) -> tuple[Any, Any]:
    """The tokenizer and the model of the base, with as many labels as the mix has."""
    runtime.quiet()
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    place, more = _place(settings)
    try:
        processor = AutoTokenizer.from_pretrained(place, **more)
        model = AutoModelForSequenceClassification.from_pretrained(
            place,
            id2label=dict(enumerate(mix.labels)),
            label2id={label: number for number, label in enumerate(mix.labels)},
            ignore_mismatched_sizes=True,
            use_safetensors=True,
            dtype=torch.float32,
            **more,
        )
    except Exception as error:
        raise Unavailable(f"The base {settings.base} cannot be loaded: {error}") from error
    if processor.pad_token_id is None:
        processor.pad_token = processor.eos_token
    model.config.pad_token_id = processor.pad_token_id
    return processor, model


def _place(settings: Settings) -> tuple[str, dict[str, Any]]:
    """The folder or repository, and its commit."""
    if settings.shared:
        return str(encoder.find()), {}
    folder = Path(settings.base).expanduser()
    if not (folder / spec.FILE).is_file():
        return str(folder) if folder.is_dir() else settings.base, {}
    details = spec.read(folder)
    if details.kind != "transformers" or details.options.get("gguf"):
        raise Invalid({"base": f"{details.name} is of kind {details.kind!r}, whose weights cannot be trained so."})
    hub = details.options.get("hub")
    return (hub, {"revision": details.options["revision"]}) if hub else (str(folder), {})
