"""Hostile arguments: a plain result, or a ValueError that says something. Nothing else, for any module."""

import json
import math
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.metrics import glue

from .test_cards import HERE, SPLIT, WHOLE, module_of, same

FIRST = {key: examples[0] for key, examples in WHOLE.items()}
COLUMNS = {key: [name for name in example.inputs if name not in HERE[key].apart] for key, example in FIRST.items()}
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

NO_COLUMNS = (None, 3, "text", {"a": [1]}, np.array(3.0), b"bytes")

single = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(),
    st.floats(),
    st.sampled_from([0.0, 0.5, 1.0, "", "a", "B-PER", "O", b"a", np.nan, np.int8(1), 10**30, 1j]),
    st.fixed_dictionaries({"idx": st.just({"paragraph": 0, "question": 1}), "prediction": st.integers(0, 2)}),
)
row = st.one_of(single, st.lists(single, max_size=3), st.lists(st.lists(st.integers(0, 2), max_size=2), max_size=2))
column = st.one_of(
    st.lists(row, max_size=4),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=3, max_size=3),
    st.lists(st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=3, max_size=3),
    st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A"]), min_size=2, max_size=2), min_size=3, max_size=3),
    st.sampled_from([None, 3, "abc", {"a": 1}, np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2, 2), int), np.array("a")]),
)
CONFIGURED: list[tuple[str, Any, dict[str, Any]]] = [
    ("accuracy", None, {}),
    *(
        (name, None, {"average": average})
        for name in ("precision", "recall", "f1")
        for average in ("binary", "samples")
    ),
    *((name, None, {"average": average}) for name in ("precision", "recall", "f1") for average in ("macro", None)),
    ("matthews_correlation", None, {}),
    ("confusion_matrix", None, {"normalize": "true"}),
    ("roc_auc", None, {}),
    ("roc_auc", "multiclass", {"multi_class": "ovo"}),
    ("roc_auc", "multilabel", {"average": "samples"}),
    ("brier_score", None, {}),
    *(("glue", config, {}) for config in glue.Glue.configs[-5:]),
    *(("super_glue", config, {}) for config in glue.SuperGlue.configs),
    ("indic_glue", "cvit-mkb-clsr", {}),
    ("indic_glue", "wiki-ner", {}),
    ("xnli", None, {}),
    ("mean_iou", None, {"num_labels": 2}),
    ("poseval", None, {}),
    ("seqeval", None, {}),
    ("seqeval", None, {"mode": "strict", "scheme": "IOB2"}),
    ("expected_calibration_error", None, {}),
    ("maximum_calibration_error", None, {"binning": "mass"}),
    ("cohen_kappa", None, {"weights": "linear"}),
    ("fleiss_kappa", None, {}),
    *(("krippendorff_alpha", None, {"level": level}) for level in ("nominal", "ordinal", "interval", "ratio")),
]


def answers(module: Any, columns: dict[str, Any], options: dict[str, Any]) -> None:
    try:
        result = module.compute(**columns, **options)
    except ValueError as refused:
        source = traceback.extract_tb(refused.__traceback__)[-1].filename
        if not str(refused).strip():
            pytest.fail("an error says what is wrong")
        if "dynabench" not in source:
            pytest.fail(f"the error is another library's: {source}")
    else:
        json.dumps(result, allow_nan=False)


def spans(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The intervals, of which some lie within others (F1 within a class)."""
    for part in result.values():
        yield from [part] if "low" in part else spans(part)


@pytest.mark.parametrize("key", COLUMNS)
def test_strange_values_in_a_column_are_computed_or_refused(key: str) -> None:
    """In all of its rows, and in the last one alone."""
    example = FIRST[key]
    for name in COLUMNS[key]:
        column = list(example.inputs[name])
        for value in VALUES:
            for broken in ([value] * len(column), [*column[:-1], value]):
                answers(module_of(key, example), {**example.inputs, name: broken}, dict(example.options))


@pytest.mark.parametrize("key", COLUMNS)
def test_what_is_no_column_is_refused_by_name(key: str) -> None:
    example = FIRST[key]
    for name in COLUMNS[key]:
        for whole in NO_COLUMNS:
            if whole is None and name in HERE[key].optional:
                continue
            with pytest.raises(ValueError, match=name):
                module_of(key, example).compute(**{**example.inputs, name: whole}, **example.options)


@pytest.mark.parametrize("key", SPLIT)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_split_of_any_rows_merges_to_the_whole(key: str, data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(SPLIT[key]))
    module = module_of(key, example)
    n = len(next(iter(example.inputs.values())))
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=12))
    cut = data.draw(st.integers(1, len(rows) - 1))
    columns = {name: [column[row] for row in rows] for name, column in example.inputs.items()}
    options = dict(example.options)
    chosen = module.options_for(module.result, options)
    try:
        whole = module.result(module.state(columns, **options), **chosen)
        parts = [
            module.state({name: column[part] for name, column in columns.items()}, **options)
            for part in (slice(0, cut), slice(cut, None))
        ]
    except ValueError:
        return  # rows that cannot be computed with, such as a constant
    assert same(module.result(module.merge(*parts), **chosen), whole)


@pytest.mark.parametrize("key", [key for key in SPLIT if hasattr(HERE[key], "formula")])
def test_an_interval_is_ordered_plain_and_repeatable(key: str) -> None:
    for example in SPLIT[key]:
        columns = {name: list(column) * 4 for name, column in example.inputs.items()}
        options = {**example.options, "interval": 0.9, "resamples": 99}
        try:
            first, second = (module_of(key, example).compute(**columns, **options) for _ in range(2))
        except ValueError:
            continue  # some modules say why they have none
        assert json.dumps(first, allow_nan=False) == json.dumps(second)
        for span in spans(first["interval"]):
            low, high = np.ravel(np.array(span["low"], float)), np.ravel(np.array(span["high"], float))
            assert np.all((low <= high + 1e-12) | np.isnan(low) | np.isnan(high)), example.title


@pytest.mark.parametrize(("name", "config", "options"), CONFIGURED, ids=str)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_columns_of_anything_in_any_config_are_computed_or_refused(
    name: str, config: Any, options: Any, data: st.DataObject
) -> None:
    module = load(name, config)
    same = data.draw(st.booleans())
    first = data.draw(column)
    values = {key: first if same else data.draw(column) for key in module.columns}
    weighted = "sample_weight" in module.optional and data.draw(st.booleans())
    weights = {"sample_weight": data.draw(st.one_of(column, st.just([0, 0, 0])))} if weighted else {}
    answers(module, {**values, **weights}, options)
