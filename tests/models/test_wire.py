"""Data on the wire: labels as ever, everything else as JSON."""

import json

import pytest

from dynabench.models.host import wire
from dynabench.models.protocol import ModelCard, ModelOutput

LABELS = ModelCard("m", "1", "t", "adapter", ("text",), "label", ("yes", "no"))
SPANS = ModelCard("q", "2", "qa", "extractor", ("question", "passage"), "answer", returns="spans")


def test_labels_travel_as_they_always_did():
    outputs = [
        ModelOutput({"label": "yes"}, {"yes": 0.75, "no": 0.25}),
        ModelOutput({"label": "no"}, {"no": 1.0, "yes": 0.0}),
    ]
    document = wire.response(LABELS, outputs, 7)
    assert json.dumps(document) == (
        '{"model_name": "m", "model_version": "1", "outputs": [{"name": "label", "datatype": "BYTES", "shape": [2], '
        '"data": ["yes", "no"]}, {"name": "probabilities", "datatype": "FP32", "shape": [2, 2], "parameters": '
        '{"labels": ["yes", "no"]}, "data": [0.75, 0.25, 0.0, 1.0]}], "id": "7"}'
    )
    assert wire.outputs(document) == outputs
    assert wire.metadata(LABELS, ["1"])["outputs"] == [
        {"name": "label", "datatype": "BYTES", "shape": [-1]},
        {"name": "probabilities", "datatype": "FP32", "shape": [-1, 2]},
    ]


def test_what_a_backend_adds_to_its_answers_travels_with_them():
    outputs = [ModelOutput({"label": "yes"}, None, {"members": {"a": "yes", "b": "no"}}), ModelOutput({"label": "no"})]
    assert wire.outputs(json.loads(json.dumps(wire.response(LABELS, outputs)))) == outputs


def test_spans_travel_as_json_with_the_probabilities_of_their_own_texts():
    outputs = [
        ModelOutput({"answer": [{"start": 3, "end": 9, "text": "“Zwölf”"}]}, {"“Zwölf”": 0.5, "zwölf Katzen": 0.25}),
        ModelOutput({"answer": []}, {}),
    ]
    document = json.loads(json.dumps(wire.response(SPANS, outputs)))
    assert [tensor["datatype"] for tensor in document["outputs"]] == ["BYTES", "BYTES"]
    assert {tensor["parameters"]["content_type"] for tensor in document["outputs"]} == {"application/json"}
    assert wire.outputs(document) == outputs
    promised = wire.metadata(SPANS, ["2"])["outputs"]
    assert [(tensor["name"], tensor["datatype"], tensor["shape"]) for tensor in promised] == [
        ("answer", "BYTES", [-1]),
        ("probabilities", "BYTES", [-1]),
    ]


def test_spans_without_probabilities_are_answers_too():
    outputs = [ModelOutput({"answer": [{"start": 0, "end": 1, "text": "a"}]})]
    assert wire.outputs(wire.response(SPANS, outputs)) == outputs


@pytest.mark.parametrize(
    "tensor",
    [
        {"name": "answer", "parameters": {"content_type": "application/json"}, "data": ["[{"]},
        {"name": "answer", "parameters": {"content_type": "application/json"}, "data": [3]},
        {"name": "answer", "parameters": {"content_type": "application/json"}},
    ],
)
def test_broken_json_is_no_answer(tensor):
    with pytest.raises((KeyError, TypeError, ValueError)):
        wire.outputs({"outputs": [tensor]})


@pytest.mark.parametrize("row", ["[]", '{"a": "much"}', '{"a": null}', "3"])
def test_probabilities_that_are_none_are_refused(row):
    answer = {"name": "answer", "parameters": {"content_type": "application/json"}, "data": ["[]"]}
    with pytest.raises((TypeError, ValueError)):
        wire.outputs({"outputs": [answer, {**answer, "name": "probabilities", "data": [row]}]})
