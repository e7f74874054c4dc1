"""Transformations: what they do to known texts, and what holds of any text."""

import json
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from dynabench.adversaries.perturbations import Edit, find_transformations, generator, names_on_axis, transformations
from dynabench.adversaries.perturbations.transformation import (
    _CHARACTERS_BEFORE,
    _PROTECTED,
    _SENTENCE_START,
    _begins_sentence,
    apply_edits,
    protected_spans,
    words,
)
from dynabench.cli import app
from dynabench.kit.errors import Invalid

SENTENCE = "She did not like the beautiful, colourful garden because two children were really loud."
GOLD = {
    "upper_case": "SHE DID NOT LIKE THE BEAUTIFUL, COLOURFUL GARDEN BECAUSE TWO CHILDREN WERE REALLY LOUD.",
    "lower_case": "she did not like the beautiful, colourful garden because two children were really loud.",
    "punctuation_added": "She did not like the beautiful, colourful garden because two children were really loud...",
    "punctuation_removed": "She did not like the beautiful colourful garden because two children were really loud",
    "contractions_made": "She didn't like the beautiful, colourful garden because two children were really loud.",
    "whitespace_removed": "She did not like the beautiful,colourful garden because two children were really loud.",
    "emphasis": "She did not like the beautiful, colourful garden because two children were reaaally loud.",
    "numerals": "She did not like the beautiful, colourful garden because 2 children were really loud.",
    "spelling_variants": "She did not like the beautiful, colorful garden because two children were really loud.",
}
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                *SENTENCE.split(),
                "Mary",
                "John",
                "her",
                "he",
                "is",
                "https://a.example/B?c=1",
                "@ada",
                "#Tag",
                "3.5",
                "东京",
                "שלום",
                "مرحبا",
                "👩‍👩‍👧‍👦",
                "e\u0301",
                "don't",
                "I am",
                "its",
                "U.S.",
                "İ",
                "ǅ",
                "ß",
            ]
        ),
        max_size=40,
    ).map(" ".join),
)


def changed(name, text, seed=1, uid="a"):
    result = find_transformations([name])[0].apply({"text": text}, generator(seed, uid, name))
    return result["text"].text if result else None


@pytest.mark.parametrize("name", GOLD)
def test_a_sentence_becomes(name):
    assert changed(name, SENTENCE) == GOLD[name]


def test_contractions_are_written_out_but_not_in_questions():
    assert (
        changed("contractions_expanded", "I don't know, and they won't say.") == "I do not know, and they will not say."
    )
    assert changed("contractions_expanded", "Isn't it cold?") is None


@pytest.mark.parametrize(
    "name",
    ["keyboard_typos", "swapped_letters", "dropped_letters", "doubled_letters", "accents", "leetspeak", "look_alikes",
     "zero_width", "misspellings", "split_words", "merged_words", "random_case", "whitespace_added"],
)  # fmt: skip
def test_one_word_in_ten_changes_and_the_rest_stays(name):
    text = " ".join([SENTENCE] * 3)
    new = changed(name, text)
    assert new not in (None, text)
    edits = find_transformations([name])[0].apply({"text": text}, generator(1, "a", name))["text"].edits
    assert 1 <= len(edits) <= (8 if name == "random_case" else 4)


def test_there_are_enough_of_them():
    assert len(names_on_axis("robustness")) >= 12
    assert len(names_on_axis("fairness")) >= 6
    assert all(item.name == name and item.title for name, item in transformations().items())


def test_an_unknown_name_is_told_with_those_there_are():
    with pytest.raises(Invalid, match="keyboard_typos"):
        find_transformations(["keyboard_typo"])


@pytest.mark.parametrize("name", names_on_axis("robustness"))
@given(text=TEXTS, seed=st.integers(0, 3))
@example(text="\u0301about the gardens", seed=0)
@settings(max_examples=15, deadline=None)
def test_what_holds_of_any_text(name, text, seed):
    edited_texts = find_transformations([name])[0].apply({"text": text}, generator(seed, "u", name))
    again = find_transformations([name])[0].apply({"text": text}, generator(seed, "u", name))
    assert edited_texts == again
    if edited_texts is None:
        return
    new = edited_texts["text"]
    assert new.text != text
    assert new.old == text
    assert len(new.text) <= 3 * len(text) + 3
    for start, end in protected_spans(text):
        assert not any(item.touches((start, end)) for item in new.edits)
    for item in new.edits:  # only ASCII letters, spaces and marks ever go: other scripts, emoji and accents stay
        assert text[item.start : item.end].isascii()
        after = text[item.end : item.end + 1]
        assert not after or not unicodedata.combining(after)


@given(st.data())
def test_spans_keep_their_text_when_they_are_locked(data):
    text = data.draw(st.lists(st.sampled_from(SENTENCE.split()), min_size=3, max_size=30).map(" ".join))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    name = data.draw(st.sampled_from(names_on_axis("robustness")))
    edited_texts = find_transformations([name])[0].apply(
        {"text": text}, generator(data.draw(st.integers(0, 9)), "u", name), {"text": [(start, end)]}
    )
    if edited_texts is not None:
        first, last = edited_texts["text"].span(start, end)
        assert edited_texts["text"].text[first:last] == text[start:end]


@given(st.text(max_size=40), st.data())
def test_the_map_of_places_agrees_with_the_text(text, data):
    places = st.integers(0, len(text))
    edits = data.draw(
        st.lists(
            st.builds(lambda a, b, new: Edit(min(a, b), max(a, b), new), places, places, st.text(max_size=3)),
            max_size=4,
        )
    )
    edited_texts = apply_edits(text, edits)
    if edited_texts is None:
        return
    start, end = sorted((data.draw(places), data.draw(places)))
    if start < end and not any(item.touches((start, end)) for item in edited_texts.edits):
        span = edited_texts.span(start, end)
        assert span is not None
        assert edited_texts.text[span[0] : span[1]] == text[start:end]


NEAR = ["a", "B", "é", "e\u0301", "4", "²", ".", ",", ":", "//", "http", "www", "com", "@", "#", "&", ";", "-", "<b>",
        "{", "}", "U.S.", "$", "%", "'", "’", '"', ")", "(", "•", "…", " ", "  ", "\n", "\x1c", "\u200b"]  # fmt: skip
BITS = st.lists(st.sampled_from(NEAR), max_size=40).map("".join)


@given(st.one_of(TEXTS, BITS))
def test_what_is_kept_is_what_the_pattern_finds_in_the_whole_text(text):
    assert protected_spans(text) == [match.span() for match in _PROTECTED.finditer(text)]


@given(st.one_of(TEXTS, BITS))
def test_a_sentence_begins_where_the_pattern_says_so(text):
    for start in range(len(text) + 1):
        assert _begins_sentence(text, start) == bool(
            _SENTENCE_START.search(text[max(0, start - _CHARACTERS_BEFORE) : start])
        )


@given(BITS)
def test_no_word_has_a_combining_or_invisible_character_beside_it(text):
    for word in words(text):
        beside = text[max(0, word.start - 1) : word.start] + text[word.end : word.end + 1]
        assert not {unicodedata.category(item) for item in beside} & {"Mn", "Me", "Mc", "Cf", "Sk"}
        assert text[word.start : word.end] == word.text


def test_addresses_mentions_numbers_names_and_negations_are_left_alone():
    text = "Never trust @someone at https://example.org/Beautiful about 1,250 dollars"
    for name in names_on_axis("robustness"):
        if (new := changed(name, text)) is not None:
            for kept_part in ("@someone", "https://example.org/Beautiful", "1,250"):
                assert kept_part in new, name
            assert "never" in new.lower().replace("  ", " ").replace("\u200b", "").replace("\u0435", "e"), name
    assert changed("keyboard_typos", "Margaret met Bartholomew") is None


def test_the_command_line_perturbs_a_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        json.dumps({"uid": "a", "text": SENTENCE, "label": "negative"}) + "\n" + json.dumps({"text": "日本"})
    )
    run = CliRunner().invoke(
        app, ["adversary", "perturb", str(path), "--with", "lower_case", "--with", "fairness", "--seed", "3"]
    )
    rows = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert [row["transformation"] for row in rows] == ["lower_case", "gender_swapped", "gender_neutral"]
    assert rows[0] == {
        "uid": "a#lower_case",
        "input_id": "a",
        "transformation": "lower_case",
        "text": GOLD["lower_case"],
        "label": "negative",
    }
    assert rows[1]["text"].startswith("He did not")
    assert "keyboard_typos" in CliRunner().invoke(app, ["adversary", "list"]).stdout
    refused = CliRunner().invoke(app, ["adversary", "perturb", str(path), "--with", "nonsense"])
    assert refused.exit_code == 1
