"""Three distributions are built from this repository; messages and documentation name these and no other."""

import os
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
from dynabench.kit.distributions import EXTRAS, LIBRARY, PLATFORM, PLUGINS, WEIGHTS, explain_missing, install_command
from scripts.lock import closure
from tests.packaging.conftest import Environment

ROOT = Path(__file__).parents[2]
PROJECTS = {
    LIBRARY: ROOT / "pyproject.toml",
    PLATFORM: ROOT / "distributions/platform/pyproject.toml",
    WEIGHTS: ROOT / "distributions/weights/pyproject.toml",
    **{name: ROOT / "plugins" / extra / "pyproject.toml" for extra, name in PLUGINS.items()},
}
READ = ("*.md", "*.toml", "Makefile", "docs", "src", "deploy", "scripts", "distributions", "plugins", ".ci")
ENDINGS = (".md", ".py", ".html", ".yaml", ".yml", ".po", ".toml", ".sh", "Dockerfile", "Makefile", ".ci/run")
ABOUT = ("README.md", "pyproject.toml")
DEVELOPMENT = {"docs", "samples", "test"}
"""Extras for work on the checkout, which no message names."""


def project(name):
    return tomllib.loads(PROJECTS[name].read_text(encoding="utf-8"))


def texts():
    """Every file that people read or whose messages they read, with its text."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *READ]
    for line in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(ENDINGS) and not (ROOT / line).is_symlink():
            yield line, (ROOT / line).read_text(encoding="utf-8")


def test_the_texts_that_are_read_are_all_that_people_meet():
    read = {path for path, _ in texts()}
    assert {f"distributions/{name}/{file}" for name in ("platform", "weights") for file in ABOUT} <= read
    assert {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Makefile", "pyproject.toml"} <= read
    assert {"distributions/weights/LICENCES.md", "deploy/Dockerfile", ".ci/run", "docs/how-to/evaluate.md"} <= read


def named(text):
    """Yield name and extras of each `pip install` of a package of ours, or one with a similar name, in a text."""
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
    expected = [*about["dependencies"], *about["optional-dependencies"]["models"]]
    ours = [text for text in expected if text.startswith("dynabench")]
    assert ours == [f"{LIBRARY}[metrics]=={__version__}", f"{WEIGHTS}=={__version__}"]


def test_each_plug_in_is_what_the_extra_of_its_folder_s_name_brings_and_the_platform_finds_it():
    extras = project(PLATFORM)["project"]["optional-dependencies"]
    assert sorted(PLUGINS) == sorted(path.name for path in (ROOT / "plugins").iterdir())
    for extra, name in PLUGINS.items():
        assert extras[extra] == [f"{name}=={__version__}"]
        package = name.replace("-", "_")
        assert list(project(name)["project"]["entry-points"]) == ["dynabench"]
        assert project(name)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [f"src/{package}"]
        assert distribution(name).version == __version__


@pytest.mark.release
def test_the_wheel_of_each_plug_in_has_all_its_files(tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*pip, *(str(ROOT / "plugins" / extra) for extra in PLUGINS)], check=True)
    for extra, name in PLUGINS.items():
        listed = ["git", "ls-files", "src"]
        files = subprocess.run(listed, cwd=ROOT / "plugins" / extra, capture_output=True, text=True, check=True).stdout
        [path] = tmp_path.glob(f"{name.replace('-', '_')}-{__version__}-*.whl")
        with zipfile.ZipFile(path) as archive:
            assert {line.removeprefix("src/") for line in files.splitlines()} <= set(archive.namelist())
            assert any(file.endswith("licenses/LICENSE") for file in archive.namelist())


def wheel(name):
    return project(name)["tool"]["hatch"]["build"]["targets"]["wheel"]


def test_the_platform_leaves_out_what_the_library_and_the_weights_have():
    assert set(wheel(PLATFORM)["exclude"]) == {*wheel(LIBRARY)["only-include"], *wheel(WEIGHTS)["only-include"]}


def test_no_distribution_has_the_experiments():
    paths = [*wheel(LIBRARY)["only-include"], *wheel(WEIGHTS)["only-include"], *wheel(PLATFORM)["packages"]]
    assert all(path == "src/dynabench" or path.startswith("src/dynabench/") for path in paths)
    assert not list((ROOT / "src").rglob("simulation"))


def install(site, requirements, package):
    """Fill a folder with links to the requirements and all that they need, and to files of this package."""
    for name in closure(requirements):
        known_values = distribution(name)
        for top in {file.parts[0] for file in known_values.files if file.parts[0] not in {"..", "__pycache__"}}:
            if not (site / top).is_symlink():
                (site / top).symlink_to(known_values.locate_file(top))
    for path in package:
        present = site / path.relative_to(ROOT / "src")
        present.parent.mkdir(parents=True, exist_ok=True)
        present.symlink_to(path)


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    """Return the command of `dynabench` in an environment of the library and its own requirements alone."""
    site, about = tmp_path_factory.mktemp("site"), project(LIBRARY)
    owned = about["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    install(site, about["project"]["dependencies"], [ROOT / path for path in owned])
    once = f"import sys; sys.path.insert(0, {str(site)!r}); from dynabench.cli import main"
    loop = """
for command in sys.argv[1:]:
    sys.argv[1:] = [command, "list"]
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""

    def call(*arguments, separately=False):
        run = [sys.executable, "-I", "-S", "-c", once + (loop if separately else "; main()"), *arguments]
        return subprocess.run(run, capture_output=True, text=True, cwd=site, timeout=60)

    return call


@pytest.fixture(scope="module")
def without_models(tmp_path_factory):
    """An environment's Python where the platform is without its extra `models`, so without weights and torch."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("environment")
    expected = [text for name in (LIBRARY, PLATFORM) for text in project(name)["project"]["dependencies"]]
    package, models = ROOT / "src/dynabench", ROOT / "src/dynabench/models"
    own = {*package.iterdir(), *models.iterdir()} - {models, models / "builtin"}
    install(site, [*expected, *project(LIBRARY)["project"]["optional-dependencies"]["metrics"]], own)
    environment = Environment(folder)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "site.pth").write_text(f"{site}\n")
    (folder / "rows.csv").write_text("text,label\nA film.,1\n")

    def call(*arguments):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DYNABENCH"))}
        run = [environment.programs / "python", *arguments]
        env["DYNABENCH_HOME"] = str(folder / "home")
        return subprocess.run(run, capture_output=True, text=True, cwd=folder, env=env, timeout=120)

    return call


def test_a_command_of_the_platform_says_so_in_one_line_where_the_library_is_alone(light):
    """The first one in a process of its own, the others in one process together."""
    commands = [command for command in COMMANDS if command != "evaluate"]
    lines = [f"`dynabench {name}` needs the platform: {install_command(PLATFORM, 'models')}\n" for name in commands]
    done = light(commands[0], "list")
    assert (done.returncode, done.stderr) == (1, lines[0])
    done = light(*commands[1:], separately=True)
    assert (done.stdout.split(), done.stderr) == (["1"] * len(lines[1:]), "".join(lines[1:]))


@pytest.mark.slow
def test_every_command_can_be_asked_for_help_where_the_extra_of_models_is_missing(without_models):
    code = """
from typer.testing import CliRunner
from dynabench.cli import COMMANDS, app
print({name: done.output for name in COMMANDS if (done := CliRunner().invoke(app, [name, "--help"])).exit_code})
"""
    done = without_models("-c", code)
    assert (done.stdout, done.stderr) == ("{}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["train", "nli", "--data", ".", "--out", "x"], "`dynabench train` needs torch: {platform}"),
        (["model", "ask", "nli-minilm", "premise=a"], "Not found: There is no model 'nli-minilm'; there are: none."),
        (
            ["evaluate", "run", "--data", "rows.csv", "--model", ".", "--task", "text-classification"],
            "Cannot evaluate: models are loaded with transformers and torch: {library}",
        ),
        (
            ["serve", "--demo", "--port", "1"],
            "The demo needs the shipped models, sklearn, torch, transformers: {platform}",
        ),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_command_that_needs_the_extra_of_models_names_it_in_one_line(without_models, words, line):
    done = without_models("-m", "dynabench", *words)
    assert (done.returncode, done.stdout) == (1, "")
    *_, output = done.stderr.splitlines()
    commands = {"platform": install_command(PLATFORM, "models"), "library": install_command(LIBRARY, "models")}
    assert line.format(**commands) in output
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_library_s_command_works_where_the_platform_s_libraries_are_missing(light):
    done = light("evaluate", "show", "f1")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_extra_is_named_where_it_is_what_is_missing():
    assert (
        explain_missing("train", "torch.nn")
        == "`dynabench train` needs torch: pip install 'dynabench-platform[models]'"
    )
    assert (
        explain_missing("evaluate", "torch") == "`dynabench evaluate` needs torch: pip install 'dynabench-eval[models]'"
    )
    for command in ("evaluate", "web"):
        assert explain_missing(command, "nltk").endswith(" needs nltk: pip install 'dynabench-eval[metrics]'")
    assert explain_missing("host", "ray") == "`dynabench host` needs ray: pip install 'dynabench-platform[ray]'"


def test_a_library_of_the_platform_s_and_a_module_of_it_lead_to_the_same_line(monkeypatch):
    monkeypatch.setattr("dynabench.kit.distributions.find_spec", lambda name: None)
    for module in ("dynabench.kit.settings", "pydantic_settings"):
        assert explain_missing("serve", module) == (
            "`dynabench serve` needs the platform: pip install 'dynabench-platform[models]'"
        )


def test_a_wrong_import_of_ours_in_a_whole_installation_is_no_missing_library():
    assert explain_missing("serve", "dynabench.no_such_module") == ""


@pytest.mark.release
def test_every_file_of_the_package_is_in_exactly_one_wheel(wheels):
    owners = {}
    for path in wheels.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if ".dist-info/" not in name:
                    owners.setdefault(name, []).append(path.name.partition("-")[0])
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.removeprefix("src/") for line in listed.splitlines()} - set(owners) == set()
    assert [name for name, owner in owners.items() if len(owner) > 1] == []
    created = (
        "htmx.js",
        "vega.js",
        "site.js",
        "site.css",
        "documents.css",
        "live-feed.js",
        "sources.sha256",
        "inter.woff2",
        "jetbrains-mono.woff2",
    )
    assert {f"dynabench/web/static/vendor/{name}" for name in created} <= set(owners)
    assert not [name for name in owners if "node_modules" in name]
    assert owners["dynabench/__init__.py"] == ["dynabench_eval"]
    assert {tuple(result) for name, result in owners.items() if "/models/builtin/" in name} == {("dynabench_weights",)}


@pytest.mark.release
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
