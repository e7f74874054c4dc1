"""A new module and its test, from a template that works as it stands."""

import json
import keyword
import re
from pathlib import Path
from textwrap import dedent

TEMPLATES = {
    "metric": (
        "Predictions against references.",
        "The share of examples whose prediction equals the reference.",
        r"\frac{1}{n} \sum_i [\hat y_i = y_i]",
        {"predictions": "Labels", "references": "Labels"},
        "same(predictions, references)",
        ("Two of three are right", {"predictions": [0, 1, 2], "references": [0, 1, 1]}, "2 / 3"),
    ),
    "measurement": (
        "A property of data.",
        "The share of texts that are empty.",
        r"\frac{1}{n} \sum_i [x_i = \text{empty}]",
        {"data": "Texts"},
        "np.array([not text.strip() for text in data])",
        ("One of two is empty", {"data": ["", "a word"]}, "1 / 2"),
    ),
    "comparison": (
        "One system against another on the same examples.",
        "The share of examples on which two systems say the same.",
        r"\frac{1}{n} \sum_i [\hat y_i^{(1)} = \hat y_i^{(2)}]",
        {"predictions1": "Labels", "predictions2": "Labels"},
        "same(predictions1, predictions2)",
        ("They agree on one of two", {"predictions1": [0, 1], "predictions2": [0, 0]}, "1 / 2"),
    ),
}
MODULE = '''\
"""{title}: {kind_line}"""

{imports}

class {title_class}({base}):
    """{kind_line}"""

    card = Card(
        description="{description}",
        formula=r"{formula}",
        inputs={{{inputs}}},
        outputs=(Output("{name}", "the share", 0, 1, "higher"),),
        examples=(
            CardExample({example}, {given}, {{"{name}": {result}}}),
            CardExample("Nothing is no result", {empty}, error="at least one example"),
        ),
        limits="Say here when this number misleads.",
        citation="Name here where it comes from.",
    )
    columns = {{{columns}}}

    def update(self, {parameters}) -> Sums:
        """What is kept of each row: numbers that add up. Whatever they mean, `formula` gets their sums."""
        return Sums({kept})

    def formula(self, total: Floats) -> dict[str, Any]:
        """The result from the sums, shape (..., S + 1): the last is the number of rows."""
        return {{"{name}": total[..., 0] / total[..., -1]}}
'''
TEST = '''\
"""`{name}` gives what its card says, for batches that are merged as well."""

from pathlib import Path

import pytest

from dynabench.evaluate import load
from dynabench.evaluate.inputs import failures

MODULE = Path(__file__).parent / "{name}.py"
GIVEN = {given}


def test_every_worked_example_gives_what_the_card_says():
    assert failures(type(load(str(MODULE)))) == []


def test_merged_batches_give_what_all_rows_give():
    module = load(str(MODULE))
    halves = [module.state({{name: part[cut] for name, part in GIVEN.items()}}) for cut in (slice(1), slice(1, None))]
    assert module.result(module.merge(*halves)) == pytest.approx(module.compute(**GIVEN))
'''


def write_module(name: str, kind: str, folder: Path) -> tuple[Path, Path]:
    """Write the module and its test. Raises ValueError for a name that no module can have, or files that are there."""
    if kind not in TEMPLATES:
        raise ValueError(f"no kind {kind!r}; there are {', '.join(TEMPLATES)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be a module's name; take small letters, digits and _, such as mean_gap")
    paths = (folder / f"{name}.py", folder / f"test_{name}.py")
    for path in paths:
        if path.exists():
            raise ValueError(f"{path} is there already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in zip(paths, (_module(name, kind), _test(name, kind)), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def _module(name: str, kind: str) -> str:
    kind_line, description, formula, columns, sums, (title, example_inputs, result) = TEMPLATES[kind]
    return MODULE.format(
        title=name.replace("_", " ").capitalize(),
        title_class="".join(part.capitalize() for part in name.split("_")),
        kind_line=kind_line,
        imports=_imports(kind, set(columns.values()), sums),
        base=kind.capitalize(),
        description=description,
        formula=formula,
        name=name,
        inputs=", ".join(f'"{item}": "say what stands in it"' for item in columns),
        columns=", ".join(f'"{item}": {column}()' for item, column in columns.items()),
        parameters=", ".join(f"{item}: Any" for item in columns),
        kept=sums,
        example=json.dumps(title),
        given=json.dumps(example_inputs),
        empty=json.dumps({item: [] for item in columns}),
        result=result,
    )


def _imports(kind: str, columns: set[str], sums: str) -> str:
    used = ", ".join(sorted({"Floats", *columns}))
    lines = ["from typing import Any", ""]
    lines += ["import numpy as np", ""] if "np." in sums else []
    lines += ["from dynabench.evaluate.card import Card, CardExample, Output"]
    lines += [f"from dynabench.evaluate.columns import {used}"]
    lines += ["from dynabench.evaluate.labels import same"] if "same(" in sums else []
    lines += [f"from dynabench.evaluate.module import {kind.capitalize()}"]
    lines += ["from dynabench.evaluate.states import Sums"]
    return "\n".join(lines) + "\n"


def _test(name: str, kind: str) -> str:
    return dedent(TEST).format(name=name, given=json.dumps(TEMPLATES[kind][5][1]))
