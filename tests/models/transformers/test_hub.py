"""Models of a hub: over its real client, and a server of ours that speaks its protocol."""

import hashlib
import json
import threading
from http.server import ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit import errors
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, hub, spec
from tests.datasets.test_hub import Hub as DatasetHub

COMMIT, LATER = "0123456789abcdef0123456789abcdef01234567", "f" * 40
NAME = "some/opposites"


class Hub(DatasetHub):
    """Repositories of models: one that is whole, one of pickles, one that asks for an agreement."""

    requests: list[str] = []  # noqa: RUF012
    files: dict[str, bytes] = {}  # noqa: RUF012
    name = NAME
    main = COMMIT

    def answer(self, head):
        path = self.path.partition("?")[0]
        self.requests.append(f"{path} {self.headers.get('authorization')}")
        parts = path.strip("/").split("/")
        if path.startswith("/api/models/some/"):
            self._listed(parts, head)
        elif path.startswith("/api/models/shut/door"):
            self.send(b"", head, {"X-Error-Code": "GatedRepo", "X-Error-Message": "agree first"}, 403)
        elif len(parts) > 4 and parts[2] == "resolve" and parts[3] in (COMMIT, LATER):
            self._file(parts[4], parts[3], head)
        elif path.startswith("/store/"):
            held = self.files[parts[1]]
            self.send(held, head, {"ETag": f'"{hashlib.sha256(held).hexdigest()}"'})
        else:
            self.send(b"", head, {"X-Error-Code": "RepoNotFound"}, 404)

    def _listed(self, parts, head):
        name = "/".join(parts[2:4])
        held = {"model.bin": b"x"} if name == "some/pickles" else self.files
        revision = parts[5] if len(parts) > 5 else "main"
        known_values = {"main": self.main, "": self.main, COMMIT: COMMIT, LATER: LATER}
        if name not in (self.name, "some/pickles") or revision not in known_values:
            self.send(b"", head, {"X-Error-Code": "RevisionNotFound"}, 404)
            return
        if len(parts) > 4 and parts[4] == "tree":
            body = [
                {"type": "file", "path": first, "size": len(content), "oid": "0"} for first, content in held.items()
            ]
        else:
            files = [{"rfilename": single, "size": len(content), "blobId": "0"} for single, content in held.items()]
            card = {"license": "mit"}
            body = {"id": name, "modelId": name, "sha": known_values[revision], "siblings": files, "cardData": card}
        self.send(json.dumps(body).encode(), head, {"Content-Type": "application/json"})

    def _file(self, name, commit, head):
        held = self.files.get(name)
        if held is None:
            self.send(b"", head, {"X-Error-Code": "EntryNotFound"}, 404)
            return
        known_values = {"ETag": f'"{hashlib.sha256(held).hexdigest()}"', "X-Repo-Commit": commit}
        if name.endswith(".safetensors"):  # large files are sent on to a store, which is another host
            store = f"http://localhost:{self.server.server_address[1]}/store/{name}"
            linked = {"X-Linked-ETag": known_values["ETag"], "X-Linked-Size": str(len(held)), "Location": store}
            self.send(b"", head, known_values | linked, 302)
        else:
            self.send(held, head, known_values)


@pytest.fixture
def here(opposites_folder, monkeypatch, tmp_path):
    """A hub of this machine, and a deployment that calls it."""
    files = {path.name: path.read_bytes() for path in opposites_folder.iterdir() if path.name != "model.yaml"}
    more = {"evil.py": b"raise SystemExit", "pytorch_model.bin": b"x", "onnx/model.onnx": b"x", "README.md": b"# It"}
    monkeypatch.setattr(Hub, "files", files | more)
    monkeypatch.setattr(Hub, "main", COMMIT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Hub.requests.clear()
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DYNABENCH_HUB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    yield server
    get_settings.cache_clear()
    server.shutdown()
    thread.join()
    server.server_close()


def pointing(folder, opposites_folder, commit=COMMIT, name=NAME):
    """A folder that holds nothing but `model.yaml`."""
    text = (opposites_folder / "model.yaml").read_text()
    folder.mkdir()
    (folder / "model.yaml").write_text(text.replace("options:\n", f"options:\n  hub: {name}\n  revision: '{commit}'\n"))
    return folder


@pytest.mark.release
def test_a_repository_is_downloaded_once_and_answers(here, opposites_folder, tmp_path):
    folder = pointing(tmp_path / "one", opposites_folder)
    assert catalog.open_model(folder).predict([{"word": "good"}])[0].answer["answer"] == "bad"
    fetched = [path.name for path in (tmp_path / "home" / "hub").rglob("*")]
    assert "model.safetensors" in fetched
    assert not {"evil.py", "pytorch_model.bin", "model.onnx"} & set(fetched)
    assert all(request.endswith(" None") for request in Hub.requests), "no token leaves"
    Hub.requests.clear()
    catalog.open_model(folder)
    assert Hub.requests == [], "what is here is not asked for again"


def test_another_commit_is_another_version(here, opposites_folder, tmp_path):
    first = pointing(tmp_path / "one", opposites_folder)
    other = pointing(tmp_path / "two", opposites_folder, LATER)
    assert spec.version(first) != spec.version(other)


def test_a_download_that_broke_off_is_taken_up_again(here, opposites_folder, tmp_path, monkeypatch):
    folder = pointing(tmp_path / "one", opposites_folder)
    whole = Hub.files
    monkeypatch.setattr(Hub, "files", {name: held for name, held in whole.items() if name != "tokenizer.json"})
    listing = Hub._listed

    def listed(self, parts, head):
        Hub.files, held = whole, Hub.files
        listing(self, parts, head)
        Hub.files = held

    monkeypatch.setattr(Hub, "_listed", listed)
    with pytest.raises(errors.Problem):
        catalog.open_model(folder)
    monkeypatch.setattr(Hub, "files", whole)
    assert catalog.open_model(folder).predict([{"word": "up"}])[0].answer["answer"] == "down"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("no/such", errors.NotFound, "no model no/such"),
        ("shut/door", errors.Forbidden, "asks for an agreement.*bring its files as a folder"),
        ("some/pickles", errors.Invalid, r"no weights as safetensors at its top, but model\.bin"),
        ("../etc", errors.Invalid, "no repository"),
    ],
)
def test_a_repository_that_cannot_be_had_is_told(here, opposites_folder, tmp_path, name, error, message):
    with pytest.raises(error, match=message):
        catalog.open_model(pointing(tmp_path / "one", opposites_folder, name=name))


def test_no_network_and_no_hub_are_told(here, opposites_folder, tmp_path, monkeypatch):
    folder = pointing(tmp_path / "one", opposites_folder)
    for url, answer in (
        ("http://127.0.0.1:9", "does not answer.*bring its files as a folder"),
        ("", "calls no hub"),
    ):
        monkeypatch.setenv("DYNABENCH_HUB_URL", url)
        get_settings.cache_clear()
        with pytest.raises(errors.Unavailable, match=answer):
            catalog.open_model(folder)


def test_a_model_too_large_is_not_downloaded(here, opposites_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "MOST", 100)
    with pytest.raises(errors.TooLarge):
        catalog.open_model(pointing(tmp_path / "one", opposites_folder))
    assert not any("/resolve/" in request or "/store/" in request for request in Hub.requests)


def test_a_branch_is_resolved_when_the_folder_is_made_and_not_later(here, tmp_path, monkeypatch):
    task = tmp_path / "task.yaml"
    task.write_text(
        "id: opposites\nname: Opposites\ninput: [{name: word, type: text}]\nanswer: [{name: answer, type: text}]\n"
    )
    question = ["--task", str(task), "--architecture", "text2text-generation", "--prompt", "opposite of : {word}"]
    run = CliRunner().invoke(
        app, ["model", "hub", NAME, str(tmp_path / "opp"), *question, "--option", "max_new_tokens=4"]
    )
    assert run.exit_code == 0, run.output
    content = spec.read(tmp_path / "opp")
    assert content.options["revision"] == COMMIT
    assert content.licence == "mit"
    assert content.returns == "text"
    monkeypatch.setattr(Hub, "main", LATER)
    model = catalog.open_model(tmp_path / "opp")
    assert model.predict([{"word": "good"}])[0].answer["answer"] == "bad"
    assert not any(LATER in request for request in Hub.requests)
    again = CliRunner().invoke(app, ["model", "hub", NAME, str(tmp_path / "opp"), *question])
    assert isinstance(again.exception, errors.Conflict) or "holds a model already" in again.output


def test_both_commands_write_the_same_folder_and_wrong_options_none(here, tmp_path):
    task = tmp_path / "task.yaml"
    task.write_text(
        "id: opposites\nname: Opposites\ninput: [{name: word, type: text}]\nanswer: [{name: answer, type: text}]\n"
    )
    first, two = tmp_path / "one" / "opp", tmp_path / "two" / "opp"
    answer = ["--task", str(task)]
    request = [
        ["hub", NAME, str(first), *answer],
        ["new", "opp", *answer, "--kind", "transformers", "--source", NAME, "--into", str(two.parent)],
    ]
    for words in request:
        run = CliRunner().invoke(app, ["model", *words])
        assert run.exit_code == 0, run.output
    assert spec.read(first).options["architecture"] == "text2text-generation"
    assert {path.name: path.read_text() for path in first.iterdir()} == {p.name: p.read_text() for p in two.iterdir()}
    wrong = CliRunner().invoke(
        app, ["model", "hub", NAME, str(tmp_path / "bad"), *answer, "--option", "max_new_tokens=x"]
    )
    assert "max_new_tokens" in str(wrong.exception) + wrong.output
    assert not (tmp_path / "bad").exists()
