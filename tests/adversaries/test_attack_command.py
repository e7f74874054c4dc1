"""`dynabench adversary attack`."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli.adversary import app

ROWS = [
    {"uid": "a", "statement": "A wonderful, gripping film.", "label": "positive"},
    {"uid": "b", "statement": "A terrible, boring film.", "label": "negative"},
    {"uid": "c", "statement": "A terrible, boring film.", "label": "positive"},
]


def run(tmp_path, rows, *more):
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return CliRunner().invoke(app, ["attack", "--model", "sentiment-ngram", "--data", str(data), *more])


def test_candidates_are_written_and_figures_said(tmp_path):
    out = tmp_path / "out.jsonl"
    process = run(
        tmp_path, ROWS, "--with", "generator", "--queries", "20", "--option", "seed=3", "--out", str(out), "--json"
    )
    assert process.exit_code == 0, process.output
    figures = json.loads(process.stdout)
    assert (figures["correct"], figures["fooled"]["n"]) == (2, 2)
    result = [json.loads(line) for line in out.read_text().splitlines()]
    assert {item["context"] for item in result} == {"a", "b"}
    assert sum(item["queries"] for item in result) <= 40


def test_a_table_for_people(tmp_path):
    process = run(tmp_path, ROWS, "--with", "counterfactual")
    assert process.exit_code == 0
    assert "inputs answered correctly" in process.stdout


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        (ROWS, ["--with", "nobody"], "There is no adversary"),
        ([{"text": "x", "label": "positive"}], ["--with", "generator"], "Line 1 lacks statement"),
        (ROWS, ["--with", "generator", "--keep", "premise"], "no input 'premise'"),
        (ROWS, ["--with", "generator", "--option", "seed"], "no name=value"),
        (ROWS, ["--with", "generator", "--option", "colour=red"], "takes no option"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, rows, more, message):
    process = run(tmp_path, rows, *more)
    assert process.exit_code == 1
    assert message in process.stderr.replace("\n", " ")
