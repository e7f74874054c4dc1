"""Questions made of passages: exact spans, agreement of judges, budgets, and rows that training reads."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.adversaries import protocol
from dynabench.adversaries.attacks import LocalTarget
from dynabench.adversaries.protocol import AttackContext, Budget, MeteredTarget
from dynabench.adversaries.synthetic_answers import find_answers
from dynabench.adversaries.synthetic_qa import Judge
from dynabench.adversaries.synthetic_questions import make_question
from dynabench.cli import training_mixes
from dynabench.cli.adversary import app
from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models.catalog import BUILTIN, open_model
from dynabench.models.protocol import ModelOutput
from dynabench.tasks.words import word_f1
from tests.adversaries.test_language_model import chat  # noqa: F401

PASSAGE = (
    "The old lighthouse was built by Maria Keller in 1874. In 1902, the island council bought twelve boats for the "
    "harbour. About 35% of the islanders are fishermen. The ferry connects the island with Lindau."
)
HARBOUR = "The museum opened in March 1990. The collection holds 240 paintings, which were given by Anna Vogel."


@pytest.fixture(scope="module")
def reader():
    return open_model(BUILTIN / "qa-minilm")


class Says:
    """Answers everything with one text."""

    labels = ()

    def __init__(self, text):
        self.text, self.calls = text, 0

    def ask(self, batch):
        self.calls += len(batch)
        return [ModelOutput({"answer": [{"start": 0, "end": len(self.text), "text": self.text}]}) for _ in batch]


def ask_about(passage, cloze=False):
    """Questions by the answers they were made for."""
    questions = [(make_question(passage, item, cloze), item) for item in find_answers(passage)]
    return {item.span(passage)["text"]: (result.text, result.form) for result, item in questions if result}


def propose(target, passage=PASSAGE, budget=None, **options):
    maker = protocol.create_adversary("synthetic-qa", **options)
    result = list(maker.propose(AttackContext("c", {"passage": passage}), target, budget or Budget()))
    maker.close()
    return result, maker.tally


@pytest.mark.release
def test_sentences_become_questions():
    result = ask_about(PASSAGE)
    assert result["1874"] == ("When was the old lighthouse built by Maria Keller?", "inverted")
    assert result["Maria Keller"] == ("Who was the old lighthouse built by in 1874?", "inverted")
    assert result["The old lighthouse"] == ("What was built by Maria Keller in 1874?", "subject")
    assert result["1902"] == ("When did the island council buy twelve boats for the harbour?", "inverted")
    assert result["twelve"] == ("How many boats did the island council buy for the harbour in 1902?", "inverted")
    assert ask_about(HARBOUR)["240"] == ("How many paintings does the collection hold?", "inverted")


def test_a_question_needs_no_sentence_before_it():
    assert ask_about("He was born in 1874. This was seen by Maria Keller in 1902.", cloze=True) == {}


def test_without_the_tagger_dates_numbers_and_capitals_remain(monkeypatch):
    def missing(*_):
        raise Unavailable("not installed")

    monkeypatch.setattr("dynabench.adversaries.english_words.tag_words", missing)
    assert ask_about(PASSAGE)["1874"][0] == "When was the old lighthouse built by Maria Keller?"


@pytest.mark.release
def test_what_is_kept_is_a_span_on_which_enough_agree(reader):
    result, tally = propose(LocalTarget(reader))
    assert result
    assert (tally.passages, tally.kept) == (1, len(result))
    assert tally.answers >= tally.questions >= tally.kept
    judge = Judge(reader)
    for item in result:
        [span] = item.answer["answer"]
        assert PASSAGE[span["start"] : span["end"]] == span["text"]
        [reader_answer] = judge.answers(PASSAGE, [item.inputs["question"]])
        assert word_f1(reader_answer, span["text"]) >= 0.8
        assert (item.facts["votes"], item.fooled) == (1, False)
    assert len({item.inputs["question"] for item in result}) == len(result)


def test_a_target_that_the_others_outvote_is_fooled():
    stubborn = Says("net")
    result, _ = propose(stubborn, judges="qa-minilm")
    assert result
    assert all(item.fooled and item.facts["votes"] == 1 for item in result)
    assert propose(stubborn, judges=["qa-minilm"], agree=2)[0] == []


def test_a_seed_draws_the_same_and_a_budget_ends_it():
    [first, second, other] = [
        [candidate.inputs for candidate in propose(Says("x"), agree=0, seed=seed)[0]] for seed in (1, 1, 2)
    ]
    assert first == second != other
    target = Says("x")
    result, _ = propose(target, budget=Budget(queries=3), agree=0)
    assert len(result) == target.calls == 3
    counted = MeteredTarget(target, Budget(queries=0))
    assert (
        list(
            protocol.create_adversary("synthetic-qa").propose(
                AttackContext("c", {"passage": PASSAGE}), counted, Budget()
            )
        )
        == []
    )
    assert len(propose(Says("x"), agree=0, most=2)[0]) <= 2


HOSTILE = [
    "",
    " \n",
    "\U0001f600" * 50,
    "\u05d1\u05e9\u05e0\u05ea 1990 \u05e0\u05d1\u05e0\u05d4 Lindau in 1990, \u0645\u0646 was built in 1874.",
    "(" * 300,
    "In 1990. " * 900,
    PASSAGE * 50,
    "a\u0000b in 1990, \ud800 was built.",
]


@pytest.mark.parametrize("passage", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_passages(passage):
    result, _ = propose(Says("x"), passage, agree=0)
    for item in result:
        [span] = item.answer["answer"]
        assert passage[span["start"] : span["end"]] == span["text"]
    assert len(result) <= 40
    assert propose(Says("x"), PASSAGE * 200)[1].passages == 0


def test_a_language_model_writes_within_its_money(chat):  # noqa: F811
    writer, requests = chat('{"question": "Which year saw it?"}', "No idea.", '{"question": "It is 1874 Lindau"}')
    options = {"url": writer.url, "model": "small", "price_in": 1, "price_out": 10, "agree": 0}
    result, tally = propose(Says("x"), budget=Budget(cost=0.0061), **options)
    assert [item.inputs["question"] for item in result] == ["Which year saw it?"]
    assert (result[0].facts["generator"], result[0].cost) == ("small", pytest.approx(0.008))
    assert (len(requests), tally.questions) == (4, 1)


@pytest.mark.parametrize(
    "options", [{"agree": 3}, {"agree": "x"}, {"f1": 0}, {"url": "http://x"}, {"judges": "sentiment-ngram"}]
)
def test_what_is_wrong_is_refused(options):
    with pytest.raises(Invalid):
        protocol.create_adversary("synthetic-qa", **options)


def test_the_rows_of_the_command_are_read_by_training(tmp_path):
    values, out = tmp_path / "passages.jsonl", tmp_path / "rows.jsonl"
    rows = [
        {"uid": "a", "passage": PASSAGE},
        {"passage": HARBOUR},
        {"passage": HARBOUR},
        {"passage": ""},
        {"passage": "\ud800 was built in 1874."},
    ]
    values.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["synthesize", "--passages", str(values), "--judge", "qa-minilm", "--out", str(out)]
    process = CliRunner().invoke(app, [*words, "--json"])
    assert process.exit_code == 0, process.output
    figures = json.loads(process.stdout)
    assert (figures["passages"], figures["passed_over"]) == (2, 2)
    [part] = training_mixes.build_mix("qa", [str(out)], [], [], None).parts
    assert len(part.rows) == figures["kept"] > 0
    for row in part.rows:
        assert row.passage.startswith(row.answers[0], row.start)
    values.write_text('{"text": "x"}\n')
    refused = CliRunner().invoke(app, words)
    assert (refused.exit_code, "Line 1" in refused.stderr) == (1, True)
