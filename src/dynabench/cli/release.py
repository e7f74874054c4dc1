"""`dynabench round release`, `push` and `bring`: rounds as datasets that never change."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, bar, database, say
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.benchmark.releases.division import ReleaseReport

app = typer.Typer()
Number = Annotated[int, typer.Option("--round", min=1, help="Number of the round.")]


@app.command("release")
def release(
    task: str,
    number: Number,
    preview: Annotated[bool, typer.Option("--preview", help="Only print a preview.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Release in spite of warnings.")] = False,
    rules: Annotated[
        str, typer.Option(help="Changes to the task's rules, in JSON: train, dev, test, hidden, disjoint, seed...")
    ] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Also copy the files to this folder.")] = None,
    to: Annotated[str, typer.Option(help="Also push to this address; see `push`.")] = "",
    as_json: AsJson = False,
) -> None:
    """Release a closed round of TASK permanently: split its examples, write the files, score every model on them.

    If the round is already released, its files are copied.
    """
    from dynabench.benchmark.releases import planning, release_steps, service
    from dynabench.benchmark.releases.manifest import upload_release as push_to
    from dynabench.benchmark.releases.tables import ReleaseState

    settings = get_settings()
    with database() as db:
        released = db.read(service.release_of_round, task, number)
        if released is None or released.state != ReleaseState.READY:
            chosen = db.read(service.release_rules, task, number, _rules(rules))
            plan = planning.plan_release(db, settings, task, number, chosen)
            _tell(plan.report, as_json and not preview)
            if preview:
                say(as_json, {"rules": chosen.model_dump(mode="json"), "report": plan.report.model_dump()}, "")
                return
            begun = db.write(lambda session: service.prepare_release(session, None, task, number, chosen, anyway).id)
            released = release_steps.make_release(db, settings, begun)
        folder = service.release_folder(settings, released.id)
        if output is not None:
            push_to(settings, folder, output.absolute().as_uri())
        place = _push(settings, folder, to, "", as_json) if to else ""
    summary = {"task": task, "round": number, "digest": released.digest, "folder": str(folder), "pushed": place or None}
    say(
        as_json,
        summary,
        f"Round {number} of {task} is released: sha256 {released.digest}\n{folder}{f' and {place}' * bool(place)}",
    )


@app.command("push")
def push(
    task: str,
    number: Number,
    to: Annotated[
        str, typer.Option(help="hf://datasets/OWNER/NAME, or an address of fsspec: file:///..., s3://..., memory://...")
    ],
    token: Annotated[str, typer.Option(envvar="HF_TOKEN", help="Token of the hub.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """Publish the released round of TASK on a hub or another store."""
    from dynabench.benchmark.releases import service
    from dynabench.benchmark.releases.tables import ReleaseState
    from dynabench.kit import errors

    settings = get_settings()
    with database() as db:
        released = db.read(service.release_of_round, task, number)
        if released is None or released.state != ReleaseState.READY:
            raise errors.Conflict(f"Round {number} of {task} is not released.")
        place = _push(settings, service.release_folder(settings, released.id), to, token, as_json)
    say(as_json, {"pushed": place, "digest": released.digest}, f"Round {number} of {task} is at {place}.")


@app.command("bring")
def bring(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The folder of a release.")],
    id: Annotated[str, typer.Option("--id", help="Id of the new task.")],
    owner: Annotated[str, typer.Option(help="Username of its owner.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a task with its released round from the files of a release, which are checked first."""
    import tempfile

    from dynabench.benchmark.releases import release_reading
    from dynabench.datasets.archives import service as direct

    with database() as db, tempfile.TemporaryDirectory(prefix="dynabench-") as place:
        archive = Path(place) / "archive.zip"
        source_release = release_reading.to_archive(folder, archive)
        imported = direct.import_archive(db, get_settings(), archive, id, owner)
    rows = imported.manifest.rows | {"refused": len(imported.refused)}
    text = f"The task {id} has round {source_release.round} of {source_release.task} with {rows['examples']} examples."
    say(as_json, {"task": id, "digest": source_release.digest, "rows": rows}, text)


def _rules(text: str) -> dict[str, Any]:
    from dynabench.kit import errors

    try:
        changes = json.loads(text or "{}")
    except ValueError:
        raise errors.Invalid({"rules": "This is not valid JSON."}) from None
    if not isinstance(changes, dict):
        raise errors.Invalid({"rules": 'Give an object such as {"seed": 1}.'})
    return changes


def _push(settings: Any, folder: Path, to: str, token: str, as_json: bool) -> str:
    from dynabench.benchmark.releases.manifest import upload_release as push_to

    with bar(f"To {to}", as_json) as progress:
        return push_to(settings, folder, to, token, progress)


def _tell(report: "ReleaseReport", quiet: bool) -> None:
    """The parts and the findings, on standard error."""
    if quiet:
        return
    for part, count in sorted(report.parts.items()):
        typer.echo(f"{part}: {count} examples of {report.writers.get(part, 0)} writers", err=True)
    for item in report.findings:
        typer.echo(f"{item.level}: {item.text}", err=True)
