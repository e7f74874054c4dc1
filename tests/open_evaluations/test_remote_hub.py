"""Datasets of another hub: pinned, checked by hash, resumed. A hub that lies or stalls is named, then forgiven."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dynabench.intake.sources import HubRequest
from dynabench.kit import errors
from dynabench.kit.outgoing import client as outgoing_client
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import remote_downloads, remote_source
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.remote_downloads import DownloadState, find_download, run_download
from tests.open_evaluations.conftest import Desk
from tests.open_evaluations.hostile_hub import COMMIT, HostileHub
from tests.open_evaluations.test_hub_source import CARD, reviews

TEST = "films/test-1.csv"
WISH = HubRequest("some/data")
FILES = {
    "README.md": CARD,
    "films/train.csv": reviews(9),
    "films/test-1.csv": reviews(300),
    "films/test-2.csv": reviews(9),
}


@pytest.fixture
def hub() -> Iterator[HostileHub]:
    server = HostileHub(dict(FILES))
    yield server
    server.close()


@pytest.fixture
def settings_here(hub: HostileHub, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "here", hub_url=hub.address)


def contents(settings: Settings) -> list[str]:
    """The names of complete contents."""
    folder = remote_downloads.downloads_folder(settings) / "contents"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".part")


def test_a_split_is_chosen_by_the_card_pinned_and_downloaded_once(hub: HostileHub, settings_here: Settings):
    download = run_download(settings_here, WISH)
    assert (download.config, download.split, download.commit) == ("films", "test", COMMIT)
    assert [name for name, _span in hub.resolved()] == ["README.md", "test-1.csv", "test-2.csv"]
    count = len(hub.requests)
    pinned = HubRequest("some/data", "films", "test", COMMIT)
    assert run_download(settings_here, pinned) == find_download(settings_here, pinned)
    assert run_download(settings_here, WISH).state == DownloadState.DONE
    assert len(hub.requests) == count, "nobody asks the hub for what is here"
    train = run_download(settings_here, HubRequest("some/data", split="train"))
    assert (train.split, train.size) == ("train", len(reviews(9)))
    assert len(contents(settings_here)) == 2, "test-2 and train have the same content"
    books = HubRequest("some/data", config="books")
    hub.files = {"README.md": b"# No configs", "load.py": b"raise SystemExit"}
    with pytest.raises(errors.Invalid, match="scripts are never run"):
        run_download(settings_here, books)


Trouble = Callable[[HostileHub], object]
TROUBLES: dict[str, tuple[Trouble, str]] = {
    "an error": (lambda hub: setattr(hub, "status", 500), "status 500"),
    "a page instead of facts": (lambda hub: setattr(hub, "html", True), "web page"),
    "another commit": (lambda hub: hub.facts.update(sha="main"), "which commit"),
    "a gated dataset": (lambda hub: hub.facts.update(gated="manual"), "asks for an agreement"),
    "a private dataset": (lambda hub: hub.facts.update(private=True), "is private"),
    "a dataset that is missing": (lambda hub: setattr(hub, "status", 404), "no dataset"),
    "a list that does not end": (lambda hub: setattr(hub, "endless", True), "does not end"),
    "no sizes": (lambda hub: hub.listed.update({"films/train.csv": {"lfs": {"oid": "0" * 64}}}), "without a path"),
    "too much": (
        lambda hub: hub.listed.update({"films/test-1.csv": {"lfs": {"oid": "0" * 64, "size": 2**31}}}),
        "1 GiB",
    ),
    "a script alone": (lambda hub: setattr(hub, "files", {"load.py": b"raise SystemExit"}), "refs/convert/parquet"),
    "other content": (lambda hub: hub.sent.update({TEST: FILES[TEST][::-1]}), "is not the file"),
    "a longer file": (lambda hub: hub.sent.update({TEST: FILES[TEST] * 2}), "is longer"),
    "a truncated file": (lambda hub: hub.sent.update({TEST: b"review"}), "only a part"),
    "a private address": (lambda hub: setattr(hub, "location", "https://10.0.0.1/NAME"), "not a public address"),
    "a private name": (lambda hub: setattr(hub, "location", "https://localhost/NAME"), "not a public address"),
    "a circle": (lambda hub: setattr(hub, "location", f"/datasets/some/data/resolve/{COMMIT}/NAME"), "again"),
    "a file of the disk": (lambda hub: setattr(hub, "location", "file:///etc/passwd"), "Give an address"),
}  # fmt: skip


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_hub_that_lies_is_named_and_forgiven(hub: HostileHub, settings_here: Settings, trouble: str):
    make_trouble, words = TROUBLES[trouble]
    make_trouble(hub)
    with pytest.raises(errors.Problem) as problem:
        run_download(settings_here, WISH)
    stored = find_download(settings_here, WISH)
    assert stored is not None
    assert stored.state == DownloadState.FAILED
    assert words in stored.reason
    assert stored.reason in (problem.value.detail, *(problem.value.extra.get("fields") or {}).values())
    assert not contents(settings_here), "nothing that was not checked has a name"
    if trouble == "too much":
        assert [name for name, _span in hub.resolved()] == ["README.md"], "refused before the download"
    honest = HostileHub(dict(FILES))
    try:
        healed = settings_here.model_copy(update={"hub_url": honest.address})
        assert run_download(healed, WISH).state == DownloadState.DONE
    finally:
        honest.close()


@pytest.mark.slow
def test_a_hub_that_is_gone_or_stalls_ends_the_wait(
    hub: HostileHub, settings_here: Settings, monkeypatch: pytest.MonkeyPatch
):
    gone = settings_here.model_copy(update={"hub_url": "http://127.0.0.1:9"})
    with pytest.raises(errors.Unavailable, match="cannot be reached"):
        run_download(gone, WISH)
    monkeypatch.setattr(outgoing_client, "MAX_QUIET_SECONDS", 0.2)
    hub.gate.clear()
    with pytest.raises(errors.Unavailable, match="did not answer in time"):
        run_download(settings_here, WISH)
    hub.gate.set()
    assert run_download(settings_here, WISH).state == DownloadState.DONE
    spans = [span for name, span in hub.resolved() if name == "test-1.csv"]
    assert spans[1] == f"bytes={len(FILES['films/test-1.csv']) // 2}-", "the half that came stays"


def test_a_cut_download_goes_on_and_a_listed_store_is_followed(hub: HostileHub, settings_here: Settings):
    hub.cut = 1000
    assert run_download(settings_here, WISH).state == DownloadState.DONE
    assert [span for name, span in hub.resolved() if name == "test-1.csv"] == ["", "bytes=1000-"]
    hub.location = f"http://localhost:{hub.server_port}/store/NAME"
    train = HubRequest("some/data", split="train")
    for content in (remote_downloads.downloads_folder(settings_here) / "contents").iterdir():
        content.unlink()
    with pytest.raises(errors.Unavailable, match="DYNABENCH_HUB_HOSTS"):
        run_download(settings_here, train)
    allowed = settings_here.model_copy(update={"hub_hosts": "localhost"})
    assert run_download(allowed, train).state == DownloadState.DONE


def test_two_who_want_the_same_download_it_once(hub: HostileHub, settings_here: Settings):
    hub.gate.clear()
    wishes = [WISH, HubRequest("some/data", "films", "test", COMMIT)]
    threads = [threading.Thread(target=run_download, args=(settings_here, wish)) for wish in wishes]
    for thread in threads:
        thread.start()
    hub.gate.set()
    for thread in threads:
        thread.join(60)
    assert all(find_download(settings_here, wish).state == DownloadState.DONE for wish in wishes)  # type: ignore[union-attr]
    assert len([name for name, _span in hub.resolved() if name == "test-1.csv"]) == 1


def test_old_contents_give_way_and_go(hub: HostileHub, settings_here: Settings, monkeypatch: pytest.MonkeyPatch):
    first = run_download(settings_here, HubRequest("some/data", split="train"))
    monkeypatch.setattr(remote_downloads, "MOST_BYTES", len(reviews(300)) + len(reviews(9)) - 1)
    with pytest.raises(errors.NoRoom, match="tomorrow"):
        run_download(settings_here, HubRequest("some/data", "films", "test"))
    monkeypatch.setattr(remote_downloads, "USED_DAYS", 0)
    hub.files["films/test-2.csv"] = reviews(10)
    monkeypatch.setattr(remote_downloads, "MOST_BYTES", len(reviews(300)) + len(reviews(10)))
    second = run_download(settings_here, HubRequest("some/data", "films", "test"))
    assert find_download(settings_here, HubRequest("some/data", "films", "train", first.commit)) is None
    remote_downloads.erase_old_downloads(settings_here)
    assert len(contents(settings_here)) == len(second.files)
    monkeypatch.setattr(remote_downloads, "KEPT_DAYS", -1)
    remote_downloads.erase_old_downloads(settings_here)
    assert not contents(settings_here)


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_an_evaluation_fetches_what_was_erased_and_keeps_its_commit(desk: Desk, hub: HostileHub, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HUB_URL", hub.address)
    desk.settings.hub_url = hub.address
    chosen = {"models": ["sentiment-ngram"]}
    with pytest.raises(errors.Invalid, match="Fetch it first"):
        desk.plan("remote:some/data", **chosen)
    for wrong in ("remote:x y", "remote:a/b/c", "remote:../x"):
        with pytest.raises(errors.Invalid, match="id"):
            desk.plan(wrong)
    run_download(desk.settings, WISH)
    plan = desk.plan("remote:some/data", **chosen)
    assert not plan.problems
    assert (plan.rows, plan.choices.revision, plan.choices.columns["text"]) == (309, COMMIT, "review")
    assert desk.plan("remote:some/data", **plan.choices.model_dump(exclude={"dataset"})).choices == plan.choices
    id = desk.start("remote:some/data", ["sentiment-ngram"])
    for content in (remote_downloads.downloads_folder(desk.settings) / "contents").iterdir():
        content.unlink()
    ended = desk.run(id).evaluation
    assert (ended.state, ended.rows, ended.edition) == ("done", 309, COMMIT), ended.reason
    later = desk.start("remote:some/data", ["sentiment-ngram"])
    for content in (remote_downloads.downloads_folder(desk.settings) / "contents").iterdir():
        content.unlink()
    hub.status = 500
    failed = desk.run(later).evaluation
    assert failed.state == "failed"
    assert "status 500" in failed.reason


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_wish_that_is_sent_again_is_one_download(desk: Desk, hub: HostileHub):
    desk.settings.hub_url = hub.address
    choices = OpenChoices(dataset="remote:some/data")

    def start() -> remote_downloads.RemoteDownload:
        return desk.database.write(lambda s: remote_source.start_download(s, desk.settings, desk.someone(s), choices))

    first = start()
    assert (first.state, start().job) == (DownloadState.QUEUED, first.job)
    hub.status = 500
    with pytest.raises(errors.Unavailable):
        run_download(desk.settings, WISH, first.job)
    again = start()
    assert again.job != first.job, "one that failed starts again"
    hub.status = 200
    run_download(desk.settings, WISH, again.job)
    assert start().state == DownloadState.DONE
