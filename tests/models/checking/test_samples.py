import base64

import pytest

from dynabench.models import samples
from dynabench.tasks import TaskConfig, shipped_tasks

CONFIGS = {shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks()}

MANY = TaskConfig.parse(
    """
id: many-fields
name: Fields of every kind
context:
  - {name: passage, type: text, max_length: 300, multiline: true}
  - {name: topic, type: choice, options: [sport, weather, work]}
  - {name: year, type: number, min: 1900, max: 2100, integer: true}
input:
  - {name: claim, type: text, min_length: 20, max_length: 60}
  - {name: note, type: text, required: false}
  - {name: sure, type: yes_no}
  - {name: proof, type: spans, of: passage}
answer: {name: label, type: choice, options: ["true", "false"]}
"""
)


@pytest.mark.parametrize("config", [*CONFIGS.values(), MANY], ids=lambda config: config.id)
def test_samples_are_texts_that_the_task_allows_and_the_same_each_time(config):
    result = samples.sample_inputs(config)
    assert 12 <= len(result) <= 30
    assert result == samples.sample_inputs(config)
    assert len({tuple(sample.inputs.values()) for sample in result}) == len(result)
    for sample in result:
        assert list(sample.inputs) == list(config.model_inputs({}, {}))
        assert all(isinstance(value, str) for value in sample.inputs.values())


def test_a_texts_limits_hold_for_every_sample():
    for sample in samples.sample_inputs(MANY):
        assert 20 <= len(sample.inputs["claim"]) <= 60
        assert "\n" not in sample.inputs["claim"]
        assert len(sample.inputs["passage"]) <= 300
        assert 1900 <= int(sample.inputs["year"]) <= 2100
        assert sample.inputs["topic"] in ("sport", "weather", "work")
    assert {"true", "false"} == {sample.inputs["sure"] for sample in samples.sample_inputs(MANY)}
    assert any(sample.inputs["note"] == "" for sample in samples.sample_inputs(MANY))


def test_awkward_texts_come_after_plain_ones_and_are_all_there():
    statements = [sample.inputs["statement"] for sample in samples.sample_inputs(CONFIGS["sentiment"])]
    assert all(text in samples.ORDINARY for text in statements[: samples.PLAIN])
    joined = "\n".join(statements[samples.PLAIN :])
    for expected in ("😡", "القطار", "הרכבת", "列車", "<script>", "[MASK]", "first line\n\n", "é", "\u200b", "42"):
        assert expected in joined
    assert max(map(len, statements)) == 500
    assert len(set(statements[samples.PLAIN :])) == len(samples.AWKWARD)


def test_each_field_of_a_pair_is_awkward_alone_and_with_the_other():
    kinds = {
        (sample.inputs["premise"] in samples.ORDINARY, sample.inputs["hypothesis"] in samples.ORDINARY)
        for sample in samples.sample_inputs(CONFIGS["nli"])
    }
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}


def test_a_field_that_no_value_is_known_for_is_named():
    with pytest.raises(ValueError, match="code"):
        samples.sample_inputs(TaskConfig.parse(CONTROL))


CONTROL = """
id: odd
name: A field that nobody can fill
input: [{name: code, type: spans, of: passage}]
context: [{name: passage, type: text, required: false, max_length: 1, min_length: 1}]
answer: {name: label, type: choice, options: [a, b]}
"""


def test_a_picture_is_a_png_that_opens():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    import io

    raw = base64.b64decode(samples.picture(2).removeprefix("data:image/png;base64,"))
    with image.open(io.BytesIO(raw)) as opened:
        opened.load()
        assert (opened.format, opened.size, opened.mode) == ("PNG", (48, 48), "RGB")
        assert len(opened.getcolors()) == 2
    assert len({samples.picture(shade) for shade in range(4)}) == 4
