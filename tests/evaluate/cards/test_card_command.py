"""`dynabench evaluate card` in a terminal."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli.evaluate import app

CARD = "---\nlicense: mit  # free\n---\n# M\n"
RUN = {"data": "sst2", "model": "m", "split": "test", "rows": 9,
       "scores": [{"metric": "accuracy", "options": {}, "rows": 9, "result": {"accuracy": 0.75}}]}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "README.md").write_text(CARD)
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    return tmp_path


def call(*words):
    return CliRunner().invoke(app, ["card", *map(str, words)])


def test_results_of_a_run_are_merged_into_a_card_and_read_from_it(folder):
    card, run = folder / "README.md", folder / "run.json"
    merged = call("merge", card, run, "--task", "text-classification", "--out", "-")
    assert merged.exit_code == 0
    assert card.read_text() == CARD
    assert "+- name: m" in call("merge", card, run, "--diff").output
    assert call("merge", card, run, "--task", "text-classification").exit_code == 0
    assert card.read_text() == merged.output
    read = json.loads(call("read", card, "--json").output)
    (result,) = read["models"][0]["results"]
    assert (result["metric_type"], result["metric_value"], result["dataset_split"]) == ("accuracy", 0.75, "test")
    assert "0.75" in call("read", card).output


def test_another_value_is_refused_and_the_card_stays(folder):
    card, run = folder / "README.md", folder / "run.json"
    call("merge", card, run)
    before = card.read_bytes()
    run.write_text(json.dumps(RUN).replace("0.75", "0.5"))
    refused = call("merge", card, run)
    assert refused.exit_code == 1
    assert "overwrite" in refused.output
    assert card.read_bytes() == before
    assert call("merge", card, run, "--overwrite").exit_code == 0
    assert "value: 0.5" in card.read_text()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("content", [b"\xff", b"---\na: [\n---\n", b"---\n- 1\n---\n"])
def test_a_broken_card_is_named_in_one_line(folder, content):
    (folder / "README.md").write_bytes(content)
    result = call("read", folder / "README.md")
    assert result.exit_code == 1
    assert len(result.output.splitlines()) == 1
