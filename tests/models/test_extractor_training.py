"""Training an extractor: it learns a pattern from scratch, from files in SQuAD's format."""

import gzip
import json
import random

import pytest

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.training import adapter, recipes, rows, run

pytestmark = pytest.mark.release

COLOURS = ["red", "green", "blue", "black", "white", "brown", "yellow", "grey"]
NOUNS = ["door", "boat", "lamp", "coat", "wall", "chair", "roof", "gate"]


def paragraph(rng):
    colour, item, other = rng.choice(COLOURS), *rng.sample(NOUNS, 2)
    text = f"House {rng.randrange(10**6)}: the {item} is {colour}, and the {other} is old."
    question = {"question": f"Which colour is the {item}?", "answers": [{"text": colour}]}
    question["answers"][0]["answer_start"] = text.index(colour)
    return {"context": text, "qas": [question]}


@pytest.fixture
def folder(tmp_path):
    rng = random.Random(1)
    data = tmp_path / "data"
    data.mkdir()
    test = [paragraph(rng) for _ in range(24)]
    train = [paragraph(rng) for _ in range(160)]
    unfit = paragraph(rng)
    unfit["qas"][0]["answers"][0]["answer_start"] += 1
    twice = {
        "context": "A red, red house.",
        "qas": [{"question": "?", "answers": [{"text": "red", "answer_start": 2}]}],
    }
    silent = {"context": "Nothing is said.", "qas": [{"question": "What?", "answers": []}]}
    for name, part in {"test": test, "train": [*train, test[0], unfit, twice, silent]}.items():
        with gzip.open(data / f"{name}.jsonl.gz", "wt") as file:
            file.write(json.dumps({"title": name, "paragraphs": part}))
    return data


def recipe(**changes):
    raw = {
        "name": "tiny-qa",
        "task": "qa",
        "kind": "extractor",
        "summary": "Tiny.",
        "inputs": ["question", "passage"],
        "answer": "answer",
        "licence": "CC0-1.0",
        "limits": "Knows eight colours.",
        "held_out": 0.1,
        "train": [{"name": "train", "files": ["train.*"]}],
        "test": [{"name": "test", "files": ["test.*"]}],
        "adapter": {"rank": 4, "epochs": 6, "batch": 16, "learning_rate": 5e-3, "lora_dropout": 0.0},
    }
    return recipes.Recipe.model_validate(raw | changes)


def test_passages_of_test_sets_and_questions_that_do_not_fit_are_left_out(folder):
    prepared = rows.prepare(recipe(), folder)
    assert prepared.overlap == 1
    assert prepared.counts == {"train": 160}
    assert len(prepared.dev) == 16
    passages = {question.passage for question in prepared.train}
    assert not passages & {q.passage for part in (prepared.dev, prepared.tests["test"]) for q in part}
    with pytest.raises(Invalid, match="No questions"):
        rows.prepare(recipe(extractor={"longest": 5}), folder)


def test_an_answer_is_marked_in_the_window_that_shows_it_best():
    filler = "Sheep graze behind the wall. " * 40
    passage = f"{filler}The gate is green. {filler}"
    question = rows.TrainingQuestion({"question": "Which?", "passage": passage}, ("green",), passage.index("green"))
    result = adapter.mark_answer(question, 64)
    assert result.pieces.ids[result.at + result.first] == result.pieces.ids[result.at + result.last] == 2665  # "green"
    assert 10 < result.first < result.count - 10
    assert adapter.mark_answer(rows.TrainingQuestion(question.inputs, (passage,), 0), 64) is None


@pytest.mark.models
def test_an_extractor_is_trained_evaluated_and_served_from_its_folder(folder, tmp_path):
    losses = []
    out = tmp_path / "out"
    details = run.train_recipe(
        recipe(floor={"test": {"f1": 0.8}}),
        folder,
        out,
        3,
        progress=lambda stage, share, remark: losses.append(remark) if stage == "training" else None,
    )
    assert float(losses[-1].split()[1]) < 0.5 * float(losses[0].split()[1])
    assert details.scores["test"].f1 >= 0.8
    assert spec.read(out) == details
    card = (out / "README.md").read_text()
    assert "| set | exact match |" in card
    assert "pipeline_tag: question-answering" in card
    model = catalog.open_model(out)
    (span,) = model.predict([{"question": "Which colour is the gate?", "passage": "The gate is green."}])[0].answer[
        "answer"
    ]
    assert span == {"start": 12, "end": 17, "text": "green"}
    model.close()
    with pytest.raises(run.BelowFloor, match=r"F1 .* is below 1\.1"):
        run.train_recipe(recipe(floor={"test": {"f1": 1.1}}), folder, tmp_path / "low", 3, epochs=0.1)
