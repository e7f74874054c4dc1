"""What every module must keep: its examples, its merge, plain results, errors that say what to do."""

import json
from typing import Any

import numpy as np
import pytest

from dynabench.evaluate import load, loading
from dynabench.evaluate.card import Example
from dynabench.evaluate.loading import EXTRAS, missing_requirement

MODULES = {f"{kind}/{name}": loading.find_module(name, kind) for kind, name in loading.builtin_modules()}
HERE = {key: module for key, module in MODULES.items() if not missing_requirement(module)}
EXAMPLES = [
    pytest.param(key, example, id=f"{key}: {example.title}")
    for key, module in HERE.items()
    for example in module.card.examples
]
WHOLE = [param for param in EXAMPLES if not param.values[1].error]
SPLIT = [
    param
    for param in WHOLE
    if not HERE[param.values[0]].apart and min(len(column) for column in param.values[1].inputs.values()) > 1
]


def module_of(key: str, example: Example) -> Any:
    kind, _, name = key.partition("/")
    return load(name, example.config, kind)


def same(found: Any, said: Any) -> bool:
    if isinstance(said, dict):
        return isinstance(found, dict) and all(key in found and same(found[key], said[key]) for key in said)
    if isinstance(said, list | tuple):
        return len(found) == len(said) and all(map(same, found, said))
    if isinstance(said, float | int) and not isinstance(said, bool):
        return found == pytest.approx(said, rel=1e-6, abs=1e-9)
    return found == said


@pytest.mark.parametrize(("key", "example"), EXAMPLES)
def test_a_worked_example_gives_what_its_card_says(key: str, example: Example) -> None:
    module = module_of(key, example)
    if example.error:
        with pytest.raises(ValueError, match=r".+") as refused:
            module.compute(**example.inputs, **example.options)
        assert example.error in str(refused.value)
        return
    found = module.compute(**example.inputs, **example.options)
    assert same(found, dict(example.result)), f"the card says {example.result}, it gives {found}"


@pytest.mark.parametrize(("key", "example"), WHOLE)
def test_results_are_plain_and_the_same_each_time(key: str, example: Example) -> None:
    module = module_of(key, example)
    first, second = (module.compute(**example.inputs, **example.options) for _ in range(2))
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)
    assert isinstance(first, dict)


@pytest.mark.parametrize(("key", "example"), SPLIT)
def test_merged_batches_give_what_all_rows_give(key: str, example: Example) -> None:
    module = module_of(key, example)
    n = min(len(column) for column in example.inputs.values())
    options = dict(example.options)
    halves = [
        module.state({name: column[part] for name, column in example.inputs.items()}, **options)
        for part in (slice(0, n // 2), slice(n // 2, None))
    ]
    merged = module.result(module.merge(*halves), **module.options_for(module.result, options))
    assert same(merged, module.compute(**example.inputs, **options))


@pytest.mark.parametrize(("key", "example"), SPLIT)
def test_rows_added_one_by_one_or_in_batches_give_the_same(key: str, example: Example) -> None:
    module = module_of(key, example)
    whole = module.compute(**example.inputs, **example.options)
    for row in range(len(next(iter(example.inputs.values())))):
        module.add(**{name.removesuffix("s"): column[row] for name, column in example.inputs.items()})
    assert same(module.compute(**example.options), whole)


@pytest.mark.parametrize("key", HERE)
def test_no_rows_and_unequal_columns_are_told(key: str) -> None:
    module = load(key.partition("/")[2], module_type=key.partition("/")[0])
    required = [name for name in module.columns if name not in module.apart]
    if not module.empty:
        with pytest.raises(ValueError, match=r"at least one|empty"):
            module.compute(**{name: [] for name in module.columns})
    for name in required:
        with pytest.raises(ValueError, match=name):
            module.compute(**{**{one: [] for one in module.columns}, name: None})


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


@pytest.mark.parametrize(("key", "example"), WHOLE)
def test_outputs_are_named_and_within_their_range(key: str, example: Example) -> None:
    found = module_of(key, example).compute(**example.inputs, **example.options)
    for output in MODULES[key].card.outputs:
        if output.name in found and isinstance(found[output.name], list | float | int):
            for value in np.ravel([one for one in np.ravel(found[output.name]) if one is not None]):
                assert output.low is None or value >= output.low - 1e-9
                assert output.high is None or value <= output.high + 1e-9
