"""From an address to a model's folder: ask what it speaks, then write a `model.yaml` of that kind."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynabench.errors import Invalid, Problem
from dynabench.models import starting
from dynabench.tasks.config import TaskConfig

SECONDS = 10.0
MODEL = re.compile(r"(.+)/v2/models/([^/]+)")
JSON = {"Content-Type": "application/json", "Accept": "application/json"}

Ask = Callable[..., Any]
"""Path below the address, and a document to post if there is one, to what is answered: JSON, or None."""


def folder_for(address: str, task: TaskConfig, into: Path) -> Path:
    """A folder below `into` for the model at `https://HOST/...#MODEL`; the part after `#` where there are several.

    Raises `Invalid` when the address may not be called, speaks no protocol known here, or has several models.
    """
    url, _, wanted = address.partition("#")
    url = url.rstrip("/")
    if inner := MODEL.fullmatch(url):
        url, wanted = inner[1], wanted or inner[2]
    with _asking(url) as ask:
        for kind, below, names in PROTOCOLS:
            found = names(lambda path, *more, below=below: ask(below + path, *more), wanted)
            if found is not None:
                return _written(kind, url + below, _chosen(url, kind, found, wanted), task, into)
    told = "It speaks none of the Open Inference Protocol (/v2), TorchServe (/ping) and OpenAI (/models)."
    remedy = "Check the address; for a Hugging Face endpoint: dynabench model new NAME --kind huggingface --url ..."
    raise Invalid({"url": f"{told} {remedy}"})


@contextmanager
def _asking(url: str) -> Iterator[Ask]:
    """Calls by the client for addresses that users name; raises `Invalid` where this one may not be called."""
    from dynabench import outgoing
    from dynabench.settings import get_settings

    allowed = outgoing.Allowed.read(get_settings().private_endpoints)
    outgoing.checked(url, allowed, "url")
    client = outgoing.Client(allowed, 1)

    def ask(path: str, document: Any = None) -> Any:
        body = None if document is None else json.dumps(document).encode()
        try:
            reply = client.call("POST" if body else "GET", url + path, body, JSON, SECONDS)
            return reply.json() if reply.status == 200 else None
        except outgoing.Unreached as error:
            raise Invalid({"url": error.detail}) from error
        except Problem:
            return None

    try:
        yield ask
    finally:
        client.close()


def _inference(ask: Ask, wanted: str) -> list[str] | None:
    """Models of an Open Inference Protocol v2 server; the list is its repository extension's."""
    if not isinstance(ask("/v2"), dict):
        return None
    listed = ask("/v2/repository/index", {})
    names = [each.get("name") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else [wanted]
    return list(dict.fromkeys(name for name in names if name))


def _torchserve(ask: Ask, wanted: str) -> list[str] | None:
    """TorchServe's inference API says that it is well, not which models it has."""
    said = ask("/ping")
    return [wanted] * bool(wanted) if isinstance(said, dict) and "status" in said else None


def _chat(ask: Ask, wanted: str) -> list[str] | None:
    """Models of an OpenAI-compatible server."""
    said = ask("/models")
    listed = said.get("data") if isinstance(said, dict) else None
    if not isinstance(listed, list):
        return None
    return [str(each["id"]) for each in listed if isinstance(each, dict) and "id" in each]


PROTOCOLS: tuple[tuple[str, str, Callable[[Ask, str], list[str] | None]], ...] = (
    ("oip", "", _inference),
    ("torchserve", "", _torchserve),
    ("openai", "", _chat),
    ("openai", "/v1", _chat),
)
"""Kinds of model by what their servers say; the second is what users often leave out of an address."""


def _chosen(url: str, kind: str, names: list[str], wanted: str) -> str:
    if wanted in names or (len(names) == 1 and not wanted):
        return wanted or names[0]
    there = ", ".join(names[:20]) or "not told"
    told = (
        f"Say which model you mean: {url}#MODEL. The server speaks the protocol of kind {kind!r}; its models: {there}."
    )
    raise Invalid({"model": told})


def _written(kind: str, url: str, model: str, task: TaskConfig, into: Path) -> Path:
    name = re.sub(r"[^a-z0-9._-]+", "-", model.lower()).strip("-._")[:64] or "model"
    return starting.start(name, task, kind, into, url=url, model=model)
