"""Columns to fields: listed, suggested, chosen, applied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.intake.mapping import (
    ColumnMapping,
    ColumnSource,
    choose_columns,
    find_column,
    list_columns,
    preview_rows,
    suggest_columns,
    value_at,
    value_key,
)
from dynabench.intake.rows import FileRow
from dynabench.kit.errors import Invalid

of_context = ColumnMapping.of_context


@pytest.mark.parametrize(
    ("columns", "fields", "expected"),
    [
        (["premise", "tag"], ["premise"], of_context({"premise": "premise"}, "tag")),
        (["id", "Premise"], ["premise"], of_context({"premise": "Premise"})),
        (["premise_text", "hypothesis"], ["premise"], of_context({"premise": "premise_text"})),
        (
            ["passage", "title", "genre"],
            ["title", "passage"],
            of_context({"title": "title", "passage": "passage"}, "genre"),
        ),
        (["text"], ["premise"], of_context({"premise": "text"})),
        (["a", "b"], ["premise"], of_context({})),
        (["tag", "x"], ["tag"], of_context({"tag": "tag"})),
    ],
)
def test_columns_are_guessed_by_name(columns, fields, expected):
    assert suggest_columns(columns, fields) == expected


names = st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=6)


@given(names, names)
def test_a_guess_takes_each_column_once_and_only_what_is_there(columns, fields):
    mapping = suggest_columns(columns, fields)
    used_columns = list(mapping.context_columns().values())
    assert set(mapping.context_columns()) <= set(fields)
    assert len(set(used_columns)) == len(used_columns)
    assert set(used_columns) | ({mapping.tag_source().column} - {""}) <= set(columns)


@given(names, names)
def test_a_guess_can_be_posted_back_unchanged(columns, fields):
    mapping = suggest_columns(columns, fields)
    posted = {f"field.{name}": column for name, column in mapping.context_columns().items()}
    posted["tag"] = mapping.tag_source().column
    assert choose_columns(columns, fields, posted) == mapping


def test_wrong_choices_are_named_by_field():
    with pytest.raises(Invalid) as problem:
        choose_columns(["a"], ["x", "y"], {"field.x": "a", "field.y": "a", "tag": "b", "fixed_tag": "\x07"})
    assert set(problem.value.fields) == {"field.y", "tag", "fixed_tag"}


def test_rows_give_the_fields_of_a_context_and_its_tag():
    mapping = of_context({"premise": "text"}, "genre", "rest")
    assert mapping.read_context({"text": "It rains.", "genre": "weather", "n": 1}) == (
        {"premise": "It rains."},
        "weather",
    )
    assert mapping.read_context({"text": "It snows.", "genre": ""})[1] == "rest"
    assert mapping.read_context({"genre": 7}) == ({}, 7)
    assert of_context({"premise": "tag"}).read_context({"tag": "It hails."}) == ({"premise": "It hails."}, "")
    assert of_context({"premise": "a.b"}).read_context({"a": {"b": "It thaws."}})[0] == {"premise": "It thaws."}
    assert ColumnMapping.model_validate(mapping.model_dump(mode="json", exclude_defaults=True)) == mapping


def test_a_source_takes_the_first_column_that_says_something():
    source = ColumnSource(column=["first", "second.inner"], default="none", when={"kind": ["1", "true"]})
    assert source.read({"kind": 1.0, "first": "", "second": {"inner": "x"}}) == "x"
    assert source.read({"kind": True, "first": "y"}) == "y"
    assert source.read({"kind": "2", "first": "y"}) == "none"


def test_values_are_named_as_people_write_them():
    assert [value_key(value) for value in (True, 1.0, 1, 1.5, "a", float("inf"))] == [
        "true",
        "1",
        "1",
        "1.5",
        "a",
        "inf",
    ]
    assert value_at({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert value_at({"a": "text"}, "a.b") is None


def test_the_beginning_of_a_file_names_its_columns():
    rows = [
        FileRow(1, {"Text": "a", "meta": {"id": 1, "of": {"x": 2}}}),
        FileRow(2, None, "broken"),
        FileRow(3, {"tag": ""}),
    ]
    preview = preview_rows(iter(rows))
    assert preview.columns == ["Text", "meta", "meta.id", "meta.of", "meta.of.x", "tag"]
    assert preview.rows == rows
    assert find_column(preview.columns, "label", "text") == "Text"
    assert preview_rows(rows, 1).rows == rows[:1]
    with pytest.raises(Invalid, match=r"No row of this file can be read.* Row 2: broken"):
        preview_rows(rows[1:2]).require_rows()
    with pytest.raises(Invalid, match="no rows"):
        preview_rows([]).require_rows()
    assert list_columns([{"half \ud800": 1}]) == ["half \ufffd"]
