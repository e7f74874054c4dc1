"""From what people call a model (a folder, a zip, a name, a hub id, an address) to its folder."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynabench.kit.distributions import PLATFORM, TORCHSERVE, install_command
from dynabench.kit.errors import Invalid, Problem
from dynabench.models import catalog, spec, starting
from dynabench.models.endpoint_protocols import Ask, protocols
from dynabench.tasks.config import TaskConfig

SECONDS = 10.0
"""For which a server is asked what it serves, all calls together."""
MODEL = re.compile(r"(.+)/v2/models/([^/]+)")
JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def folder_for_endpoint(address: str, task: TaskConfig, into: Path) -> Path:
    """A folder below `into` for the model at `https://HOST/...#MODEL`; the part after `#` where there are several.

    Raises `Invalid` when the address may not be called, speaks no protocol known here, or has several models.
    """
    kind, url, model = require_endpoint(address)
    return write_endpoint_folder(kind, url, model, task, into)


def require_endpoint(address: str) -> tuple[str, str, str]:
    """Return what `recognise_endpoint` does; raises `Invalid` with what to do where no protocol fits."""
    recognised = recognise_endpoint(address)
    if recognised is not None:
        return recognised
    titles = [str(protocol.title) for protocol in protocols().values() if protocol.list_models]
    message = f"It speaks none of these: {', '.join(titles)}."
    remedy = "Check the address; for a Hugging Face endpoint: dynabench model new NAME --kind huggingface --url ..."
    if TORCHSERVE not in protocols():
        remedy += f" For a TorchServe: {install_command(PLATFORM, TORCHSERVE)}"
    raise Invalid({"url": f"{message} {remedy}"})


def recognise_endpoint(address: str, secret: str = "", kind: str = "") -> tuple[str, str, str] | None:
    """Return the kind, the address and the name there of the model at `https://HOST/...#MODEL`; None where no protocol
    fits.

    Only the protocol `kind` is tried where it is given. `secret` is the token of the server. Raises `Invalid` when the
    address may not be called, does not answer in time, or has several models.
    """
    url, _, model_name = address.partition("#")
    url = url.rstrip("/")
    if inner := MODEL.fullmatch(url):
        url, model_name = inner[1], model_name or inner[2]
    with asking(url, secret) as ask:
        for protocol in protocols().values():
            if protocol.list_models is None or kind not in ("", protocol.kind):
                continue
            for below in protocol.below:
                names = protocol.list_models(lambda path, *more, below=below: ask(below + path, *more), model_name)
                if names is not None:
                    return protocol.kind, url + below, _chosen(url, protocol.kind, names, model_name)
    return None


@contextmanager
def asking(url: str, secret: str = "") -> Iterator[Ask]:
    """Calls by the client for addresses that users name, in `SECONDS` together.

    Raises `Invalid` where this one may not be called or does not answer in time.
    """
    from dynabench.kit import outgoing
    from dynabench.kit.settings import get_settings

    allowed = outgoing.AllowedHosts.read(get_settings().private_endpoints)
    outgoing.check_address(url, allowed, "url")
    client = outgoing.OutgoingClient(allowed, 1)
    headers = JSON | ({"Authorization": f"Bearer {secret}"} if secret else {})
    until = time.monotonic() + SECONDS

    def ask(path: str, document: Any = None) -> Any:
        body = None if document is None else json.dumps(document).encode()
        remaining = max(until - time.monotonic(), 0.001)
        try:
            reply = client.call("POST" if body else "GET", url + path, body, headers, remaining)
            return reply.json() if reply.status == 200 else None
        except outgoing.Unreached as error:
            raise Invalid({"url": error.detail}) from error
        except Problem as error:
            if time.monotonic() >= until:
                raise Invalid({"url": error.detail}) from error
            return None

    try:
        yield ask
    finally:
        client.close()


def _chosen(url: str, kind: str, names: list[str], model_name: str) -> str:
    if model_name in names or (len(names) == 1 and not model_name):
        return model_name or names[0]
    served = ", ".join(names[:20]) or "not told"
    message = (
        f"Say which model you mean: {url}#MODEL. The server speaks the protocol of kind {kind!r}; its models: {served}."
    )
    raise Invalid({"model": message})


def write_endpoint_folder(kind: str, url: str, model: str, task: TaskConfig, into: Path) -> Path:
    """Write the folder of a model at a server, below `into`."""
    name = re.sub(r"[^a-z0-9._-]+", "-", model.lower()).strip("-._")[:64] or "model"
    return starting.start(name, task, kind, into, url=url, model=model)


HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def folder_for(reference: str, task: TaskConfig, into: Path) -> Path:
    """The model's folder; zips, hub ids and addresses get one below `into`. Raises `Invalid` with what to do."""
    if reference.startswith(("http://", "https://")):
        return folder_for_endpoint(reference, task, into)
    path = Path(reference).expanduser()
    if path.is_dir():
        return _described(path, task, into)
    if path.is_file():
        return _unpacked(path, into)
    for entry in catalog.find():
        if reference in (entry.name, f"{entry.name}@{entry.version}"):
            return entry.folder
    if HUB_ID.fullmatch(reference) and not reference.startswith((".", "/")):
        from dynabench.models.starting import described

        return described.from_hub(reference, _name(reference.partition("/")[2]), task, into)
    installed = ", ".join(sorted({entry.name for entry in catalog.find()})) or "none"
    message = f"{reference!r} is no folder, zip, hub id (org/name) or address, nor a model installed here: {installed}."
    raise Invalid({"model": message})


def _described(path: Path, task: TaskConfig, into: Path) -> Path:
    """The folder, or one with a `model.yaml` made of what the transformers library saved there."""
    if (path / spec.FILE).is_file() or not (path / "config.json").is_file():
        return path
    from dynabench.models.starting import described

    return described.from_folder(path, _name(path.resolve().name), task, into)


def _name(text: str) -> str:
    """A model's name made of another site's."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:64] or "model"


def _unpacked(path: Path, into: Path) -> Path:
    if path.name == spec.FILE:
        raise Invalid({"model": f"Name the folder that holds it: {path.parent}."})
    if path.suffix.lower() != ".zip":
        raise Invalid({"model": f"{path.name} is a file; name the model's folder, or a zip of it."})
    from dynabench.models import archives

    folder = into / path.stem
    model_folder: Path | None = archives.unpack(path, folder)
    return model_folder or folder
