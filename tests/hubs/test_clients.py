"""Hugging Face's own clients against a real process of the hub: nothing but their endpoint is changed."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.hubs.conftest import HubProcess

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Use .content=:DeprecationWarning"),  # of the client's own transport
]
CARD = b"---\nlicense: mit\ntags: [small]\npipeline_tag: text-classification\n---\n# Small\n\nA model. It is small.\n"


def new_repository(api: HfApi, name: str, **options: object) -> str:
    return str(api.create_repo(name, **options).repo_id)


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def test_files_small_and_large_come_back_as_they_were_sent(hub: HubProcess, tmp_path: Path):
    api = hub.api("ada")
    repo = new_repository(api, "files")
    large, parts = noise(12_000_000), noise(70_000_000, 1)
    api.upload_file(path_or_fileobj=CARD, path_in_repo="README.md", repo_id=repo)
    api.upload_file(path_or_fileobj=large, path_in_repo="weights.bin", repo_id=repo)
    api.upload_file(path_or_fileobj=parts, path_in_repo="sub/several parts.bin", repo_id=repo)
    info = api.model_info(repo, files_metadata=True)
    sizes = {item.rfilename: (item.size, item.lfs is not None) for item in info.siblings or ()}
    assert sizes["README.md"] == (len(CARD), False)
    assert sizes["weights.bin"] == (12_000_000, True)
    assert sizes["sub/several parts.bin"] == (70_000_000, True)
    assert info.pipeline_tag == "text-classification"
    assert {"small", "license:mit"} <= set(info.tags or ())
    folder = Path(api.snapshot_download(repo, cache_dir=tmp_path))
    assert (folder / "weights.bin").read_bytes() == large
    assert (folder / "sub" / "several parts.bin").read_bytes() == parts
    again = api.hf_hub_download(repo, "README.md", cache_dir=tmp_path)
    assert Path(again).read_bytes() == CARD
    assert Path(again).parent.name == info.sha  # the cache is keyed by commit, and by the name of the content
    blob = Path(again).resolve().name
    assert blob == next(item.blob_id for item in info.siblings or () if item.rfilename == "README.md")


def test_lists_revisions_and_history(hub: HubProcess):
    api = hub.api("ada")
    repo = new_repository(api, "history")
    for number in range(3):
        content = f"{number}".encode()
        api.upload_file(
            path_or_fileobj=content, path_in_repo=f"a/{number}.txt", repo_id=repo, commit_message=f"{number}"
        )
    api.create_branch(repo, branch="feature/x", revision="main")
    api.create_tag(repo, tag="v1.0", tag_message="First")
    api.upload_file(path_or_fileobj=b"x", path_in_repo="x.txt", repo_id=repo, revision="feature/x")
    assert "x.txt" in api.list_repo_files(repo, revision="feature/x")
    assert "x.txt" not in api.list_repo_files(repo)
    refs = api.list_repo_refs(repo)
    assert {ref.name for ref in refs.branches} == {"main", "feature/x"}
    assert [ref.ref for ref in refs.tags] == ["refs/tags/v1.0"]
    commits = api.list_repo_commits(repo)
    assert [commit.title for commit in commits] == ["2", "1", "0", "initial commit"]
    assert commits[0].authors == ["ada"]
    entry = next(item for item in api.list_repo_tree(repo, "a", expand=True) if item.path == "a/1.txt")
    assert entry.last_commit is not None
    assert entry.last_commit.title == "1"
    assert [item.path for item in api.get_paths_info(repo, ["a", "a/0.txt", "none"])] == ["a", "a/0.txt"]
    assert api.model_info(repo, revision=commits[2].commit_id).sha == commits[2].commit_id
    with pytest.raises(HfHubHTTPError):
        api.create_tag(repo, tag="v1.0")
    api.create_tag(repo, tag="v1.0", exist_ok=True)
    api.delete_tag(repo, tag="v1.0")
    api.delete_branch(repo, branch="feature/x")
    with pytest.raises(RevisionNotFoundError):
        api.model_info(repo, revision="v1.0")


def test_commits_delete_copy_and_respect_their_parent(hub: HubProcess):
    api = hub.api("ada")
    repo = new_repository(api, "operations")
    api.create_commit(
        repo,
        [
            CommitOperationAdd("one.txt", b"one"),
            CommitOperationAdd("folder/two.txt", b"two"),
            CommitOperationAdd("w.bin", noise(1000)),
        ],
        commit_message="Add",
    )
    head = api.model_info(repo).sha
    api.create_commit(
        repo,
        [
            CommitOperationCopy("one.txt", "copy.txt"),
            CommitOperationCopy("w.bin", "copy.bin"),
            CommitOperationDelete("folder/"),
        ],
        commit_message="Change",
        parent_commit=head,
    )
    assert set(api.list_repo_files(repo)) == {".gitattributes", "one.txt", "copy.txt", "w.bin", "copy.bin"}
    with pytest.raises(HfHubHTTPError) as problem:
        api.create_commit(repo, [CommitOperationAdd("n", b"n")], commit_message="Late", parent_commit=head)
    assert problem.value.response.status_code == 412
    before = api.model_info(repo).sha
    api.upload_file(path_or_fileobj=b"one", path_in_repo="one.txt", repo_id=repo)
    assert api.model_info(repo).sha == before, "a repeated upload makes no commit"
    with pytest.raises(RemoteEntryNotFoundError):
        api.delete_file("none.txt", repo)


def test_private_repositories_are_not_there_for_others(hub: HubProcess):
    ada, bob, visitor = hub.api("ada"), hub.api("bob"), HfApi(hub.endpoint, token=False)
    repo = new_repository(ada, "secret", private=True)
    ada.upload_file(path_or_fileobj=b"x", path_in_repo="x.txt", repo_id=repo)
    for api in (bob, visitor):
        with pytest.raises(RepositoryNotFoundError):
            api.model_info(repo)
        with pytest.raises(RepositoryNotFoundError):
            api.file_exists(repo, "x.txt") or api.list_repo_files(repo)
        assert repo not in [item.id for item in api.list_models()]
    assert repo in [item.id for item in ada.list_models(author="ada")]
    ada.update_repo_settings(repo, private=False)
    assert visitor.file_exists(repo, "x.txt")
    with pytest.raises(HfHubHTTPError):
        bob.upload_file(path_or_fileobj=b"y", path_in_repo="x.txt", repo_id=repo)
    with pytest.raises(HfHubHTTPError):
        bob.delete_repo(repo)
    ada.move_repo(repo, "ada/known")
    assert visitor.model_info("ada/known").id == "ada/known"
    ada.delete_repo("ada/known")
    ada.delete_repo("ada/known", missing_ok=True)
    with pytest.raises(RepositoryNotFoundError):
        ada.delete_repo("ada/known")


def test_lists_are_searched_filtered_and_paged(hub: HubProcess):
    api = hub.api("list-maker")
    for number in range(3):
        repo = new_repository(api, f"listed-{number}", repo_type="dataset")
        card = f"---\nlanguage: [en]\ntask_categories: [t{number}]\n---\n# Words\n\nApples {number}.\n".encode()
        api.upload_file(path_or_fileobj=card, path_in_repo="README.md", repo_id=repo, repo_type="dataset")
    found_ids = [item.id for item in api.list_datasets(search="apples", author="list-maker")]
    assert sorted(found_ids) == [f"list-maker/listed-{number}" for number in range(3)]
    assert [item.id for item in api.list_datasets(task_categories="t1")] == ["list-maker/listed-1"]
    assert [item.id for item in api.list_datasets(author="list-maker", language="en", limit=2)] == found_ids[:2]
    page = hub.client("list-maker").get("/api/datasets", params={"author": "list-maker", "limit": 2})
    following = hub.client("list-maker").get(page.links["next"]["url"])
    assert [item["id"] for item in page.json() + following.json()] == found_ids


def test_a_pull_request_is_proposed_discussed_and_merged(hub: HubProcess):
    ada, bob = hub.api("ada"), hub.api("bob")
    repo = new_repository(ada, "pulls")
    ada.upload_file(path_or_fileobj=b"one\n", path_in_repo="a.txt", repo_id=repo)
    proposal = bob.upload_file(path_or_fileobj=b"two\n", path_in_repo="a.txt", repo_id=repo, create_pr=True)
    assert proposal.pr_num == 1
    bob.upload_file(path_or_fileobj=noise(5000), path_in_repo="w.bin", repo_id=repo, revision="refs/pr/1")
    bob.comment_discussion(repo, 1, "Please look.")
    details = ada.get_discussion_details(repo, 1)
    assert details.conflicting_files == []
    assert "-one" in (details.diff or "")
    assert [event.type for event in details.events] == ["commit", "commit", "comment"]
    with pytest.raises(HfHubHTTPError):
        bob.merge_pull_request(repo, 1)
    ada.upload_file(path_or_fileobj=b"b", path_in_repo="b.txt", repo_id=repo)
    ada.merge_pull_request(repo, 1, comment="Thanks.")
    assert ada.get_discussion_details(repo, 1).status == "merged"
    assert {"a.txt", "b.txt", "w.bin"} <= set(ada.list_repo_files(repo))
    assert Path(ada.hf_hub_download(repo, "a.txt")).read_bytes() == b"two\n"
    second = bob.upload_file(path_or_fileobj=b"three", path_in_repo="a.txt", repo_id=repo, create_pr=True)
    ada.upload_file(path_or_fileobj=b"four", path_in_repo="a.txt", repo_id=repo)
    assert second.pr_num is not None
    assert ada.get_discussion_details(repo, second.pr_num).conflicting_files == ["a.txt"]
    with pytest.raises(HfHubHTTPError):
        ada.merge_pull_request(repo, second.pr_num)
    bob.change_discussion_status(repo, second.pr_num, "closed")
    assert [item.num for item in ada.get_repo_discussions(repo, discussion_status="open")] == []


STREAM = """
import datasets, huggingface_hub
huggingface_hub.HfApi().create_repo("rows", repo_type="dataset")
rows = datasets.Dataset.from_dict({"text": [f"row {n}" for n in range(200)]})
rows.push_to_hub("reader/pushed")
lines = b"".join(b'{"n": %d}\\n' % n for n in range(500))
huggingface_hub.upload_file(
    path_or_fileobj=lines, path_in_repo="train.jsonl", repo_id="reader/rows", repo_type="dataset"
)
stream = datasets.load_dataset("reader/rows", split="train", streaming=True)
assert [row["n"] for row in stream.skip(490)] == list(range(490, 500))
assert datasets.load_dataset("reader/pushed", split="train")[199] == {"text": "row 199"}
stream = datasets.load_dataset("reader/pushed", split="train", streaming=True)
assert next(iter(stream)) == {"text": "row 0"}
"""


def test_datasets_are_pushed_loaded_and_streamed(hub: HubProcess, tmp_path: Path):
    hub.api("reader")
    environment = {"HF_ENDPOINT": hub.endpoint, "HF_TOKEN": hub.tokens["reader"], "HF_HOME": str(tmp_path)}
    environment |= {"HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    subprocess.run([sys.executable, "-c", STREAM], env=os.environ | environment, check=True, timeout=300)
