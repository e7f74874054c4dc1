"""Answers that are no plain texts: when they are right, what they score, when a model counts as fooled."""

import pytest

from dynabench.benchmark.evaluations.measures import bind_metric, is_exact
from dynabench.benchmark.registry import predictions
from dynabench.kit.errors import Unavailable
from dynabench.tasks import TaskConfig

TYPES = {
    "multi_choice": ("options: [a, b, c]", '["b", "a"]', ["a", "b"], ["c"]),
    "tree_choice": ("options: [{value: x, children: [y, z]}, w]", "y", "y", "w"),
    "slider": ("tolerance: 1", "41", 42, 50),
    "sliders": ("options: [joy, fear]", '{"joy": 1, "fear": 2}', {"joy": 1, "fear": 2}, {"joy": 9, "fear": 2}),
    "rating": ("max: 5", "4", 4, 1),
    "ranking": ("options: [a, b]", '["b", "a"]', ["b", "a"], ["a", "b"]),
    "yes_no": ("reason: optional", "Yes", {"value": True, "reason": "So."}, {"value": False}),
    "consent": ("required: false", "yes", True, None),
}


def config(kind):
    return TaskConfig.parse(
        "id: types\nname: Types\ninput: {name: text, type: text}\n"
        f"answer: {{name: it, type: {kind}, {TYPES[kind][0]}}}\n"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_what_a_model_says_is_compared_by_what_it_means(kind):
    _, reply, right, wrong = TYPES[kind]
    created = config(kind)
    field = created.answer[0]
    assert is_exact(field, reply, [wrong, right])
    assert not is_exact(field, reply, [wrong])
    assert not created.fooled_by({"it": reply}, {"it": right})
    assert created.fooled_by({"it": reply}, {"it": wrong})
    assert created.agrees({"it": right}, {"it": right})


@pytest.mark.parametrize("kind", TYPES)
def test_an_answer_that_is_none_breaks_the_model_and_fools_nobody(kind):
    with pytest.raises(Unavailable, match="Tell the task's owner"):
        config(kind).fooled_by({"it": "neither this nor that"}, {"it": TYPES[kind][2]})


@pytest.mark.parametrize("kind", ["multi_choice", "tree_choice", "ranking", "yes_no", "sliders"])
def test_accuracy_counts_answers_that_mean_the_same(kind):
    _, reply, right, wrong = TYPES[kind]
    created = bind_metric("accuracy", config(kind).answer[0], [reply, reply], [[right], [wrong]])
    assert created.module.compute(**created.columns)[created.key] == 0.5


@pytest.mark.parametrize(("kind", "error"), [("slider", 5.0), ("rating", 1.5)])
def test_numbers_said_as_text_have_an_error(kind, error):
    _, reply, right, wrong = TYPES[kind]
    created = bind_metric("accuracy", config(kind).answer[0], [reply, reply], [[right], [wrong]])
    assert created.module.compute(**created.columns)[created.key] == pytest.approx(error)


def test_answers_in_a_predictions_file_may_be_values_or_text():
    created = config("multi_choice")
    assert predictions._answer(created, {"it": ["a", "b"]}) == predictions._answer(created, {"it": '["a", "b"]'})
    assert predictions._answer(config("rating"), {"it": 4}) == {"it": "4"}
