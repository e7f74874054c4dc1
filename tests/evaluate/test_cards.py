"""Promises that each module keeps: its examples, its merge, plain results, errors that say what to do."""

import json
import re
from typing import Any

import numpy as np
import pytest

from dynabench.evaluate import load, loading
from dynabench.evaluate.card import CardExample
from dynabench.evaluate.loading import EXTRAS, missing_requirement

MODULES = {f"{kind}/{name}": loading.find_module(name, kind) for kind, name in loading.builtin_modules()}
HERE = {key: module for key, module in MODULES.items() if not missing_requirement(module)}
WHOLE = {key: [example for example in module.card.examples if not example.error] for key, module in HERE.items()}
"""The worked examples of each module, without those that are refused."""
SPLIT = {
    key: examples
    for key, module in HERE.items()
    if not module.apart
    and (examples := [example for example in WHOLE[key] if min(len(column) for column in example.inputs.values()) > 1])
}
"""Those of them whose rows can be divided."""


def module_of(key: str, example: CardExample) -> Any:
    kind, _, name = key.partition("/")
    return load(name, example.config, kind)


def same(value: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return isinstance(value, dict) and all(key in value and same(value[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(value) == len(expected) and all(map(same, value, expected))
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        return value == pytest.approx(expected, rel=1e-6, abs=1e-9)
    return value == expected


@pytest.mark.parametrize("key", HERE)
def test_worked_examples_give_what_the_card_says(key: str) -> None:
    """The same each time, as plain values, within the range that the card names."""
    for example in HERE[key].card.examples:
        module = module_of(key, example)
        if example.error:
            with pytest.raises(ValueError, match=re.escape(example.error)):
                module.compute(**example.inputs, **example.options)
            continue
        result, again = (module.compute(**example.inputs, **example.options) for _ in range(2))
        assert isinstance(result, dict)
        assert same(result, dict(example.result)), f"{example.title}: not {example.result} but {result}"
        assert json.dumps(result, allow_nan=False) == json.dumps(again, allow_nan=False), example.title
        for output in module.card.outputs:
            if output.name in result and isinstance(result[output.name], list | float | int):
                for value in np.ravel([value for value in np.ravel(result[output.name]) if value is not None]):
                    assert output.low is None or value >= output.low - 1e-9, (example.title, output.name)
                    assert output.high is None or value <= output.high + 1e-9, (example.title, output.name)


@pytest.mark.parametrize("key", SPLIT)
def test_merged_batches_and_single_rows_give_what_all_rows_give(key: str) -> None:
    for example in SPLIT[key]:
        module = module_of(key, example)
        n = min(len(column) for column in example.inputs.values())
        options = dict(example.options)
        whole = module.compute(**example.inputs, **options)
        halves = [
            module.state({name: column[part] for name, column in example.inputs.items()}, **options)
            for part in (slice(0, n // 2), slice(n // 2, None))
        ]
        merged = module.result(module.merge(*halves), **module.options_for(module.result, options))
        assert same(merged, whole), f"{example.title}: merged halves"
        for row in range(len(next(iter(example.inputs.values())))):
            module.add(**{name.removesuffix("s"): column[row] for name, column in example.inputs.items()})
        assert same(module.compute(**options), whole), f"{example.title}: row by row"


@pytest.mark.parametrize("key", HERE)
def test_no_rows_and_unequal_columns_are_told(key: str) -> None:
    module = load(key.partition("/")[2], module_type=key.partition("/")[0])
    required = [name for name in module.columns if name not in module.apart]
    if not module.empty:
        with pytest.raises(ValueError, match=r"at least one|empty"):
            module.compute(**{name: [] for name in module.columns})
    for name in required:
        with pytest.raises(ValueError, match=name):
            module.compute(**{**{column: [] for column in module.columns}, name: None})


@pytest.mark.parametrize("key", MODULES)
def test_a_card_is_complete(key: str) -> None:
    module = MODULES[key]
    card = module.card
    assert module.kind == key.partition("/")[0]
    assert set(card.inputs) == {*module.columns, *module.optional}, "a line for each column"
    assert set(card.options) == set(module.options_known()), "a line for each option"
    assert card.examples
    assert card.outputs
    assert all(text.strip() for text in (card.description, card.formula, card.limits, card.citation))
    assert set(card.needs) <= set(EXTRAS)
