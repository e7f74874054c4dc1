"""Predictors: the interface to the models that are evaluated, and the base classes of callables and of networks."""

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import to_numpy
from dynabench.evaluate.evaluator import running
from dynabench.evaluate.networks import checkpoints
from dynabench.evaluate.networks.checkpoints import token_limit


class PredictedBatch(NamedTuple):
    """One answer for each row, and the number of tokens read (or written, by a model that writes), where known."""

    answers: list[Any]
    tokens: int | None = None


class Predictor(ABC):
    """A model that maps rows to answers; an answer is plain data, since it may go to a checkpoint and come back."""

    labels: tuple[str, ...] = ()  # what it can answer, where that is known beforehand
    device: str | None = None
    warms_up: bool = False  # whether it may be asked once more than there are rows
    whole: bool = False  # whether it answers with `{label, score}` of every label instead of the likeliest alone

    def encode(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return all inputs in the form that `predict` takes; called once."""
        return inputs

    def sizes(self, encoded: Sequence[Any]) -> list[int] | None:
        """Return the size of each row by which batches are made, such as its tokens; None keeps the order."""
        return None

    @abstractmethod
    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return the answers to encoded rows."""

    @abstractmethod
    def identity(self) -> str:
        """Return a text that identifies the model: another identity means other answers."""

    def opened(self) -> AbstractContextManager[Any]:
        """Return a context within which `predict` is called."""
        return nullcontext()


class CallablePredictor(Predictor):
    """A callable from a list of inputs to as many outputs, or a generator of them. Its rows stay in order."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any] | None = None, name: str = "") -> None:
        """Wrap `function`; `options` are passed as keywords to each call."""
        self.function = function
        self.options = dict(options or {})
        self.name = name or _name(function)

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return the outputs as a list. Raises ValueError where the callable gives no list."""
        outputs = to_numpy(self.function(rows, **self.options))
        if isinstance(outputs, str | Mapping) or not hasattr(outputs, "__iter__"):
            raise ValueError(
                f"{self.name} gave {outputs!r} for a list of inputs; it must give a list with one answer each"
            )
        return PredictedBatch(outputs.tolist() if isinstance(outputs, np.ndarray) else list(outputs))

    def identity(self) -> str:
        """Return the qualified name: the content of a function cannot be seen from outside."""
        return self.name


class CardedPredictor(Predictor):
    """A model with `card` (name, version, inputs, answer, labels) and `predict(rows of fields) -> outputs`.

    An output has `answer`, by field, and `probabilities`, by label or text. The models of this project are such.
    """

    warms_up = True

    def __init__(self, model: Any) -> None:
        self.model = model
        self.labels = tuple(model.card.labels)

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the characters of each row."""
        return [sum(len(text) for text in _fields(row)) for row in encoded]

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return labels as `{label, score}`, answers as `{answer, score, start, end}`.

        With `whole` an answer is a list of all labels.
        """
        input_names = self.model.card.inputs
        row_texts = [_fields(row) for row in rows]
        if row_texts and len(row_texts[0]) != len(input_names):
            raise ValueError(
                f"{self.model.card.name} reads {' and '.join(input_names)}; "
                f"the evaluation gives it {len(row_texts[0])} texts"
            )
        outputs = self.model.predict([dict(zip(input_names, texts, strict=True)) for texts in row_texts])
        return PredictedBatch([_plain_answer(output, self.model.card.answer, self.whole) for output in outputs])

    def identity(self) -> str:
        """Return name and version, which is a fingerprint of the content."""
        return f"{self.model.card.name}@{self.model.card.version}"


def is_carded(model: Any) -> bool:
    """Return whether `model` has a card and `predict` as `CardedPredictor` needs them."""
    return hasattr(model, "predict") and all(
        hasattr(getattr(model, "card", None), name) for name in ("inputs", "answer")
    )


def callable_of(model: Any) -> Callable[..., Any] | None:
    """Return the callable of `model` that takes a list: the model, or its `predict` as in scikit-learn; else None."""
    if callable(model) and not inspect.isclass(model):
        function: Callable[..., Any] = model
        return function
    method = getattr(model, "predict", None)
    return method if callable(method) else None


def _fields(row: Any) -> tuple[str, ...]:
    return (row,) if isinstance(row, str) else tuple(row.values())


def _plain_answer(output: Any, name: str, whole: bool) -> Any:
    answer, chances = output.answer[name], output.probabilities or {}
    if whole and chances:
        return [{"label": label, "score": score} for label, score in chances.items()]
    if not isinstance(answer, list):
        return {"label": answer, "score": chances.get(answer)}
    if not answer:
        return {"answer": "", "score": None, "start": 0, "end": 0}
    first = answer[0]
    return {"answer": first["text"], "score": chances.get(first["text"]), "start": first["start"], "end": first["end"]}


def _name(function: Any) -> str:
    place = getattr(function, "__module__", None) or type(function).__module__
    return f"{place}.{getattr(function, '__qualname__', None) or type(function).__qualname__}"


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
        self.requested_device = device
        self.device = str(device_of(device) or _device(model))
        labels = getattr(model.config, "id2label", None) or {}
        self.labels = tuple(str(labels[number]) for number in sorted(labels))

    def identity(self) -> str:
        """Return fingerprints of the model and its tokenizer, the token limit, and the answer settings."""
        parts = [running.fingerprint_network(self.model), running.fingerprint_tokenizer(self.processor)]
        return "-".join([*parts, running.fingerprint_value([self.limit(), self.answer_settings()])])

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
