"""The `dynabench` command. Each sub-command lives in a module of its own, imported when it is called:
`dynabench --help` is quick and nothing imports torch before it must."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from dynabench import __version__
from dynabench.kit.distributions import explain_missing
from dynabench.kit.errors import Problem

# name -> (where its `typer.Typer` is, what `dynabench --help` says)
COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("dynabench.cli.serve:app", "Run the whole platform on this machine."),
    "web": ("dynabench.cli.processes:web_app", "Run only the web process."),
    "host": ("dynabench.cli.processes:host_app", "Run only the model host."),
    "worker": ("dynabench.cli.processes:worker_app", "Run background jobs, such as imports and evaluations."),
    "db": ("dynabench.cli.db:app", "Upgrade, check and rebuild the database."),
    "backup": ("dynabench.cli.backup:app", "Back up the whole platform to one file."),
    "restore": ("dynabench.cli.backup:restore_app", "Restore a backup into an empty home folder and database."),
    "demo": ("dynabench.cli.demo:app", "Remove the demo data."),
    "user": ("dynabench.cli.user:app", "List accounts and give people rights."),
    "task": ("dynabench.cli.task:app", "Create, list, export and clone tasks; manage roles."),
    "round": ("dynabench.cli.round:app", "Open, plan, close, release and list rounds."),
    "context": ("dynabench.cli.context:app", "Upload, list and change contexts and seeds."),
    "export": ("dynabench.cli.data:export_app", "Write a task's examples to a file."),
    "import": ("dynabench.cli.data:import_app", "Import examples, contexts or seeds."),
    "dataset": ("dynabench.cli.dataset:app", "Add and list datasets that models are scored on."),
    "board": ("dynabench.cli.board:app", "Export leaderboards; import results reported elsewhere."),
    "model": ("dynabench.cli.model:app", "Create, check, list, ask and submit models."),
    "evaluate": ("dynabench.cli.evaluate:app", "Evaluate models and predictions; list and create modules."),
    "module": ("dynabench.cli.module:app", "Write, check, publish and trust evaluation modules of a hub."),
    "measure": ("dynabench.cli.measure:app", "Measure the data quality of rounds."),
    "adversary": ("dynabench.cli.adversary:app", "Attack models with programs; perturb texts; write test suites."),
    "crowd": ("dynabench.cli.crowd:app", "Run studies on crowd platforms; list, approve and reject participants."),
    "pay": ("dynabench.cli.pay:app", "Show and set what a round pays, book earnings, export payments."),
    "class": ("dynabench.cli.school_class:app", "List, create and reset classes; export grades."),
    "team": ("dynabench.cli.team:app", "List and create teams, renew their links, export the board."),
    "competition": ("dynabench.cli.competition:app", "List, create, finish and delete competitions; export rankings."),
    "credit": ("dynabench.cli.credit:app", "List, choose and reset how releases name people; export thanks."),
    "control": ("dynabench.cli.control:app", "Add and list control items; show validators' accuracy on them."),
    "cycle": ("dynabench.cli.cycle:app", "Run a turn of the cycle: release, train, promote, open the next round."),
    "train": ("dynabench.cli.train:app", "Train a model from a recipe, or on a mix of rounds and other data."),
    "plugin": ("dynabench.cli.plugin:app", "List plug-ins and what they add."),
}


@contextmanager
def _missing_libraries(command: str) -> Iterator[None]:
    """End a command whose libraries are not installed with one line that names the installation, and exit status 1."""
    try:
        yield
    except ModuleNotFoundError as error:
        explanation = explain_missing(command, error.name or str(error), _importer(error))
        if not explanation:
            raise
        typer.echo(explanation, err=True)
        raise typer.Exit(1) from None


def _importer(error: ModuleNotFoundError) -> str:
    """The file whose import failed."""
    files = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    return next(name for name in reversed(files) if name != importlib.__file__ and not name.startswith("<frozen "))


class Lazy(TyperGroup):
    """A group whose commands are imported when they are asked for; their names and help texts are known before."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, without importing anything."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One line that stands for the command in `--help`."""
        return TyperGroup(name=cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is about to run, imported now."""
        if not args or args[0] not in COMMANDS:
            return super().resolve_command(ctx, args)
        module, _, attribute = COMMANDS[args[0]][0].partition(":")
        with _missing_libraries(args[0]):
            sub: typer.Typer = getattr(importlib.import_module(module), attribute)
        sub._add_completion = False
        command = get_command(sub)
        command.name = args[0]
        return command.name, command, args[1:]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what a service refuses is told in one line, with exit status 1."""
        try:
            with _missing_libraries(ctx._protected_args[0] if ctx._protected_args else ""):
                return super().invoke(ctx)
        except Problem as problem:
            typer.echo(f"{problem.title}: {problem.detail}", err=True)
            raise typer.Exit(1) from None
        except ValueError as error:
            # pydantic's, which the library alone comes without
            if type(error).__name__ != "ValidationError" or getattr(error, "title", "") != "Settings":
                raise
            for wrong in error.errors(include_url=False, include_input=False):  # type: ignore[attr-defined]
                name = "_".join(str(part) for part in wrong["loc"]).upper()
                typer.echo(f"DYNABENCH_{name}: {wrong['msg'].removeprefix('Value error, ')}.", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Lazy,
    help="People try to fool models, other people check the attempts.",
    no_args_is_help=True,
    add_completion=False,
)


def _version(asked_for: bool) -> None:
    if asked_for:
        typer.echo(f"dynabench {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """People try to fool models, other people check the attempts, the checked attempts become benchmarks."""


def main() -> None:
    """Run the command line; the setting for OpenMP must stand before anything imports torch."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    app()
