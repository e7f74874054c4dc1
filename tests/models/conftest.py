"""Shared by the tests of models: copies of shipped folders, hosts and servers on real sockets, public data."""

import json
import shutil
import subprocess
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from dynabench.kit.errors import Problem
from dynabench.models.backends.handler import HandlerModel
from dynabench.models.catalog import BUILTIN
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.models.host.serve import bind
from dynabench.models.training import recipes, rows
from tests.large_data import folder_with
from tests.models.handlers import RUNS_PREMISE, SMALL, doing, need_bubblewrap, premise_of, write
from tests.models.texts import HARD

ROOT = Path(__file__).parents[2]


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


def export(*words: Any) -> Any:
    """Return the output of `dynabench model export`."""
    from typer.testing import CliRunner

    from dynabench.cli.model import app

    return CliRunner().invoke(app, ["export", *map(str, words)])


@pytest.fixture(scope="package")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """An export of a shipped model, made by the command when it is first asked for; `told` is what that said."""
    place, answer = tmp_path_factory.mktemp("exported"), {}

    def folder(name: str, int8: bool = False) -> Path:
        created = place / (f"{name}-int8" if int8 else name)
        if not created.exists():
            compared = ["--rows", 4 if name == "qa-minilm" else 12]
            result = export(
                folder(name) if int8 else name,
                created,
                *compared,
                *(["--int8", "--floor", 0.5] if int8 else []),
                "--json",
            )
            assert result.exit_code == 0, result.output
            answer[created.name] = json.loads(result.stdout)
        return created

    folder.outputs = answer  # type: ignore[attr-defined]
    return folder


@pytest.fixture(scope="package")
def language_weights(request: pytest.FixtureRequest) -> Path:
    """The folder of a small language model."""
    from tests.models.served import chat_server

    if reason := chat_server.missing():
        pytest.skip(reason)
    return chat_server.unpacked(Path(request.config.cache.mkdir("language-model")))


@pytest.fixture(scope="package")
def chat(language_weights: Path) -> Iterator[Any]:
    """A chat API around it, started once; `url` is its address."""
    from tests.models.served.chat_server import Chat

    server = Chat(language_weights)
    with served(server.app, "http://127.0.0.1:0") as address:
        server.url = f"{address}/v1"
        yield server


@pytest.fixture(scope="package")
def endpoints() -> Iterator[Any]:
    """Inference endpoints of Hugging Face's shape, started once; `url` is the address below which each has its own."""
    from tests.models.served.endpoints import Endpoints

    server = Endpoints()
    with served(server.app, "http://127.0.0.1:0") as address:
        server.url = address
        yield server


@pytest.fixture(scope="package")
def torchserve(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real TorchServe with handlers, good and bad, started once."""
    from tests.models.served import torchserve as server

    if reason := server.missing():
        pytest.skip(reason)
    try:
        site = server.installed(Path(request.config.cache.mkdir("torchserve")))
    except subprocess.SubprocessError as error:
        pytest.skip(f"TorchServe cannot be installed: {error}")
    handlers = Path(server.__file__).with_name("handlers.py")
    archives = {
        "classifier": server.Archive(handlers, "classify", version="2.0", batch=4),
        "plain": server.Archive(handlers, "plain"),
        "broken": server.Archive(handlers, "broken"),
    }
    with server.serving(site, tmp_path_factory.mktemp("torchserve"), archives) as result:
        yield result


@pytest.fixture(scope="package")
def ray_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Ray of this machine, to be started; it goes on from one module to the next."""
    pytest.importorskip("dynabench_ray.repository", reason="Ray is a plug-in")
    from tests.models.cluster.running import Ray

    ray = Ray(tmp_path_factory.mktemp("home"))
    yield ray
    ray.stop()


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


@pytest.fixture(scope="module")
def shared_handler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., HandlerModel]]:
    """`shared_handler(**options)` is a handler that runs the code of its premise; loaded once for these options."""
    need_bubblewrap()
    models: dict[tuple[Any, ...], HandlerModel] = {}

    def load(**options: Any) -> HandlerModel:
        key = tuple(options.items())
        if key not in models:
            folder = write(tmp_path_factory.mktemp("handler") / "model", RUNS_PREMISE, options=SMALL | options)
            models[key] = HandlerModel.open(folder)
        return models[key]

    yield load
    for model in models.values():
        model.close()


@pytest.fixture
def attempt(shared_handler: Callable[..., HandlerModel]) -> Callable[..., Any]:
    """Return the outcome of `body` for a row: the label, or the message; and the handler answers again after.

    With `leaves` the process is ended then, for what the body left in it would meet the attempts after.
    """

    def run(body: str, leaves: bool = False, **options: Any) -> Any:
        model = shared_handler(**options)
        model._keeper._log.clear()
        try:
            result = model.predict([premise_of(body)])[0].extras.get("seen", "it went on")
        except Problem as problem:
            result = problem.detail
        if leaves:
            model._keeper._process.close()
        model._keeper._next = 0
        assert model.predict([premise_of("pass")])[0].answer == {"label": "neutral"}
        return result

    return run


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """`archive({name: content}, ...)` is a zip file of these entries beside what a handler needs."""

    def make(entries: Any = (), needed: bool = True, method: int = zipfile.ZIP_DEFLATED, **changed: Any) -> Path:
        path = tmp_path / "handed-in.zip"
        source = write(tmp_path / "source", doing("pass"))
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as zip_file:
            warnings.simplefilter("ignore")  # zipfile warns of names that are there twice
            for name in ("model.yaml", "handler.py") if needed else ():
                zip_file.writestr(name, (source / name).read_bytes())
            for name, content in dict(entries).items() if isinstance(entries, dict) else entries:
                entry = zipfile.ZipInfo("x")
                entry.filename, entry.compress_type = name, method
                for key, value in changed.items():
                    setattr(entry, key, value)
                zip_file.writestr(entry, content)
        return path

    return make


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return a folder to unpack into."""
    (tmp_path / "models").mkdir()
    return tmp_path / "models" / "new"


@pytest.fixture(scope="session")
def reviews():
    """Texts and three-way labels; some with emoji and accents."""
    recipe = recipes.load("sentiment-minilm")
    data = folder_with(*recipe.test[0].files)
    source = rows.read_source(recipe.test[0], data, recipe)[:400]
    texts = [*(row.inputs["statement"] for row in source), *HARD]
    return texts, [*(row.label for row in source), *("neutral" for _ in HARD)]
