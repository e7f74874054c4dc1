"""The interface of every model to the platform: inputs in, outputs out, and a card.

Backends implement `Model`; the host serves them; the worker uses them in process. Inputs and answers are
dictionaries keyed by the task config's field names.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Inputs = Mapping[str, Any]
"""By field name: texts, and pictures as `data:image/png;base64,...` (or jpeg, webp)."""

Message = Mapping[str, str]
"""One message of a conversation: `role`, one of `ROLES`, and `content`."""

ROLES = ("system", "user", "assistant")

LARGEST = 8 * 2**20
"""Characters of a picture as `data:` text that a model is given at most."""

EXPLAIN_SECONDS = 10.0
"""Seconds that an explanation may take before annotators go on without it."""

Returns = Literal["label", "spans", "tags", "text", "pictures"]
"""What an answer is: one of the labels; spans of the last input; spans with labels, `{start, end, text, label}`; text
that the model wrote; or a list of pictures that it drew, each as `data:` text."""


@dataclass(frozen=True)
class ModelCard:
    """The facts that a model states about itself.

    `version` is the first 16 hex digits of its content's SHA-256. `images` are the inputs that are pictures,
    `seconds` the time that an answer may take (None: as long as the deployment says), `inside` whether
    inputs stay within the platform, `encoder` the SHA-256 of the shared encoder's files where the model
    reads by it.
    """

    name: str
    version: str
    task: str
    kind: str
    inputs: tuple[str, ...]
    answer: str
    labels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    licence: str = ""
    size_bytes: int = 0
    methods: tuple[str, ...] = ()
    summary: str = ""
    returns: Returns = "label"
    images: tuple[str, ...] = ()
    seconds: float | None = None
    inside: bool = True
    encoder: str = ""


SPAN_PARTS = ("start", "end")
"""What of an extracted answer is explained: where it begins, or where it ends."""


def as_text(value: Any) -> str:
    """An input as it travels to a model: a text as it is, anything else as JSON, nothing as an empty text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def explained(card: ModelCard) -> tuple[str, ...]:
    """Return what a model can be asked to explain: its labels, the parts of an extracted answer, or its text."""
    if card.returns == "spans":
        return SPAN_PARTS
    return card.labels if card.returns == "label" else (card.answer,)


CLOSER = {"gradient": ("layer_integrated_gradients", "integrated_gradients"), "occlusion": ("shapley",)}
"""Slower methods that explain an answer more exactly than a quick one, the best first."""


def closer(card: ModelCard, method: str) -> str:
    """The method by which the model explains an answer more exactly than by `method`; empty where it has none."""
    return next((name for name in CLOSER.get(method, ()) if name in card.methods), "")


@dataclass(frozen=True)
class ModelOutput:
    """One answer: `answer` maps answer fields to values, `probabilities` maps each label to its probability.

    An extracted answer is a list of `{start, end, text}`; its `probabilities` are those of the likeliest texts.
    `extras` are values of JSON that a backend adds: `members` (an ensemble's answers by member), `generated` (what a
    language model wrote), `tokens`, `cost`.
    """

    answer: dict[str, Any]
    probabilities: dict[str, float] | None = None
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WordWeight:
    """One word of an input field and how much it spoke for the explained label; offsets are in characters."""

    text: str
    start: int
    end: int
    weight: float


@dataclass(frozen=True)
class Attribution:
    """Weights of all words of all input fields towards `label`, scaled so that the largest magnitude is 1.

    `completeness_error` is |sum of raw attributions - (F(input) - F(baseline))| / |F(input) - F(baseline)|,
    None for methods that do not claim completeness. `cut_short` says that time ran out: this is the best so far.
    `maps` holds, for inputs that are pictures, rows x columns of weights in [-1, 1] from the picture's top left, each
    map scaled by itself.
    """

    method: str
    label: str
    fields: dict[str, list[WordWeight]]
    completeness_error: float | None = None
    cut_short: bool = False
    maps: dict[str, list[list[float]]] = field(default_factory=dict, kw_only=True)


@runtime_checkable
class Model(Protocol):
    """A batch of inputs in, a batch of outputs out."""

    card: ModelCard

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        ...


@runtime_checkable
class Attributable(Model, Protocol):
    """A model that can say which words it looked at."""

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Weights for one input; `method` is one of `card.methods`."""
        ...


@runtime_checkable
class Conversing(Protocol):
    """A language model that takes part in a conversation."""

    card: ModelCard
    lane: str

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """Yield the text that the model writes after the messages, piece by piece, `max_tokens` tokens at most.

        Raises `Unavailable`, also in the middle, and `Invalid` for a conversation that is too long for the
        model.
        """
        ...
