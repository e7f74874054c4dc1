"""Studies at the command line: consent, draft, publishing, participants as CSV, decisions, accounts, refusals."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.crowd.tables import Participation
from dynabench.kit.jobs import Job
from dynabench.kit.settings import get_settings
from tests.crowd.conftest import CONSENT, OpenStudy, write_example
from tests.crowd.prolific_server import TOKEN, Prolific

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("operator")]


@pytest.fixture
def operator(owner, settings, monkeypatch):
    """The command line works on the database of the test."""
    for name, value in (("HOME", settings.home), ("DATABASE_URL", settings.url), ("SECRET", settings.secret)):
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def run(*command, status=0, stdin=""):
    answer = CliRunner().invoke(app, ["crowd", *map(str, command)], input=stdin)
    assert answer.exit_code == status, answer.output
    return answer.stdout if status == 0 else answer.stderr


def read(*command):
    return json.loads(run(*command, "--json"))


def rows(study):
    return list(csv.DictReader(io.StringIO(run("participants", "nli", study).removeprefix("\ufeff"))))


def test_a_study_is_run_at_the_command_line(worker, database, tmp_path):
    assert read("consent", "nli")["version"] == 0
    (tmp_path / "consent.md").write_text(run("consent", "nli"))
    assert "[CONTACT]" in run("consent", "nli", tmp_path / "consent.md", status=1)
    (tmp_path / "consent.md").write_text(CONSENT)
    assert read("consent", "nli", tmp_path / "consent.md") == {"version": 1, "text": CONSENT}
    study = read("draft", "nli", 1, "Fool a model", "--examples", 1, "--set", "codes.completed=DONE42")
    assert (study["state"], study["settings"]["codes"]) == ("draft", {"completed": "DONE42"})
    number, opened = study["id"], OpenStudy(study["id"], study["entry"].rpartition("/")[2])
    assert read("publish", "nli", number)["state"] == "published"
    done, early, _busy = (worker(opened, name) for name in ("w1", "w2", "w3"))
    write_example(done)
    done.submit(f"{opened.page}/finish", page=opened.page)
    early.submit(f"{opened.page}/finish", page=opened.page, early="yes")
    assert [(row["worker"], row["state"], row["outcome"], row["examples"]) for row in rows(number)] == [
        ("w1", "finished", "completed", "1"),
        ("w2", "finished", "manual_review", "0"),
        ("w3", "working", "", "0"),
    ]
    first, second, third = (int(row["id"]) for row in rows(number))
    assert rows(number)[0]["code"] == "DONE42"
    assert read("approve", "nli", number, "--completed") == {"approved": [first]}
    assert read("approve", "nli", number, "--completed") == {"approved": []}, "once"
    assert "not finished" in run("approve", "nli", number, second, third, status=1)
    assert rows(number)[1]["state"] == "finished", "all of a command, or nothing"
    run("reject", "nli", number, second, "--reason", "Nothing was written.")
    assert [row["state"] for row in rows(number)] == ["approved", "rejected", "working"]
    assert database.read(lambda session: session.query(Job).filter_by(kind="decide_participation").count()) == 2
    assert "by hand" in run("pay", "nli", number, status=1)
    assert [read(act, "nli", number)["state"] for act in ("pause", "stop")] == ["paused", "stopped"]
    assert [(row["id"], row["participants"]) for row in read("list", "nli")] == [(number, 3)]
    assert "Only a draft" in run("delete", "nli", number, status=1)


def test_wrong_words_are_refused_with_what_to_write(database):
    assert "worker_parameter" in run("draft", "nli", 1, "A study", "--set", "PID=x", status=1)
    assert "generic, prolific" in run("draft", "nli", 1, "A study", "--provider", "nobody", status=1)
    assert "at least one example or one vote" in run("draft", "nli", 1, "A study", "--examples", 0, status=1)
    draft = read("draft", "nli", 1, "A study")["id"]
    assert "consent text" in run("publish", "nli", draft, status=1)
    run("delete", "nli", draft)
    assert read("list", "nli") == []
    assert "no such study" in run("show", "nli", draft, status=1)
    assert database.read(lambda session: session.query(Participation).count()) == 0


def test_an_account_is_connected_after_the_platform_confirmed_it(monkeypatch):
    server = Prolific()
    monkeypatch.setenv("DYNABENCH_CROWD_URLS", json.dumps({"prolific": server.address}))
    monkeypatch.setenv("DYNABENCH_CROWD_HOSTS", server.address.partition("//")[2])
    get_settings.cache_clear()
    try:
        assert "does not accept" in run("connect", "nli", "prolific", stdin="wrong\n\n", status=1)
        answer = run("connect", "nli", "prolific", stdin=f"{TOKEN}\n\n")
        assert "Connected: lab@example.org" in answer
        assert TOKEN not in answer
    finally:
        server.close()
    run("consent", "nli")
    study = read("draft", "nli", 1, "A study", "--provider", "prolific", "--set", "places=5")["id"]
    assert "DYNABENCH_PUBLIC_URL" in run("publish", "nli", study, status=1)
    run("disconnect", "nli", "prolific")
    assert "Connect a Prolific account" in run("publish", "nli", study, status=1)
