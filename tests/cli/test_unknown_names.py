"""Every command with names that do not exist ends in a line that says so. Built from the commands themselves."""

import importlib

import click
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dynabench.cli import COMMANDS, app
from dynabench.kit.settings import Settings, get_settings
from dynabench.operations.migrations import upgrade

RUNNING = {"serve", "web", "host", "worker"}
"""Commands that go on until they are told to stop."""
WRITING = {"backup", "db backup"}
"""Commands whose only argument is a file that they make."""
MORE = {
    "user promote": ["--admin"],
    "evaluate run": ["--metric", "accuracy"],
    "adversary run": ["--token", "NOSUCH"],
    "adversary import": ["--token", "NOSUCH"],
    "demo remove": ["--yes"],
}
"""What a command needs besides, so that it comes to the names."""
ONE_OF = {"evaluate run": ["--data", "NOSUCH"]}
"""An option of commands that need one of several."""
MESSAGES = {
    "task create": "There is no such key. (line 1)",
    "task decide": "There is no such proposal.",
    "task import-archive": "This is not a task archive",
    "round bring": "has no readable manifest.json",
    "pay set": "Some fields need attention: currency: Field required",
    "model pack": "An archive has model.yaml at its top. There is none.",
    "model ask": "'NOSUCH' is not of the form FIELD=TEXT.",
    "restore": "no backup of Dynabench",
    "train": "A recipe needs the folder of the data sets",
    "adversary import": "garak, promptfoo",
    "evaluate card push": "nosuch.jsonl cannot be read",
    "evaluate card rescore": "nosuch.jsonl cannot be read",
    "evaluate card merge": "nosuch.jsonl cannot be read",
    "module check": "the folder needs a Python file with the module",
    "class export": "There is no such class.",
    "class reset": "There is no such class.",
    "team reset": "There is no such team.",
    "competition export": "There is no such competition.",
    "competition reset": "There is no such competition.",
    "competition finish": "There is no such competition.",
}
"""What those say whose files have other contents, or whose first argument has another form."""


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
                todo += [((*words, inner), item) for inner, item in command.commands.items()]
                if not getattr(command, "invoke_without_command", False):
                    continue
            yield pytest.param(words, command, id=" ".join(words))


def made_up(parameter, folder):
    """A value of the parameter's type that names nothing."""
    kind, answer = str(parameter.type_descriptor.annotation), parameter.type_descriptor.parameter_info
    if "Path" in kind:
        if not answer.exists:
            return str(folder / "nosuch.jsonl")
        if not answer.file_okay:
            return str(folder)
        path = folder / "rows.jsonl"
        path.write_text('{"statement": "It rains.", "label": "neutral"}\n')
        return str(path)
    if "datetime" in kind:
        return "2026-12-01"
    return "1" if "int" in kind or "float" in kind else "NOSUCH"


def arguments(command, folder):
    """Return the arguments that the command needs, all unknown."""
    values = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            values += [made_up(parameter, folder)] * max(1, parameter.nargs)
        elif parameter.required:
            values += [parameter.opts[0], *([] if parameter.is_flag else [made_up(parameter, folder)])]
    return values


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A platform without any task."""
    home = tmp_path_factory.mktemp("home")
    settings = Settings(home=home)
    upgrade(settings)
    assert settings.key, "the secret is there, as after a first start"
    return home


@pytest.mark.parametrize(("words", "command"), list(leaves()))
def test_a_command_with_unknown_names_ends_in_a_line(words, command, home, tmp_path, monkeypatch):
    environment = {"HOME": home, "HUB_URL": "", "HOST_URL": f"unix:{tmp_path}/nobody.sock", "URL": "http://127.0.0.1:1"}
    for name, value in environment.items():
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    monkeypatch.chdir(tmp_path)
    name = " ".join(words)
    values = [*arguments(command, tmp_path), *ONE_OF.get(name, [])]
    get_settings.cache_clear()
    try:
        result = CliRunner().invoke(app, [*words, *values, *MORE.get(name, [])], input="")
    finally:
        get_settings.cache_clear()
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert "Traceback" not in result.output
    if not values or name in WRITING:
        assert result.exit_code == 0, result.output
        return
    assert result.exit_code == 1, result.output
    *progress, line = [item for item in (result.stderr or result.stdout).splitlines() if item.strip()]
    assert not result.stderr or all(element.endswith("%") for element in progress), result.stderr
    assert MESSAGES.get(name, "NOSUCH" if "NOSUCH" in values else values[0]) in line
