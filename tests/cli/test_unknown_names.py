"""Every command with names that do not exist ends in a line that says so. Built from the commands themselves."""

import importlib

import click
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dynabench.cli import COMMANDS, app
from dynabench.migrations import upgrade
from dynabench.settings import Settings, get_settings

RUNNING = {"serve", "web", "host", "worker"}
"""Commands that go on until they are told to stop."""


def leaves():
    """All commands with their words: `("round", "open")`."""
    for name, (where, _) in COMMANDS.items():
        if name in RUNNING:
            continue
        module, _, attribute = where.partition(":")
        todo = [((name,), get_command(getattr(importlib.import_module(module), attribute)))]
        while todo:
            words, command = todo.pop()
            if isinstance(command, click.Group) or hasattr(command, "commands"):
                todo += [((*words, inner), each) for inner, each in command.commands.items()]
                if not getattr(command, "invoke_without_command", False):
                    continue
            yield pytest.param(words, command, id=" ".join(words))


def made_up(parameter, folder):
    """A value of the parameter's type that names nothing."""
    kind, said = str(parameter.type_descriptor.annotation), parameter.type_descriptor.parameter_info
    if "Path" in kind:
        if not said.exists:
            return str(folder / "nosuch.jsonl")
        if not said.file_okay:
            return str(folder)
        path = folder / "rows.jsonl"
        path.write_text('{"statement": "It rains.", "label": "neutral"}\n')
        return str(path)
    return "1" if "int" in kind or "float" in kind else "NOSUCH"


def arguments(command, folder):
    """What the command has to be given, all of it unknown."""
    given = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            given += [made_up(parameter, folder)] * max(1, parameter.nargs)
        elif parameter.required:
            given += [parameter.opts[0], made_up(parameter, folder)]
    return given


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A platform without any task."""
    home = tmp_path_factory.mktemp("home")
    upgrade(Settings(home=home))
    return home


@pytest.mark.parametrize(("words", "command"), list(leaves()))
def test_a_command_with_unknown_names_ends_in_a_line(words, command, home, tmp_path, monkeypatch):
    for name, value in (("HOME", str(home)), ("HUB_URL", ""), ("HOST_URL", f"unix:{tmp_path}/nobody.sock")):
        monkeypatch.setenv(f"DYNABENCH_{name}", value)
    monkeypatch.chdir(tmp_path)
    get_settings.cache_clear()
    try:
        result = CliRunner().invoke(app, [*words, *arguments(command, tmp_path)], input="")
    finally:
        get_settings.cache_clear()
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.output
