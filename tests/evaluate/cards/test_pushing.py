"""Results become a pull request through the hub's own client."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli.evaluate import app
from dynabench.evaluate.cards.card_text import split_card
from dynabench.evaluate.cards.model_index import CardResult, merge_results
from dynabench.evaluate.cards.pushing import PushTarget, push_card, push_entries
from dynabench.evaluate.cards.result_files import ResultEntry, read_entries
from dynabench.evaluate.cards.yaml_text import CardError
from tests.evaluate.cards.hub_server import hub_server

CARD = b"---\r\nlicense: mit  # free\r\n---\r\n# M\r\n"
RESULT = CardResult("text-classification", "a/b", "AB", "accuracy", 0.75)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with hub_server({"README.md": CARD}) as server:
        yield server


def merge(card):
    return merge_results(card, [RESULT], model_name="m")


def test_a_card_becomes_a_pull_request_that_changes_the_results_alone(hub):
    target = PushTarget("user/model", endpoint=hub.address, token="hf_test")
    outcome = push_card(target, merge, "Add evaluation results")
    (commit,) = hub.commits
    assert outcome.pull_request == f"{hub.address}/user/model/discussions/1"
    assert (commit["pull"], commit["title"], commit["token"]) == (True, "Add evaluation results", "Bearer hf_test")
    pushed = commit["files"]["README.md"]
    assert pushed == str(merge(split_card(CARD.decode()))).encode()
    assert pushed.startswith(CARD.partition(b"\r\n---")[0])
    hub.files["README.md"] = pushed
    assert push_card(target, merge, "again").commit == ""
    assert len(hub.commits) == 1


def test_a_repository_without_a_card_or_a_result_file_gets_one(hub):
    target = PushTarget("user/model", endpoint=hub.address, token="hf_test")
    hub.files.clear()
    push_card(target, merge, "one", create_pr=False)
    push_entries(target, "ab", [ResultEntry("a/b", "t", 0.5)], "two")
    first, second = hub.commits
    assert (first["pull"], second["pull"]) == (False, True)
    assert read_entries(second["files"][".eval_results/ab.yaml"].decode()) == [ResultEntry("a/b", "t", 0.5)]
    with pytest.raises(CardError, match="name of a file"):
        push_entries(target, "../x", [ResultEntry("a/b", "t", 0.5)], "three")


def test_what_the_hub_refuses_is_one_sentence(hub):
    with pytest.raises(CardError, match="hub"):
        push_card(PushTarget("user/other", endpoint=hub.address, token="hf_test"), merge, "x")
    with pytest.raises(CardError, match="hub"):
        push_card(PushTarget("user/model", endpoint="http://127.0.0.1:9", token="hf_test"), merge, "x")
    hub.files["README.md"] = b"---\na: [\n---\n"
    with pytest.raises(CardError, match="not YAML"):
        push_card(PushTarget("user/model", endpoint=hub.address, token="hf_test"), merge, "x")
    assert hub.commits == []


def test_the_command_prints_the_address_of_the_pull_request(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    run = {"data": "sst2", "model": "m", "rows": 1, "scores": [{"metric": "accuracy", "result": {"accuracy": 0.5}}]}
    (tmp_path / "run.json").write_text(json.dumps(run))
    words = ["card", "push", str(tmp_path / "run.json"), "--repo", "user/model", "--server", hub.address]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert result.output.strip() == f"{hub.address}/user/model/discussions/1"
    assert b"value: 0.5" in hub.commits[0]["files"]["README.md"]


@pytest.mark.release
def test_a_hub_that_sends_too_much_too_little_or_nothing_is_given_up(hub, monkeypatch):
    target = PushTarget("user/model", endpoint=hub.address, token="hf_test")
    hub.endless = True
    with pytest.raises(CardError, match="sends more than"):
        push_card(target, merge, "x")
    monkeypatch.setattr("dynabench.evaluate.cards.pushing.SLOWEST", -1)
    with pytest.raises(CardError, match="did not send"):
        push_card(target, merge, "x")
    monkeypatch.undo()
    hub.endless, hub.lie = False, -20
    with pytest.raises(CardError):
        push_card(target, merge, "x")
    monkeypatch.setattr("dynabench.evaluate.cards.pushing.TIMEOUT", 0.5)
    hub.lie = 1_000
    with pytest.raises(CardError, match="cannot be reached"):
        push_card(target, merge, "x")
    assert hub.commits == []
