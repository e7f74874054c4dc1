"""Files of others: SQuAD, and rows that a mapping reads. All rows here are made up for these tests."""

import gzip
import json

import pytest
from sqlalchemy import func, select

from dynabench.collection.handout_tables import Seed
from dynabench.collection.tables import Example, Standing
from dynabench.datasets.imports import batches
from dynabench.intake import sources
from dynabench.intake.mapping import PRESETS, ColumnMapping, read_preset, translate_value
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Context
from tests.datasets.world import bring, fresh, rows

NLI = """
id: pairs
name: Pairs
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer: {name: label, type: choice, options: [entailment, neutral, contradiction]}
ask: [{name: why_correct, type: text}]
validate: {votes: 2, adjudicate_up_to: 3}
"""
QA = """
id: reading
name: Reading
context: [{name: passage, type: text, max_length: 5000}]
input: [{name: question, type: text}]
answer: {name: answer, type: spans, of: passage, max_spans: 1}
fooled: {rule: f1_below, threshold: 0.4}
"""
SENTIMENT = """
id: mood
name: Mood
input: [{name: statement, type: text}]
answer: {name: label, type: choice, options: [positive, neutral, negative]}
validate: {votes: 2, adjudicate_up_to: 5}
"""
HATE = """
id: speech
name: Speech
input: [{name: statement, type: text}]
answer: {name: label, type: choice, options: [hateful, not-hateful]}
ask:
  - {name: hate_type, type: choice, options: [derogation, animosity], when: label == hateful}
  - {name: target, type: choice, options: [women, muslim, other], when: label == hateful}
"""


@pytest.fixture
def db(database: Database) -> Database:
    for source in (NLI, QA, SENTIMENT, HATE):
        fresh(database, source, source.split()[1])
    return database


def lines(path, *given):
    path.write_text("\n".join(json.dumps(first) for first in given))
    return path


def test_anli_rows_become_examples_with_votes_and_verdicts(db, settings, tmp_path):
    path = lines(
        tmp_path / "a.jsonl",
        {"uid": "1", "context": "A dog barks.", "hypothesis": "An animal is loud.", "label": "e", "reason": "Barking.",
         "model_label": "n", "verifier_labels": ["e", "e"], "emturk": "worker-17"},
        {"uid": "2", "context": "A dog barks.", "hypothesis": "A cat sleeps.", "label": "c", "model_label": "c"},
        {"uid": "3", "context": "A dog barks.", "hypothesis": "It is night.", "label": "n", "model_label": "e",
         "verifier labels": ["c", "n", "c"]},
        {"uid": "4", "context": "", "hypothesis": "Nothing above.", "label": "n"},
    )  # fmt: skip
    state, refused = bring(db, settings, path, "pairs")
    assert (state.created, [single.number for single in refused]) == (3, [4])
    first, second, third = rows(db, settings, "pairs")
    assert first["answer"] == {"label": "entailment"}
    assert first["explanation"]["values"] == {"why_correct": "Barking."}
    assert (first["fooled"], first["verdict"]) == (True, "correct")
    assert (second["fooled"], second["verdict"], second["validations"]) == (False, "pending", [])
    assert (third["fooled"], third["verdict"]) == (True, "incorrect")
    assert first["predictions"][0]["answer"] == {"label": "neutral"}
    names = db.read(lambda session: session.scalars(select(Person.username)).all())
    assert not any("17" in name and "worker" in name for name in names)
    assert second["author"] == third["author"] != first["author"]


def test_rows_without_any_models_answer_stand_in_an_arm_of_their_own(db, settings, tmp_path):
    path = lines(tmp_path / "a.jsonl", {"premise": "It rains.", "hypothesis": "It is wet.", "label": "entailment"})
    bring(db, settings, path, "pairs")
    [row] = rows(db, settings, "pairs")
    assert (row["condition"]["arm"], row["condition"]["targets"], row["fooled"]) == ("no-target", [], None)
    again, _ = bring(db, settings, path, "pairs")
    assert (again.created, again.duplicates) == (0, 1), "a row without an id is known by what is in it"


def test_dynasent_rows_become_examples_with_every_persons_label(db, settings, tmp_path):
    people = {"positive": ["w1", "w2", "w3"], "negative": ["w4"], "neutral": [], "mixed": []}
    path = lines(
        tmp_path / "d.jsonl",
        {"text_id": "r1-1", "sentence": "Well, that went as planned.", "gold_label": "positive",
         "model_0_label": "negative", "model_0_probs": {"negative": 0.5, "positive": 0.25, "neutral": 0.25},
         "label_distribution": people},
        {"text_id": "r1-2", "sentence": "Hm.", "gold_label": None, "label_distribution": {}},
    )  # fmt: skip
    state, refused = bring(db, settings, path, "mood")
    assert (state.created, len(refused)) == (1, 1)
    [row] = rows(db, settings, "mood")
    assert row["predictions"][0]["probabilities"]["negative"] == 0.5
    assert [vote["vote"] for vote in row["validations"]] == ["correct"] * 3 + ["incorrect"]
    assert len({vote["validator"] for vote in row["validations"]}) == 4
    standing = db.read(lambda session: session.scalars(select(Standing)).one())
    assert (standing.blind, standing.blind_right, standing.verdict) == (4, 3, "correct")


@pytest.mark.slow
def test_dynahate_rows_become_examples_with_their_origins(db, settings, tmp_path):
    path = tmp_path / "hate.csv"
    path.write_text(
        "acl.id,text,label,type,target,round,level,acl.id.matched\n"
        "a2,They are welcome here.,nothate,none,none,2,perturbation,a1\n"
        "a1,They are nobody.,hate,derogation,mus,2,original,a2\n"
        "a3,They rule us all.,hate,conspiracy,\"['bla', 'mus']\",3,original,\n"
        "a4,Broken.,maybe,none,none,3,original,\n"
    )
    state, refused = bring(db, settings, path, "speech")
    assert (state.created, state.waiting, len(refused)) == (3, [], 1)
    result = {row["uid"]: row for row in rows(db, settings, "speech")}
    assert result["dynahate-a2"]["made_from"] == "dynahate-a1", "also where the origin stands later in the file"
    assert result["dynahate-a1"]["made_from"] is None
    assert result["dynahate-a1"]["explanation"]["values"] == {"hate_type": "derogation", "target": "muslim"}
    assert result["dynahate-a3"].get("explanation") == {"values": {}, "at": result["dynahate-a3"]["at"]}
    assert sum(state.notes.values()) == 2, "what the task does not offer is left out and counted"
    assert {row["round"] for row in result.values()} == {2, 3}


def test_squad_becomes_examples_and_what_has_no_answer_is_named(db, settings, tmp_path):
    passage = "Ada met Bo in 1904 in the old harbour."
    document = {"version": "v2.0", "data": [{"title": "Old_harbour", "paragraphs": [{"context": passage, "qas": [
        {"id": "q1", "question": "When did they meet?", "is_impossible": False,
         "answers": [{"text": "1904", "answer_start": 14}, {"text": "in 1904", "answer_start": 11}]},
        {"id": "q2", "question": "Why?", "is_impossible": True, "answers": []},
        {"id": "q3", "question": "Where?", "answers": [{"text": "harbour", "answer_start": 0}]},
    ]}]}]}  # fmt: skip
    path = tmp_path / "train.json"
    path.write_text(json.dumps(document))
    state, refused = bring(db, settings, path, "reading")
    assert state.created == 1
    assert state.notes == {"Questions with further gold answers; the first is the claim": 1}
    assert [(first.number, "no answer" in first.message) for first in refused] == [(2, True), (3, False)]
    [row] = rows(db, settings, "reading")
    assert row["answer"] == {"answer": [{"start": 14, "end": 18, "text": "1904"}]}
    assert (row["uid"], row["context"]["tag"]) == ("squad-q1", "Old harbour")


def test_squad_becomes_contexts(db, settings, tmp_path):
    paragraphs = [{"context": f"Passage {n}.", "qas": []} for n in range(3)]
    path = tmp_path / "train.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"data": [{"title": "T", "paragraphs": paragraphs}]}).encode()))
    state, _ = bring(db, settings, path, "reading", into="contexts")
    assert state.created == 3
    assert db.read(lambda session: session.scalar(select(func.count()).select_from(Context))) == 3


def test_rows_become_seeds(db, settings, tmp_path):
    path = lines(tmp_path / "s.jsonl", {"premise": "It rains.", "hypothesis": "It is wet.", "label": "e"})
    state, refused = bring(db, settings, path, "pairs", into="seeds")
    assert (state.created, refused) == (1, [])
    assert db.read(lambda session: session.scalars(select(Seed)).one()).answer == {"label": "entailment"}


def test_a_mapping_reads_any_columns(db, settings, tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text("text_a\ttext_b\tgold\tours\nIt rains.\tIt is wet.\t1\t0\n")
    mapping = """
    fields:
      context.premise: text_a
      input.hypothesis: text_b
      answer.label: {column: gold, values: {"1": entailment, "0": contradiction}}
    predictions:
      - {model: ours, answer: {label: {column: ours, values: {"0": neutral}}}}
    """
    with pytest.raises(errors.Invalid, match="Map its columns"):
        batches.plan_file(path, path.name, "examples")
    state, refused = bring(db, settings, path, "pairs", mapping=mapping)
    assert (state.created, refused) == (1, [])
    [row] = rows(db, settings, "pairs")
    assert (row["answer"], row["fooled"]) == ({"label": "entailment"}, True)


@pytest.mark.parametrize(
    "text", ["fields: [", "fields: {nothing.x: a}", "colour: red", "fields: {input.x: {colum: a}}"]
)
def test_a_mapping_with_a_slip_is_refused(text):
    with pytest.raises(errors.Invalid) as refusal:
        ColumnMapping.parse(text)
    assert "mapping" in refusal.value.fields


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_mappings(name):
    assert read_preset(name).fields


def test_values_mean_the_first_option_that_the_task_has():
    values = {"hate": ["hateful", "hate"], "1": ["hateful", "hate"]}
    assert translate_value("hate", values, ["hate", "fine"]) == "hate"
    assert translate_value(1, values, ["hateful"]) == "hateful"
    assert translate_value("else", values, ["hateful"]) == "else"


CARD = """---
configs:
  - config_name: plain
    default: true
    data_files:
      - {split: train, path: "data/train-*.parquet"}
      - {split: dev, path: data/dev.jsonl}
---
# A card
"""


def test_a_folders_card_says_which_files_are_which():
    names = ["data/train-0.parquet", "data/train-1.parquet", "data/dev.jsonl", "other.csv", "load.py"]
    assert sources.choose_files(names, CARD) == ["data/train-0.parquet", "data/train-1.parquet"]
    assert sources.choose_files(names, CARD, split="dev") == ["data/dev.jsonl"]
    assert sources.choose_files(["test.csv", "train.csv", "dataset_infos.json"]) == ["train.csv"]
    assert sources.choose_files(["en/train.csv", "de/train.csv"], config="de") == ["de/train.csv"]
    for wrong in ({"split": "gone"}, {"config": "gone"}):
        with pytest.raises(errors.Invalid):
            sources.choose_files(names, CARD, **wrong)


def test_scripts_and_paths_from_outside_are_not_followed(tmp_path):
    with pytest.raises(errors.Invalid, match="never run"):
        sources.choose_files(["data.py", "README.md", "../../etc/x.csv", "/abs/y.csv"])
    inside = tmp_path / "set"
    inside.mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (inside / "train.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(errors.Invalid):
        sources.local_files(inside)


def test_a_file_that_is_no_file_of_its_kind_is_refused(tmp_path):
    for name, content in (("x.parquet", b"PAR1 no"), ("x.json", b"{"), ("x.jsonl.gz", b"no gzip"), ("x.pkl", b"x")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(errors.Invalid):
            batches.plan_file(path, name, "examples")


def test_a_forged_row_of_ours_is_refused_with_its_reason(db, settings, tmp_path):
    path = lines(tmp_path / "a.jsonl", {"premise": "It rains.", "hypothesis": "It is wet.", "label": "e"})
    bring(db, settings, path, "pairs")
    [row] = rows(db, settings, "pairs")
    wrong = [
        row | {"uid": "a b"},
        row | {"uid": "n1", "answer": {"label": "maybe"}},
        row | {"uid": "n2", "source": "robot"},
        row | {"uid": "n3", "seconds": -1},
        row | {"uid": "n4", "extra": 1},
        row | {"uid": "n5", "initial": {"nothing": "x"}},
        row | {"uid": "n6", "predictions": [{"model": "m", "version": "", "answer": {}, "fooled": True}]},
        row | {"uid": "n7", "input": {"hypothesis": "nul \0"}},
    ]
    path = lines(tmp_path / "b.jsonl", *wrong)
    state, refused = bring(db, settings, path, "pairs")
    assert (state.created, [first.number for first in refused]) == (0, list(range(1, 9)))
    assert db.read(lambda session: session.scalar(select(func.count()).select_from(Example))) == 1
