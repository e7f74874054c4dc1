"""A dataset of the hub, over its real client and a server of ours that speaks its protocol."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dynabench.intake import sources
from dynabench.kit import errors
from dynabench.kit.settings import Settings

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CARD = "---\nconfigs:\n- config_name: default\n  data_files: [{split: train, path: train.jsonl}]\n---\n"
ROW = json.dumps({"premise": "It rains.", "hypothesis": "It is wet.", "label": "e"})
FILES = {"README.md": CARD.encode(), "train.jsonl": ROW.encode(), "load.py": b"raise SystemExit"}


class Hub(BaseHTTPRequestHandler):
    """The few routes that listing and downloading a dataset need."""

    requests: list[str] = []  # noqa: RUF012

    def do_HEAD(self) -> None:
        self.answer(head=True)

    def do_GET(self) -> None:
        self.answer(head=False)

    def answer(self, head: bool) -> None:
        self.requests.append(f"{self.path} {self.headers.get('authorization')}")
        listing = [{"type": "file", "path": name, "size": len(held), "oid": "0"} for name, held in FILES.items()]
        if self.path.partition("?")[0] in ("/api/datasets/some/data", "/api/datasets/some/data/revision/v1"):
            self.send(
                json.dumps({"id": "some/data", "sha": COMMIT}).encode(), head, {"Content-Type": "application/json"}
            )
        elif self.path.startswith(f"/api/datasets/some/data/tree/{COMMIT}"):
            self.send(json.dumps(listing).encode(), head, {"Content-Type": "application/json"})
        elif self.path.startswith(f"/datasets/some/data/resolve/{COMMIT}/"):
            held = FILES.get(self.path.rpartition("/")[2])
            if held is None:
                self.send(b"", head, {"X-Error-Code": "EntryNotFound"}, 404)
                return
            known_values = {"ETag": f'"{hashlib.sha256(held).hexdigest()}"', "X-Repo-Commit": COMMIT}
            if self.path.endswith(".jsonl"):  # large files are sent on to a store, which is another host
                linked = {"X-Linked-ETag": known_values["ETag"], "X-Linked-Size": str(len(held))}
                store = f"http://localhost:{self.server.server_address[1]}/store"
                self.send(
                    b"", head, known_values | linked | {"Location": f"{store}/{self.path.rpartition('/')[2]}"}, 302
                )
            else:
                self.send(held, head, known_values)
        elif self.path.startswith("/store/"):
            held = FILES[self.path.removeprefix("/store/")]
            self.send(held, head, {"ETag": f'"{hashlib.sha256(held).hexdigest()}"'})
        else:
            self.send(b"", head, {"X-Error-Code": "RepoNotFound"}, 404)

    def send(self, body: bytes, head: bool, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if not head:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Hub.requests.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_files_of_a_split_are_downloaded_and_nothing_else(address, tmp_path):
    settings = Settings(home=tmp_path, hub_url=address)
    [path] = sources.download_dataset(settings, sources.HubRequest("some/data"), tmp_path / "hub")
    assert path.read_bytes() == FILES["train.jsonl"]
    assert not (tmp_path / "hub" / "load.py").exists()
    assert not any("load.py" in request for request in Hub.requests)
    assert all(question.endswith(" None") for question in Hub.requests), "no token leaves"


def test_an_unknown_dataset_is_told_apart_from_a_hub_that_is_gone(address, tmp_path):
    with pytest.raises(errors.NotFound):
        sources.download_dataset(
            Settings(home=tmp_path, hub_url=address), sources.HubRequest("no/such"), tmp_path / "a"
        )
    gone = Settings(home=tmp_path, hub_url="http://127.0.0.1:9")
    with pytest.raises(errors.Unavailable, match="does not answer"):
        sources.download_dataset(gone, sources.HubRequest("some/data"), tmp_path / "b")
    with pytest.raises(errors.Unavailable, match="does not use a hub"):
        sources.download_dataset(Settings(home=tmp_path, hub_url=""), sources.HubRequest("some/data"), tmp_path / "c")


@pytest.mark.parametrize("name", ["", "../x", "a/b/c", "http://elsewhere/x", "x y"])
def test_only_ids_of_datasets_are_asked_for(name):
    with pytest.raises(errors.Invalid):
        sources.HubRequest(name)
