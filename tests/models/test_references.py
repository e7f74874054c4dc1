"""Models by what people call them: a folder, a zip, a name, an address."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dynabench.kit.errors import Invalid
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, kinds, references, spec
from dynabench.tasks import shipped_tasks
from tests.models.contract.table import needs
from tests.plugins import none_installed

CONFIGS = {shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks()}


@pytest.fixture
def said_to_be_private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Servers of this machine may be called."""
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def test_a_model_is_found_by_folder_by_name_and_by_version(copied, tmp_path):
    folder = copied("nli-ngram")
    assert references.folder_for(str(folder), CONFIGS["nli"], tmp_path / "into") == folder
    entry = catalog.entry("nli-ngram")
    for name in ("nli-ngram", f"nli-ngram@{entry.version}"):
        assert references.folder_for(name, CONFIGS["nli"], tmp_path / "into") == entry.folder


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("nobody", "is no folder, zip, hub id (org/name) or address, nor a model installed here: boolq-minilm"),
        ("nli-ngram@0000", "is no folder"),
        ("model.yaml", "Name the folder that holds it"),
        ("weights.bin", "is a file; name the model's folder, or a zip of it"),
    ],
)
def test_what_is_no_model_says_what_one_is(tmp_path, monkeypatch, reference, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.yaml").write_text("name: x")
    (tmp_path / "weights.bin").write_bytes(b"x")
    with pytest.raises(Invalid) as refused:
        references.folder_for(reference, CONFIGS["nli"], tmp_path / "into")
    assert says in refused.value.fields["model"]


def test_a_zip_is_unpacked_and_checked(copied, tmp_path):
    archives = pytest.importorskip("dynabench.models.archives", reason="archives are not part of this version")
    packed = tmp_path / "mine.zip"
    archives.pack(copied("nli-ngram"), packed)
    folder = references.folder_for(str(packed), CONFIGS["nli"], tmp_path / "into")
    assert spec.version(folder) == catalog.entry("nli-ngram").version


def test_a_folder_of_the_transformers_library_is_described(tmp_path):
    needs("transformers")
    saved = tmp_path / "Their Model"
    saved.mkdir()
    answer = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "neg", "1": "neu", "2": "pos"}}
    (saved / "config.json").write_text(json.dumps(answer))
    (saved / "model.safetensors").write_bytes(b"x" * 100)
    details = spec.read(references.folder_for(str(saved), CONFIGS["sentiment"], tmp_path / "into"))
    assert (details.name, details.kind) == ("their-model", "transformers")
    assert details.options["architecture"] == "text-classification"
    assert details.options["labels"] == {"neg": "negative", "neu": "neutral", "pos": "positive"}
    answer["architectures"] = ["BertModel"]
    (saved / "config.json").write_text(json.dumps(answer))
    with pytest.raises(Invalid, match="BertModel is none that answers a task by itself"):
        references.folder_for(str(saved), CONFIGS["sentiment"], tmp_path / "other")


@contextmanager
def server(answers: dict[str, Any]) -> Iterator[str]:
    """A server that answers some paths with JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            response = answers.get(self.path)
            body = json.dumps(response).encode() if response is not None else b"<html>nothing</html>"
            self.send_response(200 if response is not None else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    threading_httpserver = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=threading_httpserver.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{threading_httpserver.server_port}"
    finally:
        threading_httpserver.shutdown()
        thread.join()
        threading_httpserver.server_close()


OIP = {"/v2": {"name": "a server"}, "/v2/repository/index": [{"name": "one"}, {"name": "two"}]}
CHAT = {"/v1/models": {"object": "list", "data": [{"id": "Some/Model-7B"}]}}


@pytest.mark.parametrize(
    ("answers", "after", "kind", "below", "model"),
    [
        (OIP, "#two", "oip", "", "two"),
        (OIP, "/v2/models/one", "oip", "", "one"),
        ({"/ping": {"status": "Healthy"}}, "#mine", "torchserve", "", "mine"),
        (CHAT, "", "openai", "/v1", "Some/Model-7B"),
        (CHAT, "/v1/#Some/Model-7B", "openai", "/v1", "Some/Model-7B"),
    ],
)
def test_an_address_is_asked_what_it_speaks(tmp_path, said_to_be_private, answers, after, kind, below, model):
    needs(kind)
    with server(answers) as url:
        details = spec.read(references.folder_for(f"{url}{after}", CONFIGS["nli"], tmp_path))
    assert (details.kind, details.options["url"], details.options["model"]) == (kind, url + below, model)


@pytest.mark.parametrize(
    ("answers", "after", "says"),
    [
        (OIP, "", "#MODEL. The server speaks the protocol of kind 'oip'; its models: one, two."),
        (OIP, "#three", "its models: one, two."),
        ({}, "", "It speaks none of these: Open Inference Protocol v2"),
    ],
)
def test_an_address_that_does_not_tell_is_refused(tmp_path, said_to_be_private, answers, after, says):
    needs("oip")
    with server(answers) as url, pytest.raises(Invalid) as refused:
        references.folder_for(f"{url}{after}", CONFIGS["nli"], tmp_path)
    assert says in refused.value.detail


def test_where_the_plug_in_for_torchserve_is_not_installed_its_command_is_named(tmp_path, said_to_be_private):
    command = "pip install 'dynabench-platform[torchserve]'"
    with server({"/ping": {"status": "Healthy"}}) as url, none_installed(), pytest.raises(Invalid) as refused:
        references.folder_for(f"{url}#mine", CONFIGS["nli"], tmp_path)
    assert command in refused.value.detail
    with none_installed(), pytest.raises(Invalid) as unknown:
        kinds.kind("torchserve")
    message = f"Models of kind 'torchserve' need a plug-in that is not installed: {command}"
    assert unknown.value.fields["kind"] == message


def test_a_private_address_is_not_called_unasked(tmp_path):
    needs("oip")
    with server(OIP) as url, pytest.raises(Invalid, match="DYNABENCH_PRIVATE_ENDPOINTS"):
        references.folder_for(f"{url}#one", CONFIGS["nli"], tmp_path)
