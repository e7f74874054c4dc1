"""The shared encoder from a hub: one commit of it, whose bytes are those that the shipped models were trained over.

A server of ours speaks the hub's protocol to the real client, in a process where the encoder's package is not found.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from dynabench.models import encoder
from tests.datasets.test_hub import Hub as DatasetHub

pytestmark = pytest.mark.release

NEWER = "f" * 40
OTHER = dict.fromkeys(encoder.FILES, b"{}")
ASK = """
import json, sys, time
time.sleep = lambda seconds: None  # between the tries of a hub
sys.modules[sys.argv[1]] = None  # as if it were not installed
from dynabench.kit.errors import Unavailable
from dynabench.models import encoder
try:
    print(json.dumps({"folder": str(encoder.find(""))}))
except Unavailable as refusal:
    print(json.dumps({"refusal": refusal.detail}))
"""


class Hub(DatasetHub):
    """A repository of an encoder: files by commit, the last of which is its main branch."""

    requests: list[str] = []  # noqa: RUF012
    commits: dict[str, dict[str, bytes]] = {}  # noqa: RUF012

    def answer(self, head):
        path = self.path.partition("?")[0]
        self.requests.append(path)
        api, repository = f"/api/models/{encoder.HUB_ID}", f"/{encoder.HUB_ID}/resolve/"
        if path.startswith(api):
            kind, _, expected = path.removeprefix(api).strip("/").partition("/")
            commit = [*self.commits][-1] if expected in ("", "main") else expected
            held = self.commits[commit] | {"pytorch_model.bin": b"x", "code.py": b"raise SystemExit"}
            reply = {"id": encoder.HUB_ID, "sha": commit, "siblings": [{"rfilename": name} for name in held]}
            files = [{"type": "file", "path": name, "size": len(held[name]), "oid": "0"} for name in held]
            body = json.dumps(files if kind == "tree" else reply).encode()
            self.send(body, head, {"Content-Type": "application/json"})
        elif path.startswith(repository):
            commit, _, name = path.removeprefix(repository).partition("/")
            held = self.commits[commit][name]
            self.send(held, head, {"ETag": f'"{hashlib.sha256(held).hexdigest()}"', "X-Repo-Commit": commit})
        else:
            self.send(b"", head, {"X-Error-Code": "RepoNotFound"}, 404)


@pytest.fixture
def hub(monkeypatch):
    """Serve commits of a repository: `hub({commit: {name: bytes}})` is its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Hub.requests.clear()

    def holding(commits):
        monkeypatch.setattr(Hub, "commits", commits)
        return f"http://127.0.0.1:{server.server_port}"

    yield holding
    server.shutdown()
    thread.join()
    server.server_close()


def find(address, home):
    """Return the message of `encoder.find` without the package, with the hub at this address."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "DYNABENCH_"))}
    env |= {"HF_ENDPOINT": address, "HF_HOME": str(home), "DYNABENCH_HOME": str(home / "platform")}
    run = [sys.executable, "-c", ASK, encoder.PACKAGE]
    done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.models
def test_the_hubs_encoder_is_that_of_one_commit_and_nothing_else_of_it(hub, tmp_path):
    installed = encoder.find("")
    ours = {name: (installed / name).read_bytes() for name in encoder.FILES}
    result = Path(find(hub({encoder.REVISION: ours, NEWER: OTHER}), tmp_path)["folder"])
    assert {path.name: path.read_bytes() for path in result.iterdir()} == ours
    assert not [path for path in Hub.requests if NEWER in path or path.endswith((".bin", ".py"))]


def test_other_bytes_at_that_commit_are_refused(hub, tmp_path):
    answer = find(hub({encoder.REVISION: OTHER}), tmp_path)
    assert f"at {encoder.REVISION} has other bytes than it should" in answer["refusal"]


def test_a_hub_that_does_not_answer_is_told_with_what_to_install(tmp_path):
    answer = find("http://127.0.0.1:9", tmp_path)
    assert "pip install 'dynabench-platform[encoder]'" in answer["refusal"]
    assert "DYNABENCH_ENCODER" in answer["refusal"]
