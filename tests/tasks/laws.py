"""Laws of each field type: values survive forms, JSON and tables; the schema and `clean` agree."""

import json
from html.parser import HTMLParser
from typing import Any

import jsonschema
from hypothesis import strategies as st
from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined

from dynabench.tasks.fields import Field, FieldError

VOID = {"input", "meta", "br"}
_env = Environment(
    loader=PrefixLoader({"tasks": PackageLoader("dynabench.tasks")}), autoescape=True, undefined=StrictUndefined
)
_env.globals["_"] = lambda text, **values: text % values if values else text

hostile = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=4)
    | st.sampled_from(["a", "b", "c", "yes", "no", "value", "reason", 1, 1.0, 5, 10**400, -0.0]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b", "c", "value", "reason", "x"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


class Form(HTMLParser):
    """Values that a browser without scripts would post of a drawn field."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.posted: dict[str, list[str]] = {}
        self.area: tuple[str, list[str]] | None = None
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "textarea":
            self.area = (values["name"] or "", [])
        elif tag == "input" and (values["type"] not in ("radio", "checkbox") or "checked" in values):
            self.posted.setdefault(values["name"] or "", []).append(values["value"] or "")

    def handle_data(self, data: str) -> None:
        if self.area:
            self.area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "textarea" and self.area:
            self.posted[self.area[0]] = ["".join(self.area[1]).removeprefix("\n")]
            self.area = None


def drawn(field: Field, view: str, value: object, beside: dict[str, Any], error: str = "") -> str:
    """The field's HTML."""
    template = _env.get_template(field.template(view))
    return template.render(field=field, name=f"input.{field.name}", value=value, error=error, beside=beside)


def posts(field: Field, value: object, beside: dict[str, Any]) -> object:
    """The raw value that comes of the form as it was drawn with `value`."""
    return field.read_form(Form(drawn(field, "create", value, beside)).posted, f"input.{field.name}")


def survives(field: Field, raw: object, beside: dict[str, Any] | None = None) -> Any:
    """Assert that a valid value stays the same on all ways there are; the clean value."""
    around = beside or {}
    value = field.clean(raw, around)
    assert value is not None
    assert field.clean(value, around) == value
    assert field.clean(json.loads(json.dumps(value)), around) == value
    assert jsonschema.Draft202012Validator(field.json_schema()).is_valid(value)
    assert field.clean(posts(field, value, around), around) == value
    cell = value if isinstance(value, str) else json.dumps(value)
    assert field.clean(field.from_text(cell), around) == value
    assert field.same(value, value)
    assert field.same(cell, value)
    assert field.is_answer(cell)
    assert field.in_words(value)
    for view in ("read", "judge"):
        Form(drawn(field, view, value, around))
    return value


def agrees(field: Field, raw: object) -> None:
    """Assert that the schema accepts what `clean` does and nothing else, and that the form can be drawn again."""
    if isinstance(raw, float) and raw != raw:
        return
    try:
        none = field.clean(raw)
    except FieldError:
        none = None
    valid = jsonschema.Draft202012Validator(field.json_schema()).is_valid(raw)
    assert valid == (none is not None), (raw, none)
    Form(drawn(field, "create", raw, {}, error="Oops"))
