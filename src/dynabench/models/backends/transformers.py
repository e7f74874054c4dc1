"""Models of the transformers library: a folder with `config.json` and safetensors, a GGUF file, or a hub's repository.

What a model computes decides how it answers; `architectures` has one file for each way.
"""

import re
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dynabench.kit.distributions import PLATFORM, install_command
from dynabench.kit.errors import Invalid
from dynabench.models import kinds, spec, validity
from dynabench.models.backends.base import Alone, Backend, Prepared
from dynabench.models.protocol import Attribution, Inputs, Message, ModelCard, ModelOutput

if TYPE_CHECKING:
    from dynabench.models.backends.architectures.base import Architecture

_TEXT = (*kinds.GRADIENTS, *kinds.REMOVALS)
_PIXELS = ("gradient", "integrated_gradients")
_HERE = "dynabench.models.backends.architectures"
ARCHITECTURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "text-classification": ("readers:SequenceClassifier", _TEXT),
    "question-answering": ("readers:Extractor", _TEXT),
    "token-classification": ("readers:TokenClassifier", kinds.REMOVALS),
    "text-generation": ("writers:CausalLanguageModel", _TEXT),
    "text2text-generation": ("writers:TextToText", kinds.REMOVALS),
    "image-classification": ("images:ImageClassifier", (*_PIXELS, "occlusion")),
    "visual-question-answering": ("images:VisualQuestions", (*_PIXELS, *kinds.REMOVALS)),
}
"""By the hub's name of what a model does: the class that answers so, and what it can explain."""


class TransformersOptions(BaseModel):
    """Options of a transformers model: the section `options` of `model.yaml`.

    `docs/how-to/transformers.md` explains each.
    """

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    architecture: Literal[
        "text-classification",
        "question-answering",
        "token-classification",
        "text-generation",
        "text2text-generation",
        "image-classification",
        "visual-question-answering",
    ]
    hub: str = Field("", description="Repository of the hub that holds the weights; empty for this folder.")
    revision: str = Field("", description="Its commit.")
    gguf: str = Field("", max_length=200, description="The GGUF file, where there are several.")
    fetched: str = Field("", pattern=r"^([a-z0-9][a-z0-9-]{0,39})?$", description="Weights of `dynabench model fetch`.")
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$", description="SHA-256 of the fetched weights.")
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    labels: dict[str, str] = Field({}, max_length=10_000, description="From the model's labels to the task's.")
    prompt: str = Field("", max_length=20_000, description="What a model that writes is given, with {field} in it.")
    system: str = Field("", max_length=20_000, description="The system's turn before it, in a chat.")
    chat: bool = Field(False, description="Wrap the prompt in the tokenizer's chat template.")
    answer: Literal["parse", "likelihood"] = "parse"
    normalisation: Literal["raw", "token", "byte"] = "raw"
    max_new_tokens: int = Field(64, ge=1, le=1024)
    no_answer: bool = Field(False, description="An extractive model may find that there is no answer.")

    @model_validator(mode="after")
    def _names_a_commit(self) -> "TransformersOptions":
        if self.hub and not re.fullmatch(r"[0-9a-f]{40}", self.revision):
            message = "is the commit, 40 hex digits; `dynabench model hub` writes it: a branch's content changes."
            raise ValueError(f"The revision of {self.hub} {message}")
        if self.fetched and (self.hub or self.gguf or not self.sha256):
            raise ValueError("Fetched weights need their sha256, and neither hub nor gguf.")
        if self.revision and not self.hub:
            raise ValueError("A revision needs the repository that it is one of: hub.")
        if self.answer == "likelihood" and self.architecture != "text-generation":
            raise ValueError("answer: likelihood is for text-generation; the others have probabilities or write.")
        return self

    def methods(self) -> tuple[str, ...]:
        """Return the attribution methods of this architecture, the quickest first."""
        return ARCHITECTURES[self.architecture][1]


@dataclass(frozen=True)
class TokenizedInputs:
    """Inputs and what the model reads of them; as long as their tokens."""

    inputs: Inputs
    row: Any
    size: int

    def __len__(self) -> int:
        return self.size


class TransformersModel(Alone):
    """A model of the transformers library, answering as its architecture does."""

    def __init__(self, card: ModelCard, network: "Architecture") -> None:
        super().__init__(card)
        self.room = network.room
        self._network = network
        self._explaining = threading.Lock()

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load the folder's weights, or those of its hub repository; raises `Invalid` or `Unavailable`."""
        from dynabench.models import runtime

        details, card = spec.read(folder), spec.card(folder)
        options = TransformersOptions.model_validate(details.options)
        module, _, name = ARCHITECTURES[options.architecture][0].partition(":")
        runtime.quiet()
        try:
            network = getattr(import_module(f"{_HERE}.{module}"), name)
        except ModuleNotFoundError as error:
            message = f"Models of kind 'transformers' need {error.name}: {install_command(PLATFORM, 'models')}."
            raise Invalid({"kind": message}) from error
        return cls(card, network.load(card, details, options, folder, bulk))

    def prepare(self, inputs: Inputs) -> Any:
        """The fields of the card as the model reads them; raises `Invalid` for what it cannot read."""
        card_inputs = super().prepare(inputs).inputs
        row, size = self._network.encode(card_inputs)
        return TokenizedInputs(card_inputs, row, size)

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[ModelOutput]:
        """One checked output per call, in order; raises `Broken` for what is no answer."""
        read = [prepared for _, prepared in calls]
        batch = [encoded.inputs for encoded in read]
        return validity.check_outputs(self.card, batch, self._network.answer([encoded.row for encoded in read], batch))

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """Yield the next text of a causal language model with a chat template; raises `Invalid` for others."""
        return self._network.converse(messages, max_tokens)

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Weights of words, and of places of pictures, towards `label`."""
        if method not in self.card.methods:
            raise Invalid({"method": f"One of {', '.join(self.card.methods)}."})
        card_inputs = super().prepare(inputs).inputs
        with self._explaining:
            attribution = self._network.explain(card_inputs, label, method)
        if attribution is None:
            attribution = super().attribute(card_inputs, label, method, seconds)
        return self._network.drawn(self, attribution, card_inputs)

    def close(self) -> None:
        """Free the weights."""
        self._network.close()
