"""A model builder at a platform that really runs: every way in that the how-to names, through to scores."""

import json
import re
import shutil
import threading
from http.server import ThreadingHTTPServer
from types import SimpleNamespace

import httpx2
import pytest
import yaml
from typer.testing import CliRunner

from benchmarks.running import platform
from dynabench.cli import app
from dynabench.client import Client
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, runtime
from dynabench.tasks import shipped_tasks
from tests.jobs.conftest import until
from tests.models.transformers import made
from tests.models.transformers.test_hub import COMMIT, Hub
from tests.scoring.conftest import statements

pytestmark = pytest.mark.release

runtime.quiet()
PASSWORD = "correct horse battery"
NAME = "some/reviews"


class Reviews(Hub):
    """A hub with one model of sentiment."""

    name = NAME


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """The address of a hub that serves a classifier as the transformers library saves it."""
    folder = made.sentiment(tmp_path_factory.mktemp("hub"), 192, 1)
    Reviews.files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "model.yaml"}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Reviews)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", folder=folder)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def site(tmp_path_factory, hub):
    """A platform with a task and a dataset that the command line made, and somebody with a token."""
    home = tmp_path_factory.mktemp("platform")
    with pytest.MonkeyPatch.context() as patch, platform(home, ready=False, hub_url=hub.url) as base:
        for name, value in (("HOME", str(home)), ("DATABASE_URL", ""), ("HUB_URL", hub.url)):
            patch.setenv(f"DYNABENCH_{name}", value)
        get_settings.cache_clear()
        [shipped] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]
        config = yaml.safe_load(shipped.source) | {"submissions": {"per_day": 20}}
        (home / "sentiment.yaml").write_text(yaml.safe_dump(config))
        lines = [{"uid": row.uid, **row.inputs, **row.answers[0]} for row in statements(30)]
        (home / "films.jsonl").write_text("\n".join(map(json.dumps, lines)))
        run("task", "create", str(home / "sentiment.yaml"))
        run("dataset", "add", "sentiment", "films", str(home / "films.jsonl"), "--visibility", "public")
        with Client(base) as client:
            client.register("mia", "mia@example.org", PASSWORD)
            token = client.log_in("mia", PASSWORD)
            yield SimpleNamespace(base=base, home=home, token=token, client=client)
    get_settings.cache_clear()


def run(*words, status=0):
    """Return the output of a command."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == status, f"{words}\n{done.output}\n{done.exception}"
    return done.output


def evaluated(site, submission):
    """The evaluation of a submission once it has ended, and its scores of the whole."""

    def look():
        items = site.client.request("GET", "/tasks/sentiment/evaluations", params={"submission": submission})["items"]
        return next((item for item in items if item["state"] in ("done", "failed", "cancelled")), None)

    result = until(look, 60)
    log = (site.home / "serve.log").read_text()[-2000:]
    assert result["state"] == "done", (result, log)
    scores = site.client.request("GET", f"/evaluations/{result['id']}/scores")["items"]
    return result["id"], {score["metric"]: score["value"] for score in scores if not score["slice"]}


def submit(site, *words, status=0):
    where = ("--task", "sentiment", "--server", site.base, "--token", site.token, "--json")
    return json.loads(run("model", "submit", *words, *where, status=status))


def test_a_hub_id_is_submitted_by_the_command_and_scored(site, hub):
    submission = submit(site, NAME)
    assert (submission["state"], submission["name"], submission["inside"]) == ("ready", "reviews", True), submission
    id, scores = evaluated(site, submission["id"])
    model, rows = catalog.open_model(hub.folder), statements(30)
    said_here = model.predict([{"text": row.inputs["statement"]} for row in rows])
    right = [reply.answer == row.answers[0] for reply, row in zip(said_here, rows, strict=True)]
    assert scores["accuracy"] == pytest.approx(sum(right) / 30)
    assert scores["throughput"] > 0
    entry = catalog.entry("reviews", submission["version"])
    assert yaml.safe_load((entry.folder / "model.yaml").read_text())["options"]["revision"] == COMMIT
    verified = run("evaluate", "verify", str(id), "--server", site.base, "--again")
    assert "accuracy" in verified
    none = submit(site, "some/nothing", status=1)
    assert "Fetching" not in submission["log"]
    assert (none["code"], "no model some/nothing" in none["reason"]) == ("not_found", True)


def test_a_hub_id_is_submitted_on_the_page_too(site):
    with httpx2.Client(base_url=site.base, follow_redirects=True) as browser:
        _send(browser, "/login", "/login", username="mia", password=PASSWORD)
        fields = {"kind": "hub", "name": "pickled", "hub": "some/pickles", "visibility": "private"}
        page = _send(browser, "/tasks/sentiment/submit?kind=hub", "/tasks/sentiment/submit", **fields)
        until(lambda: "safetensors" in browser.get(page.url.path).text, 60)


def _send(browser, page, to, **fields):
    token = re.search(r'name="csrf(?:-token)?" (?:value|content)="([^"]+)"', browser.get(page).text)[1]
    sent = browser.post(to, data=fields, headers={"X-CSRF-Token": token})
    assert sent.status_code == 200, sent.text[:500]
    return sent


def test_what_the_how_to_says_works_as_it_is_written(site, tmp_path):
    folder = tmp_path / "my-model"
    shutil.copytree(catalog.entry("sentiment-ngram").folder, folder)
    assert "passes for sentiment" in run("model", "check", str(folder), "--task", "sentiment")
    answer = submit(site, str(folder), "--name", "my-model")
    assert (answer["state"], answer["kind"]) == ("ready", "adapter"), answer
    id, scores = evaluated(site, answer["id"])
    assert scores["accuracy"] == 1

    signed = tmp_path / "record.json"
    signed.write_text(json.dumps(site.client.request("GET", f"/evaluations/{id}/record")))
    key = site.client.request("GET", "/key")["key"]
    assert "accuracy" in run("evaluate", "verify", str(id), "--server", site.base, "--again")
    run("evaluate", "verify", str(signed), "--key", key)
    card = tmp_path / "README.md"
    card.write_text(site.client.http.get(f"/api/v1/evaluations/{id}/card").text)
    assert "100.0: holds (evaluation" in run(  # and no address of the request
        "evaluate", "verify", str(card), "--server", site.base
    )
    run("evaluate", "verify", str(card), "--server", "http://127.0.0.1:9", status=1)
    value = re.search(r"value: ([\d.]+)", card.read_text())[0]
    card.write_text(card.read_text().replace(value, "value: 0.123", 1))
    assert "IS ANOTHER RESULT" in run("evaluate", "verify", str(card), "--server", site.base, status=1)
    signed.write_text(signed.read_text().replace(answer["version"], "0" * len(answer["version"])))
    run("evaluate", "verify", str(signed), "--key", key, status=1)

    entered = json.loads(run("model", "enter", "sentiment-ngram", "--task", "sentiment", "--json"))
    run("model", "enter", "sentiment-ngram", "--task", "sentiment", status=1)
    assert evaluated(site, entered["submission"])[1]["accuracy"] == 1

    lines = [{"uid": row.uid, **row.answers[0]} for row in statements(30)]
    (tmp_path / "dev.jsonl").write_text("\n".join(map(json.dumps, lines)))
    files = {"films": str(tmp_path / "dev.jsonl")}
    made_of = site.client.submit("sentiment", "predictions", "mine", files=files, visibility="private")
    until(lambda: site.client.submission(made_of["id"])["state"] == "ready", 60)
    assert evaluated(site, made_of["id"])[1]["accuracy"] == 1
