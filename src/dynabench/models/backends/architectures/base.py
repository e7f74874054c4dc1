"""Common parts of all architectures: loading, batches by tokens, explanations by gradients."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from dynabench.evaluate.evaluator.predictors.network import NetworkPredictor, packed_weights
from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.backends.architectures import weights
from dynabench.models.backends.transformers import Options
from dynabench.models.protocol import Attribution, Card, Inputs, Message, Model, Output
from dynabench.models.spec import Spec

COPIED = 256 * 2**20
"""Parameters up to which explanations may have a copy of a model in fp32: a GiB."""


class Architecture(ABC):
    """One way of answering, with its model; `predictor` runs it, and pads."""

    auto: ClassVar[str]
    processor: ClassVar[str] = "AutoTokenizer"
    predictor: ClassVar[type[NetworkPredictor]]
    room = 4096
    """Tokens of one pass at most, padding included."""

    def __init__(self, card: Card, details: Spec, options: Options, parts: weights.Parts) -> None:
        """Raises `Invalid` for a model that does not fit the card."""
        self.card = card
        self.details = details
        self.options = options
        self.model = parts.model
        self.run: Any = self.predictor(parts.model, parts.processor, parts.device)
        self._packed = ExitStack()

    @classmethod
    def load(cls, card: Card, details: Spec, options: Options, folder: Path, bulk: bool) -> Self:
        """Load the model; raises `Invalid` or `Unavailable`. With `bulk`, weights are laid out for speed as well."""
        cls.fits(card, options)
        found = cls(card, details, options, weights.load(folder, options, cls.auto, cls.processor))
        if bulk:
            found._packed.enter_context(packed_weights(found.model))
        return found

    @classmethod
    @abstractmethod
    def fits(cls, card: Card, options: Options) -> None:
        """Raise `Invalid` for a card that this way of answering cannot serve, before weights are loaded."""

    @abstractmethod
    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """Return the inputs as the model reads them, and their size in tokens; raises `Invalid`."""

    @abstractmethod
    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[Output]:
        """One output per encoded row, in order."""

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """Weights by a method of the architecture's own; None for the methods that need nothing but answers."""
        return None

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """Yield the model's next text in a conversation; raises `Invalid` where the model cannot converse."""
        raise Invalid({"model": "Only a causal language model with a chat template (chat: true) converses."})

    def drawn(self, model: Model, found: Attribution, inputs: Inputs) -> Attribution:
        """The attribution with maps over pictures, where there are any."""
        return found

    def close(self) -> None:
        """Free the weights."""
        self._packed.close()
        self.model = None
        self.run.model = None
        self.__dict__.pop("twin", None)

    @cached_property
    def twin(self) -> Any:
        """The same weights in modules of their own: hooks of explanations there touch no prediction.

        Of small models in bf16, whose rounding drowns gradients, it is a copy in fp32.
        """
        self._packed.close()  # packed layers have no gradients
        if self.model.dtype != torch.float32 and self.model.num_parameters() <= COPIED:
            # a model that was read from a GGUF file refuses its own `float`, as if it were still quantised
            return torch.nn.Module.float(copy.deepcopy(self.model))
        shared = {id(one): one for one in (*self.model.parameters(), *self.model.buffers())}
        return copy.deepcopy(self.model, shared).requires_grad_(False)

    def limit(self) -> int:
        """Tokens that are read at once: what the model can, at most what the folder says."""
        return min(self.run.limit() or self.details.max_length, self.details.max_length)


def portions(sizes: Sequence[int], room: int) -> list[list[int]]:
    """Numbers of rows that are computed together, of like size, with at most `room` tokens when padded."""
    found: list[list[int]] = []
    for row in sorted(range(len(sizes)), key=lambda row: -sizes[row]):
        if found and sizes[found[-1][0]] * (len(found[-1]) + 1) <= room:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def computed(rows: int, tokens: int) -> Any:
    """Held while `rows` of `tokens` each are computed: as many threads as pay, no gradients."""
    runtime.use_threads(rows * tokens)
    return torch.inference_mode()


def refuse(wrong: bool, **fields: str) -> None:
    """Raise `Invalid` with a message by field if something is wrong."""
    if wrong:
        raise Invalid(fields)
