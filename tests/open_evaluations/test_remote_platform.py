"""A second platform as the other hub: its datasets are evaluated by the page's API, the client and the command."""

import json
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from huggingface_hub import CommitOperationAdd, HfApi

from benchmarks.running import platform
from dynabench.client import ApiError, Client
from dynabench.kit.settings import get_settings
from tests.open_evaluations.test_command import TWO, as_scores, home, run
from tests.open_evaluations.test_hub_source import FILES

__all__ = ["home"]
pytestmark = [pytest.mark.release, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def platforms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Two platforms; the second one takes datasets from the first one's hub."""
    homes = [tmp_path_factory.mktemp("platform") for _number in range(2)]
    with platform(homes[0], ready=False, hub_url="") as base, Client(base) as owner:
        owner.register("olga", "olga@example.org", "correct horse battery")
        api = HfApi(f"{base}/api/hub", token=owner.log_in("olga", "correct horse battery"))
        for name, private in (("films", False), ("own", True)):
            api.create_repo(f"olga/{name}", repo_type="dataset", private=private)
            added = [CommitOperationAdd(path, content) for path, content in FILES.items()]
            api.create_commit(f"olga/{name}", added, commit_message="Add films", repo_type="dataset")
        with platform(homes[1], ready=False, hub_url=f"{base}/api/hub") as site, Client(site) as client:
            client.register("mia", "mia@example.org", "correct horse battery")
            token = client.log_in("mia", "correct horse battery")
            yield SimpleNamespace(hub=f"{base}/api/hub", api=api, site=site, client=client, token=token)


def test_a_dataset_of_another_platform_is_evaluated_there_and_here(
    platforms: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    named = ("--dataset", "remote:olga/films", *TWO, "--json", "-")
    at_server = json.loads(run(*named, "--server", platforms.site, "--token", platforms.token).stdout)
    assert (at_server["rows"], at_server["task"]) == (60, "text-classification")
    monkeypatch.setenv("DYNABENCH_HUB_URL", platforms.hub)
    get_settings.cache_clear()
    here = json.loads(run(*named).stdout)
    assert as_scores(here) == pytest.approx(as_scores(at_server))
    evaluation = platforms.client.open_evaluation(at_server["evaluation"])
    commit = platforms.api.dataset_info("olga/films").sha
    assert evaluation["choices"]["revision"] == commit
    platforms.api.upload_file(
        path_or_fileobj=b"review,sentiment\nfine,pos\n", path_in_repo="films/test-2.csv", repo_id="olga/films",
        repo_type="dataset",
    )  # fmt: skip
    pinned = platforms.client.fetch_rows("remote:olga/films", revision=commit)
    assert platforms.client.plan_evaluation(**pinned)["rows"] == 60
    newest = platforms.client.fetch_rows("remote:olga/films", revision="main")
    assert platforms.client.plan_evaluation(**newest)["rows"] == 31
    books = platforms.client.fetch_rows("remote:olga/films", config="books")
    assert platforms.client.plan_evaluation(**books)["labels"] == ["neg", "pos"]


def test_what_the_other_hub_does_not_give_is_said(platforms: SimpleNamespace):
    for name in ("remote:olga/own", "remote:olga/nothing"):
        with pytest.raises(ValueError, match="no dataset"):
            platforms.client.fetch_rows(name)
    with pytest.raises(ValueError, match="Choose one of"):
        platforms.client.fetch_rows("remote:olga/films", config="songs")
    with pytest.raises(ApiError, match="id"):
        platforms.client.fetch_rows("remote:../x")
    output = run("--dataset", "remote:olga/own", *TWO, "--server", platforms.site, "--token", platforms.token, status=1)
    assert "everybody may read" in " ".join(output.output.split())
