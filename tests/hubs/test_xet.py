"""Uploads by Hugging Face's client with Xet, which it uses by itself, and by senders who lie."""

import hashlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from huggingface_hub import HfApi
from sqlalchemy import select

from dynabench.hubs import uploads
from dynabench.hubs.tables import HubFile, HubUpload
from dynabench.hubs.uploads import UploadTicket
from dynabench.hubs.xet import xorbs
from dynabench.hubs.xet.xorb_store import XorbStore
from tests.hubs import xet_writing as writing
from tests.hubs.conftest import HubProcess

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Use .content=:DeprecationWarning"),  # of the client's own transport
]


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def places(hub: HubProcess) -> list[Path]:
    return sorted((hub.home / "repositories" / "incoming").glob("xorbs-*"))


def sent_bytes(hub: HubProcess) -> int:
    """Bytes of all xorbs that clients have sent."""
    return sum(path.stat().st_size for place in places(hub) for path in place.iterdir() if path.is_file())


@pytest.mark.release
def test_files_that_share_content_are_sent_once(start_hub: Callable[..., HubProcess], tmp_path: Path):
    hub = start_hub()
    api = hub.api("ada")
    repo = api.create_repo("shared").repo_id
    first = noise(50_000_000)
    second = first[:20_000_000] + b"something between" + first[20_000_000:]
    floats = np.random.default_rng(0).normal(size=2_000_000).astype("float32").tobytes()  # compressed in byte groups
    contents = {
        "first.bin": first,
        "second.bin": second,
        "floats.bin": floats,
        "repeated.bin": noise(100_000, 2) * 100,
        "zeros.bin": bytes(5_000_000),
        "small.bin": b"x",
        "empty.bin": b"",
    }
    api.upload_file(path_or_fileobj=first, path_in_repo="first.bin", repo_id=repo)
    after_first = sent_bytes(hub)
    assert after_first >= len(first)
    api.upload_file(path_or_fileobj=second, path_in_repo="second.bin", repo_id=repo)
    assert sent_bytes(hub) - after_first < 1_000_000, "what the hub has is not sent again"
    for name, content in list(contents.items())[2:]:
        api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id=repo)
    folder = Path(api.snapshot_download(repo, cache_dir=tmp_path))
    for name, content in contents.items():
        assert (folder / name).read_bytes() == content, name
    listed = {item.path: item.lfs for item in api.list_repo_tree(repo)}
    assert listed["first.bin"].sha256 == hashlib.sha256(first).hexdigest()
    assert listed["empty.bin"] is None, "the client commits empty files itself"


FOLDER = """
import huggingface_hub, sys
huggingface_hub.create_repo("folder", exist_ok=True)
huggingface_hub.upload_folder(folder_path=sys.argv[1], repo_id="ada/folder")
huggingface_hub.upload_folder(folder_path=sys.argv[1], repo_id="ada/folder", create_pr=True, commit_message="Again")
print(huggingface_hub.snapshot_download("ada/folder", local_dir=sys.argv[2]))
"""


def user_environment(hub: HubProcess, home: Path) -> dict[str, str]:
    """The environment of a person who has set the endpoint and the token, and nothing else."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return plain | {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": hub.tokens["ada"], "HOME": str(home)}


@pytest.mark.release
def test_a_folder_of_many_files_goes_through_the_clients_pipeline(hub: HubProcess, tmp_path: Path):
    hub.api("ada")
    sources, target = tmp_path / "sources", tmp_path / "target"
    contents = {f"{number % 7}/{number}.bin": noise(1000 + number * 977, number) for number in range(300)}
    contents |= {f"{number}.txt": f"text {number}\n".encode() for number in range(100)}
    for name, content in contents.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_bytes(content)
    command = [sys.executable, "-c", FOLDER, str(sources), str(target)]
    subprocess.run(command, env=user_environment(hub, tmp_path), check=True, timeout=300)
    for name, content in contents.items():
        assert (target / name).read_bytes() == content, name


UPLOAD = """
import huggingface_hub, sys
huggingface_hub.upload_file(path_or_fileobj=sys.argv[1], path_in_repo="weights.bin", repo_id="ada/killed")
"""


@pytest.mark.release
def test_a_killed_web_process_costs_no_upload(start_hub: Callable[..., HubProcess], tmp_path: Path):
    hub = start_hub()
    api = hub.api("ada")
    api.create_repo("killed")
    content = noise(150_000_000)
    (tmp_path / "weights").write_bytes(content)
    command = [sys.executable, "-c", UPLOAD, str(tmp_path / "weights")]
    client = subprocess.Popen(command, env=user_environment(hub, tmp_path))
    while not sent_bytes(hub):
        assert client.poll() is None
        os.sched_yield()
    hub.kill()
    hub.start()
    if client.wait(300):  # the client has given up: the person tries again
        subprocess.run(command, env=user_environment(hub, tmp_path), check=True, timeout=300)
    assert Path(api.hf_hub_download("ada/killed", "weights.bin")).read_bytes() == content


class Sender:
    """Sends what it wants by the Xet protocol, with the permission of a person for a repository."""

    def __init__(self, hub: HubProcess, person: str, repo: str) -> None:
        self.hub = hub
        answer = hub.client(person).get(f"/api/models/{repo}/xet-write-token/main")
        assert answer.status_code == 200, answer.text
        self.address, self.token = answer.json()["casUrl"], answer.json()["accessToken"]

    def post(self, path: str, content: bytes, token: str = "") -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        return httpx2.post(f"{self.address}{path}", content=content, headers=headers, timeout=120)

    def xorb(self, name: str, content: bytes) -> int:
        return self.post(f"/v1/xorbs/default/{name}", content).status_code

    def shard(self, content: bytes) -> int:
        return self.post("/v1/shards", content).status_code


@pytest.fixture
def repo(hub: HubProcess, request: pytest.FixtureRequest) -> str:
    """A repository of a person for each test."""
    name = hashlib.sha256(request.node.name.encode()).hexdigest()[:10]
    return str(hub.api("ada").create_repo(f"xet-{name}").repo_id)


def stored(hub: HubProcess, content: bytes) -> bool:
    digest = hashlib.sha256(content).hexdigest()
    row = hub.database.read(lambda session: session.scalar(select(HubFile).where(HubFile.digest == digest)))
    return row is not None


def test_what_a_shard_says_is_checked(hub: HubProcess, repo: str):
    sender = Sender(hub, "ada", repo)
    chunks = writing.split(noise(300_000, len(repo)) + repo.encode())
    content = b"".join(chunks)
    name, xorb = writing.xorb_of(chunks)
    other = "f" * 64
    assert sender.shard(writing.shard_of(chunks)) == 400, "the xorb has not come"
    sender = Sender(hub, "ada", repo)
    assert sender.xorb(other, xorb) == 400
    assert sender.xorb(name, xorb[:-1]) == 400
    assert sender.xorb(name, xorb[:-1] + bytes([xorb[-1] ^ 1])) == 400
    assert sender.xorb("files", xorb) == 400
    assert sender.xorb(name, xorb) == 200
    assert sender.xorb(name, xorb) == 200
    lies: list[dict[str, Any]] = [
        {"digest": other},
        {"proof": bytes(32)},
        {"name": bytes(32)},
        {"size": len(content) - 1},
        {"size": len(content) + 1},
        {"end": len(chunks) + 1},
        {"end": 0},
        {"end": 1},
        {"flags": 0},
    ]
    for lie in lies:
        assert sender.shard(writing.shard_of(chunks, **lie)) in (400, 422), lie
    assert not stored(hub, content)
    assert not [path for place in places(hub) for path in place.glob(".incoming-*")], "nothing of a refused body stays"
    assert sender.shard(writing.shard_of(chunks)) == 200
    assert sender.shard(writing.shard_of(chunks)) == 200
    assert stored(hub, content)


def test_small_chunks_that_repeat_make_no_long_file(hub: HubProcess, repo: str):
    sender = Sender(hub, "ada", repo)
    chunks = [bytes([number]) for number in range(200)]
    name, xorb = writing.xorb_of(chunks)
    assert sender.xorb(name, xorb) == 200
    assert sender.shard(writing.shard_of(chunks, repeated=50)) == 400, "no client cuts so small"


def test_a_missing_xorb_heals_with_the_next_upload(start_hub: Callable[..., HubProcess]):
    """Clients send nothing twice to the same address: so it changes where something has got lost."""
    hub = start_hub()
    api = hub.api("ada")
    repo = api.create_repo("lost").repo_id
    content = noise(2_000_000)
    api.upload_file(path_or_fileobj=content, path_in_repo="a.bin", repo_id=repo)
    for path in places(hub)[0].iterdir():
        if path.is_file():
            path.unlink()
    changed = content + b"more"
    with pytest.raises(Exception, match="400"):  # the client's own kinds of errors differ between versions
        api.upload_file(path_or_fileobj=changed, path_in_repo="b.bin", repo_id=repo)
    api.upload_file(path_or_fileobj=changed, path_in_repo="b.bin", repo_id=repo)
    assert Path(api.hf_hub_download(repo, "b.bin")).read_bytes() == changed


def test_permissions_are_for_one_person_repository_and_hour(hub: HubProcess, repo: str):
    chunks = [b"content " + repo.encode()]
    name, xorb = writing.xorb_of(chunks)
    sender, other = Sender(hub, "ada", repo), hub.api("bob").create_repo(repo.partition("/")[2]).repo_id
    foreign = Sender(hub, "bob", other)
    path = f"/v1/xorbs/default/{name}"
    assert sender.post(path, xorb, foreign.token).status_code == 401
    assert sender.post(path, xorb, sender.token[:-1] + "0").status_code == 401
    assert sender.post(path, xorb, hub.tokens["ada"]).status_code == 401
    assert sender.xorb(name, xorb) == 200
    assert foreign.shard(writing.shard_of(chunks)) == 400, "xorbs of other people make no files"
    ticket = uploads.read_ticket(hub.settings, sender.token, "xet")
    late = UploadTicket("xet", ticket.repository, ticket.person, ticket.digest, 0, int(time.time()) - 1)
    assert sender.post(path, xorb, late.sign(hub.settings)).status_code == 401
    assert hub.client("bob").get(f"/api/models/{repo}/xet-write-token/main").status_code == 403
    assert hub.client("bob").get(f"/api/models/{repo}/xet-write-token/None?create_pr=1").status_code == 200
    visitor = httpx2.get(f"{hub.endpoint}/api/models/{repo}/xet-write-token/main")
    assert visitor.status_code == 401
    assert hub.client("ada").get(f"/api/models/{repo}/xet-write-token/none").status_code == 404
    upload = UploadTicket("upload", ticket.repository, ticket.person, "0" * 64, 1, ticket.until).sign(hub.settings)
    assert sender.post(path, xorb, upload).status_code == 401


def test_bombs_are_refused(hub: HubProcess, repo: str):
    sender = Sender(hub, "ada", repo)
    packed = writing.packed_chunk(bytes(30), xorbs.MOST_CHUNK, xorbs.LZ4)
    assert sender.xorb("0" * 64, packed * 513) == 400
    assert sender.post("/v1/shards", bytes(70 * 2**20)).status_code in (401, 413)


def test_storage_is_limited(start_hub: Callable[..., HubProcess]):
    hub = start_hub(hub_mb_per_person="1", hub_file_mb="1")
    repo = hub.api("ada").create_repo("full").repo_id
    sender = Sender(hub, "ada", repo)
    large = [noise(130_000, number) for number in range(12)]
    half = large[:5]
    name, xorb = writing.xorb_of(large)
    assert sender.xorb(name, xorb) == 413
    name, xorb = writing.xorb_of(half)
    assert sender.xorb(name, xorb) == 200
    assert sender.xorb(*writing.xorb_of(large[5:10])) == 413, "xorbs that wait count"
    assert sender.shard(writing.shard_of(half, repeated=3)) == 413, "files count unpacked"
    assert sender.shard(writing.shard_of(half)) == 200
    waiting = hub.database.read(lambda session: session.scalars(select(HubUpload)).all())
    assert [row.digest for row in waiting] == [hashlib.sha256(b"".join(half)).hexdigest()]


def test_places_of_xorbs_are_swept_and_renewed(hub: HubProcess, repo: str):
    sender = Sender(hub, "ada", repo)
    name, xorb = writing.xorb_of([b"old"])
    assert sender.xorb(name, xorb) == 200
    assert Sender(hub, "ada", repo).address == sender.address
    store = XorbStore(hub.settings, sender.address.rpartition("/")[2])
    day_ago = time.time() - 25 * 3600
    os.utime(store.folder, (day_ago, day_ago))
    uploads.sweep_files(hub.database, hub.settings)
    assert not store.folder.exists()
    assert sender.xorb(name, xorb) == 400
    assert Sender(hub, "ada", repo).address != sender.address or store.folder.exists()
    fresh = Sender(hub, "ada", repo)
    assert fresh.xorb(name, xorb) == 200
    old = store.folder.with_name(f"xorbs-{fresh.address.rpartition('/')[2].partition('-')[0]}-000000000001")
    (hub.home / "repositories" / "incoming" / f"xorbs-{fresh.address.rpartition('/')[2]}").rename(old)
    assert Sender(hub, "ada", repo).address != fresh.address, "an address is used for twelve hours"


def test_a_reading_token_uploads_nothing(hub: HubProcess, repo: str):
    created = hub.client("ada").get("/api/whoami-v2")
    assert created.status_code == 200
    api = HfApi(hub.endpoint, token=hub.create_token("ada", ["read"]))
    address = f"{hub.endpoint}/api/models/{repo}/xet-write-token/main"
    assert httpx2.get(address, headers={"Authorization": f"Bearer {api.token}"}).status_code == 403
