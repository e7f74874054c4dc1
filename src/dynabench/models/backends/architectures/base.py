"""Common parts of all architectures: safe loading, batches by tokens, explanations."""

import copy
import json
import os
import re
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from weakref import WeakValueDictionary

import torch

from dynabench.evaluate.evaluator.predictors.base import NetworkPredictor, packed_weights
from dynabench.evaluate.networks import checkpoints
from dynabench.kit.errors import Invalid, Problem
from dynabench.models import fetched, hub, runtime
from dynabench.models.backends.transformers import TransformersOptions
from dynabench.models.protocol import Attribution, Inputs, Message, Model, ModelCard, ModelOutput
from dynabench.models.spec import Spec

CONFIG = "config.json"
SHARE = 0.5
"""Of this machine's memory for the weights of one model."""
LARGEST_JSON = 64 * 2**20
HEADER = 100 * 2**20
"""Bytes of the header of a safetensors file, as its format limits them."""
SLACK = 1_000_000
LAYERS, NUMBERS, LABELS = 1024, 2**24, 100_000
"""What a configuration may ask for: of layers, heads and the like; of anything else, as a width; of classes."""
_COUNTED = re.compile(r"layer|block|depth|expert|head|group")
_FREE = re.compile(r"theta|token_id|scal|seed|factor")
REFUSED = {
    "quantization_config": "asks for a quantised form that other packages compute; save it in fp32, bf16 or as GGUF",
    "use_pretrained_backbone": "asks for further weights of other people; save the whole model as one",
}
CODE = (
    "It asks for code of its repository (auto_map), which never runs here. Save the model as an architecture of "
    "transformers itself, or submit it as a handler archive."
)
_HALF_BITS = 4
"""Numbers in a byte of GGUF at most, at two bits each."""
_FP32, _BF16 = 4, 2


class Parts(NamedTuple):
    """A model in evaluation mode, what reads its inputs, and where it computes."""

    model: Any
    processor: Any
    device: str


@dataclass(eq=False)
class SharedModel:
    """The parts of fetched weights, for as long as any model of this process uses them, and their copy in fp32."""

    parts: Parts
    twin: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_shared: WeakValueDictionary[tuple[str, ...], SharedModel] = WeakValueDictionary()
_sharing = threading.Lock()


def load_shared(options: TransformersOptions, auto: str, processor: str) -> SharedModel:
    """Return fetched weights, which several models of a process read once; raises `Invalid`."""
    place = fetched.find_weights(options.fetched, options.sha256)
    key = (str(place), options.sha256, options.precision, auto, processor)
    with _sharing:
        shared = _shared.get(key)
        if shared is None:
            shared = _shared[key] = SharedModel(load_weights(place, options, auto, processor))
        return shared


def load_weights(folder: Path, options: TransformersOptions, auto: str, processor: str) -> Parts:
    """The model and processor of a folder or a hub's repository.

    `auto` and `processor` are classes of transformers. Raises `Invalid` for what must not or cannot be loaded,
    `Unavailable` when a hub does not answer.
    """
    place = hub.fetch(options.hub, options.revision, options.gguf) if options.hub else folder
    gguf = _inspected(place, options.gguf)
    try:
        return _loaded(place, options, auto, processor, gguf)
    except Problem:
        raise
    except Exception as error:  # what libraries raise for files that are broken is not for them to choose
        message = (str(error).strip().splitlines() or [type(error).__name__])[0].replace(str(place), "the folder")
        asks = "custom code" in message or "trust_remote_code" in message
        raise Invalid({"weights": CODE if asks else f"The model cannot be loaded: {message[:400]}"}) from error


def _loaded(place: Path, options: TransformersOptions, auto: str, processor: str, gguf: str) -> Parts:
    import torch

    at = checkpoints.ModelLocation(str(place), True)
    safe: dict[str, Any] = {"trust_remote_code": False, **({"gguf_file": gguf} if gguf else {})}
    config = checkpoints.read_pretrained(at, "AutoConfig", **safe)
    dtype = _dtype(config, options, auto, bool(gguf))
    stored = _HALF_BITS * (place / gguf).stat().st_size if gguf else sum(map(_stored, place.glob("*.safetensors")))
    attention = _fits(config, auto, stored, _BF16 if dtype == torch.bfloat16 else _FP32)
    pictures = {"backend": "pil"} if "Image" in processor or processor == "AutoProcessor" else {}
    tokenizer_arguments = {"config": config} if processor == "AutoTokenizer" else {}
    reader = checkpoints.read_pretrained(at, processor, **safe, **pictures, **tokenizer_arguments)
    how = {"dtype": dtype, "use_safetensors": True, "attn_implementation": attention}
    model = checkpoints.read_model(at, auto, config=config, **how, **safe)
    broken = [name for name, parameter in model.named_parameters() if not bool(torch.isfinite(parameter).all())]
    if broken:
        message = f"{len(broken)} weights hold values that are no numbers (NaN or infinite), {broken[0]} for one."
        raise Invalid({"weights": f"{message} Save the model again from a training step before they appeared."})
    device = checkpoints.resolve_device(None)
    return Parts(model.eval().requires_grad_(False).to(device), reader, device)


def _dtype(config: Any, options: TransformersOptions, auto: str, gguf: bool) -> Any:
    """fp32, so that an answer does not turn on who shares the batch; of models that write, whose time is spent on
    fetching weights, bf16 where the processor has it and no more was stored.
    """
    import torch

    if options.precision != "auto":
        return {"fp32": torch.float32, "bf16": torch.bfloat16}[options.precision]
    short = gguf or config.dtype in (torch.bfloat16, torch.float16)
    writes = auto in ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM")
    return torch.bfloat16 if writes and short and runtime.fast_bf16() else torch.float32


def _inspected(place: Path, gguf: str) -> str:
    """The GGUF file to load, or none; raises `Invalid` for files that must not be loaded or that are missing."""
    names = sorted(path.name for path in place.iterdir() if path.is_file())
    for name in names:
        if name.endswith(".json"):
            _refuse_wishes(name, _json(place / name))
    if "adapter_config.json" in names:
        raise Invalid({"adapter_config.json": "This is an adapter without its model: merge it and save the whole."})
    files = [name for name in names if name.endswith(".gguf")]
    if gguf or (files and not any(name.endswith(".safetensors") for name in names)):
        return _chosen(files, gguf)
    if CONFIG not in names:
        raise Invalid({CONFIG: f"The folder has no {CONFIG}; save_pretrained of transformers writes it."})
    if not any(name.endswith(".safetensors") for name in names):
        message = "There are no weights as safetensors. Convert them: model.save_pretrained(folder) writes them so."
        raise Invalid({"weights": f"{message} Pickles (.bin, .pt) may hold code and are never read."})
    return ""


def _chosen(files: list[str], gguf: str) -> str:
    if gguf in files:
        return gguf
    if gguf or len(files) != 1:
        raise Invalid({"options.gguf": f"Name one of the GGUF files: {', '.join(files) or 'there are none'}."})
    return files[0]


def _json(path: Path) -> Any:
    """Return the content of a JSON file; raises `Invalid`, with the file's name, for a file that is not JSON."""
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise Invalid({path.name: f"It has more than {LARGEST_JSON // 2**20} MiB."})
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Invalid({path.name: str(error)}) from error
    except (ValueError, RecursionError) as error:
        raise Invalid({path.name: f"This is no JSON: {error}"}) from error


def _refuse_wishes(name: str, document: Any) -> None:
    """Raise `Invalid` for what would run code, fetch more, or need a machine that nobody has."""
    for key, value in _pairs(document):
        if key in REFUSED and value:
            raise Invalid({name: f"It {REFUSED[key]}."})
        if name == CONFIG and (problem := _too_much(key, value)):
            raise Invalid({name: problem})


def _too_much(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or _FREE.search(key):
        return ""
    counted = _COUNTED.search(key) and not re.search(r"dim|size|width|chunk|length|layers_pattern", key)
    most = LABELS if key == "num_labels" else LAYERS if counted else NUMBERS
    return f"{key}: {value} is more than the {most} that a model may ask for." if abs(value) > most else ""


def _pairs(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every key with its value, however deep; the members of a list have the list's key."""
    stack = [(key, value)]
    while stack:
        name, node = stack.pop()
        yield name, node
        if isinstance(node, Mapping):
            stack += [(str(inner), member) for inner, member in node.items()]
        elif isinstance(node, list) and len(node) <= NUMBERS:
            stack += [(name, member) for member in node]


def _fits(config: Any, auto: str, stored: int, width: int) -> str:
    """The implementation of attention to use. Raises `Invalid` for a configuration that asks for more than the files
    hold, or than half the memory.

    The model is made without memory for its weights (on the device `meta`) and its parameters are counted. A
    configuration may name an attention that a hub has; so one is always named.
    """
    import torch

    make = getattr(checkpoints.transformers(), auto).from_config
    with torch.device("meta"):
        empty = make(config, trust_remote_code=False, attn_implementation="eager")
    parameter_count = sum(parameter.numel() for parameter in empty.parameters())
    if parameter_count > 2 * stored + SLACK:
        message = f"It asks for {parameter_count:,} parameters where the files hold {stored:,}"
        raise Invalid({CONFIG: f"{message}: they do not belong together. Save both with save_pretrained."})
    room = int(SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    if parameter_count * width > room:
        message = (
            f"The weights take {parameter_count * width / 2**30:.1f} GiB; a model may take {room / 2**30:.1f} GiB here"
        )
        raise Invalid({"weights": f"{message}. Choose a smaller one, precision: bf16, or a served endpoint."})
    return "sdpa" if getattr(empty, "_supports_sdpa", False) else "eager"


def _stored(path: Path) -> int:
    """Numbers in a safetensors file, by its header; raises `Invalid` when it has none."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, HEADER)))
        shapes = [entry["shape"] for name, entry in header.items() if name != "__metadata__"]
        return sum(prod(shape) for shape in shapes)
    except (OSError, struct.error, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Invalid({path.name: f"This is no safetensors file: {error}"}) from error


COPIED = 256 * 2**20
"""Parameters up to which explanations may have a copy of a model in fp32: a GiB."""


class Architecture(ABC):
    """One way of answering, with its model; `predictor` runs it, and pads."""

    auto: ClassVar[str]
    processor: ClassVar[str] = "AutoTokenizer"
    predictor: ClassVar[type[NetworkPredictor]]
    room = 4096
    """Tokens of one pass at most, padding included."""

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: Parts) -> None:
        """Raises `Invalid` for a model that does not fit the card."""
        self.card = card
        self.details = details
        self.options = options
        self.model = parts.model
        self._shared: SharedModel | None = None
        self.run: Any = self.predictor(parts.model, parts.processor, parts.device)
        self._packed = ExitStack()

    @classmethod
    def load(cls, card: ModelCard, details: Spec, options: TransformersOptions, folder: Path, bulk: bool) -> Self:
        """Load the model; raises `Invalid` or `Unavailable`. With `bulk`, weights are laid out for speed as well."""
        cls.fits(card, options)
        if options.fetched and not bulk:  # weights that are laid out for speed have no second user
            shared = load_shared(options, cls.auto, cls.processor)
            architecture = cls(card, details, options, shared.parts)
            architecture._shared = shared
            return architecture
        place = fetched.find_weights(options.fetched, options.sha256) if options.fetched else folder
        architecture = cls(card, details, options, load_weights(place, options, cls.auto, cls.processor))
        if bulk:
            architecture._packed.enter_context(packed_weights(architecture.model))
        return architecture

    @classmethod
    @abstractmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """Raise `Invalid` for a card that this way of answering cannot serve, before weights are loaded."""

    @abstractmethod
    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """Return the inputs as the model reads them, and their size in tokens; raises `Invalid`."""

    @abstractmethod
    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per encoded row, in order."""

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """Weights by a method of the architecture's own; None for the methods that need nothing but answers."""
        return None

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """Yield the model's next text in a conversation; raises `Invalid` where the model cannot converse."""
        raise Invalid({"model": "Only a causal language model with a chat template (chat: true) converses."})

    def drawn(self, model: Model, attribution: Attribution, inputs: Inputs) -> Attribution:
        """The attribution with maps over pictures, where there are any."""
        return attribution

    def close(self) -> None:
        """Free the weights."""
        self._packed.close()
        self.model = self._shared = None
        self.run.model = None
        self.__dict__.pop("twin", None)

    @cached_property
    def twin(self) -> Any:
        """The same weights in modules of their own: hooks of explanations there touch no prediction.

        Of small models in bf16, whose rounding drowns gradients, it is a copy in fp32.
        """
        self._packed.close()  # packed layers have no gradients
        if self._shared is None:
            return self._copied()
        with self._shared.lock:
            if self._shared.twin is None:
                self._shared.twin = self._copied()
            return self._shared.twin

    def _copied(self) -> Any:
        if self.model.dtype != torch.float32 and self.model.num_parameters() <= COPIED:
            # a model that was read from a GGUF file refuses its own `float`, as if it were still quantised
            return torch.nn.Module.float(copy.deepcopy(self.model))
        shared = {id(tensor): tensor for tensor in (*self.model.parameters(), *self.model.buffers())}
        return copy.deepcopy(self.model, shared).requires_grad_(False)

    def limit(self) -> int:
        """Tokens that are read at once: what the model can, at most what the folder says."""
        return min(self.run.limit() or self.details.max_length, self.details.max_length)


def portions(sizes: Sequence[int], room: int) -> list[list[int]]:
    """Numbers of rows that are computed together, of like size, with at most `room` tokens when padded."""
    groups: list[list[int]] = []
    for row in sorted(range(len(sizes)), key=lambda row: -sizes[row]):
        if groups and sizes[groups[-1][0]] * (len(groups[-1]) + 1) <= room:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def computed(rows: int, tokens: int) -> Any:
    """Held while `rows` of `tokens` each are computed: as many threads as pay, no gradients."""
    runtime.use_threads(rows * tokens)
    return torch.inference_mode()


def refuse(wrong: bool, **fields: str) -> None:
    """Raise `Invalid` with a message by field if something is wrong."""
    if wrong:
        raise Invalid(fields)
