"""Exports and imports over HTTP, and the command."""

import csv
import io
import json

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from dynabench.cli import app as command
from dynabench.kit import jobs
from dynabench.kit.jobs import Job
from dynabench.kit.settings import get_settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from tests.datasets.world import export, written

API = "/api/v1/tasks/checks"


@pytest.fixture
def olga(person, world):
    created = person("olga")
    world.db.write(rounds.set_role, None, "checks", "olga", "owner")
    return created


def test_owners_download_every_format(olga, world, settings):
    written(world, world.person(), "It is dry.")
    for form, kind in (("jsonl", "application/x-ndjson"), ("csv", "text/csv"), ("parquet", "parquet")):
        answer = olga.get(f"{API}/export", params={"format": form, "round": 1})
        assert answer.status_code == 200, answer.text
        assert kind in answer.headers["content-type"]
        assert answer.headers["content-disposition"] == f'attachment; filename="checks-round-1.{form}"'
        assert answer.content == export(world.db, settings, form, attributions=False) or form == "parquet"
    assert world.db.engine.pool.checkedout() == 0


def test_others_download_what_is_released(client, person, world):
    written(world, world.person(), "It is dry.")
    mia = person("mia")
    assert mia.get(f"{API}/export").status_code == 403
    assert client.get(f"{API}/export").status_code == 401
    world.state("released")
    assert mia.get(f"{API}/export").status_code == 200
    assert json.loads(client.get(f"{API}/export").text)["input"] == {"hypothesis": "It is dry."}
    assert client.get(f"{API}/export", params={"format": "pickle"}).status_code == 422
    assert mia.get(f"{API}/export", params={"round": 9}).status_code == 404


def test_a_file_is_sent_looked_at_and_started(olga, world, settings):
    written(world, world.person(), "It is dry.")
    content = export(world.db, settings, "csv")
    sent = olga.post(f"{API}/imports/files", params={"name": "../../x.csv"}, content=content)
    assert sent.status_code == 201, sent.text
    seen = sent.json()
    assert (seen["format"], seen["name"], seen["problem"]) == ("own", "x.csv", "")
    assert seen["rows"][0]["values"]["input"] == {"hypothesis": "It is dry."}
    other = olga.post(f"{API}/imports/preview", json={"file": seen["file"], "into": "contexts"})
    assert other.json()["rows"][0]["values"]["context"] == {"premise": "It rains."}
    assert olga.post(f"{API}/imports", json={"file": seen["file"], "format": "what"}).status_code == 422
    started = olga.post(f"{API}/imports", json={"file": seen["file"]})
    assert started.status_code == 202, started.text
    job = world.db.read(lambda session: session.scalars(select(Job)).one())
    assert (job.kind, job.payload["format"]) == ("import_data", "own")
    assert olga.get(f"{API}/imports/{job.id}").json()["state"] == "queued"
    assert [item["id"] for item in olga.get(f"{API}/imports").json()["items"]] == [job.id]
    assert olga.post(f"{API}/imports", json={"file": seen["file"]}).status_code == 422, "it was taken"
    assert jobs.WORKFLOWS["import_data"]


def test_a_kind_of_file_that_is_not_read_is_refused(olga):
    answer = olga.post(f"{API}/imports/files", params={"name": "x.pkl"}, content=b"x")
    assert answer.status_code == 422
    assert "name" in answer.json()["fields"]
    empty = olga.post(f"{API}/imports/files", params={"name": "x.jsonl"}, content=b"").json()
    assert "no row" in empty["problem"]


@pytest.fixture
def run(settings, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("DYNABENCH_SECRET", settings.secret)
    get_settings.cache_clear()
    yield lambda *words: CliRunner().invoke(command, [*words])
    get_settings.cache_clear()


@pytest.mark.slow
def test_the_command_writes_and_reads_files(run, world, tmp_path):
    written(world, world.person(), "It is dry.")
    path = tmp_path / "out.csv.gz"
    done = run("export", "checks", "-o", str(path), "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stderr.strip().splitlines()[-1])["rows"] == 1
    again = run("import", "checks", str(path), "--json")
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["duplicates"] == 1
    gone = run("import", "checks", str(tmp_path / "gone.csv"))
    assert gone.exit_code == 1
    contexts = tmp_path / "set"
    contexts.mkdir()
    (contexts / "train.csv").write_text("premise,hypothesis,label\nIt snows.,It is cold.,e\n,,\n")
    brought = run("import", "checks", str(contexts), "--as", "examples", "--json")
    document = json.loads(brought.stdout)
    assert (brought.exit_code, document["created"], len(document["errors"])) == (1, 1, 1)
    plain = run("export", "checks", "--round", "2", "--format", "csv")
    records = list(csv.DictReader(io.StringIO(plain.stdout.removeprefix("\ufeff"))))
    assert [record["context.premise"] for record in records] == ["It snows."]


@pytest.mark.slow
def test_the_console_exports_and_imports(olga, browser, world, settings):
    written(world, world.person(), "It is dry.")
    owner = browser()
    assert owner.log_in("olga").status_code == 303
    page = owner.get("/tasks/checks/manage/data").text
    assert "Import a file" in page
    assert '<option value="parquet">' in page
    assert (answer := owner.get("/api/v1/tasks/checks/export?round=&format=csv")).status_code == 200, answer.text
    headers = {"X-CSRF-Token": owner.token("/settings")}
    sent = {"file": ("x.jsonl", export(world.db, settings, "jsonl"))}
    answer = owner.client.post("/tasks/checks/manage/data/files", files=sent, headers=headers)
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    assert "It is dry." in owner.get(place).text
    looked = owner.submit(place, page="/settings", then="look", into="contexts", format="auto", mapping="")
    assert "It rains." in looked.text
    wrong = owner.submit(place, page="/settings", then="start", into="examples", format="auto", mapping="fields: [")
    assert wrong.status_code == 422
    assert "not valid YAML" in wrong.text
    columns = {"map.context.premise": "task", "map.input.hypothesis": "uid", "map.answer.label": "verdict"}
    chosen = owner.submit(
        place, page="/settings", then="look", into="examples", format="mapping", mapping="", **columns
    )
    assert "Choose one of the options" in chosen.text, "the columns are read as they were chosen"
    started = owner.submit(place, page="/settings", then="start", into="examples", format="auto", mapping="")
    assert started.status_code == 303
    assert "Waiting in the queue" in owner.get(started.headers["location"]).text
    refused = owner.submit("/tasks/checks/manage/data/hub", page="/settings", dataset="../x", into="examples")
    assert refused.status_code == 422
    nobody = world.db.read(lambda session: session.scalars(select(Person.username)).all())
    assert "import" not in nobody
