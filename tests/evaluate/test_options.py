"""Options of modules as forms, command lines and the API read them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from dynabench.evaluate import loading
from dynabench.evaluate.card import Card
from dynabench.evaluate.inputs import module_options
from dynabench.evaluate.module import Metric


class Odd(Metric):
    card = Card("Odd.", "x", {}, (), (), "All.", "None.", options={"flag": "on or off"})

    def update(
        self,
        *,
        flag: bool = True,
        count: int = 3,
        share: float | None = None,
        mode: Literal["a", "b"] | None = "a",
        label: int | str = 1,
        labels: Sequence[int | str] | None = None,
        tokenizer: str | Callable[[str], list[str]] = "13a",
        lexicon: str | Path | Iterable[str] | None = None,
        function: Callable[[str], str] | None = None,
        table: Mapping[str, int] | None = None,
        model_id: str = "",
        allow_code: bool = False,
        anything: Any = None,
    ) -> None: ...


OPTIONS = module_options(Odd)


def test_what_wants_functions_models_files_or_leave_is_no_option():
    assert not {"function", "table", "model_id", "allow_code"} & OPTIONS.keys()
    assert OPTIONS["tokenizer"].forms == {"text"}
    assert OPTIONS["lexicon"].forms == {"list", "none"}


def test_fields_fit_what_options_take():
    fields = {name: option.field for name, option in OPTIONS.items()}
    assert fields["flag"] == "flag"
    assert fields["mode"] == "choice"
    assert fields["count"] == fields["share"] == "number"
    assert fields["label"] == fields["labels"] == "text"
    assert OPTIONS["flag"].text == "on or off"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("flag", "true", True),
        ("flag", "no", False),
        ("count", " 7 ", 7),
        ("share", "", None),
        ("share", "1e-3", 0.001),
        ("mode", "b", "b"),
        ("mode", "", None),
        ("label", "1", 1),
        ("label", "cat", "cat"),
        ("labels", "1, 2", [1, 2]),
        ("labels", '["cat", "dog"]', ["cat", "dog"]),
        ("labels", "", None),
        ("lexicon", "bad, worse", ["bad", "worse"]),
        ("anything", "[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("anything", "0.5", 0.5),
    ],
)
def test_texts_are_read_as_what_they_mean(name, text, value):
    result = OPTIONS[name].read(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("flag", "perhaps"),
        ("flag", 1),
        ("count", "1.5"),
        ("count", True),
        ("count", 10**12),
        ("share", float("inf")),
        ("share", float("nan")),
        ("mode", "c"),
        ("label", "x" * 201),
        ("label", None),
        ("labels", [1.5]),
        ("labels", [{"a": 1}]),
        ("labels", list(range(10_001))),
        ("lexicon", {"a": 1}),
        ("anything", {"$function": "os.system"}),
    ],
)
def test_what_an_option_does_not_take_is_refused(name, value):
    with pytest.raises(ValueError, match=r"takes|longer|large|more than"):
        OPTIONS[name].read(value) if isinstance(value, str) else OPTIONS[name].check(value)


@pytest.mark.parametrize(("kind", "name"), list(loading.builtin_modules()))
def test_the_defaults_of_every_module_are_what_its_options_take(kind, name):
    for option in module_options(loading.find_module(name, kind)).values():
        if option.default is not None:
            option.check(list(option.default) if isinstance(option.default, tuple) else option.default)
