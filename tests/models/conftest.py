"""Shared by the tests of models: copies of shipped folders, a host on a real socket, the data beside the repository."""

import os
import shutil
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import uvicorn

from dynabench.errors import Problem
from dynabench.models.backends.handler import HandlerModel
from dynabench.models.catalog import BUILTIN
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.models.host.serve import bind
from dynabench.models.training import recipes, rows
from tests.models.handlers import PAIR, SMALL, doing, need_bubblewrap, write
from tests.models.texts import HARD

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


@pytest.fixture
def small_handler(tmp_path: Path) -> Iterator[Callable[..., HandlerModel]]:
    """`small_handler(source)` is a loaded handler with little of everything; all are closed in the end."""
    need_bubblewrap()
    models = []

    def load(source, **options):
        folder = write(tmp_path / f"model-{len(models)}", source, options=SMALL | options)
        models.append(HandlerModel.open(folder))
        return models[-1]

    yield load
    for model in models:
        model.close()


@pytest.fixture
def attempt(small_handler: Callable[..., HandlerModel]) -> Callable[..., Any]:
    """What `body` leads to when it is run for a row: the label, or the message; and the handler answers again after."""

    def run(body, **options):
        calm = "if premise == 'stay calm': return {'label': 'entailment'}\n"
        model = small_handler(doing(calm + dedent(body)), **options)
        try:
            told = model.predict([PAIR])[0].extras.get("seen", "it went on")
        except Problem as problem:
            told = problem.detail
        model._keeper._next = 0
        assert model.predict([PAIR | {"premise": "stay calm"}])[0].answer == {"label": "entailment"}
        return told

    return run


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """`archive({name: content}, ...)` is a zip file of these entries beside what a handler needs."""

    def make(entries: Any = (), needed: bool = True, method: int = zipfile.ZIP_DEFLATED, **changed: Any) -> Path:
        path = tmp_path / "handed-in.zip"
        source = write(tmp_path / "source", doing("pass"))
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as made:
            warnings.simplefilter("ignore")  # zipfile warns of names that are there twice
            for name in ("model.yaml", "handler.py") if needed else ():
                made.writestr(name, (source / name).read_bytes())
            for name, content in dict(entries).items() if isinstance(entries, dict) else entries:
                entry = zipfile.ZipInfo("x")
                entry.filename, entry.compress_type = name, method
                for key, value in changed.items():
                    setattr(entry, key, value)
                made.writestr(entry, content)
        return path

    return make


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where to unpack, in a folder of its own."""
    (tmp_path / "models").mkdir()
    return tmp_path / "models" / "new"


@pytest.fixture(scope="session")
def reviews(data):
    """Texts and three-way labels; some with emoji and accents, of our own making."""
    recipe = recipes.load("sentiment-minilm")
    found = rows.of_source(recipe.test[0], data, recipe)[:400]
    texts = [*(row.inputs["statement"] for row in found), *HARD]
    return texts, [*(row.label for row in found), *("neutral" for _ in HARD)]
