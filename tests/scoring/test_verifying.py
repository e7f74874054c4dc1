"""Records that are checked outside, and run again."""

import json
import re

import pytest
from joserfc import jws
from joserfc.jwk import OKPKey
from typer.testing import CliRunner

from dynabench.benchmark.evaluations import service
from dynabench.benchmark.evaluations.tables import Record, Shard
from dynabench.benchmark.registry.tables import Submission
from dynabench.cli import app
from dynabench.datasets.tables import DatasetVersion
from dynabench.evaluate import loading
from dynabench.kit.db import Database
from dynabench.kit.settings import get_settings
from tests.furnished import bare
from tests.scoring.conftest import Place, run_evaluation, statements

STRANGER = "A" * 43 + "="
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def verify(*words):
    return CliRunner().invoke(app, ["evaluate", "verify", *map(str, words)])


def evaluation_of_films(settings):
    """Furnish: an evaluation that is done."""
    database = Database(settings.url)
    here = Place(database, settings)
    here.dataset("films", statements(30))
    here.queue(submission=here.submit("sentiment-ngram"))
    assert run_evaluation(database, settings, 1)["state"] == "done"
    database.close()


@pytest.fixture
def furnish(request):
    return evaluation_of_films if "record" in request.fixturenames else bare


@pytest.fixture
def record(place, client, tmp_path, database, monkeypatch):
    """The record of an evaluation, in a file as the API gives it."""
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", database.url)
    path = tmp_path / "record.json"
    path.write_text(client.get("/api/v1/evaluations/1/record").text)
    return path


@pytest.mark.slow
def test_a_record_holds_outside_and_scores_the_same_again(record):
    answer = verify(record, "--again", "--json")
    assert answer.exit_code == 0, answer.output
    document = json.loads(answer.output)
    assert (document["valid"], document["given"]) == (True, False)
    assert {score["metric"]: score["same"] for score in document["scores"]} == {"accuracy": True, "f1": True}
    assert verify("1").exit_code == 0
    assert verify("2").exit_code == 1


@pytest.mark.slow
def test_the_record_of_a_hidden_dataset_says_no_digest_of_rows_or_answers_and_is_run_again_where_they_are(
    place, by_hand, client, tmp_path, database, monkeypatch
):
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", database.url)
    here = place()
    version = here.dataset("quiet", statements(40), "hidden")
    here.queue(submission=here.submit("sentiment-ngram"))
    by_hand(1)
    answer = client.get("/api/v1/evaluations/1/record").text
    rows, shards = database.read(lambda session: (
        session.get_one(DatasetVersion, version).digest, [row.digest for row in session.query(Shard)],
    ))  # fmt: skip
    assert shards
    for secret in (rows, *shards):
        assert secret not in answer
    path = tmp_path / "record.json"
    path.write_text(answer)
    assert verify(path, "--again").exit_code == 0
    database.write(lambda session: setattr(session.get_one(DatasetVersion, version), "salt", "another"))
    assert verify(path, "--again").exit_code == 1, "other rows than those recorded are not asked about"


@pytest.mark.slow
def test_what_was_changed_or_signed_by_another_does_not_hold(record):
    document = json.loads(record.read_text())
    document["document"]["scores"][0]["value"] = 0.99
    record.write_text(json.dumps(document))
    again = verify(record, "--again")
    assert again.exit_code == 1
    assert "DOES NOT HOLD" in again.output
    assert verify("1", "--key", "A" * 43 + "=").exit_code == 1
    assert verify("1", "--key", "no key").exit_code == 1
    for wrong in ("[]", "{}", "not json", '{"document": 1, "signature": 2}'):
        record.write_text(wrong)
        assert verify(record).exit_code == 1


@pytest.mark.slow
def test_a_new_version_of_a_metric_scores_the_stored_answers_of_a_model_that_is_gone(
    place, by_hand, record, client, tmp_path, database, monkeypatch
):
    here = place()
    before = {score["metric"]: score for score in scores(client)}
    assert "without asking" not in verify(record).output

    database.write(lambda session: setattr(session.get_one(Submission, 1), "version", "0" * 16))  # nobody has that one
    card = loading.find_module("accuracy")
    monkeypatch.setattr(card, "version", card.version + 1)
    assert database.write(service.queue_outdated_metrics) == 1
    assert here.queue(metric="accuracy") == 1
    by_hand(1)

    assert here.evaluation(1).state == "done", here.evaluation(1).code
    after = {item["metric"]: item for item in scores(client)}
    assert after["accuracy"]["version"] == before["accuracy"]["version"] + 1
    assert set(after) == set(before)
    for cost in ("throughput", "memory", "latency_p50", "latency_p95", "size"):
        assert after[cost] == before[cost], cost
    second = tmp_path / "second.json"
    second.write_text(client.get("/api/v1/evaluations/1/record").text)
    answer = verify(second)
    assert answer.exit_code == 0
    answered = json.loads(second.read_text())["document"]["answered_at"]
    assert answered == json.loads(record.read_text())["document"]["answered_at"]
    assert f"scored from answers of {answered}, without asking the model again" in answer.output
    assert "cannot be run again here" in verify(second, "--again").output
    others = verify(record, "--again")
    assert "accuracy: recorded by version 1 of the metric, here is 2, not compared" in others.output
    assert others.exit_code == 0


def scores(client):
    return [item for item in client.get("/api/v1/evaluations/1/scores").json()["items"] if not item["slice"]]


def test_one_command_checks_a_record_where_there_is_neither_server_nor_database(record, tmp_path, monkeypatch):
    key = json.loads(record.read_text())["key"]
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", "postgresql+psycopg://nobody@127.0.0.1:1/nothing")
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "nowhere"))
    get_settings.cache_clear()
    answer = verify(record, "--key", key, "--json")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.output)["given"]
    assert not (tmp_path / "nowhere").exists(), "nor does it make anything"
    for change in (
        lambda document: document["dataset"].update(digest="0" * 64),
        lambda document: document["dataset"].update(name="others"),
        lambda document: document["model"].update(version="0" * 16),
        lambda document: document["scores"][0].update(value=document["scores"][0]["value"] + 1e-9),
        lambda document: document.update(key=key[::-1]),
        lambda document: document.pop("seeds"),
    ):
        changed = json.loads(record.read_text())
        change(changed["document"])
        other = tmp_path / "changed.json"
        other.write_text(json.dumps(changed))
        assert verify(other, "--key", key).exit_code == 1


@pytest.mark.slow
def test_records_hold_under_the_key_of_their_day_after_a_new_one(record, client, database, by_hand, settings):
    old = client.get("/.well-known/dynabench-key").text.split()
    assert CliRunner().invoke(app, ["evaluate", "new-key"]).exit_code == 0
    keys = client.get("/.well-known/dynabench-key").text.split()
    assert keys[1:] == old
    assert client.get("/api/v1/key").json() == {"algorithm": "Ed25519", "key": keys[0], "older": old}
    assert (settings.folder / "signing-key").stat().st_mode & 0o777 == 0o600
    answer = client.get("/api/v1/evaluations/1/record").json()
    assert answer["key"] == old[0]
    assert verify("1").exit_code == 0
    assert verify(record, "--key", old[0]).exit_code == 0
    assert verify(record, "--key", keys[0]).exit_code == 1
    here = Place(database, settings)
    here.queue(submission=here.submit("sentiment-ngram"))
    by_hand(2)
    assert client.get("/api/v1/evaluations/2/record").json()["key"] == keys[0]
    assert verify("2").exit_code == 0

    def forged(session):
        result = session.get_one(Record, 1)
        result.document = {**result.document, "key": STRANGER}

    database.write(forged)
    assert verify("1").exit_code == 1, "a key that the server never had is not trusted for being named"


def test_the_results_of_a_card_hold_as_they_were_signed_and_no_changed_number_does(record, client, tmp_path):
    card = tmp_path / "README.md"
    text = client.get("/api/v1/evaluations/1/card").text
    key = client.get("/api/v1/key").json()["key"]
    card.write_text(text)
    checked = json.loads(verify(card, "--key", key, "--json").output)
    assert {item["state"] for item in checked["results"]} == {"holds"}
    assert {item["evaluation"] for item in checked["results"]} == {1}
    assert {"accuracy", "f1"} <= {item["metric"] for item in checked["results"]}
    board = client.get("/api/v1/tasks/sentiment/leaderboard").json()["rows"][0]["id"]
    row = client.get(f"/api/v1/tasks/sentiment/leaderboard/rows/{board}/card").text
    card.write_text(row)
    assert verify(card, "--key", key).exit_code == 0
    other_name = text.replace("name: sentiment-ngram", "name: mine", 1)
    for changed in (re.sub(r"value: (\d)", r"value: 9\1", text, count=1), other_name):
        assert changed != text
        card.write_text(changed)
        refused = verify(card, "--key", key)
        assert refused.exit_code == 1
        assert "signed is" in refused.output
    card.write_text(text)
    assert verify(card, "--key", STRANGER).exit_code == 1
    card.write_text(re.sub("verifyToken: .*", "verifyToken: eyJhbGciOiJIUzI1NiJ9.e30.x", text))
    assert verify(card).exit_code == 1


def test_a_token_is_a_json_web_signature_that_names_its_record(record, client):
    (token, *_) = re.findall("verifyToken: (.*)", client.get("/api/v1/evaluations/1/card").text)
    key = client.get("/api/v1/key").json()["key"].translate(str.maketrans("+/", "-_")).rstrip("=")
    public = OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": key})
    claims = json.loads(jws.deserialize_compact(token, public, algorithms=["Ed25519"]).payload)
    assert claims["record"] == json.loads(record.read_text())["signature"]
    assert (claims["evaluation"], claims["dataset_type"], claims["model"]) == (1, "sentiment/films", "sentiment-ngram")
