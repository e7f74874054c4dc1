"""Adversaries that search nothing: suites, counterfactual edits, and the one that learns."""

import gzip
import json

import pytest

from dynabench.adversaries.attacks import LocalTarget
from dynabench.adversaries.checklist import Checklist, ChecklistTest, read_released_suite, suite_tests
from dynabench.adversaries.counterfactual import Counterfactual, task_for_labels
from dynabench.adversaries.generator import Generator, Operator, SeenExample
from dynabench.adversaries.protocol import AttackContext, Budget
from dynabench.kit.errors import Invalid
from dynabench.models.catalog import BUILTIN, open_model
from tests.large_data import need_data


@pytest.fixture(scope="module")
def sentiment():
    return LocalTarget(open_model(BUILTIN / "sentiment-ngram"))


@pytest.fixture(scope="module")
def nli():
    return LocalTarget(open_model(BUILTIN / "nli-ngram"))


def edits(target, answer, **inputs):
    """(rule, new text, new answer) of all counterfactual edits."""
    context = AttackContext("c", {k: inputs[k] for k in ("premise",) if k in inputs}, inputs, {"label": answer})
    last = list(inputs)[-1]
    result = Counterfactual().propose(context, target, Budget())
    return {
        (item.facts["rule"], item.inputs[last], item.answer["label"])
        for item in result
        if item.facts["based_on"] == "input"
    }


def test_edits_turn_the_answer_of_inference_in_a_known_way(nli):
    premise = "Three people are outside, and Amira thanked Bruno."
    assert edits(nli, "entailment", premise=premise, hypothesis="Three people are outside") == {
        ("negation", "Three people are not outside", "contradiction"),
        ("number", "Five people are outside", "contradiction"),
        ("opposite", "Three people are inside", "contradiction"),
    }
    assert edits(nli, "entailment", premise=premise, hypothesis="Amira thanked Bruno.") == {
        ("roles", "Bruno thanked Amira.", "neutral")
    }
    assert edits(nli, "contradiction", premise=premise, hypothesis="Three people are inside") == set()


def test_a_premise_is_a_hypothesis_that_follows_from_it(nli):
    context = AttackContext("c", {"premise": "All dogs are asleep."})
    result = list(Counterfactual().propose(context, nli, Budget()))
    assert ("All dogs are awake.", "contradiction") in {(f.inputs["hypothesis"], f.answer["label"]) for f in result}
    assert all(item.inputs["premise"] == "All dogs are asleep." for item in result)
    assert list(Counterfactual().propose(context, nli, Budget(queries=0))) == []


def test_edits_of_sentiment_need_one_word_of_judgement(sentiment):
    assert ("opposite", "The soup was bad.", "negative") in edits(sentiment, "positive", statement="The soup was good.")
    assert edits(sentiment, "negative", statement="A dull film, but a charming actor.") == set()
    assert task_for_labels(["hateful", "not-hateful"]) == "hate"
    assert task_for_labels(["yes", "no"]) == ""


def test_a_suite_proposes_what_fails_and_no_more_than_its_budget(sentiment):
    empty = AttackContext("c", {})
    result = list(Checklist("sentiment-phenomena").propose(empty, sentiment, Budget(queries=64)))
    assert 0 < len(result) <= 64
    assert all(item.fooled and item.facts["kind"] == "MFT" for item in result)
    assert result == list(Checklist("sentiment-phenomena").propose(empty, sentiment, Budget(queries=64)))
    assert len(suite_tests("sentiment-phenomena")) > 300


def test_invariance_and_direction_are_judged_by_the_original(sentiment):
    good, bad = {"statement": "A wonderful film."}, {"statement": "A terrible film."}
    tests = [
        ChecklistTest("stays", "INV", [good, bad, good]),
        ChecklistTest("rises", "DIR", [good, bad], label="positive"),
        ChecklistTest("falls", "DIR", [good, bad], label="positive", expected="down"),
    ]
    result = list(Checklist(tests=tests).propose(AttackContext("c", {}), sentiment, Budget(queries=20)))
    assert {item.facts["test"] for item in result} == {"stays", "rises"}
    assert all(item.inputs == bad and item.answer == {"label": "positive"} for item in result)


def test_released_suites_are_read(tmp_path, sentiment):
    rows = [
        {"test": "words", "type": "MFT", "capability": "V", "labels": [2, None], "data": ["good", "no idea"]},
        {"test": "typos", "type": "INV", "capability": "R", "labels": None, "data": [["a good meal", "a godo meal"]]},
        {"test": "reducers", "type": "DIR", "capability": "V", "labels": None, "data": [["good", "rather good"]]},
        {"test": "unknown", "type": "DIR", "capability": "V", "labels": None, "data": [["good", "very good"]]},
    ]
    path = tmp_path / "suite.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    result = read_released_suite(path, ["statement"], "label")
    assert [(test.name, test.kind, test.expected) for test in result] == [
        ("words", "MFT", "up"), ("typos", "INV", "up"), ("reducers", "DIR", "down"),
    ]  # fmt: skip
    assert result[0].answer == {"label": "positive"}


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"test": "x", "type": "ABC", "data": []}', '{"test": "x", "type": "INV", "data": [3]}']
)
def test_a_line_that_is_no_test_is_named(tmp_path, line):
    path = tmp_path / "suite.jsonl"
    path.write_text("\n" + line + "\n")
    with pytest.raises(Invalid, match="Line 2"):
        read_released_suite(path, ["statement"], "label")


@pytest.mark.release
@pytest.mark.large_data("checklist/sentiment.jsonl.gz")
def test_the_whole_released_suite_is_read():
    result = read_released_suite(need_data("checklist/sentiment.jsonl.gz"), ["statement"], "label")
    assert {test.kind for test in result} == {"MFT", "INV", "DIR"}
    assert len(result) > 50_000


def test_the_learner_tries_first_what_worked(sentiment):
    learner = Generator(transformations=False)
    origin = {"statement": "The soup was good."}
    learner.feed(
        [SeenExample({"statement": "The soup was palatable."}, {"label": "positive"}, True, origin) for _ in range(30)]
        + [SeenExample({"statement": "The soup was great."}, {"label": "positive"}, False, origin) for _ in range(30)]
        + [
            SeenExample({"statement": f"Say what you will, number {n} was fine"}, {"label": "positive"}, True)
            for n in range(3)
        ]
    )
    assert learner.records[Operator("replace", "good", "palatable")].fooled == 30
    assert learner.records[Operator("begin", "", "Say what you")].fooled == 3
    context = AttackContext("c", {}, {"statement": "Good bread and a nice view."}, {"label": "positive"})
    result = list(learner.propose(context, sentiment, Budget(queries=20)))
    texts = [item.inputs["statement"] for item in result]
    assert (
        texts.index("Palatable bread and a nice view.") < texts.index("Great bread and a nice view.")
        if len({item.fooled for item in result}) == 1
        else "Palatable bread and a nice view." in texts
    )
    tried = learner.records[Operator("replace", "good", "palatable")]
    assert tried.fooled + tried.missed == 31
