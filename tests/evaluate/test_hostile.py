"""Whatever somebody passes: a plain result, or a ValueError that says something. Nothing else, for any module."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dynabench.evaluate.card import Example

from .test_cards import HERE, SPLIT, module_of, same

FIRST = {key: next(example for example in module.card.examples if not example.error) for key, module in HERE.items()}
COLUMNS = [
    pytest.param(key, name, id=f"{key}: {name}")
    for key, example in FIRST.items()
    for name in example.inputs
    if name not in HERE[key].apart
]
VALUES = [
    None,
    math.nan,
    math.inf,
    -1,
    0,
    1.5,
    10**30,
    "",
    "x",
    "\x00\ud83d",
    True,
    [],
    [None],
    [1, "a"],
    {},
    {"a": 1},
    b"b",
]


def answers(module: Any, columns: dict[str, Any], options: dict[str, Any]) -> None:
    try:
        found = module.compute(**columns, **options)
    except ValueError as refused:
        if not str(refused).strip():
            pytest.fail("an error says what is wrong")
    else:
        json.dumps(found, allow_nan=False)


def spans(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The intervals, of which some lie within others (F1 within a class)."""
    for part in found.values():
        yield from [part] if "low" in part else spans(part)


@pytest.mark.parametrize(("key", "name"), COLUMNS)
def test_a_column_of_anything_is_computed_or_refused(key: str, name: str) -> None:
    example = FIRST[key]
    for value in VALUES:
        broken = {**example.inputs, name: [value] * len(example.inputs[name])}
        answers(module_of(key, example), broken, dict(example.options))


@pytest.mark.parametrize(("key", "name"), COLUMNS)
def test_one_strange_row_is_computed_or_refused(key: str, name: str) -> None:
    example = FIRST[key]
    for value in VALUES:
        column = [*list(example.inputs[name])[:-1], value]
        answers(module_of(key, example), {**example.inputs, name: column}, dict(example.options))


@pytest.mark.parametrize(("key", "name"), COLUMNS)
@pytest.mark.parametrize("whole", [None, 3, "text", {"a": [1]}, np.array(3.0), b"bytes"], ids=repr)
def test_what_is_no_column_is_refused_by_name(key: str, name: str, whole: Any) -> None:
    example = FIRST[key]
    if whole is None and name in HERE[key].optional:
        return
    with pytest.raises(ValueError, match=name):
        module_of(key, example).compute(**{**example.inputs, name: whole}, **example.options)


@pytest.mark.parametrize(("key", "example"), SPLIT)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_split_of_any_rows_merges_to_the_whole(key: str, example: Example, data: Any) -> None:
    module = module_of(key, example)
    n = len(next(iter(example.inputs.values())))
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=12))
    cut = data.draw(st.integers(1, len(rows) - 1))
    columns = {name: [column[row] for row in rows] for name, column in example.inputs.items()}
    options = dict(example.options)
    chosen = module._of(module.result, options)
    try:
        whole = module.result(module.state(columns, **options), **chosen)
        parts = [
            module.state({name: column[part] for name, column in columns.items()}, **options)
            for part in (slice(0, cut), slice(cut, None))
        ]
    except ValueError:
        return  # rows that cannot be computed with, such as a constant
    assert same(module.result(module.merge(*parts), **chosen), whole)


@pytest.mark.parametrize(("key", "example"), [one for one in SPLIT if hasattr(HERE[one.values[0]], "formula")])
def test_an_interval_is_ordered_plain_and_repeatable(key: str, example: Example) -> None:
    columns = {name: list(column) * 4 for name, column in example.inputs.items()}
    try:
        first, second = (
            module_of(key, example).compute(**columns, **example.options, interval=0.9, resamples=99) for _ in range(2)
        )
    except ValueError:
        return  # some modules say why they have none
    assert json.dumps(first, allow_nan=False) == json.dumps(second)
    for span in spans(first["interval"]):
        low, high = np.ravel(np.array(span["low"], float)), np.ravel(np.array(span["high"], float))
        assert np.all((low <= high + 1e-12) | np.isnan(low) | np.isnan(high))
