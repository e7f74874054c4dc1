"""Things that `deploy/` names exist: commands, settings, import paths, programs; and its image is one that works."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from dynabench.cli import COMMANDS
from dynabench.kit.settings import Settings
from tests.packaging.dockerfile import read_stages

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
PACKAGES = {"bwrap": "bubblewrap", "wget": "wget"}
"""A program that the containers call -> the system's package that brings it."""
PROBES = {"wget"}
"""What KubeRay calls in Ray's containers to see that they live."""
BASE = {"python", "sh"}
"""Programs of the base image."""
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
    from dynabench.cli.processes import host_app

    view = CliRunner().invoke(host_app, ["--help"]).output
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for option in (word for word in services["models"]["command"] if word.startswith("--")):
        assert option in re.sub(r"\x1b\[[0-9;]*m", "", view)


def test_the_ray_service_names_an_application_that_is_there():
    config = yaml.safe_load((DEPLOY / "kuberay.yaml").read_text())
    application = yaml.safe_load(config["spec"]["serveConfigV2"])["applications"][0]
    module, _, name = application["import_path"].partition(":")
    source = Path(__file__).parents[2] / "plugins" / "ray" / "src" / Path(*module.split("."))
    assert f"def {name}(" in source.with_suffix(".py").read_text()

    from dynabench_ray.scale import Scale

    scale = Scale.read(application["args"]["replicas"], float(application["args"]["processors"]))
    assert (scale.least, scale.most) == (1, 8)


def test_containers_that_share_files_mount_the_same_volume():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    ours = {name: service["volumes"] for name, service in services.items() if service["image"] == "dynabench"}
    assert set(ours) == {"web", "worker", "models"}
    home = re.search(r"DYNABENCH_HOME=(\S+)", (DEPLOY / "Dockerfile").read_text())[1]
    for volumes in ours.values():
        assert volumes == [f"state:{home}"]


def test_every_program_that_is_called_in_the_image_is_installed_by_its_lines():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    ours = [service for service in services if service["image"] == "dynabench"]
    called = {service["healthcheck"]["test"][1] for service in ours if "healthcheck" in service}
    final = read_stages(DEPLOY / "Dockerfile")[-1]
    called |= PROBES | {"bwrap"} | {re.findall(r'"([^"]+)"', text)[0] for text in final.texts("ENTRYPOINT")}
    for program in called - BASE - {"dynabench"}:
        assert PACKAGES[program] in final.packages(), program


def test_the_image_installs_torch_with_what_it_needs():
    lines = [text for text in read_stages(DEPLOY / "Dockerfile")[-1].texts("RUN") if "pip install" in text]
    first = next(line for line in lines if "torch" in line or "run.txt" in line)
    assert "torch==" in first
    assert "--no-deps" not in first


@pytest.mark.release
@pytest.mark.timeout(1200)
def test_the_image_s_own_lines_make_an_environment_that_imports(image):
    modules = "torch, dynabench.site.app, dynabench_ray.application, ray.serve"
    subprocess.run([image.programs / "python", "-I", "-c", f"import {modules}"], check=True, timeout=300)


@pytest.mark.release
@pytest.mark.timeout(1200)
def test_the_image_has_every_shipped_model(image):
    outcome = subprocess.run(
        [image.programs / "dynabench", "model", "list", "--json"],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "sentiment-minilm" in outcome.stdout
