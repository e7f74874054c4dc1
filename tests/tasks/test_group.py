"""Groups: fields within a field, once or several times."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import FieldError, Group
from dynabench.tasks.fields.base import clean_group
from tests.tasks.forms import posted

FIELDS = [
    {"name": "name", "type": "text", "max_length": 30},
    {"name": "kind", "type": "choice", "options": ["person", "place", "other"]},
    {"name": "which", "type": "text", "max_length": 30, "when": "kind == other"},
    {"name": "age", "type": "number", "integer": True, "min": 0, "max": 150, "required": False},
]
group = Group.model_validate({"name": "who", "type": "group", "fields": FIELDS})
many = Group.model_validate({"name": "who", "type": "group", "fields": FIELDS, "repeat": 4, "at_least": 2})

words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=10)
ages = st.integers(0, 150)
rows = st.one_of(
    st.fixed_dictionaries({"name": words, "kind": st.sampled_from(["person", "place"])}, optional={"age": ages}),
    st.fixed_dictionaries({"name": words, "kind": st.just("other"), "which": words}, optional={"age": ages}),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "kind", "age", "x"]), inner),
    max_leaves=8,
)


def cleaned(field, raw):
    try:
        return field.clean(raw)
    except FieldError:
        return None


@given(rows)
def test_what_a_form_posts_of_an_object_is_the_object(row):
    assert group.clean(group.read_form(posted("input.who", row), "input.who")) == group.clean(row)


@given(st.lists(rows, min_size=2, max_size=4))
def test_what_a_form_posts_of_a_list_is_the_list_whatever_rows_were_removed(value):
    gaps = {f"input.who.{3 * at}": row for at, row in enumerate(value)}
    form = {name: text for place, row in gaps.items() for name, text in posted(place, row).items()}
    blank = {"input.who.1.name": [" "], "input.who.1.age": [""]}
    assert many.clean(many.read_form(form | blank, "input.who")) == many.clean(value)


@pytest.mark.release
@pytest.mark.parametrize("field", [group, many])
@given(raw=anything | rows | st.lists(rows, max_size=6))
def test_the_schema_takes_what_is_stored_and_the_field_takes_what_the_schema_does(field, raw):
    jsonschema.Draft202012Validator.check_schema(field.json_schema())
    stored, fits = cleaned(field, raw), jsonschema.Draft202012Validator(field.json_schema()).is_valid
    if stored is not None:
        assert fits(stored)
        assert field.clean(stored) == stored
        assert field.same(stored, stored)
        assert field.clean(field.from_text(json.dumps(stored))) == stored
    elif fits(raw):  # but for what a condition asks for
        result = raw if isinstance(raw, list) else [raw]
        assert any(row["kind"] == "other" and "which" not in row for row in result)


def test_messages_stand_beside_the_fields_within():
    values = {"who": [{"name": "Ada", "kind": "person"}, {"kind": "other", "agee": 3}]}
    with pytest.raises(Invalid) as refused:
        clean_group("input", [many], values)
    assert set(refused.value.fields) == {"input.who.1.name", "input.who.1.which", "input.who.1.agee"}
    assert "Did you mean “age”" in refused.value.fields["input.who.1.agee"]
    with pytest.raises(Invalid) as refused:
        clean_group("input", [many], {"who": [{"name": "Ada", "kind": "person"}]})
    assert refused.value.fields == {"input.who": "There are 1 entries; 2 to 4 are needed."}


def test_a_condition_within_is_about_the_same_object():
    assert group.clean({"name": "Ada", "kind": "person", "which": "dropped"}) == {"name": "Ada", "kind": "person"}


def test_an_optional_group_may_be_left_blank_as_a_whole_only():
    optional = group.model_copy(update={"required": False})
    blank = {"name": " ", "kind": None, "which": "", "age": None}
    assert optional.clean(blank) is None
    with pytest.raises(FieldError):
        optional.clean(blank | {"age": 7})
    with pytest.raises(FieldError):
        group.clean(blank)


def test_models_get_all_fields_and_people_read_labels():
    assert group.serialise({"name": "Ada", "kind": "person"}) == {
        "name": "Ada",
        "kind": "person",
        "which": "",
        "age": None,
    }
    assert many.serialise(None) == []
    assert many.in_words([{"name": "Ada", "age": 3}, {"name": "Bob"}]) == "Name: Ada, Age: 3; Name: Bob"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"fields": [*FIELDS, FIELDS[0]]}, "fields.4.name"),
        ({"fields": [{"name": "x", "type": "group", "fields": FIELDS}]}, "fields.0.type"),
        ({"fields": [{"name": "x", "type": "text", "when": "fooled"}]}, "fields.0.when"),
        ({"fields": [*FIELDS[:2], {"name": "x", "type": "text", "when": "kind == nobody"}]}, "fields.2.when"),
        ({"fields": [{**FIELDS[1], "goal": "assigned"}]}, "fields.0.goal"),
        ({"repeat": 2, "at_least": 3}, "at_least"),
        ({"examples": [{"name": "Ada"}]}, "examples.0"),
    ],
)
def test_a_group_that_cannot_work_is_refused_with_the_place(changes, path):
    with pytest.raises(ValidationError) as refused:
        Group.model_validate({"name": "who", "type": "group", "fields": FIELDS, **changes})
    assert [".".join(map(str, error["loc"])) for error in refused.value.errors()] == [path]


def test_spans_within_may_be_of_the_text_beside_them_or_of_the_context():
    spans = [{"name": "quote", "type": "text"}, {"name": "words", "type": "spans", "of": "quote"}]
    config = {
        "id": "quotes", "name": "Quotes",
        "context": [{"name": "page", "type": "text"}],
        "input": {"name": "text", "type": "text"},
        "answer": {"name": "label", "type": "choice", "options": ["a", "b"]},
        "ask": [{"name": "found", "type": "group", "fields": [*spans, spans[1] | {"name": "more", "of": "page"}]}],
    }  # fmt: skip
    [result] = TaskConfig.model_validate(config).ask
    created = result.clean(
        {"quote": "so be it", "words": [{"start": 0, "end": 2}], "more": [{"start": 0, "end": 3}]}, {"page": "One."}
    )
    assert (created["words"][0]["text"], created["more"][0]["text"]) == ("so", "One")
    config["ask"][0]["fields"][2]["of"] = "pgae"
    with pytest.raises(ValidationError, match="Did you mean “page”"):
        TaskConfig.model_validate(config)


PHOTO = {"name": "photo", "type": "image", "required": False}
WHERE = {"name": "where", "type": "image_region", "of": "photo", "labels": ["sky", "sea"], "required": False}
VIEW = {"name": "view", "type": "image"}


def shots(*fields):
    return {
        "id": "shots", "name": "Shots", "context": [VIEW],
        "input": {"name": "shots", "type": "group", "repeat": 2, "fields": list(fields)},
        "answer": {"name": "label", "type": "choice", "options": ["a", "b"]},
    }  # fmt: skip


def test_regions_within_are_of_the_picture_beside_them_or_of_one_in_the_context():
    config = TaskConfig.model_validate(shots(PHOTO, WHERE, {**WHERE, "name": "above", "of": "view"}))
    view, photo = ({"media": letter * 64, "width": size, "height": size} for letter, size in (("a", 8), ("b", 4)))
    box = {"x": 3, "y": 0, "width": 3, "height": 2, "label": "sea"}
    with pytest.raises(Invalid) as refused:
        config.clean_input(
            {"shots": [{"photo": photo, "where": [box]}, {"photo": photo, "above": [box]}]}, {"view": view}
        )
    assert set(refused.value.fields) == {"input.shots.0.where"}
    created = config.clean_input({"shots": [{"photo": view, "where": [box], "above": [box]}]}, {"view": view})
    assert created["shots"][0]["where"] == created["shots"][0]["above"] == [box]
    jsonschema.validate(created["shots"], config.input[0].json_schema())
    form = {f"input.shots.1.where.0.{part}": [str(value)] for part, value in box.items()}
    blank = {"input.shots.0.where.0.label": ["sky"]}
    read = config.input[0].read_form({**form, **blank, "input.shots.1.photo": ["b" * 64]}, "input.shots")
    assert [(row["photo"]["media"], row["where"]) for row in read] == [("b" * 64, [box])]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ([WHERE, PHOTO], ("input", 0, "fields", 0, "of")),
        ([{"name": "photo", "type": "text"}, WHERE], ("input", 0, "fields", 1, "of")),
        ([PHOTO, {**WHERE, "of": "veiw"}], ("input", 0, "fields", 1, "of")),
        ([PHOTO, {**WHERE, "of": "label"}], ("input", 0, "fields", 1, "of")),
    ],
)
def test_regions_of_no_picture_before_them_are_refused_with_the_place(fields, path):
    with pytest.raises(ValidationError) as refused:
        TaskConfig.model_validate(shots(*fields))
    assert [error["loc"] for error in refused.value.errors()] == [path]
