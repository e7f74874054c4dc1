"""From an address to a model's folder: ask what it speaks, then write a `model.yaml` of that kind."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynabench.kit.distributions import PLATFORM, TORCHSERVE, install_command
from dynabench.kit.errors import Invalid, Problem
from dynabench.models import starting
from dynabench.models.endpoint_protocols import Ask, protocols
from dynabench.tasks.config import TaskConfig

SECONDS = 10.0
MODEL = re.compile(r"(.+)/v2/models/([^/]+)")
JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def folder_for(address: str, task: TaskConfig, into: Path) -> Path:
    """A folder below `into` for the model at `https://HOST/...#MODEL`; the part after `#` where there are several.

    Raises `Invalid` when the address may not be called, speaks no protocol known here, or has several models.
    """
    url, _, wanted = address.partition("#")
    url = url.rstrip("/")
    if inner := MODEL.fullmatch(url):
        url, wanted = inner[1], wanted or inner[2]
    with _asking(url) as ask:
        for protocol in protocols().values():
            if protocol.list_models is None:
                continue
            for below in protocol.below:
                names = protocol.list_models(lambda path, *more, below=below: ask(below + path, *more), wanted)
                if names is not None:
                    model = _chosen(url, protocol.kind, names, wanted)
                    return _written(protocol.kind, url + below, model, task, into)
    titles = [str(protocol.title) for protocol in protocols().values() if protocol.list_models]
    told = f"It speaks none of these: {', '.join(titles)}."
    remedy = "Check the address; for a Hugging Face endpoint: dynabench model new NAME --kind huggingface --url ..."
    if TORCHSERVE not in protocols():
        remedy += f" For a TorchServe: {install_command(PLATFORM, TORCHSERVE)}"
    raise Invalid({"url": f"{told} {remedy}"})


@contextmanager
def _asking(url: str) -> Iterator[Ask]:
    """Calls by the client for addresses that users name; raises `Invalid` where this one may not be called."""
    from dynabench.kit import outgoing
    from dynabench.kit.settings import get_settings

    allowed = outgoing.AllowedHosts.read(get_settings().private_endpoints)
    outgoing.check_address(url, allowed, "url")
    client = outgoing.OutgoingClient(allowed, 1)

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
