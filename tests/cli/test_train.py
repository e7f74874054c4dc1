"""Training on mixes at the command line."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli import app, training_mixes
from dynabench.kit.errors import Invalid, NotFound
from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from tests.evaluate import real
from tests.large_data import need_data
from tests.models.mixes import rows

CAD = "cad_nli/test.jsonl.gz"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files of rows; the command line has no deployment."""
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DYNABENCH_DATABASE_URL", raising=False)
    get_settings.cache_clear()
    for name, count in (("train", 30), ("more", 10), ("dev", 12), ("test", 12)):
        lines = [{**row.inputs, "label": row.label, "writer": "a1"} for row in rows(count, len(name) + count)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    yield tmp_path
    get_settings.cache_clear()


@pytest.mark.release
def test_files_with_weights_become_a_model_for_each_seed(files):
    options = ["--dev", str(files / "dev.jsonl"), "--test", str(files / "test.jsonl"), "--method", "ngram"]
    sources = ["--on", str(files / "train.jsonl"), "--on", f"{files / 'more.jsonl'}:2.5"]
    values = ["train", "sentiment", *sources, *options, "--out", str(files / "out"), "--seeds", "0,1", "--json"]
    done = CliRunner().invoke(app, values)
    assert done.exit_code == 0, done.output
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [item["name"] for item in documents if "name" in item] == ["sentiment-ngram-0", "sentiment-ngram-1"]
    assert [element["seeds"] for element in documents if "set" in element] == [2, 2]
    assert "| 10 | 2.5 | 45.5% |" in (files / "out" / "sentiment-ngram-0" / "README.md").read_text()
    assert catalog.open_model(files / "out" / "sentiment-ngram-1").card.task == "sentiment"


@pytest.mark.large_data(CAD)
def test_sources_are_parts_of_recipes_and_what_is_none_is_refused(files):
    data = need_data(CAD).parents[1]
    mix = training_mixes.build_mix("nli", ["recipe:nli-minilm/CAD-NLI test:0.5"], [], [], data)
    assert mix.inputs == ("premise", "hypothesis")
    assert (mix.parts[0].weight, len(mix.parts[0].rows)) == (0.5, 2000)
    with pytest.raises(NotFound, match="no source"):
        training_mixes.build_mix("nli", ["recipe:nli-minilm/SNLI"], [], [], data)
    with pytest.raises(NotFound, match="is no release"):
        training_mixes.build_mix("nli", ["nothing.jsonl"], [], [], None)
    with pytest.raises(Invalid, match="Row 1"):
        training_mixes.build_mix("nli", [str(files / "train.jsonl")], [], [], None)
    (files / "notes.jsonl").write_text("No rows.")
    with pytest.raises(Invalid, match="no JSON"):
        training_mixes.build_mix("nli", [str(files / "notes.jsonl")], [], [], None)
    with pytest.raises(Invalid, match="chosen from a list"):
        training_mixes.build_mix("summarization", [str(files / "train.jsonl")], [], [], None)


def test_a_weight_stands_behind_the_last_colon():
    assert training_mixes.parse_weight("release:nli/3:2") == ("release:nli/3", 2.0)
    assert training_mixes.parse_weight("release:nli/3") == ("release:nli/3", 1.0)
    assert training_mixes.parse_weight("rows.jsonl") == ("rows.jsonl", 1.0)


@pytest.mark.release
def test_spans_are_learnt_from_questions_that_people_asked(files):
    short = [paragraph for paragraph in real.paragraphs(30) if len(paragraph["context"]) < 420][:12]
    for name, part in {"asked": short[:8], "judged": short[7:10], "scored": short[10:]}.items():
        lines = [
            {
                "question": question["question"],
                "passage": first["context"],
                "answer": [{"start": (answer := question["answers"][0])["answer_start"], "text": answer["text"]}],
            }
            for first in part
            for question in first["qas"][:3]
        ]
        (files / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sets = [
        "--on",
        str(files / "asked.jsonl"),
        "--dev",
        str(files / "judged.jsonl"),
        "--test",
        str(files / "scored.jsonl"),
    ]
    done = CliRunner().invoke(app, ["train", "qa", *sets, "--epochs", "1", "--out", str(files / "out"), "--json"])
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["scores"]["dev"]) >= {"f1", "exact_match"}
    created = files / "out" / "qa-lora"
    record = json.loads((created / "training.json").read_text())
    assert record["base"].startswith("qa-minilm@")
    assert record["sources"][0]["dropped"] == 3
    best = max(evaluation["score"] for evaluation in record["evaluations"])
    assert best == pytest.approx(json.loads(done.stdout)["scores"]["dev"]["f1"], abs=0.15)
    assert "CC-BY-SA-4.0" in (created / "README.md").read_text()
