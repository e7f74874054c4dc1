"""Columns to fields: guessed, chosen, applied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.errors import Invalid
from dynabench.rounds import mapping
from dynabench.rounds.contexts import Row
from dynabench.rounds.mapping import Columns


@pytest.mark.parametrize(
    ("columns", "fields", "expected"),
    [
        (["premise", "tag"], ["premise"], Columns({"premise": "premise"}, "tag")),
        (["id", "Premise"], ["premise"], Columns({"premise": "Premise"})),
        (["premise_text", "hypothesis"], ["premise"], Columns({"premise": "premise_text"})),
        (
            ["passage", "title", "genre"],
            ["title", "passage"],
            Columns({"title": "title", "passage": "passage"}, "genre"),
        ),
        (["text"], ["premise"], Columns({"premise": "text"})),
        (["a", "b"], ["premise"], Columns({})),
        (["tag", "x"], ["tag"], Columns({"tag": "tag"})),
    ],
)
def test_columns_are_guessed_by_name(columns, fields, expected):
    assert mapping.guess(columns, fields) == expected


names = st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=6)


@given(names, names)
def test_a_guess_takes_each_column_once_and_only_what_is_there(columns, fields):
    found = mapping.guess(columns, fields)
    taken = list(found.fields.values())
    assert set(found.fields) <= set(fields)
    assert len(set(taken)) == len(taken)
    assert set(taken) | ({found.tag} - {""}) <= set(columns)


@given(names, names)
def test_a_guess_can_be_posted_back_unchanged(columns, fields):
    found = mapping.guess(columns, fields)
    posted = {f"field.{name}": column for name, column in found.fields.items()} | {"tag": found.tag}
    assert mapping.chosen(columns, fields, posted) == found


def test_wrong_choices_are_named_by_field():
    with pytest.raises(Invalid) as problem:
        mapping.chosen(["a"], ["x", "y"], {"field.x": "a", "field.y": "a", "tag": "b", "fixed_tag": "\x07"})
    assert set(problem.value.fields) == {"field.y", "tag", "fixed_tag"}


def test_rows_get_the_fields_names_and_a_tag():
    columns = Columns({"premise": "text"}, "genre", "rest")
    assert columns.apply(Row(1, {"text": "It rains.", "genre": "weather", "n": 1})) == Row(
        1, {"premise": "It rains."}, "weather"
    )
    assert columns.apply(Row(2, {"text": "It snows.", "genre": ""})).tag == "rest"
    assert columns.apply(Row(3, {"genre": 7})) == Row(3, {}, "7")
    assert columns.apply(Row(4, None, error="broken")) == Row(4, None, error="broken")
    assert Columns({"premise": "tag"}).apply(Row(5, {}, "It hails.")).values == {"premise": "It hails."}
    assert Columns.of(columns.document()) == columns


def test_the_beginning_of_a_file_names_its_columns(tmp_path):
    sheet = tmp_path / "a.csv"
    sheet.write_bytes(b"\xef\xbb\xbfpremise,tag,empty\nIt rains.,,\n")
    assert mapping.look(sheet).columns == ["premise", "tag", "empty"]
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"values": {"premise": "a"}, "tag": "t"}\n{"other": 1}\nbroken\n')
    found = mapping.look(lines, shown=3)
    assert found.columns == ["premise", "tag", "other"]
    assert found.rows[2].error
