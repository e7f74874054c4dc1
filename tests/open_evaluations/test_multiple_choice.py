"""Choices and right answers in every form that data sets have, and what models write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.open_evaluations.multiple_choice import (
    LETTERS,
    ChoiceList,
    UnfitValue,
    find_group,
    guess_base,
    read_answered_choice,
    read_choices,
    read_right_choice,
)

TEXTS = st.lists(
    st.text(st.characters(categories=["L", "Nd", "Zs"]), min_size=2, max_size=12)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: len(text) > 1 and not text.isdecimal()),
    min_size=2,
    max_size=8,
    unique_by=lambda text: text.casefold().strip(),
)
ANIMALS = ChoiceList(["cat", "dog", "cow", "bee"])


@given(TEXTS, st.data())
def test_every_form_means_the_same_choice(texts, data):
    place = data.draw(st.integers(0, len(texts) - 1))
    names = [f"n{number}" for number in range(len(texts))]
    columns = [f"option_{letter}" for letter in "abcdefgh"[: len(texts)]]
    forms = (
        ({"c": texts}, "c"),
        ({"c": {"text": texts, "label": names}}, "c"),
        ({"c": [{"text": text, "label": name} for text, name in zip(texts, names, strict=True)]}, "c"),
        ({"c": dict(zip(names, texts, strict=True))}, "c"),
        (dict(zip(columns, texts, strict=True)), find_group(columns)),
    )
    for row, column in forms:
        choices = read_choices(row, column)
        assert list(ChoiceList.of_text(choices.as_text()).texts) == list(choices.texts) == texts
        for value in (place, str(place), texts[place], *([names[place]] if choices.names else [])):
            assert read_right_choice(value, choices, "0", "a") == LETTERS[place]
        assert read_right_choice(place + 1, choices, "1", "a") == LETTERS[place]
        for written in (f"{LETTERS[place]}.", f"({LETTERS[place]})", f"{LETTERS[place]}) because", texts[place]):
            assert read_answered_choice(written, choices) == LETTERS[place]


@pytest.mark.parametrize(
    ("columns", "group"),
    [
        (["question", "A", "B", "C", "answer"], "A,B,C"),
        (["ctx", "ending0", "ending1", "ending2", "ending3", "label"], "ending0,ending1,ending2,ending3"),
        (["goal", "sol1", "sol2", "label"], "sol1,sol2"),
        (["question", "opa", "opb", "cop"], "opa,opb"),
        (["text", "label"], ""),
        (["sentence1", "sentence2", "label"], ""),
    ],
)
def test_columns_with_a_choice_each_are_found(columns, group):
    assert find_group(columns) == group


def test_numbers_count_from_what_the_data_say():
    assert guess_base([(0, ANIMALS), (3, ANIMALS)]) == "0"
    assert guess_base([("1", ANIMALS), ("4", ANIMALS)]) == "1"
    assert guess_base([("A", ANIMALS), ("4", ANIMALS)]) == ""
    sums = ChoiceList(["3", "4", "5"])
    assert guess_base([("4", sums), ("5", sums)]) == ""
    assert read_right_choice("4", sums, "", "answer") == "B"


def test_a_text_that_names_no_choice_for_certain_stays_a_wrong_answer():
    assert read_answered_choice("The answer is C, as cats purr.", ANIMALS) == "C"
    assert read_answered_choice("It must be the dog.", ANIMALS) == "B"
    for text in ("a cat or a dog", "none of them", "", "E", "I do not know"):
        assert read_answered_choice(text, ANIMALS) == text


@pytest.mark.parametrize("value", [None, True, "", "E", 4, -1, "horse", [1]])
def test_an_answer_that_is_no_choice_is_refused(value):
    with pytest.raises(UnfitValue):
        read_right_choice(value, ANIMALS, "0", "answer")


@pytest.mark.parametrize("value", [None, "cat, dog", ["cat"], ["cat", ""], [], {"text": ["cat", None]}, list("x" * 27)])
def test_what_is_no_list_of_choices_is_refused(value):
    with pytest.raises(UnfitValue):
        read_choices({"c": value}, "c")
