"""A program that works on a served platform: asks its targets, proposes, stops, goes on."""

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

import dynabench
from dynabench.adversaries import attacks, program_run, reports
from dynabench.adversaries.protocol import AttackCandidate, AttackContext, Budget
from dynabench.adversaries.remote_tasks import RemoteTask
from dynabench.adversaries.reports import AttackFinding, AttackReport, SkippedEntry
from dynabench.adversaries.run_journal import Journal
from dynabench.cli import adversary
from dynabench.kit.errors import Invalid
from tests.collection.test_client import address  # noqa: F401
from tests.conftest import PASSWORD

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


class Words:
    """Proposes a hypothesis with each of some words until one fools; `nli-a` takes any `not` for a contradiction."""

    name, version = "words", "1"

    def propose(self, context, target, budget) -> Iterator[AttackCandidate]:
        for word in ("truly", "not"):
            inputs = {**context.values, "hypothesis": f"It is {word} so in {context.uid}."}
            (reply,) = target.ask([inputs])
            yield AttackCandidate(
                context.uid, inputs, context.answer, reply, reply.extras["fooled"], 1, 0.25, {"word": word}
            )


@pytest.fixture
def ada(owner, address):  # noqa: F811
    """Somebody whose programs reach the platform over its API."""
    with dynabench.Client(address) as client:
        client.register("ada", "ada@example.org", PASSWORD)
        client.log_in("ada", PASSWORD)
        yield client


def play(client, path, contexts, **more):
    site = RemoteTask(client, "nli")
    journal = Journal.open(path, {"task": "nli", "program": "words"})
    plan = program_run.RunPlan(contexts, Budget(queries=10), **more)
    return list(program_run.run_program(site, Words(), journal, plan)), journal


@pytest.mark.slow
@on_sqlite
def test_a_run_proposes_one_example_a_context_and_goes_on_where_it_stopped(ada, tmp_path):
    path = tmp_path / "run.jsonl"
    steps, journal = play(ada, path, 3)
    assert [step.outcome["fooled"] for step in steps] == [True] * 3
    assert (journal.done, journal.sent, journal.fooled) == (3, 3, 3)
    steps, journal = play(ada, path, 4)
    assert (len(steps), journal.done) == (1, 4)
    assert play(ada, path, 4)[0] == []
    stored = list(ada.examples("nli"))
    assert {(item["source"], item["program"]["name"], item["attempt"]) for item in stored} == {("program", "words", 1)}
    assert sum(element["program"]["queries"] for element in stored) == journal.queries
    (row,) = ada.programs("nli", 1)["items"]
    assert (row["fooled"], row["queries"], row["cost"]) == (4, journal.queries, journal.cost)


@on_sqlite
def test_what_a_crash_left_unsent_is_sent_once(ada, tmp_path):
    path = tmp_path / "run.jsonl"
    play(ada, path, 2)
    first = list(ada.examples("nli"))[-1]
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join(line for line in lines if f'"example": {first["id"]},' not in line) + '\n{"taken": "cut o'
    )
    steps, journal = play(ada, path, 2)
    assert [step.outcome["id"] for step in steps] == [first["id"]]
    assert len(list(ada.examples("nli"))) == 2
    assert (journal.sent, journal.waiting) == (2, {})


@on_sqlite
def test_a_dry_run_and_what_is_kept_back_send_nothing(ada, tmp_path):
    steps, journal = play(ada, tmp_path / "run.jsonl", 2, dry=True)
    assert [step.body["program"]["facts"]["word"] in ("truly", "not") for step in steps] == [True] * 2
    assert (journal.done, list(ada.examples("nli"))) == (0, [])
    steps, _ = play(ada, tmp_path / "poor.jsonl", 9, cost=0.3)
    assert 1 <= len(steps) <= 2


def test_another_runs_journal_is_refused(tmp_path):
    path = tmp_path / "run.jsonl"
    Journal.open(path, {"task": "nli"}).record({"taken": "1", "queries": 2, "cost": 0.0})
    assert Journal.open(path, {"task": "nli"}).done == 1
    with pytest.raises(Invalid):
        Journal.open(path, {"task": "hate"})


def test_texts_to_start_from_may_be_exports_or_plain_rows(tmp_path):
    path = tmp_path / "texts.jsonl"
    rows = [
        {"uid": "a", "context": {"values": {"premise": "P"}}, "input": {"hypothesis": "H"}, "answer": {"label": "x"}},
        {"premise": "P", "hypothesis": "H", "label": "x"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    named = [AttackContext(uid, {"premise": "P"}, {"hypothesis": "H"}, {"label": "x"}) for uid in ("a", "line 2")]
    assert attacks.read_start_texts(path, ["hypothesis"], ["premise"], ["label"]) == named
    path.write_text('{"premise": "P"}')
    with pytest.raises(Invalid, match="Line 1"):
        attacks.read_start_texts(path, ["hypothesis"], ["premise"], ["label"])


@on_sqlite
def test_what_another_program_found_is_proposed_once_and_the_rest_is_told(ada, tmp_path):
    site = RemoteTask(ada, "sentiment")
    result = [
        AttackFinding("line 2", {"": "A good evening, wasted."}, "1", queries=34, facts={"words": ["wasted"]}),
        AttackFinding("line 3", {"": "So it goes."}, None),
        AttackFinding("line 4", {"": "So it went."}, "7"),
    ]
    report = AttackReport("textattack", "0.3", result, [SkippedEntry("line 5", "The attack found nothing.")])
    mapped = reports.ReportMapping(labels={"1": "negative"})
    journal = Journal.open(tmp_path / "import.jsonl", {})
    steps = {step.context: step for step in reports.import_report(site, journal, report, mapped)}
    assert steps["line 2"].outcome["fooled"] is True
    assert "--answer" in steps["line 3"].refused
    assert "--label 7=" in steps["line 4"].refused
    assert steps["line 5"].refused == "The attack found nothing."
    again = reports.import_report(site, Journal.open(tmp_path / "import.jsonl", {}), report, mapped)
    assert [step.context for step in again] == ["line 3", "line 4", "line 5"]
    (stored,) = ada.examples("sentiment")
    assert (stored["program"]["name"], stored["program"]["facts"]["at"]) == ("textattack", "line 2")


@pytest.mark.release
@on_sqlite
def test_the_command_attacks_a_round_from_texts_of_ones_own(ada, tmp_path):
    texts_file = tmp_path / "texts.jsonl"
    answer = ("A good evening, all told.", "What a good and pleasant walk.")
    texts_file.write_text("".join(json.dumps({"statement": text, "label": "positive"}) + "\n" for text in answer))
    words = ["run", "sentiment", "--with", "perturb", "--url", str(ada.http.base_url), "--contexts", 1, "--queries", 20,
             "--token", ada.http.headers["Authorization"].removeprefix("Bearer "), "--texts", texts_file, "--json",
             "--journal", tmp_path / "run.jsonl"]  # fmt: skip
    done = CliRunner().invoke(adversary.app, list(map(str, words)))
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout.splitlines()[-1])  # the served application logs there, too
    assert document["contexts"] == document["proposed"] == len(list(ada.examples("sentiment")))
    assert document["contexts"] > 0
    assert 0 < document["queries"] <= 20 * document["contexts"]


def test_who_has_no_token_is_told_before_any_query_is_spent(tmp_path):
    words = [
        "run",
        "sentiment",
        "--with",
        "typos",
        "--url",
        "http://127.0.0.1:9",
        "--journal",
        str(tmp_path / "j.jsonl"),
    ]
    done = CliRunner().invoke(adversary.app, words, env={"DYNABENCH_TOKEN": ""})
    assert done.exit_code == 1
    assert "DYNABENCH_TOKEN" in done.stderr
    assert not (tmp_path / "j.jsonl").exists()
