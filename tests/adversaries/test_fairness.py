"""Names and gendered words: what is swapped, what is a person, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.adversaries.perturbations import find_transformations, generator, names_on_axis, person_names

SWAPPED = {
    "He lost his keys.": "She lost her keys.",
    "She saw him.": "He saw her.",
    "The book is hers.": "The book is his.",
    "I saw her yesterday with her dog.": "I saw him yesterday with his dog.",
    "An actress hurt herself.": "An actor hurt himself.",
    "An heiress met an uncle.": "An heir met an aunt.",
    "Mr. Smith and his wife": "Ms. Smith and her husband",
    "A MAN AND HIS SON": "A WOMAN AND HER DAUGHTER",
    "The man's hat": "The woman's hat",
    "She's tired, and he's glad.": "He's tired, and she's glad.",
    "Two boys and a woman": "Two girls and a man",
}
NEUTRAL = {
    "He lost his keys.": "They lost their keys.",
    "She is going home.": "They are going home.",
    "Is she going home?": "Are they going home?",
    "Does he like it?": "Do they like it?",
    "He often goes there.": "They often go there.",
    "He watches it.": "They watch it.",
    "He tries hard.": "They try hard.",
    "She could see me.": "They could see me.",
    "An actress hurt herself.": "A performer hurt themself.",
    "Mr. Smith went home.": "Mx. Smith went home.",
    "She's been away.": "They've been away.",
    "He's running.": "They're running.",
    "The policeman was late.": "The police officer was late.",
}
UNCHANGED = [
    "The king lost his crown.", "Lady Gaga sang her song.", "Iron Man saved his city.", "A pregnant woman waits.",
    "Oh man, that was good.", "Tom Hanks gave his best.", "her mother-in-law left", "he/she must sign", "It rains.",
]  # fmt: skip
NEUTRAL_LEFT = [
    "He saw her.",
    "He sings and dances.",
    "He smiled and was gone.",
    "She's gone.",
    "The male lead.",
    "He frob",
]
PERSONS = [
    "Mary went home.", "I met Grace yesterday.",
    "Uncle Jordan called.", "Jordan smiled at us.", "A boy named Austin laughed.",
    "Will said so.", "John's car is red.", "A letter from Susan arrived.",
]  # fmt: skip
NOBODY = [
    "Washington is cold.", "Chase Bank failed.", "We flew to Paris.", "The river Jordan is low.", "May was rainy.",
    "Will you come?", "Grace under pressure matters.", "Mark my words.", "Charlotte Airport closed.",
    "Victoria Street is long.", "He lives in Madison.", "Johns Hopkins University", "San Jose is big.",
    "Mary Poppins is a film.", "Rose petals fell.", "Bill payments are due.", "Hunter gatherers moved on.",
    "Christian churches grew.", "Frank talk helps.", "Jack Daniels is a drink.", "In April it rained.", "Art is long.",
    "George Washington Bridge", "the Thomas-Fermi model", "Barnes & Noble", "John Deere makes tractors.",
]  # fmt: skip

TEXTS = st.lists(
    st.sampled_from([*" ".join(SWAPPED).split(), "Mary", "John", "Jordan", "東京", "👩🏽", "אמא", "\u0301"]),
    max_size=25,
).map(" ".join)


def changed(name, text, seed=1):
    result = find_transformations([name])[0].apply({"text": text}, generator(seed, "a", name))
    return result["text"].text if result else None


@pytest.mark.parametrize(("text", "expected"), SWAPPED.items())
def test_female_and_male_are_swapped(text, expected):
    assert changed("gender_swapped", text) == expected


@pytest.mark.parametrize(("text", "expected"), NEUTRAL.items())
def test_gender_is_left_open(text, expected):
    assert changed("gender_neutral", text) == expected


@pytest.mark.parametrize("text", UNCHANGED)
def test_rows_that_a_swap_would_make_odd_are_left_alone(text):
    assert changed("gender_swapped", text) is None
    assert changed("gender_neutral", text) is None


@pytest.mark.parametrize("text", NEUTRAL_LEFT)
def test_grammar_beyond_the_rules_is_left_alone(text):
    assert changed("gender_neutral", text) is None


@pytest.mark.parametrize("text", PERSONS)
def test_a_persons_name_is_swapped(text):
    for group in person_names.GROUPS:
        assert changed(f"names_{group}", text) not in (None, text)


@pytest.mark.parametrize("text", NOBODY)
def test_a_name_that_is_no_persons_is_left_alone(text):
    for group in person_names.GROUPS:
        assert changed(f"names_{group}", text) is None, group


def test_one_person_has_one_name_in_all_fields_and_gender_stays():
    texts = {"premise": "Mary told John that she left.", "hypothesis": "John knows about Mary."}
    edited_texts = find_transformations(["names_hispanic"])[0].apply(texts, generator(1, "a", "names_hispanic"))
    first, second = edited_texts["premise"].text.split(), edited_texts["hypothesis"].text.rstrip(".").split()
    assert (first[0], first[2]) == (second[3], second[0])
    assert first[0] in person_names.names_in_list("hispanic_female")
    assert first[2] in person_names.names_in_list("hispanic_male")


def test_a_name_that_is_a_person_here_and_a_place_there_is_left_alone():
    assert changed("names_asian", "Jordan smiled. We flew to Jordan.") is None


def test_every_group_has_two_hundred_names_to_draw():
    for group in person_names.GROUPS:
        both = {*person_names.names_to_draw(f"{group}_female"), *person_names.names_to_draw(f"{group}_male")}
        assert len(both) >= person_names.MIN_NAMES_PER_GROUP, group
    for side in ("female", "male", "neutral"):
        assert len(person_names.names_to_draw(side)) >= person_names.MIN_NAMES_PER_GROUP, side


@given(TEXTS, st.sampled_from(names_on_axis("fairness")), st.integers(0, 5))
def test_swaps_are_repeatable_change_something_and_leave_other_scripts(text, name, seed):
    edited_texts = find_transformations([name])[0].apply({"text": text}, generator(seed, "u", name))
    assert edited_texts == find_transformations([name])[0].apply({"text": text}, generator(seed, "u", name))
    if edited_texts is not None:
        assert edited_texts["text"].text != text
        for word in ("東京", "👩🏽", "אמא"):
            assert edited_texts["text"].text.count(word) == text.count(word)
