"""Plug-ins: what an installed package brings is there, what it gets wrong is told, and nothing else goes."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dynabench import evaluate
from dynabench.adversaries import perturbations
from dynabench.cli.plugin import app
from dynabench.kit import hooks, plugins
from dynabench.models import kinds
from dynabench.rounds.samplers import all_samplers
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import types
from dynabench.tasks.rules import fooling_rules
from tests.plugins import distribution, on_path

PLUGIN = '''
from collections.abc import Sequence
from typing import Literal

from dynabench.adversaries.perturbations import PerText
from dynabench.kit.hooks import hookimpl
from dynabench.models.kinds import REMOVALS, Kind
from dynabench.rounds.tables import Context
from dynabench.tasks.fields import YesNo
from dynabench.tasks.rules import Differs

class Thumb(YesNo):
    """Up or down."""
    type: Literal["thumb"] = "thumb"

class Opposite(Differs):
    """Fooled when it agrees."""
    rule: Literal["opposite"] = "opposite"
    def differs(self, predicted, claimed, field):
        return not super().differs(predicted, claimed, field)

class First:
    label, help = "The first", "Always the same one."
    def pick(self, ask):
        return ask.first(order=[ask.key(Context.id)])

@hookimpl
def dynabench_fields():
    return [Thumb]

@hookimpl
def dynabench_fooling_rules():
    return [Opposite]

@hookimpl
def dynabench_samplers():
    return {"first": First()}

@hookimpl
def dynabench_model_kinds():
    return [Kind("coin", "no_such_module:Coin", REMOVALS, extra="platform")]

@hookimpl
def dynabench_evaluation_modules():
    return {"metric": {"own_accuracy": "dynabench.evaluate.metrics.classification:Accuracy"}}

@hookimpl
def dynabench_perturbations():
    return [PerText("nothing", "Nothing", lambda text, rng: [])]
'''
PLUGGED_IN = {"dynabench_clusters", "dynabench_config_dialects", "dynabench_report_readers"}
"""Hooks for what the platform has by plug-ins alone."""
HOOK = "from dynabench.kit.hooks import hookimpl\n@hookimpl\ndef {}():\n    return {}\n"


@pytest.fixture
def site(tmp_path):
    return tmp_path / "site"


def package(site, name, code):
    site.mkdir(exist_ok=True)
    (site / f"{name}.py").write_text(code)
    return name


def test_what_we_ship_comes_by_the_same_hooks():
    known_values = plugins.installed()
    callers = {
        caller.name for caller in known_values.manager.get_hookcallers(known_values.manager.get_plugin(plugins.OURS))
    }
    assert callers == set(plugins.HOOKS) - PLUGGED_IN
    assert list(types())[:5] == ["text", "choice", "spans", "yes_no", "number"]
    assert "ngram" in kinds.kinds()
    assert "differs" in fooling_rules()
    assert known_values.failures == []


def test_one_package_brings_one_of_each(site):
    with on_path(site, package(site, "thumbs", PLUGIN)):
        assert list(types())[-1] == "thumb"
        assert list(fooling_rules())[-1] == "opposite"
        assert {"coin", "torchserve"} <= set(kinds.kinds())
        assert list(perturbations.transformations())[-1] == "nothing"
        assert list(all_samplers())[-1] == "first"
        assert evaluate.load("own_accuracy").compute(predictions=[1], references=[1]) == {"accuracy": 1.0}
        config = TaskConfig.parse(
            "{id: tt, name: T, input: {name: x, type: text}, answer: {name: up, type: thumb}, fooled: {rule: opposite}}"
        )
        assert config.fooled_by({"up": True}, {"up": True})
        assert not config.fooled_by({"up": False}, {"up": True})
        assert plugins.installed().failures == []
    assert "thumb" not in types()


def test_a_name_that_is_taken_stays(site, caplog):
    claimed = HOOK.format("dynabench_fields", "[Mine]").replace(
        "@hookimpl", "from dynabench.tasks.fields import Text\nclass Mine(Text):\n    pass\n@hookimpl"
    )
    with on_path(site, package(site, "greedy", claimed)), caplog.at_level(logging.ERROR):
        ours = types()["text"]
        assert ours.__module__ == "dynabench.tasks.fields.text"
        assert plugins.installed().failures == [("greedy", "dynabench_fields: the name “text” is taken by dynabench.")]
    assert "is taken by dynabench" in caplog.text


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_package\n", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_package'"),
        ("raise SystemExit(3)\n", "cannot be loaded: SystemExit: 3"),
        (HOOK.format("dynabench_feilds", "[]"), "unknown hook 'dynabench_feilds'"),
        (
            HOOK.format("dynabench_fields", "[3]"),
            "dynabench_fields brings nothing that can be used: TypeError: 3 is no",
        ),
        (HOOK.format("dynabench_fields", "1 / 0"), "ZeroDivisionError"),
        (HOOK.format("dynabench_fooling_rules", "None"), "'NoneType' object is not iterable"),
        (HOOK.format("dynabench_evaluation_modules", "{'score': {}}"), "no kind 'score'"),
    ],
)
def test_a_broken_plug_in_is_told_and_takes_nothing_with_it(site, code, reason):
    with on_path(site, package(site, "broken", code), package(site, "thumbs", PLUGIN)):
        assert "thumb" in types()
        assert "opposite" in fooling_rules()
        assert evaluate.load("own_accuracy").name
        [failure] = plugins.installed().failures
        assert failure.plugin == "broken"
        assert reason in failure.reason


def test_two_packages_cannot_have_one_name(site):
    package(site, "thumbs", PLUGIN)
    distribution(site, "thumbs")
    other = site / "more-2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 2.0\n")
    (other / "entry_points.txt").write_text("[dynabench]\nthumbs = more\ndynabench = more\n")
    with on_path(site, "thumbs"):
        assert [failure.plugin for failure in plugins.installed().failures] == ["dynabench", "thumbs"]
        assert "thumb" in types()


def test_the_command_tells_what_is_plugged_in(site):
    with on_path(site, package(site, "broken", "import no_such_package\n"), package(site, "thumbs", PLUGIN)):
        document = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
        [thumbs] = [plugin for plugin in document["plugins"] if plugin["name"] == "thumbs"]
        assert (thumbs["name"], thumbs["package"], thumbs["version"]) == ("thumbs", "thumbs", "1.0")
        assert thumbs["brings"]["dynabench_fields"] == ["thumb"]
        assert thumbs["brings"]["dynabench_samplers"] == ["first"]
        assert [failure["plugin"] for failure in document["failures"]] == ["broken"]
        result = CliRunner().invoke(app, ["list"])
        assert "no_such_package" in result.output
        assert result.exit_code == 0


@pytest.mark.release
def test_a_package_that_pip_installed_is_found(tmp_path):
    """Built and installed by pip, found by a process of its own."""
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n"
        "[project]\nname = 'thumbs'\nversion = '1.2'\n[project.entry-points.dynabench]\nthumbs = 'thumbs'\n"
        "[tool.hatch.build.targets.wheel]\ninclude = ['thumbs.py']\n"
    )
    (source / "thumbs.py").write_text(PLUGIN)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(source)], check=True)
    code = "from dynabench.tasks.fields import types; from dynabench.kit import plugins; print(list(types())[-1]); "
    code += "print(*[each.version for each in plugins.installed().loaded() if each.name == 'thumbs'])"
    code = f"import sys; sys.path.insert(0, {str(site)!r}); {code}"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["thumb", "1.2"]


def test_every_hook_is_documented():
    page = (Path(__file__).parent.parent / "docs/reference/plugins.md").read_text()
    assert [name for name in plugins.HOOKS if f"`{name}`" not in page] == []
    assert f"[project.entry-points.{hooks.GROUP}]" in page
