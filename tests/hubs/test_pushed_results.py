"""Results that `dynabench evaluate card push` sends to this platform's own hub."""

import json
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from dynabench.cli.evaluate import app
from dynabench.evaluate.cards.model_index import CardResult, merge_results
from dynabench.evaluate.cards.pushing import PushTarget, push_card, push_entries
from dynabench.evaluate.cards.result_files import ResultEntry, read_entries

pytestmark = pytest.mark.slow
CARD = b"---\r\nlicense: mit  # free\r\n---\r\n# M\r\n"


def test_results_are_proposed_as_pull_requests_and_change_no_other_byte(hub):
    owner, author = hub.api("ada"), hub.api("bob")
    name = owner.create_repo("scored").repo_id
    owner.upload_file(path_or_fileobj=CARD, path_in_repo="README.md", repo_id=name)
    target = PushTarget(name, endpoint=hub.endpoint, token=author.token)
    result = CardResult("text-classification", "a/b", "AB", "accuracy", 0.75)
    outcome = push_card(target, lambda card: merge_results(card, [result], model_name="m"), "Add evaluation results")
    assert outcome.pull_request
    push_entries(target, "ab", [ResultEntry("a/b", "t", 0.5)], "Add a result")
    assert {discussion.title for discussion in owner.get_repo_discussions(name)} == {
        "Add evaluation results",
        "Add a result",
    }
    for number in (1, 2):
        owner.merge_pull_request(name, number)
    merged = Path(owner.hf_hub_download(name, "README.md")).read_bytes()
    assert merged.startswith(CARD.partition(b"\r\n---")[0])
    assert merged.endswith(b"\r\n---\r\n# M\r\n")
    (read,) = ModelCard(merged.decode()).data.eval_results
    assert (read.metric_type, read.metric_value) == ("accuracy", 0.75)
    entries = Path(owner.hf_hub_download(name, ".eval_results/ab.yaml")).read_text()
    assert read_entries(entries) == [ResultEntry("a/b", "t", 0.5)]


def test_the_command_pushes_to_this_platform_and_leaves_nothing_of_a_bad_push(hub, tmp_path, monkeypatch):
    owner = hub.api("ada")
    name = owner.create_repo("pushed").repo_id
    owner.upload_file(path_or_fileobj=CARD, path_in_repo="README.md", repo_id=name)
    run = {"data": "sst2", "model": "m", "rows": 1, "scores": [{"metric": "accuracy", "result": {"accuracy": 0.5}}]}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(run))
    (tmp_path / "bad.md").write_text("---\nmodel-index: [\n---\n")
    monkeypatch.setenv("HF_TOKEN", owner.token)

    def push(path, repository, *more, server=hub.endpoint):
        words = ["card", "push", str(path), "--repo", repository, "--server", server, *more]
        return CliRunner().invoke(app, words)

    pushed = push(file, name)
    assert pushed.exit_code == 0, pushed.output
    assert "/discussions/1" in pushed.output
    assert push(file, name, "--direct").exit_code == 0
    assert "already" in push(file, name, "--direct").output
    commits = len(owner.list_repo_commits(name))
    for path, repository, server in (
        (tmp_path / "bad.md", name, hub.endpoint),
        (file, "ada/none", hub.endpoint),
        (file, name, "http://127.0.0.1:9"),
        (file, name, hub.address),
    ):
        refused = push(path, repository, server=server)
        assert refused.exit_code == 1, refused.output
        assert refused.output.count("\n") <= 3
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert push(file, name, "--direct").exit_code == 1
    assert len(owner.list_repo_commits(name)) == commits
    assert len(list(owner.get_repo_discussions(name))) == 1
