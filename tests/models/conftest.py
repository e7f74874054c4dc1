"""Shared by the tests of models: copies of shipped folders, a host on a real socket, the data beside the repository."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from dynabench.models.catalog import BUILTIN
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.models.host.serve import bind

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets beside the repository."""
    folder = Path(os.environ.get("DYNABENCH_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "sst3").is_dir():
        pytest.fail(f"The data sets are not in {folder}; name their folder by DYNABENCH_TEST_DATA.")
    return folder


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., Path]:
    """Copies of shipped model folders, to be spoilt: `copied("nli-ngram")` lies in `tmp_path/models`."""

    def copy(name: str, new: str = "") -> Path:
        target = tmp_path / "models" / (new or name)
        shutil.copytree(BUILTIN / name, target)
        if new:
            path = target / "model.yaml"
            path.write_text(path.read_text().replace(f"name: {name}", f"name: {new}"))
        return target

    return copy


@contextmanager
def served(app: Any, address: str) -> Iterator[str]:
    """Run an ASGI application with uvicorn in a thread; yields its address once it accepts connections."""
    bound = bind(address)
    if address.startswith("http"):
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started and thread.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started
        yield address
    finally:
        server.should_exit = True
        thread.join(30)
        bound.close()


@pytest.fixture
def serve_models(tmp_path: Path) -> Callable[..., AbstractContextManager[str]]:
    """Run a real model host over some folders on a local socket."""

    def serve(*places: Path) -> AbstractContextManager[str]:
        app = create_app(Repository(list(places)))
        return served(app, f"unix:{tmp_path / 'host.sock'}")

    return serve
