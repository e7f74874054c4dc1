"""The fixed learner: of the same rows always the same model, without pickle; clear words where none can be."""

import random

import pytest

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, fitted, spec
from dynabench.models.fitted import ChosenRow
from dynabench.tasks import TaskConfig
from dynabench.tasks.shipped import shipped_selections

[SHIPPED] = shipped_selections()
POOL = [ChosenRow(row["uid"], (row["inputs"]["message"],), row["answers"][0]["topic"]) for row in SHIPPED.rows("pool")]
TEST = [(row["inputs"], row["answers"][0]["topic"]) for row in SHIPPED.rows("test")]


def learn(tmp_path, rows, config=SHIPPED.config):
    folder = fitted.train_on_choice(tmp_path / str(len(list(tmp_path.iterdir()))) / "mine", config, rows, "Learnt.")
    return folder, spec.card(folder)


def right(folder):
    model = catalog.open_model(folder)
    predictions = model.predict([inputs for inputs, _ in TEST])
    return sum(output.answer["topic"] == topic for output, (_, topic) in zip(predictions, TEST, strict=True)) / len(
        TEST
    )


def test_the_same_rows_in_any_order_make_the_same_model(tmp_path):
    first = learn(tmp_path, POOL[:60])[1]
    again = learn(tmp_path, random.Random(1).sample(POOL[:60], 60))[1]
    assert first.version == again.version
    assert learn(tmp_path, POOL[:59])[1].version != first.version
    assert (first.kind, first.inputs, first.task) == ("linear", ("message",), "data-selection")


def test_it_matters_which_rows_one_learns_from(tmp_path):
    topics = {topic for _, topic in TEST}
    sources = {row["uid"]: row["tags"] for row in SHIPPED.rows("pool")}
    careful = [row for row in POOL if "desk" in sources[row.uid]]
    chosen = [row for topic in sorted(topics) for row in [item for item in careful if item.label == topic][:30]]
    at_random = random.Random(7).sample(POOL, 120)
    assert len(chosen) <= 120
    assert right(learn(tmp_path, chosen)[0]) > right(learn(tmp_path, at_random)[0]) + 0.1


def test_a_support_vector_machine_has_no_probabilities(tmp_path):
    source = SHIPPED.source.replace("name: logistic_regression", "name: linear_svc")
    config = TaskConfig.parse(source.replace("probabilities: true", "probabilities: false"))
    model = catalog.open_model(learn(tmp_path, POOL[:60], config)[0])
    assert model.predict([TEST[0][0]])[0].probabilities is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ChosenRow("a", ("one two",), "roads"), ChosenRow("b", ("three four",), "roads")], "the same label"),
        ([ChosenRow("a", ("!",), "roads"), ChosenRow("b", ("?",), "waste")], "Nothing can be learnt"),
    ],
)
def test_what_nothing_can_be_learnt_from_is_told(tmp_path, rows, message):
    with pytest.raises(Invalid, match=message):
        fitted.train_on_choice(tmp_path / "mine", SHIPPED.config, rows, "Learnt.")
    assert not (tmp_path / "mine").exists()
