"""The protocols of servers that models lie behind: what each is called, what it needs, and how a server is recognised.

A plug-in adds protocols by the hook `dynabench_endpoint_protocols` (`dynabench.kit.hooks`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dynabench.kit import plugins
from dynabench.kit.language import _
from dynabench.models.endpoint_guesses import guess_inference_options
from dynabench.models.protocol import ModelCard

Ask = Callable[..., Any]
"""Path below the address, and a document to post if there is one, to what is answered: JSON, or None."""
GuessOptions = Callable[[Ask, str, ModelCard], dict[str, Any]]
"""Asks a server what a model there reads and returns, given its name and our card; options that map the two."""
ListModels = Callable[[Ask, str], list[str] | None]
"""Asks a server for its models, given the one that is wanted; None where it does not speak the protocol."""


@dataclass(frozen=True)
class EndpointProtocol:
    """One protocol.

    `kind` is the kind of model that speaks it, `title` what people read. `needs` are the options that a new model must
    have. `list_models` recognises a server; it is None where no answer tells. `below` are the paths to try under the
    address that a user gives. `guess_options` is None where the protocol has no metadata of models.
    """

    kind: str
    title: str
    needs: tuple[str, ...] = ("url", "model")
    list_models: ListModels | None = None
    below: tuple[str, ...] = ("",)
    guess_options: GuessOptions | None = None


def protocols() -> Mapping[str, EndpointProtocol]:
    """Return every protocol by the kind of model that speaks it: those shipped, then those of plug-ins."""
    return plugins.gather("dynabench_endpoint_protocols", _by_kind)


def _by_kind(brought: Iterable[EndpointProtocol]) -> Iterable[tuple[str, EndpointProtocol]]:
    for protocol in brought:
        if not isinstance(protocol, EndpointProtocol):
            raise TypeError(f"{protocol!r} is no EndpointProtocol")
        yield protocol.kind, protocol


def _list_inference_models(ask: Ask, model: str) -> list[str] | None:
    """List the models of an Open Inference Protocol v2 server by its repository extension."""
    if not isinstance(ask("/v2"), dict):
        return None
    index = ask("/v2/repository/index", {})
    names = [entry.get("name") for entry in index if isinstance(entry, dict)] if isinstance(index, list) else [model]
    return list(dict.fromkeys(name for name in names if name))


def _list_chat_models(ask: Ask, model: str) -> list[str] | None:
    """List the models of an OpenAI-compatible server."""
    answer = ask("/models")
    models = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(models, list):
        return None
    return [str(entry["id"]) for entry in models if isinstance(entry, dict) and "id" in entry]


SHIPPED = (
    EndpointProtocol(
        "oip",
        _("Open Inference Protocol v2 (KServe, Triton, another host)"),
        list_models=_list_inference_models,
        guess_options=guess_inference_options,
    ),
    EndpointProtocol("huggingface", _("Hugging Face inference endpoint"), ("url",)),
    EndpointProtocol("openai", _("OpenAI-compatible chat"), list_models=_list_chat_models, below=("", "/v1")),
)
"""Users often leave the last part of an OpenAI-compatible address out."""
