"""What `deploy/` says exists: commands, settings, import paths."""

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from dynabench.cli import COMMANDS
from dynabench.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
SETTINGS = {f"DYNABENCH_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_settings_that_are_named_exist(path):
    named = set(re.findall(r"DYNABENCH_[A-Z_]+", path.read_text()))
    assert named <= SETTINGS


def test_the_containers_run_commands_that_exist():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    commands = {name: service["command"] for name, service in services.items() if "command" in service}
    assert set(commands) == {"web", "worker", "models"}
    for command in commands.values():
        assert command[0] in COMMANDS
    for service in services.values():
        for volume in service["volumes"]:
            assert volume.split(":")[0] in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["volumes"]


def test_options_of_the_model_host_exist():
    from dynabench.cli.host import app

    shown = CliRunner().invoke(app, ["--help"]).output
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for option in (word for word in services["models"]["command"] if word.startswith("--")):
        assert option in re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_the_ray_service_names_an_application_that_is_there():
    config = yaml.safe_load((DEPLOY / "kuberay.yaml").read_text())
    application = yaml.safe_load(config["spec"]["serveConfigV2"])["applications"][0]
    module, _, name = application["import_path"].partition(":")
    source = Path(__file__).parents[2] / "src" / Path(*module.split("."))
    assert f"def {name}(" in source.with_suffix(".py").read_text()

    from dynabench.models.cluster.scale import Scale

    scale = Scale.read(application["args"]["replicas"], float(application["args"]["processors"]))
    assert (scale.least, scale.most) == (1, 8)
