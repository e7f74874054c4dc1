"""`dynabench model enter` and `dynabench model submit`: enter a model to be evaluated."""

import json
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson, database, say
from dynabench.kit.errors import Invalid

HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


def enter(
    name: Annotated[str, typer.Argument(help="An installed model, NAME or NAME@VERSION.")],
    task: Annotated[str, typer.Option("--task", help="The task that it is evaluated for.")],
    as_json: AsJson = False,
) -> None:
    """Enter a model that this deployment has (operators); it is evaluated on all of the task's datasets."""
    from dynabench.benchmark.registry import submissions
    from dynabench.models import catalog

    with database() as db:
        wanted, _, version = name.partition("@")
        entry = catalog.entry(wanted, version or None)
        if entry.card is None:
            raise Invalid({"model": f"{name} is broken: {entry.reason}"})
        card = entry.card
        id = db.write(lambda session: submissions.submit_installed(session, None, task, card).id)
        say(
            as_json, {"submission": id, "model": card.name, "version": card.version}, f"{card.name} is submission {id}."
        )


def submit(
    model: Annotated[
        str, typer.Argument(help="A model's folder or zip, a hub id, an address, or a file of training rows.")
    ],
    task: Annotated[str, typer.Option("--task", help="The task that it is evaluated for.")],
    server: Annotated[
        str, typer.Option(envvar="DYNABENCH_URL", help="The platform's address.")
    ] = "http://127.0.0.1:8000",
    token: Annotated[str, typer.Option(envvar="DYNABENCH_TOKEN", help="Your API token.")] = "",
    name: Annotated[str, typer.Option(help="What boards call it; by default the model's own name.")] = "",
    visibility: Annotated[str, typer.Option(help="public, anonymous or private.")] = "public",
    protocol: Annotated[
        str, typer.Option(help="Of an address: oip, huggingface, openai, or that of a plug-in.")
    ] = "oip",
    remote: Annotated[str, typer.Option("--model", help="Of an address: the model's name there.")] = "",
    prompt: Annotated[str, typer.Option(help="Of a chat model: its prompt.")] = "",
    price_in: Annotated[float, typer.Option(help="Of a chat model: what a million tokens of a prompt cost.")] = 0.0,
    price_out: Annotated[float, typer.Option(help="Of a chat model: what a million tokens of an answer cost.")] = 0.0,
    price: Annotated[float, typer.Option(help="Of an address: what a call costs.")] = 0.0,
    spend: Annotated[float, typer.Option(help="Of an address: what may be spent a day; 0 for no limit.")] = 0.0,
    secret: Annotated[str, typer.Option(envvar="DYNABENCH_ENDPOINT_TOKEN", help="Of an address: its token.")] = "",
    wait: Annotated[bool, typer.Option(help="Wait until its check has ended.")] = True,
    as_json: AsJson = False,
) -> None:
    """Send a model, or rows to train one on, to a platform, which checks and evaluates it; exit status 1 if refused."""
    from httpx2 import TransportError

    from dynabench.benchmark.registry.queries import GOING
    from dynabench.client import ApiError, Client

    said: dict[str, Any] = {"visibility": visibility}
    with TemporaryDirectory() as scratch, Client(server, token) as client:
        if model.startswith(("http://", "https://")):
            kind, called = "endpoint", remote
            said |= {"url": model, "protocol": protocol, "model": remote, "prompt": prompt, "token": secret}
            prices = {"price_in": price_in, "price_out": price_out, "price_per_call": price, "spend_per_day": spend}
            said |= {each: amount for each, amount in prices.items() if amount}
        elif Path(model).is_file() and Path(model).suffix.lower() != ".zip":
            said["file"], kind, called = model, "training_set", Path(model).name.partition(".")[0]
        elif Path(model).exists():
            said["file"], kind, called = _packed(Path(model), Path(scratch))
        elif not HUB_ID.fullmatch(model):
            typer.echo(f"There is no file or folder {model}, and a hub id looks like org/name.", err=True)
            raise typer.Exit(1)
        else:
            kind, called = "hub", model.rpartition("/")[2]
            said["hub"] = model
        try:
            made = client.submit(task, kind, name or called.lower(), **said)
            while wait and made["state"] in GOING:
                time.sleep(1)
                made = client.submission(made["id"])
        except ApiError as problem:
            typer.echo(str(problem), err=True)
            raise typer.Exit(1) from None
        except TransportError as error:
            typer.echo(f"Nothing answers at {server} ({error}). Name the platform's address with --server.", err=True)
            raise typer.Exit(1) from None
    _tell(made, as_json)


def _packed(path: Path, scratch: Path) -> tuple[str, str, str]:
    """The zip file of a model, its kind of submission and its name."""
    from dynabench.models import archives, spec

    if path.is_dir():
        path = archives.pack(path.resolve(), scratch / f"{path.resolve().name}.zip")
    details = spec.read(archives.unpack(path, scratch / "model"))
    return str(path), "archive" if details.kind == "handler" else "adapter", details.name


def _tell(made: dict[str, Any], as_json: bool) -> None:
    from dynabench.benchmark.registry.tables import SubmissionState
    from dynabench.models.checking.report import StepState

    if as_json:
        typer.echo(json.dumps(made))
    else:
        typer.echo(f"{made['name']} is submission {made['id']}: {made['state']}. {made['reason']}".rstrip())
        for step in made["report"].get("steps", []):
            if step["state"] == StepState.FAILED:
                typer.echo(f"  {step['name']}: {step['told']}\n  {step['remedy']}")
    raise typer.Exit(1 if made["state"] == SubmissionState.FAILED else 0)
