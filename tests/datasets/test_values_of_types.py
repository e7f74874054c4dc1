"""Values of every field type in the cells of tables, in Parquet's columns and in datasets that people send."""

import json

import orjson
import pyarrow as pa
import pytest

from dynabench.datasets import formats, parquet
from dynabench.datasets.intake import cases
from dynabench.tasks import TaskConfig

FIELDS = """
  - {name: topics, type: multi_choice, options: [a, b, c]}
  - {name: kind, type: tree_choice, options: [{value: x, children: [y, z]}, w]}
  - {name: heat, type: slider}
  - {name: moods, type: sliders, options: [joy, fear]}
  - {name: quality, type: rating}
  - {name: order, type: ranking, options: [a, b, c]}
  - {name: agreed, type: consent}
  - {name: sure, type: yes_no, reason: optional}
  - {name: plain, type: yes_no}
  - {name: remarks, type: comment}
"""
VALUES = {
    "topics": ["a", "c"], "kind": "z", "heat": 7, "moods": {"joy": 1, "fear": 2}, "quality": 4,
    "order": ["c", "a", "b"], "agreed": True, "sure": {"value": False, "reason": "No."}, "plain": True,
    "remarks": "=1+1",
}  # fmt: skip
CONFIG = TaskConfig.parse(
    f"id: types\nname: Types\ncontext:{FIELDS}input: {{name: text, type: text}}\n"
    "answer: {name: label, type: choice, options: [a, b]}\n"
)


def test_a_context_from_a_table_holds_every_type():
    cells = {name: value if isinstance(value, str) else json.dumps(value) for name, value in VALUES.items()}
    cells |= {"agreed": "yes", "plain": "yes", "heat": "7", "quality": "4", "topics": '["c", "a"]'}
    for values in (cells, VALUES):
        assert CONFIG.clean_context(CONFIG.read_texts("context", values)) == VALUES


def test_each_value_has_a_cell_in_a_table_without_nesting():
    flat = formats.FlatColumns([CONFIG], "context")
    cells = dict(zip(flat.columns, flat.cells(CONFIG.clean_context(VALUES)), strict=True))
    assert cells["context.kind"] == '"z"'
    assert cells["context.topics.json"] == '"[""a"",""c""]"'
    assert cells["context.remarks"] == '"\'=1+1"'
    assert cells["context.moods.json"] == '"{""joy"":1,""fear"":2}"'


def test_each_value_has_a_typed_column_in_parquet():
    kinds = parquet.group_struct([CONFIG], "context")
    assert {field.name for field in kinds} == set(VALUES)
    assert kinds.field("order").type == pa.list_(pa.string())
    assert kinds.field("agreed").type == pa.bool_()
    assert kinds.field("quality").type == pa.int64()
    row = parquet.parse_lines(orjson.dumps({"context": VALUES}), pa.schema([("context", kinds)]))
    assert row.to_pylist() == [{"context": VALUES}]


@pytest.mark.parametrize(
    ("name", "cell", "answers"),
    [
        ("topics", '["a", "c"]', [["a", "c"]]),
        ("topics", '[["a"], ["b", "c"]]', [["a"], ["b", "c"]]),
        ("topics", ["a", "c"], [["a", "c"]]),
        ("order", '["c", "a", "b"]', [["c", "a", "b"]]),
        ("moods", '{"joy": 1, "fear": 2}', [{"joy": 1, "fear": 2}]),
        ("quality", "4", [4]),
        ("quality", "[3, 4]", [3, 4]),
        ("plain", "no", [False]),
    ],
)
def test_acceptable_answers_in_a_cell(name, cell, answers):
    field = next(item for item in CONFIG.context if item.name == name)
    assert [field.clean(cases.read_value(answer, field)) for answer in cases.read_answers(cell, field)] == answers
