"""Trouble for the hub: commits at the same moment, a killed process, hostile paths, sizes that lie, full storage."""

import base64
import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd
from hypothesis import given
from hypothesis import strategies as st

from dynabench.hubs import names
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.tables import HubRepository
from dynabench.kit.errors import Invalid
from tests.hubs.conftest import HubProcess

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Use .content=:DeprecationWarning"),  # of the client's own transport
]
PATHS = [
    "../up", "a/../b", "/abs", ".git/config", "a/.GIT/x", "a/.git ", "git~1", "a//b", "a/", ".", "", "a\\b", "a\nb",
    "a\x7fb", "a" * 300, "/".join("a" * 60), "a/\u200d.git",
]  # fmt: skip


def lines(*operations: tuple[str, dict[str, Any]], summary: str = "Change") -> bytes:
    every = [("header", {"summary": summary}), *operations]
    return b"".join(json.dumps({"key": key, "value": value}).encode() + b"\n" for key, value in every)


def file_line(path: str, content: bytes = b"x") -> tuple[str, dict[str, Any]]:
    return "file", {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}


def commit(client: httpx2.Client, repo: str, body: bytes) -> httpx2.Response:
    headers = {"Content-Type": "application/x-ndjson"}
    return client.post(f"/api/models/{repo}/commit/main", content=body, headers=headers)


@pytest.mark.parametrize("path", PATHS)
def test_hostile_paths_are_refused(hub: HubProcess, path: str):
    repo = hub.api("ada").create_repo("hostile", exist_ok=True).repo_id
    client = hub.client("ada")
    assert commit(client, repo, lines(file_line(path))).status_code == 422
    large = ("lfsFile", {"path": path, "algo": "sha256", "oid": "0" * 64, "size": 1})
    assert commit(client, repo, lines(large)).status_code == 422
    assert hub.api("ada").list_repo_files(repo) == [".gitattributes"]


@given(st.text(max_size=60))
def test_accepted_paths_stay_in_the_repository(path: str):
    try:
        names.check_path(path)
    except Invalid:
        return
    resolved = (Path("/repository") / path).resolve()
    assert resolved.is_relative_to("/repository/")
    assert ".git" not in [part.lower() for part in path.split("/")]


def test_names_that_collide_are_refused(hub: HubProcess):
    repo = hub.api("ada").create_repo("collisions", exist_ok=True).repo_id
    client = hub.client("ada")
    assert commit(client, repo, lines(file_line("Folder/a.txt"))).status_code == 200
    for path in ("folder/b.txt", "Folder/A.txt", "Folder", "Folder/a.txt/b"):
        assert commit(client, repo, lines(file_line(path))).status_code == 422, path
    assert commit(client, repo, lines(file_line("x"), file_line("X"))).status_code == 422


def test_two_commits_at_the_same_moment_both_land(hub: HubProcess):
    api = hub.api("ada")
    repo = api.create_repo("crowded").repo_id

    def add(number: int) -> int:
        return commit(hub.client("ada"), repo, lines(file_line(f"{number}.txt"))).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(add, range(8))) <= {200, 503}
    landed = {path for path in api.list_repo_files(repo) if path.endswith(".txt")}
    assert len(landed) >= 4
    assert len(api.list_repo_commits(repo)) == len(landed) + 1

    head = api.model_info(repo).sha

    def race(number: int) -> int:
        body = lines(file_line("same.txt", f"{number}".encode())).replace(
            b'"summary": "Change"', f'"summary": "Change", "parentCommit": "{head}"'.encode()
        )
        return commit(hub.client("ada"), repo, body).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(race, range(4))) == [200, 412, 412, 412]


def announce(client: httpx2.Client, repo: str, content: bytes, size: int = -1) -> dict[str, Any]:
    size = len(content) if size < 0 else size
    objects = [{"oid": hashlib.sha256(content).hexdigest(), "size": size}]
    answer = client.post(f"/{repo}.git/info/lfs/objects/batch", json={"operation": "upload", "objects": objects})
    return dict(answer.json()["objects"][0]) if answer.status_code == 200 else {"status": answer.status_code}


def test_sizes_and_digests_that_lie_save_nothing(hub: HubProcess):
    repo = hub.api("ada").create_repo("liar").repo_id
    client = hub.client("ada")
    upload = announce(client, repo, b"right")["actions"]["upload"]["href"]
    assert httpx2.put(upload, content=b"wrong").status_code == 422
    assert httpx2.put(upload, content=b"righ").status_code == 422
    assert httpx2.put(upload, content=b"right and more").status_code in (413, 422)
    assert httpx2.put(upload[:-1] + ("0" if upload[-1] != "0" else "1"), content=b"right").status_code == 401
    line = ("lfsFile", {"path": "w", "algo": "sha256", "oid": hashlib.sha256(b"right").hexdigest(), "size": 5})
    assert commit(client, repo, lines(line)).status_code == 422
    assert httpx2.put(upload, content=b"right").status_code == 200
    lying = ("lfsFile", line[1] | {"size": 6})
    assert commit(client, repo, lines(lying)).status_code == 422
    assert commit(client, repo, lines(line)).status_code == 200
    huge = announce(client, repo, b"huge", size=2**50)
    assert huge.get("status") == 413 or "error" in huge


def test_a_hash_alone_opens_no_file_of_others(hub: HubProcess):
    secret = hub.api("ada").create_repo("hidden", private=True).repo_id
    content = b"hidden weights" * 100
    hub.api("ada").create_commit(secret, [CommitOperationAdd("w.bin", content)], commit_message="Add")
    own = hub.api("bob").create_repo("thief").repo_id
    digest = hashlib.sha256(content).hexdigest()
    line = ("lfsFile", {"path": "w.bin", "algo": "sha256", "oid": digest, "size": len(content)})
    client = hub.client("bob")
    assert commit(client, own, lines(line)).status_code == 422
    assert "actions" in announce(client, own, content), "the hub does not tell that it has the file"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n".encode()
    assert commit(client, own, lines(file_line("w.bin", pointer))).status_code == 200
    assert client.get(f"/{own}/resolve/main/w.bin").content == pointer


def test_a_killed_process_leaves_nothing_half_written(start_hub: Callable[..., HubProcess]):
    hub = start_hub()
    api = hub.api("ada")
    repo = api.create_repo("survivor").repo_id
    before = api.model_info(repo).sha
    halves = lines(file_line("a.txt", b"a" * 100_000), file_line("b.txt", b"b" * 100_000))
    content = b"large" * 100_000
    upload = announce(hub.client("ada"), repo, content)["actions"]["upload"]["href"]

    def cut(body: bytes) -> Any:
        yield body[: len(body) // 2]
        hub.kill()
        yield body[len(body) // 2 :]

    headers = {"Content-Type": "application/x-ndjson"}
    with pytest.raises(httpx2.TransportError):
        hub.client("ada").post(f"/api/models/{repo}/commit/main", content=cut(halves), headers=headers)
    hub.start()
    assert api.model_info(repo).sha == before
    with pytest.raises(httpx2.TransportError):
        httpx2.put(upload, content=cut(content))
    hub.start()
    assert commit(hub.client("ada"), repo, halves).status_code == 200
    assert httpx2.put(upload, content=content, timeout=60).status_code == 200
    assert set(api.list_repo_files(repo)) == {".gitattributes", "a.txt", "b.txt"}
    folder = hub.database.read(lambda session: session.query(HubRepository).one().folder)
    store = GitStore.of(hub.settings, folder)
    log = subprocess.run(["git", "-C", store.folder, "fsck", "--full"], capture_output=True, text=True, check=False)
    assert log.returncode == 0, log.stderr


def test_storage_is_limited(start_hub: Callable[..., HubProcess]):
    hub = start_hub(hub_mb_per_person="1", hub_file_mb="1")
    repo = hub.api("ada").create_repo("full").repo_id
    client = hub.client("ada")
    assert announce(client, repo, b"x", size=3 * 2**20)["status"] == 413
    big = lines(file_line("noise.txt", bytes(range(256)) * 3000), summary="Noise")
    first = commit(client, repo, big)
    assert first.status_code == 200
    assert commit(client, repo, lines(file_line("more.txt", os.urandom(1_100_000)))).status_code == 413
    assert "more.txt" not in hub.api("ada").list_repo_files(repo)
