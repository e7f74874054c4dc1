"""What models of transformers have in common: loading, device, rest, and padding."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynabench.evaluate.evaluator import fingerprint
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.packed import packed
from dynabench.evaluate.networks import checkpoints
from dynabench.evaluate.networks.batches import reads

PADS = {"attention_mask": 0, "token_type_ids": 0}


class Network(Predictor):
    """A model of transformers with its tokenizer (or feature extractor), run without gradients and dropout."""

    warms_up = True

    def __init__(self, model: Any, processor: Any, device: Any = None) -> None:
        """`device` is a number (-1 for the processor), a torch device or its name; None takes a GPU if there is one."""
        self.model = model
        self.processor = processor
        self.wanted = device
        self.device = str(device_of(device) or _where(model))
        labels = getattr(model.config, "id2label", None) or {}
        self.labels = tuple(str(labels[number]) for number in sorted(labels))

    def identity(self) -> str:
        """Fingerprints of the model and its tokenizer, how much is read at once, and what else is set."""
        parts = [fingerprint.of_network(self.model), fingerprint.of_tokenizer(self.processor)]
        return "-".join([*parts, fingerprint.of_value([self.limit(), self.told()])])

    def told(self) -> Any:
        """Settings that the answers depend on."""
        return None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """On its device, in evaluation mode; a model that was in training goes back to it."""
        import torch

        training = self.model.training
        self.model.eval()
        if self.device != str(_where(self.model)):
            self.model.to(self.device)
        try:
            with torch.inference_mode(), packed(self.model):
                yield
        finally:
            self.model.train(training)

    def limit(self) -> int | None:
        """How many tokens the model reads at once."""
        return reads(checkpoints.Loaded(self.model, self.processor))

    def encoded(self, *texts: Sequence[str] | None, **options: Any) -> list[dict[str, Any]]:
        """Token ids and what else the tokenizer says, a dictionary a row; options as the tokenizer takes them."""
        limit = self.limit()
        cut = {"truncation": True, "max_length": limit} if limit else {}
        given = [column for column in texts if column is not None]
        found = self.processor(*given, **{**cut, **options}, verbose=False)
        names = [name for name in found if name != "overflow_to_sample_mapping"]
        return [dict(zip(names, row, strict=True)) for row in zip(*(found[name] for name in names), strict=True)]

    def padded(self, rows: Sequence[Mapping[str, Any]], side: str | None = None) -> dict[str, Any]:
        """Tensors (rows, longest row) of what the model reads; `side` is where the padding goes."""
        import torch

        side = side or self.processor.padding_side
        longest = max(len(row["input_ids"]) for row in rows)
        found = {}
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            if name in rows[0]:
                fill = self._pad_id() if name == "input_ids" else PADS[name]
                lists = [_extended(row[name], longest, fill, side) for row in rows]
                found[name] = torch.tensor(lists, device=self.device)
        return found

    def _pad_id(self) -> int:
        for found in (self.processor.pad_token_id, self.processor.eos_token_id):
            if found is not None:
                return int(found)
        return 0


def tokens_of(rows: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of rows, without padding."""
    return sum(len(row["input_ids"]) for row in rows)


def is_network(model: Any) -> bool:
    """Whether this is a model of transformers."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module) and hasattr(model, "config")


def is_pipeline(model: Any) -> bool:
    """Whether this is one of the pipelines of transformers itself, whose parts can be run natively."""
    return type(model).__module__.startswith("transformers.pipelines") and hasattr(model, "model")


def load_network(path: str | Path, auto: str) -> Any:
    """The model at this path (or of this name on the hub), in the precision of its file, by the auto class `auto`.

    Raises ValueError where there is none, and where weights are missing, which transformers would make up.
    """
    return checkpoints.read_model(checkpoints.place_of(str(path)), auto)


def load_processor(given: Any, model: Any, auto: str) -> Any:
    """The tokenizer or feature extractor: the given one, the one at the given path, or the one beside the model."""
    if given is not None and not isinstance(given, str | Path):
        return given
    path = given or getattr(model, "name_or_path", "") or getattr(model.config, "_name_or_path", "")
    if not path:
        raise ValueError(
            "this model does not say where its tokenizer or feature extractor is: pass it beside the model"
        )
    return checkpoints.read(checkpoints.place_of(str(path)), auto)


def device_of(device: Any) -> Any:
    """A torch device; None where none is wanted and there is no GPU."""
    import torch

    if device is None:
        return torch.device("cuda:0") if torch.cuda.is_available() else None
    if isinstance(device, int):
        return torch.device("cpu" if device < 0 else f"cuda:{device}")
    return torch.device(device)


def _where(model: Any) -> Any:
    found = next(iter(model.parameters()), None)
    return found.device if found is not None else "cpu"


def _extended(values: list[int], size: int, fill: int, side: str) -> list[int]:
    more = [fill] * (size - len(values))
    return more + values if side == "left" else values + more
