"""Searching adversaries against a real linear model: budgets, constraints, determinism, odd texts."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dynabench.adversaries import english_words, protocol
from dynabench.adversaries.attacks import LocalTarget, attack, run_attempts, summarise_attempts
from dynabench.adversaries.perturbations.transformation import words
from dynabench.adversaries.protocol import AttackContext, Budget
from dynabench.adversaries.word_search import cosines
from dynabench.models.backends.ngram import NgramModel
from dynabench.models.protocol import ModelCard
from dynabench.models.training import linear
from dynabench.models.training.recipes import Ngram
from dynabench.models.training.rows import TrainingRow

pytest.importorskip("denckring_en_pos")
pytest.importorskip("lemminflect")

GOOD = "wonderful superb gripping funny delightful clever excellent moving".split()
BAD = "boring terrible dull tedious awful stupid dreadful clumsy".split()
SUBJECTS = ["film", "story", "meal", "speech", "concert", "novel"]
SEARCHES = ("substitution", "typos", "perturb")
ODD = ["", " ", "😀🎉🔥", "هذا الفيلم رائع جدا", "no", "?!...", "wonderful " * 60, "a\u0301 b\u200bc", "<b>{x}</b> 7"]


@pytest.fixture(scope="module")
def target():
    """An n-gram model that learnt which words praise."""
    rows = [
        TrainingRow({"statement": f"The {subject} was {word} and the ending {other}."}, label)
        for label, list_ in (("positive", GOOD), ("negative", BAD))
        for subject in SUBJECTS
        for word in list_
        for other in list_[:3]
    ]
    recipe = SimpleNamespace(
        inputs=["statement"], labels=["positive", "negative"],
        ngram=Ngram(bits=12, characters=None, word_grams=1, pairs=False, strength=1e-3),
    )  # fmt: skip
    weights, bias = linear.train(recipe, rows, lambda share, loss: None)
    card = ModelCard("toy", "1", "sentiment", "ngram", ("statement",), "label", ("positive", "negative"))
    return LocalTarget(NgramModel(card, linear.options(recipe.ngram), weights, bias))


def context(text, label="positive"):
    return AttackContext("c", {}, {"statement": text}, {"label": label})


def texts():
    part = st.sampled_from(GOOD + BAD + SUBJECTS + ["not", "Amira", "three", "all", "quickly", "laughed", "the", "a"])
    return st.lists(part, min_size=3, max_size=14).map(" ".join)


class Counting:
    """A target that counts what it is asked."""

    def __init__(self, target):
        self.labels, self.count, self._target = target.labels, 0, target

    def ask(self, batch):
        self.count += len(batch)
        return self._target.ask(batch)


@pytest.mark.models
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts(), queries=st.integers(0, 20), name=st.sampled_from([*SEARCHES, "checklist", "counterfactual"]))
def test_no_adversary_asks_more_than_its_budget(target, text, queries, name):
    counting = Counting(target)
    result = list(protocol.create_adversary(name).propose(context(text), counting, Budget(queries=queries)))
    assert counting.count <= queries
    assert sum(item.queries for item in result) <= counting.count


@pytest.mark.release
@pytest.mark.models
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts(), name=st.sampled_from(["substitution", "typos"]))
def test_what_is_proposed_keeps_the_constraints(target, text, name):
    for result in protocol.create_adversary(name, similarity=0.8, share=0.25).propose(
        context(text), target, Budget(queries=80)
    ):
        new = result.inputs["statement"]
        assert cosines(text, [new])[0] >= 0.8 - 1e-4
        before, after = ([word.text for word in words(item)] for item in (text, new))
        changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert 0 < len(changed) == result.facts["changed"] <= max(1, int(0.25 * len(before)))
        assert not {"not", "Amira", "three", "all", "the"} & {a for a, _ in changed}
        assert result.answer == {"label": "positive"}
        assert result.fooled == (result.output.answer["label"] != "positive")
        if name == "typos":
            assert not any(b.lower() in english_words.english_words() for _, b in changed)


@pytest.mark.models
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_fools_a_model_of_few_words_and_is_the_same_each_time(target, name):
    rows = [context(f"The {item} was {GOOD[at]}, I laughed a lot.") for at, item in enumerate(SUBJECTS[:2])]
    runs = [
        list(attack(protocol.create_adversary(name, similarity=0.5), target, rows, Budget(queries=60)))
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert any(entry.fooled for entry in runs[0])


@pytest.mark.models
@pytest.mark.parametrize("name", [*SEARCHES, "checklist", "counterfactual", "generator"])
def test_odd_texts_break_nothing(target, name):
    for text in ODD:
        rows = [AttackContext("c", {}, {"statement": text}, {"label": label}) for label in target.labels]
        for result in attack(protocol.create_adversary(name), target, rows, Budget(queries=4)):
            assert isinstance(result.inputs["statement"], str)


@pytest.mark.models
def test_attempts_are_made_of_correct_inputs_and_summed_up(target):
    rows = [context("The film was superb."), context("The film was awful."), context("The novel was clever and funny.")]
    attempts = list(run_attempts(protocol.create_adversary("typos", similarity=0.3), target, rows, Budget(queries=60)))
    assert [attempt.context for attempt in attempts] == [rows[0], rows[2]]
    result = summarise_attempts(attempts)
    assert result.correct == result.fooled.n == 2
    assert result.queries_mean == sum(attempt.queries for attempt in attempts) / 2
    assert summarise_attempts([]).fooled.value is None


@pytest.mark.parametrize(
    ("new", "old", "part", "expected"),
    [("meal", "lunches", "NOUN", "meals"), ("doze", "sleeping", "VERB", "dozing"),
     ("glad", "happier", "ADJ", "gladder"), ("child", "boys", "NOUN", "children"),
     ("write", "walked", "VERB", "wrote")],
)  # fmt: skip
def test_a_new_word_takes_the_form_of_the_old_one(new, old, part, expected):
    assert english_words.inflect_like(new, old, part) == expected


def test_articles_and_opposites():
    assert english_words.article_fits("an", "hour")
    assert not english_words.article_fits("a", "apple")
    assert english_words.article_fits("a", "university")
    assert english_words.are_opposites("good", "bad")
    assert not english_words.are_opposites("movie", "film")


def test_facts_are_json(target):
    [result] = protocol.create_adversary("typos", similarity=-1).propose(
        context("The film was wonderful."), target, Budget(queries=40)
    )
    assert json.loads(json.dumps(result.facts))["words"] == 4
