"""Tasks in which people choose training data: what their config says, and what is refused."""

import pytest
from jsonschema import Draft202012Validator

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig
from dynabench.tasks.reading import read_config
from dynabench.tasks.schema import config_schema
from dynabench.tasks.shipped import shipped_selections

[SHIPPED] = shipped_selections()
TASK = """
id: t
name: T
input: {name: message, type: text}
answer: {name: topic, type: choice, options: [a, b]}
training: {pool: pool, rows: 10}
""".replace("id: t\n", "id: topics\n")


def test_the_shipped_task_and_the_short_form_are_read():
    training = SHIPPED.config.training
    assert (training.pool, training.rows, training.own_rows, training.learner.ngrams) == ("pool", 120, False, [1, 2])
    learner = TaskConfig.parse(TASK).training.learner
    assert (learner.name, learner.units, learner.seed) == ("logistic_regression", "words", 7)
    raw, _ = read_config(SHIPPED.source)
    assert not list(Draft202012Validator(config_schema()).iter_errors(raw))


@pytest.mark.parametrize(
    ("was", "now", "where"),
    [
        ("rows: 10", "rows: 1", "training.rows"),
        (", rows: 10", "", "training.rows"),
        ("pool: pool", "pool: ../pool", "training.pool"),
        ("rows: 10", "row: 10", "training.row"),
        ("rows: 10", "rows: 10, learner: {name: bayes}", "training.learner.name"),
        ("rows: 10", "rows: 10, learner: {ngrams: [2, 1]}", "training.learner"),
        ("rows: 10", "rows: 10, learner: {c: 0}", "training.learner.c"),
        ("rows: 10", "rows: 10, learner: {name: linear_svc}", "training.learner.name"),
        ("type: choice, options: [a, b]", "type: text", "training"),
        ("type: text}", "type: image}", "training"),
    ],
)
def test_what_cannot_be_trained_is_refused_where_it_stands(was, now, where):
    with pytest.raises(Invalid) as refused:
        TaskConfig.parse(TASK.replace(was, now, 1))
    assert where in refused.value.fields
