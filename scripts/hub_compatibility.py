"""Run huggingface_hub's own tests against a platform of this checkout, and write down what happened.

    pip download --no-deps --no-binary huggingface_hub huggingface_hub==2.4.0 && tar xzf huggingface_hub-2.4.0.tar.gz
    pip install pytest-mock
    python scripts/hub_compatibility.py huggingface_hub-2.4.0 [arguments of pytest]

The sources stay outside of this repository. This file is also the plug-in of pytest that stands for the part of the
tests that names accounts and the hub: they get accounts of the platform. `docs/reference/hub-tests.csv` has the tests
that do not apply, with a reason for each; a test beside them that fails makes the exit status 1.
"""

import csv
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
REASONS = ROOT / "docs" / "reference" / "hub-tests.csv"
PEOPLE = {"USER": ("compatibility", "TOKEN"), "OTHER_USER": ("neighbour", "OTHER_TOKEN")}
FILES = (
    "hf_api commit_api file_download snapshot_download hf_file_system lfs xet_upload xet_utils upload_pipeline repocard"
    " commit_scheduler copy_files tree_cache cache_layout cache_no_symlinks verification local_folder"
    " cli_discussions eval_results"
).split()
MARKERS = ("api", "transfer", "inference", "xet", "no_xet", "production", "deprecated(name)", "git_lfs", "vcr")


def reasons() -> dict[str, str]:
    """Return why tests do not apply, by the beginning of their names."""
    with REASONS.open(newline="") as file:
        return {row["test"]: row["reason"] for row in csv.DictReader(file)}


def reason_for(name: str, table: dict[str, str]) -> str:
    """Return why a test does not apply; an empty text where it does."""
    return next(
        (reason for start, reason in table.items() if name == start or name.startswith((f"{start}::", f"{start}["))), ""
    )


class Outcomes:
    """The plug-in: accounts, fixtures that the tests' own set-up would have, and the outcome of each test."""

    def __init__(self) -> None:
        self.table = reasons()
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        """Put our accounts in the place of those of Hugging Face's own test hub."""
        for marker in MARKERS:
            config.addinivalue_line("markers", f"{marker}: of huggingface_hub")
        constants = __import__("tests.testing_constants", fromlist=["USER"])
        for user, (name, token) in PEOPLE.items():
            setattr(constants, user, name)
            setattr(constants, token, os.environ[f"COMPATIBILITY_{token}"])
        constants.FULL_NAME = PEOPLE["USER"][0]
        constants.ENDPOINT_STAGING = os.environ["HF_ENDPOINT"]
        fixtures = types.ModuleType("tests.conftest")
        fixtures.RepoFactory = Callable  # type: ignore[attr-defined]
        sys.modules["tests.conftest"] = fixtures

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what asks the public hub, and what this hub does not have."""
        chosen, dropped = [], []
        for item in items:
            public = item.get_closest_marker("production") or "api_prod" in getattr(item, "fixturenames", ())
            without = item.get_closest_marker("no_xet") or item.get_closest_marker("git_lfs")
            reason = "public hub" if public else "without hf_xet, or git-lfs" if without else ""
            reason = reason or ("listed" if reason_for(_name(item.nodeid), self.table) else "")
            self.counts[f"left out: {reason}" if reason else "run"] += 1
            (dropped if reason else chosen).append(item)
        config.hook.pytest_deselected(items=dropped)
        items[:] = chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the outcome of a test."""
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
            if report.failed:
                self.failed.append(_name(report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the counts."""
        terminalreporter.write_line(" ".join(f"{name}={self.counts[name]}" for name in sorted(self.counts)))

    @pytest.fixture(autouse=True)
    def caches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Give each test caches of its own."""
        from huggingface_hub import constants

        places = {"HF_HOME": "", "HF_HUB_CACHE": "hub", "HUGGINGFACE_HUB_CACHE": "hub", "HF_XET_CACHE": "xet"}
        places |= {"HF_ASSETS_CACHE": "assets", "HF_TOKEN_PATH": "token", "HF_STORED_TOKENS_PATH": "stored_tokens"}
        for name, folder in places.items():
            monkeypatch.setattr(constants, name, str(tmp_path / "hf-home" / folder))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")

    @pytest.fixture
    def fx_cache_dir(self, request: pytest.FixtureRequest) -> Iterator[None]:
        """Give a class of tests a folder as `cache_dir`."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            request.cls.cache_dir = Path(folder).resolve()
            yield

    @pytest.fixture(scope="session")
    def api(self) -> Any:
        """A client of the first account."""
        from huggingface_hub import HfApi

        return HfApi(endpoint=os.environ["HF_ENDPOINT"], token=os.environ["COMPATIBILITY_TOKEN"])

    @pytest.fixture
    def repo_factory(self, api: Any) -> Iterator[Callable[..., Any]]:
        """A function that makes repositories, which are deleted after the test."""
        from huggingface_hub.errors import HfHubHTTPError

        created: list[tuple[str, str]] = []

        def create(repo_type: str = "model", **options: Any) -> Any:
            if repo_type == "space":
                options.setdefault("space_sdk", "gradio")
            name = options.pop("repo_id", f"{repo_type}-{uuid.uuid4().hex[:10]}")
            address = api.create_repo(name, repo_type=repo_type, **options)
            created.append((address.repo_id, repo_type))
            return address

        yield create
        for name, repo_type in created:
            with suppress(HfHubHTTPError):  # it may belong to the other account
                api.delete_repo(name, repo_type=repo_type, missing_ok=True)


def _name(nodeid: str) -> str:
    return nodeid.rpartition("/")[2]


def pytest_configure(config: pytest.Config) -> None:
    """Register the plug-in."""
    plugin = Outcomes()
    plugin.pytest_configure(config)
    config.pluginmanager.register(plugin, "outcomes")


def _start_platform(home: Path) -> tuple[subprocess.Popen[bytes], dict[str, str]]:
    """Start a web process with the accounts; returns it with the environment of its clients."""
    import httpx2

    from dynabench.kit.db import Database
    from dynabench.kit.settings import Settings
    from dynabench.operations import migrations
    from dynabench.people.accounts import service
    from dynabench.people.accounts.rules import Newcomer
    from dynabench.people.accounts.tables import SCOPES

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = Settings(home=home, rate_limit=False)
    assert settings.key, "the secret is made before the first account"
    migrations.upgrade(settings)
    database = Database(settings.url)
    tokens = {}
    for name, token in PEOPLE.values():

        def register(session: Any, username: str = name) -> str:
            person = service.register_account(session, Newcomer(username, f"{username}@example.org", ""), "")
            session.flush()
            return service.create_token(session, person.id, "tests", list(SCOPES))[1]

        tokens[f"COMPATIBILITY_{token}"] = database.write(register)
    database.close()
    environment = {"DYNABENCH_HOME": str(home), "DYNABENCH_PORT": str(port), "DYNABENCH_RATE_LIMIT": "false"}
    with (home / "web.log").open("wb") as log:
        command = [sys.executable, "-m", "dynabench", "web"]
        process = subprocess.Popen(command, env=os.environ | environment, stdout=log, stderr=log)
    while True:
        try:
            httpx2.get(f"http://127.0.0.1:{port}/healthz").raise_for_status()
            break
        except httpx2.HTTPError:
            if process.poll() is not None:
                sys.exit((home / "web.log").read_text()[-3000:])
            time.sleep(0.2)
    for token in tokens.values():  # claims the namespace
        headers = {"Authorization": f"Bearer {token}"}
        httpx2.get(f"http://127.0.0.1:{port}/api/hub/api/whoami-v2", headers=headers).raise_for_status()
    return process, tokens | {"HF_ENDPOINT": f"http://127.0.0.1:{port}/api/hub"}


def main() -> int:
    """Start the platform, run the tests of the given sources, and return pytest's exit status."""
    sources = Path(sys.argv[1]).resolve()
    arguments = sys.argv[2:]
    if not any(argument.startswith("tests/") for argument in arguments):
        arguments += [f"tests/test_{name}.py" for name in FILES]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process, environment = _start_platform(Path(folder))
        environment |= {"HF_TOKEN": "", "HF_HUB_DISABLE_TELEMETRY": "1"}
        paths = [str(ROOT / "scripts"), *sys.path[1:]]
        environment |= {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
        pytest_command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "hub_compatibility",
            "-p",
            "no:cacheprovider",
            "-q",
            "--continue-on-collection-errors",
        ]
        pytest_command += ["-c", os.devnull, "--rootdir", str(sources), "-W", "error::FutureWarning", *arguments]
        try:
            return subprocess.run(pytest_command, cwd=sources, env=os.environ | environment, check=False).returncode
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    sys.exit(main())
