"""Three distributions are built from this repository; messages and documentation name these and no other."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from dynabench import __version__
from dynabench.cli import COMMANDS
from dynabench.distributions import EXTRAS, LIBRARY, PLATFORM, WEIGHTS, explain_missing, install_command
from scripts.lock import closure

ROOT = Path(__file__).parents[2]
PROJECTS = {
    LIBRARY: ROOT / "pyproject.toml",
    PLATFORM: ROOT / "distributions/platform/pyproject.toml",
    WEIGHTS: ROOT / "distributions/weights/pyproject.toml",
}
DEVELOPMENT = {"docs", "samples", "test"}
"""Extras for work on the checkout, which no message names."""


def project(name):
    return tomllib.loads(PROJECTS[name].read_text(encoding="utf-8"))


def texts():
    """Every file that people read or whose messages they read, with its text."""
    listed = [
        "git",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "README.md",
        "docs",
        "src",
        "deploy",
        "scripts",
    ]
    for line in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith((".md", ".py", ".html", ".yaml", ".po", "Dockerfile")):
            yield line, (ROOT / line).read_text(encoding="utf-8")


def named(text):
    """What `pip install` is asked for in a text under a name of ours or one that looks like it: name, extras."""
    for command in re.findall(r"pip3? install ([^\n`]*)", text):
        yield from re.findall(r"(?<![\w./-])(dynabench[\w-]*)(?:\[([^\]]*)\])?", command.partition("#")[0])


def test_the_pattern_sees_what_is_wrong():
    wrong = (
        "pip install dynabench  # x\n`pip install 'dynabench[metrics]'` and pip install --quiet ./dynabench-duration"
    )
    assert list(named(wrong)) == [("dynabench", ""), ("dynabench", "metrics")]


def test_every_installation_that_is_named_brings_a_distribution_of_ours_with_extras_that_it_has():
    wrong = [
        (path, name, extras)
        for path, text in texts()
        for name, extras in named(text)
        if name not in EXTRAS or (extras and not {*re.split(r", ?", extras)} <= {*EXTRAS[name], "$EXTRAS"})
    ]
    assert wrong == []


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_has_the_name_and_the_extras_of_the_constants(name):
    about = project(name)["project"]
    assert about["name"] == name
    assert set(about.get("optional-dependencies", {})) - DEVELOPMENT == EXTRAS[name]


def test_the_platform_asks_for_the_library_and_the_weights_of_its_own_version():
    about = project(PLATFORM)["project"]
    wanted = [*about["dependencies"], *about["optional-dependencies"]["models"]]
    ours = [text for text in wanted if text.startswith("dynabench")]
    assert ours == [f"{LIBRARY}[metrics]=={__version__}", f"{WEIGHTS}=={__version__}"]


def test_the_platform_leaves_out_what_the_library_and_the_weights_have():
    def wheel(name):
        return project(name)["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert set(wheel(PLATFORM)["exclude"]) == {*wheel(LIBRARY)["only-include"], *wheel(WEIGHTS)["only-include"]}


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    """How `dynabench` is called where this checkout and the library's own requirements are, and nothing else."""
    site = tmp_path_factory.mktemp("site")
    for name in closure(project(LIBRARY)["project"]["dependencies"]):
        known = distribution(name)
        for top in {file.parts[0] for file in known.files if file.parts[0] not in {"..", "__pycache__"}}:
            (site / top).symlink_to(known.locate_file(top))
    paths = [str(ROOT / "src"), str(site)]
    code = f"import sys; sys.path[:0] = {paths!r}; from dynabench.cli import main; main()"

    def call(*arguments):
        run = [sys.executable, "-I", "-S", "-c", code, *arguments]
        return subprocess.run(run, capture_output=True, text=True, cwd=site, timeout=60)

    return call


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "evaluate"])
def test_a_command_that_lacks_libraries_says_so_in_one_line(command, light):
    done = light(command, "list")
    assert "Traceback" not in done.stderr
    if "needs the platform" in done.stderr:
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert install_command(PLATFORM, "models") in done.stderr
    else:
        assert command not in {"serve", "web", "worker", "db", "user", "task", "round"}


def test_the_library_s_command_works_where_the_platform_s_libraries_are_missing(light):
    done = light("evaluate", "show", "f1")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_extra_is_named_where_it_is_what_is_missing():
    assert (
        explain_missing("train", "torch.nn")
        == "`dynabench train` needs torch: pip install 'dynabench-platform[models]'"
    )
    assert explain_missing("host", "ray") == "`dynabench host` needs ray: pip install 'dynabench-platform[ray]'"


def test_a_wrong_import_of_ours_in_a_whole_installation_is_no_missing_library():
    assert explain_missing("serve", "dynabench.no_such_module") == ""


@pytest.mark.slow
def test_every_file_of_the_package_is_in_exactly_one_wheel(wheels):
    owners = {}
    for path in wheels.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if ".dist-info/" not in name:
                    owners.setdefault(name, []).append(path.name.partition("-")[0])
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.removeprefix("src/") for line in listed.splitlines()} - set(owners) == set()
    assert [name for name, found in owners.items() if len(found) > 1] == []
    assert {"dynabench/web/static/vendor/htmx.js", "dynabench/web/static/vendor/vega.js"} <= set(owners)
    assert not [name for name in owners if "node_modules" in name]
    assert owners["dynabench/__init__.py"] == ["dynabench_eval"]
    assert {tuple(found) for name, found in owners.items() if "/models/builtin/" in name} == {("dynabench_weights",)}


@pytest.mark.slow
def test_the_library_is_small(wheels):
    assert next(wheels.glob("dynabench_eval-*.whl")).stat().st_size < 600_000


def test_an_editable_installation_has_the_whole_checkout_and_the_command(tmp_path):
    build = "import hatchling.build as build, sys; print(build.build_editable(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=ROOT, check=True, timeout=300)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    paths = [text.split() for name, text in texts.items() if name.endswith(".pth")]
    assert paths == [[str(ROOT / "src")]]
    assert any("dynabench = dynabench.cli:main" in text for name, text in texts.items() if "entry_points" in name)
