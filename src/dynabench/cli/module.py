"""`dynabench module`: write, check, publish, read and trust evaluation modules in repositories of a hub."""

import json
from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer(help="Write, check, publish and trust evaluation modules of a hub.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Folder = Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The module's folder.")]
Reference = Annotated[str, typer.Argument(help="owner/name, or owner/name@commit.")]
Server = Annotated[
    str, typer.Option(help="Address of the hub, such as https://example.org/api/hub; by default HF_ENDPOINT.")
]


@app.callback()
def module() -> None:
    """Write, check, publish and trust evaluation modules of a hub."""


@app.command("new")
def new_module(
    name: Annotated[str, typer.Argument(help="The module's name, such as mean_gap.")],
    kind: Annotated[str, typer.Option(help="metric, measurement or comparison.")] = "metric",
    folder: Annotated[Path | None, typer.Option(help="Folder for the files; by default one of the name.")] = None,
) -> None:
    """Write a folder with a working module, its test and its README.md, for you to change."""
    from dynabench.cli.evaluation_module import write_module
    from dynabench.published_modules.publishing import write_folder

    try:
        written = write_folder(name, kind, folder or Path(name), write_module)
    except ValueError as error:
        _refuse(error)
    for path in written:
        typer.echo(str(path))
    typer.echo(f"Try it: dynabench module check {folder or name}", err=True)


@app.command("check")
def check_module(folder: Folder, as_json: AsJson = False) -> None:
    """Run a module's examples and properties in the sandbox; exit status 1 if one fails."""
    from dynabench.published_modules.checking import check_folder

    try:
        report = check_folder(folder)
    except ValueError as error:
        _refuse(error)
    if as_json:
        failures = [{"check": name, "failure": sentence} for name, sentence in report.failures]
        typer.echo(json.dumps({"passed": report.passed, "failures": failures}, indent=2))
    else:
        for name in report.passed:
            typer.echo(f"passed  {name}")
        for name, sentence in report.failures:
            typer.echo(f"FAILED  {name}: {sentence}")
    raise typer.Exit(1 if report.failures else 0)


@app.command("publish")
def publish_module(
    folder: Folder,
    repository: Annotated[str, typer.Argument(help="The repository, owner/name, which is made where it is missing.")],
    server: Server = "",
    message: Annotated[str, typer.Option(help="Title of the commit.")] = "Publish the module",
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a module, declare it in its README.md, and commit its files to a hub. The token is HF_TOKEN."""
    from dynabench.published_modules.checking import check_folder
    from dynabench.published_modules.publishing import declare_module, publish_files
    from dynabench.published_modules.repositories import README, parse_reference

    try:
        reference = parse_reference(repository, endpoint=server or None)
        report = check_folder(folder)
        wrong = [(name, text) for name, text in report.failures if "publish renews it" not in text]
        for name, sentence in wrong:
            typer.echo(f"FAILED  {name}: {sentence}", err=True)
        if wrong:
            raise typer.Exit(1)
        readme = declare_module(report.files.get(README, b""), report.document)
        commit = publish_files(reference, report.files | {README: readme}, message, private=private)
    except ValueError as error:
        _refuse(error)
    (folder / README).write_bytes(readme)
    if as_json:
        document = {"repository": commit.repository, "revision": commit.revision, "address": commit.address}
        typer.echo(json.dumps(document, indent=2))
        return
    typer.echo(f'load("{commit.repository}", revision="{commit.revision}")')
    typer.echo(commit.address, err=True)


@app.command("show")
def show_module(reference: Reference, server: Server = "", code: bool = True) -> None:
    """Print a module's commit, its declaration and its code, without running any of it."""
    from dynabench.published_modules.repositories import fetch_files, parse_reference, resolve_commit

    try:
        module_reference = parse_reference(reference, endpoint=server or None)
        files = fetch_files(module_reference, resolve_commit(module_reference))
        manifest = files.manifest()
    except ValueError as error:
        _refuse(error)
    typer.echo(f"{files.repository}@{files.revision}\n{manifest.kind} {manifest.name}: {manifest.card.description}")
    typer.echo(f"imports {', '.join(manifest.requires) or 'nothing but Python and this library'}")
    for path, data in files.files.items():
        typer.echo(f"\n== {path} ({len(data):,} bytes)")
        if code and path.endswith(".py"):
            typer.echo(data.decode("utf-8", "replace").translate(CONTROLS))


@app.command("trust")
def trust_module(reference: Reference, server: Server = "", as_json: AsJson = False) -> None:
    """Let the code of one commit of a module run for you; a branch is refused, since it moves."""
    from dynabench.published_modules.repositories import fetch_files, parse_reference, resolve_commit
    from dynabench.published_modules.trust import add_trust

    try:
        module_reference = parse_reference(reference, endpoint=server or None)
        commit = resolve_commit(module_reference)
        if not module_reference.pinned:
            command = f"dynabench module trust {module_reference.repository}@{commit}"
            raise ValueError(f"{module_reference.revision} is {commit} now; read that commit, then run: {command}")
        trusted = add_trust(fetch_files(module_reference, commit))
    except ValueError as error:
        _refuse(error)
    entry = {"repository": trusted.repository, "revision": trusted.revision, "digest": trusted.digest}
    typer.echo(json.dumps(entry, indent=2) if as_json else f"trusted: {trusted.repository}@{trusted.revision}")


@app.command("distrust")
def distrust_module(reference: Reference) -> None:
    """Trust a commit of a module no more, or without one none of its commits."""
    from dynabench.published_modules.trust import remove_trust

    repository, _, revision = reference.partition("@")
    try:
        count = remove_trust(repository, revision)
    except ValueError as error:
        _refuse(error)
    if not count:
        _refuse(ValueError(f"No commit of {reference} is trusted."))
    typer.echo(f"{count} commits of {repository} are trusted no more")


@app.command("list")
def list_trusted(as_json: AsJson = False) -> None:
    """List the commits whose code may run for you."""
    from dataclasses import asdict

    from dynabench.published_modules.trust import trust_file, trusted_modules

    try:
        entries = trusted_modules()
    except ValueError as error:
        _refuse(error)
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], indent=2))
        return
    for entry in entries:
        typer.echo(f"{entry.repository}@{entry.revision}  {entry.at}")
    typer.echo(f"{len(entries)} trusted in {trust_file()}", err=True)


CONTROLS = dict.fromkeys(
    (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "?"
)
"""Characters that would change what a terminal shows of code."""


def _refuse(error: ValueError) -> NoReturn:
    typer.echo(str(error), err=True)
    raise typer.Exit(1) from None
