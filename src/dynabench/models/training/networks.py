"""Networks that are trained on mixes: over the shared encoder, or models of the transformers library."""

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import encoder, runtime, spec
from dynabench.models.backends import pieces, spans
from dynabench.models.backends.body import Head, SpanHead
from dynabench.models.runtime import trains_in_bf16
from dynabench.models.training import adapter
from dynabench.models.training.adapter import Marked, Trained, TrainingInput
from dynabench.models.training.descent import CHUNK, Examples, Network
from dynabench.models.training.learning import LearningSettings
from dynabench.models.training.mixing import Mix
from dynabench.models.training.recipes import Adapter
from dynabench.tasks.words import word_f1

FRESH = Adapter(smoothing=0.05)
FURTHER = Adapter(smoothing=0.05, learning_rate=3e-4)
"""For adapters that have learnt already."""
ALONE = Adapter(smoothing=0.05, head_dropout=0.0)
"""For heads of adapters that stay as they are."""


class Adapted(Network):
    """An adapter and its head."""

    def __init__(self, mix: Mix, start: Path | None, frozen: bool = False) -> None:
        """`start` is the folder of a model to go on from, whose head alone is trained where the body is `frozen`."""
        self.mix = mix
        self.plan = ALONE if frozen else FURTHER if start else FRESH
        rank, alpha = _sizes(start) if start else (self.plan.rank, self.plan.alpha)
        self.plan = self.plan.model_copy(update={"rank": rank, "alpha": alpha})
        self.body = adapter.with_adapter(self.plan)
        self.head = self.new_head(self.body.config.hidden_size)
        if start:
            self._load(start)
        if frozen:
            self.body.requires_grad_(False)

    @abstractmethod
    def new_head(self, width: int) -> nn.Module:
        """An untrained head."""

    def goes_on(self, details: spec.Spec) -> bool:
        """Return whether that model of this kind has the inputs and labels of the mix."""
        return (details.inputs, details.labels) == (list(self.mix.inputs), list(self.mix.labels))

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
        if details.kind != self.kind or not self.goes_on(details):
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

    def new_head(self, width: int) -> nn.Module:
        """See `Adapted`."""
        return Head(width, len(self.mix.labels), self.plan.head_dropout)

    def read(self, rows: Sequence[Any]) -> list[TrainingInput]:
        """See `Network`."""
        return adapter.examples_of(rows, self.mix.inputs, self.mix.labels, self.mix.max_length)

    def loss(self, batch: Examples) -> torch.Tensor:
        """See `Network`."""
        return adapter.label_loss(adapter.head_outputs(self.body, self.head, batch), batch, self.plan.smoothing)

    def judge(self, batch: Examples) -> tuple[float, float]:
        """Right answers."""
        return judge_labels(adapter.head_outputs(self.body, self.head, batch), batch)

    @torch.no_grad()
    def shares(self, examples: Examples) -> NDArray[np.float64]:
        """The probability of each label, shape (n, labels); inputs of like length go together."""
        self.mode(training=False)
        order = sorted(range(len(examples)), key=lambda at: len(examples[at].pieces))
        probabilities = np.zeros((len(examples), len(self.mix.labels)))
        for start in range(0, len(order), CHUNK):
            places = order[start : start + CHUNK]
            logits = adapter.head_outputs(self.body, self.head, [examples[at] for at in places])
            probabilities[places] = logits.double().softmax(-1).cpu().numpy()
        return probabilities


def judge_labels(logits: torch.Tensor, batch: Examples) -> tuple[float, float]:
    """Right answers and summed cross entropy of logits (B, labels)."""
    labels = torch.tensor([example.label for example in batch], device=logits.device)
    hits = int((logits.argmax(-1) == labels).sum())
    return hits, float(cross_entropy(logits.float(), labels, reduction="sum"))


class SpanFinder(Adapted):
    """Finds where an answer begins and ends."""

    kind = "extractor"

    def new_head(self, width: int) -> nn.Module:
        """See `Adapted`."""
        return SpanHead(width)

    def goes_on(self, details: spec.Spec) -> bool:
        """Questions and passages are what they are, whatever a task calls them."""
        return len(details.inputs) == len(self.mix.inputs)

    def read(self, rows: Sequence[Any]) -> list[Marked]:
        """See `Network`."""
        return [window for row in rows if (window := adapter.mark_answer(row, self.mix.max_length))]

    def loss(self, batch: Examples) -> torch.Tensor:
        """See `Network`."""
        return adapter.span_loss(adapter.head_outputs(self.body, self.head, batch), batch, self.plan.smoothing)

    def judge(self, batch: Examples) -> tuple[float, float]:
        """Word F1 of the answers that are served, over the whole passage, with the nearest right ones."""
        texts = [list(example.question.inputs.values()) for example in batch]
        read = [pieces.read_passage(question, passage, self.mix.max_length) for question, passage in texts]
        logits = iter(
            adapter.head_outputs(self.body, self.head, [window for reading in read for window in reading.windows])
        )
        f1, lost = 0.0, 0.0
        for example, reading in zip(batch, read, strict=True):
            window_logits = [next(logits) for _ in reading.windows]
            ends = window_logits[example.window][example.at : example.at + example.count].T
            lost += float(cross_entropy(ends, torch.tensor([example.first, example.last], device=ends.device)))
            candidates = spans.spans(reading, [window_output.cpu().numpy() for window_output in window_logits])
            answer = spans.best(candidates).text if candidates else ""
            f1 += max(word_f1(answer, right) for right in example.question.answers)
        return f1, lost


WHOLE = Adapter(epochs=3, learning_rate=5e-5, batch=16)
MERGED = Adapter(epochs=4, learning_rate=5e-4, batch=16)


@dataclass(frozen=True)
class TokenizedInput:
    """One input as the tokenizer gives it; `pieces` are its tokens."""

    encoded: Mapping[str, list[int]]
    label: int
    allowed: tuple[bool, ...]

    @property
    def pieces(self) -> list[int]:
        """The tokens."""
        return self.encoded["input_ids"]


class Sequences(Network):
    """A sequence classifier with a head for the mix's labels."""

    kind = "transformers"

    def __init__(self, mix: Mix, settings: LearningSettings) -> None:
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

    def read(self, rows: Sequence[Any]) -> list[TokenizedInput]:
        """See `Network`."""
        texts = [[row.inputs[name] for row in rows] for name in self.mix.inputs]
        limit = min(self.mix.max_length, self.processor.model_max_length)
        encoded = self.processor(*texts, truncation=True, max_length=limit) if rows else {}
        labels = list(self.mix.labels)
        return [
            TokenizedInput(
                {name: values[at] for name, values in encoded.items()},
                labels.index(row.label),
                adapter.allowed(row, labels),
            )
            for at, row in enumerate(rows)
        ]

    def _logits(self, batch: Examples) -> torch.Tensor:
        device = next(self.model.parameters()).device
        padded = self.processor.pad([dict(example.encoded) for example in batch], return_tensors="pt")
        with torch.autocast(device.type, torch.bfloat16, enabled=trains_in_bf16(device.type)):
            logits: torch.Tensor = self.model(**{name: value.to(device) for name, value in padded.items()}).logits
        return logits.float()

    def loss(self, batch: Examples) -> torch.Tensor:
        """See `Network`."""
        return adapter.label_loss(self._logits(batch), batch, self.plan.smoothing)

    def judge(self, batch: Examples) -> tuple[float, float]:
        """Right answers."""
        return judge_labels(self._logits(batch), batch)

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


def _loaded(mix: Mix, settings: LearningSettings) -> tuple[Any, Any]:
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


def _place(settings: LearningSettings) -> tuple[str, dict[str, Any]]:
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
