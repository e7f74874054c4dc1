"""`dynabench dataset`: what models of a task are scored on."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from sqlalchemy.orm import Session

from dynabench.cli.dataset_measure import measure
from dynabench.cli.operator import AsJson, database, say
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.datasets.stored import WrittenRows
    from dynabench.intake.rows import BadRow

app = typer.Typer(help="Add and list datasets that models are scored on, print their rows, and measure any data.")
app.command()(measure)


@app.command()
def add(
    task: str,
    name: str,
    source: Annotated[Path, typer.Argument(exists=True, help="A file, a zip, or a dataset's folder.")],
    layout: Annotated[Path | None, typer.Option(exists=True, help="YAML with the mapping of columns.")] = None,
    visibility: Annotated[
        Literal["hidden", "scoring", "public"], typer.Option(help="Visibility of the rows.")
    ] = "hidden",
    suite: Annotated[bool, typer.Option(help="The rows are a behavioural suite; tags are functionalities.")] = False,
    pool: Annotated[
        bool, typer.Option(help="The rows are a pool for training sets; no model is scored on it.")
    ] = False,
    tolerance: Annotated[
        Literal["none", "few", "any"], typer.Option(help="Accepted share of refused rows; few means 1%.")
    ] = "few",
    as_json: AsJson = False,
) -> None:
    """Create dataset NAME of TASK from SOURCE, or a new version of it. Refused rows are listed on stderr."""
    from dynabench.datasets.intake import service
    from dynabench.datasets.intake.layout import FileLayout
    from dynabench.intake import sources
    from dynabench.kit import errors
    from dynabench.rounds import service as rounds

    chosen = FileLayout.parse(layout.read_text(encoding="utf-8")) if layout else None

    def refused(bad: "list[BadRow]") -> None:
        for bad_row in bad:
            typer.echo(f"{source.name}: row {bad_row.number}: {bad_row.message}", err=True)

    kind = "pool" if pool else "suite" if suite else "rows"
    with database() as db, sources.open_path(source) as files:
        config = db.read(rounds.newest_config, task)
        written, _ = service.build_version(get_settings(), config, files, chosen, tolerance, refused, lambda _: None)
        number, reason = db.write(_store, task, name, visibility, kind, written)
    if reason:
        raise errors.Conflict(reason)
    summary = {"name": name, "version": number, "rows": written.rows, "digest": written.digest}
    say(as_json, summary, f"{name}: version {number} with {written.rows} rows, sha256:{written.digest}")


def _store(
    session: Session, task: str, name: str, visibility: str, kind: str, written: "WrittenRows"
) -> tuple[int, str]:
    """A version with these rows, of a dataset that is made if there is none: its number, and why it fails."""
    from dynabench.datasets import library
    from dynabench.datasets.schemas import DatasetSettings

    dataset = session.scalar(library.dataset_named(task, name))
    settled = DatasetSettings.model_validate({"visibility": visibility, "kind": kind})
    dataset = dataset or library.add_dataset(session, None, task, name, settled)
    version = library.publish_version(session, library.draft_version(session, None, dataset).id, written)
    return version.number, version.reason


@app.command("list")
def list_(task: Annotated[str, typer.Argument(help="The task; by default all.")] = "", as_json: AsJson = False) -> None:
    """List datasets, including hidden ones."""
    from dynabench.datasets import library
    from dynabench.rounds import service as rounds

    sought = library.DatasetFilter(task, everything=True)
    with database() as db:
        if task:
            db.read(rounds.newest_config, task)  # refuses the name of no task
        datasets = db.read(lambda s: [(d.task_id, d.name, d.visibility, v.rows if v else 0)
                                   for d, v in s.execute(library.list_datasets(sought))])  # fmt: skip
    items = [dict(zip(("task", "name", "visibility", "rows"), item, strict=True)) for item in datasets]
    say(
        as_json, {"items": items}, "\n".join(f"{t}/{n}  {v}  {r} rows" for t, n, v, r in datasets) or "No datasets yet."
    )


@app.command()
def show(task: str, name: str, as_json: AsJson = False) -> None:
    """Show a dataset with its versions and slices."""
    from dynabench.datasets import library
    from dynabench.kit import errors

    with database() as db:
        matches = db.read(lambda s: [(d.title, [(v.number, v.state, v.rows, v.digest, v.slices) for v in
                                              s.scalars(library.dataset_versions(d.id))])
                                   for d in s.scalars(library.dataset_named(task, name))])  # fmt: skip
    if not matches:
        raise errors.NotFound(f"Task {task!r} has no dataset {name!r}.")
    [(title, versions)] = matches
    names = ("number", "state", "rows", "digest", "slices")
    summary = {"name": name, "title": title, "versions": [dict(zip(names, item, strict=True)) for item in versions]}
    say(as_json, summary, "\n".join([title, *(f"version {n}: {s}, {r} rows {d}" for n, s, r, d, _ in versions)]))


@app.command()
def rows(
    task: str,
    name: str,
    form: Annotated[str, typer.Option("--format", help="jsonl, csv or parquet.")] = "jsonl",
) -> None:
    """Print the rows of a public dataset."""
    from dynabench.datasets import downloads, library
    from dynabench.datasets.tables import DatasetVersion
    from dynabench.kit import errors
    from dynabench.people.disclosure import Disclosure

    if form not in downloads.DATASET_MEDIA_TYPES:
        raise errors.Invalid({"format": f"Choose one of {', '.join(downloads.DATASET_MEDIA_TYPES)}."})

    def digest(session: Session) -> str:
        dataset = session.scalar(library.dataset_named(task, name))
        if dataset is None or not Disclosure.of(None, dataset).rows or dataset.version_id is None:
            raise errors.NotFound(f"Task {task!r} has no public dataset {name!r} with rows.")
        return session.get_one(DatasetVersion, dataset.version_id).digest

    with database() as db:
        rows_digest = db.read(digest)
    for part in downloads.dataset_file_parts(get_settings(), rows_digest, form):
        sys.stdout.buffer.write(part)
