"""Releases over the API, in the console and on their page; what models' gaps say; where releases are pushed."""

import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import numpy as np
import pytest
from scipy.stats import fisher_exact

from dynabench.benchmark.evaluations.measures import REPLICATES, pack_replicates
from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.releases import manifest, release_steps, service
from dynabench.kit import errors, jobs
from dynabench.rounds import service as rounds
from tests.conftest import Browser
from tests.releases.world import collected_once, released, texts

WHERE = "/api/v1/tasks/checks/rounds/1/release"
PAGE = "/tasks/checks/manage/rounds/1/release"


@pytest.fixture
def furnish():
    return collected_once


@pytest.fixture
def world(furnished, database):
    return furnished[1].moved_to(database)


@pytest.fixture
def olga(world, person):
    result = person("olga")
    world.db.write(rounds.set_role, None, world.task, "olga", "owner")
    return result


@pytest.fixture
def work(world, settings, monkeypatch):
    """Do the jobs of releases in this process, by the steps that the worker takes."""
    monkeypatch.setattr(jobs, "_database", world.db)
    monkeypatch.setattr(release_steps, "get_settings", lambda: settings)

    def run():
        release = world.db.read(service.release_of_round, world.task, 1)
        if problem := release_steps.freeze_step(release.id):
            return problem
        return release_steps.finish_step(
            release.id, release_steps.write_step(release.id), release_steps.store_step(release.id)
        )

    return run


@pytest.mark.slow
def test_an_owner_previews_releases_and_everybody_fetches(world, olga, client, work, person):
    early = olga.post(WHERE + "/preview", json={}).json()["report"]
    assert early["findings"][0]["kind"] == "open"
    assert sum(early["parts"].values()) == 40
    assert olga.post(WHERE, json={"anyway": True}).status_code == 409, "an open round is not released"
    world.db.write(rounds.close_round, None, world.task, 1)
    assert olga.post(WHERE + "/preview", json={"train": 0.9}).status_code == 422
    document = olga.post(WHERE + "/preview", json={"seed": 3}).json()
    assert document["rules"]["seed"] == 3
    assert sum(document["report"]["parts"].values()) == 40
    assert client.get(WHERE).status_code == 404
    assert olga.post(WHERE, json={"anyway": True}).json()["state"] == "queued"
    assert olga.post(WHERE, json={"anyway": True}).status_code == 409
    digest = work()

    result = client.get(WHERE).json()
    assert (result["state"], result["digest"]) == ("ready", digest)
    assert result["id"] == f"dynabench:checks.r1.{digest[:16]}"
    assert digest in result["citation"]
    assert "hidden" not in result["report"]["labels"]
    assert client.get("/api/v1/tasks/checks/releases").json()["items"][0]["digest"] == digest
    rows = client.get(WHERE + "/files/data/test.jsonl")
    assert len(rows.text.splitlines()) == result["report"]["parts"]["test"]
    assert client.get(WHERE + "/files/data/hidden.jsonl").status_code == 404
    assert client.get(WHERE + "/files/..%2f..%2fdynabench.sqlite").status_code == 404
    with zipfile.ZipFile(io.BytesIO(client.get(WHERE + "/zip").content)) as zipped:
        assert {f"checks-round-1/{item['path']}" for item in result["files"]} == set(zipped.namelist())
    kinds = [element["kind"] for element in olga.get("/api/v1/tasks/checks/acts").json()["items"]]
    assert "round.released" in kinds


@pytest.mark.slow
def test_the_hidden_part_is_on_no_page_for_anybody(world, olga, client, settings):
    created = released(world, settings)
    parts, written = world.db.read(service.part_by_uid, created.round_id), texts(world)
    secret = [written[uid].rstrip(".") for uid, part in parts.items() if part == "hidden"]
    public = [written[uid].rstrip(".") for uid, part in parts.items() if part == "test"]
    view = [olga.get("/api/v1/tasks/checks/examples", params={"limit": 100}).text]
    view += [caller.get("/api/v1/tasks/checks/export").text for caller in (olga, client)]
    assert all(any(text in page for text in public) for page in view)
    pages = ("/", "/tasks/checks", "/tasks/checks/rounds/1", "/tasks/checks/rounds/1/release", "/tasks/checks/datasets")
    view += [client.get(page).text for page in pages]
    view += [client.get("/tasks/checks/datasets/round-1").text]
    assert not [text for text in secret for page in view if text in page]
    ids = {uid: id for id, uid in world.db.read(lambda session: session.execute(_ids()).all())}
    hidden = next(uid for uid, part in parts.items() if part == "hidden")
    assert olga.get(f"/api/v1/examples/{ids[hidden]}").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_an_earlier_dataset_of_the_round_is_hidden_for_good_too(world, olga, settings):
    world.db.write(rounds.close_round, None, world.task, 1)
    where = "/api/v1/tasks/checks/datasets"
    assert olga.post(f"{where}/rounds/1").json()["name"] == "round-1"
    created = released(world, settings)
    names = {item["name"]: item["visibility"] for item in olga.get(where).json()["items"]}
    assert names == {"round-1": "hidden", "round-1-hidden": "hidden", "round-1-test": "public"}
    for name in ("round-1", "round-1-hidden"):
        assert olga.patch(f"{where}/{name}", json={"visibility": "public"}).status_code == 409
        assert olga.get(f"{where}/{name}/rows").status_code == 403
    assert olga.post(f"{where}/rounds/1").status_code == 409, "its dataset can no longer change"
    assert olga.get(WHERE).json()["test"] == "round-1-test"
    assert created.report["findings"] == [] or "published" not in str(created.report)


def _ids():
    from sqlalchemy import select

    from dynabench.collection.tables import Example

    return select(Example.id, Example.uid)


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_console_asks_for_the_number_and_says_how_it_goes(world, olga, client, work):
    browser = Browser(client)
    assert browser.log_in("olga").status_code == 303
    early = browser.get(PAGE, params={"look": "yes"}).text
    assert "only closed rounds are released" in early
    assert 'name="sure"' not in early
    world.db.write(rounds.close_round, None, world.task, 1)
    assert 'href="/tasks/checks/manage/rounds/1/finish"' in browser.get("/tasks/checks/manage/rounds/1").text
    view = browser.get(PAGE, params={"look": "yes", "seed": "2", "disjoint": ["", "writers"]}).text
    assert "for testing, never published" in view
    assert 'name="seed" value="2"' in view
    assert browser.get(PAGE, params={"look": "yes", "train": "lots"}).status_code == 422
    wrong = browser.submit(PAGE, page="/settings", sure="2", seed="2", anyway="yes")
    assert wrong.status_code == 422
    assert "Type the number of the round" in wrong.text
    assert browser.submit(PAGE, page="/settings", sure="1", seed="2", anyway="yes").status_code == 303
    assert "waiting to be released" in browser.get(PAGE).text
    assert len(work()) == 64
    assert "is released" in browser.get(PAGE).text
    page = client.get("/tasks/checks/rounds/1/release").text
    assert "manifest.json" in page
    assert "Scores appear here once models are evaluated on both parts." in page
    assert 'href="/tasks/checks/rounds/1/release"' in client.get("/tasks/checks/rounds/1").text


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_model_that_saw_the_public_part_shows_a_gap(world, settings, client):
    created = released(world, settings)

    def score(session, name, public, hidden):
        entered = Submission(task_id=world.task, kind="installed", name=name, model=name, version="1" * 16, inside=True,
                             state="ready", card={})  # fmt: skip
        session.add(entered)
        session.flush()
        for version, (value, low, high) in ((created.test_id, public), (created.hidden_id, hidden)):
            evaluation = Evaluation(submission_id=entered.id, version_id=version, state="done")
            session.add(evaluation)
            session.flush()
            drawn = pack_replicates(np.full(REPLICATES, value))
            session.add(Score(evaluation_id=evaluation.id, metric="accuracy", value=value, low=low, high=high, n=200,
                              replicates=drawn))  # fmt: skip

    world.db.write(score, "honest", (0.7, 0.63, 0.76), (0.68, 0.61, 0.74))
    world.db.write(score, "seen", (0.99, 0.96, 1.0), (0.6, 0.53, 0.67))
    world.db.write(score, "lucky", (0.785, 0.73, 0.84), (0.695, 0.63, 0.75))
    gaps = client.get(WHERE).json()["gaps"]
    assert [item["model"] for item in gaps] == ["seen", "lucky", "honest"]
    assert gaps[0]["low"] == pytest.approx(0.39 - np.hypot(0.03, 0.07))
    assert gaps[1]["low"] > 0 > gaps[2]["low"]
    assert gaps[1]["p"] == pytest.approx(2 * fisher_exact([[157, 43], [139, 61]], "greater")[1])
    assert [gap["flagged"] for gap in gaps] == [True, False, False], "one of three is lucky more often than it seems"
    view = client.get("/tasks/checks/rounds/1/release").text
    assert "1 model does better on data that it may have seen" in view


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_release_is_pushed_to_stores_and_to_the_hub(world, settings, tmp_path):
    created = released(world, settings)
    folder = service.release_folder(settings, created.id)
    manifest.upload_release(settings, folder, (tmp_path / "there").as_uri())
    manifest.upload_release(settings, folder, "memory://shelf/one")
    memory = fsspec.filesystem("memory")
    for path in folder.rglob("*.*"):
        name = path.relative_to(folder)
        assert (tmp_path / "there" / name).read_bytes() == path.read_bytes() == memory.cat(f"/shelf/one/{name}")
    with pytest.raises(errors.Invalid, match="no address"):
        manifest.upload_release(settings, folder, "nothing://x")
    hub = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    hub.uploads = {}
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    try:
        known_values = settings.model_copy(update={"hub_url": f"http://127.0.0.1:{hub.server_address[1]}"})
        place = manifest.upload_release(known_values, folder, "hf://datasets/some/round", "hf_secret")
    finally:
        hub.shutdown()
        hub.server_close()
    assert place.endswith("/datasets/some/round/tree/" + "a" * 40)
    assert set(hub.uploads) == {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    assert created.digest in hub.summary
    assert hub.created["type"] == "dataset"
    with pytest.raises(errors.Unavailable, match=r"^This deployment calls no hub\. Set DYNABENCH_HUB_URL\.$"):
        manifest.upload_release(settings.model_copy(update={"hub_url": ""}), folder, "hf://datasets/some/round")
    with pytest.raises(errors.Invalid, match="OWNER/NAME"):
        manifest.upload_release(known_values, folder, "hf://models/some/round")


class Hub(BaseHTTPRequestHandler):
    """The few routes that making and filling a repository need; all files go with the commit."""

    def do_POST(self):
        import base64

        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        assert self.headers["authorization"] == "Bearer hf_secret"
        home = f"http://127.0.0.1:{self.server.server_address[1]}/datasets/some/round"
        if self.path.endswith("/repos/create"):
            self.server.created = json.loads(body)
            self.answer({"url": home, "name": "some/round"})
        elif "/preupload/" in self.path:
            names = [item["path"] for item in json.loads(body)["files"]]
            self.answer({"files": [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]})
        elif "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "header":
                    self.server.summary = line["value"]["summary"]
                else:
                    self.server.uploads[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            self.answer(
                {"success": True, "commitOid": "a" * 40, "commitUrl": f"{home}/commit/{'a' * 40}", "hookOutput": ""}
            )
        else:
            self.answer({})

    def do_GET(self):
        self.answer({"id": "some/round", "sha": "b" * 40, "siblings": []})

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass
