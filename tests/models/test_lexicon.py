"""Translation by a list of words and phrases."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, validity

MODEL = catalog.open_model(catalog.BUILTIN / "translation-lexicon")


def label_of(pair, source):
    [output] = MODEL.predict([{"pair": pair, "source": source}])
    return output.answer["translation"]


@pytest.mark.parametrize(
    ("pair", "source", "expected"),
    [
        ("en-de", "The house is small.", "Das Haus ist klein."),
        ("en-fr", "The house is near the sea!", "La maison est près de la mer!"),
        ("de-en", "Niemand weiß, warum.", "Nobody knows, why."),
        ("en-ar", "The soup, please", "حساء، من فضلك"),
        ("en-es", "Zyzzyva in the garden", "Zyzzyva en el jardín"),
        ("en-xx", "Nothing is known of xx", "Nothing is known of xx"),
        ("", "Nor of nothing", "Nor of nothing"),
    ],
)
def test_the_longest_known_phrase_is_replaced_and_other_words_stay(pair, source, expected):
    assert label_of(pair, source) == expected


@settings(deadline=None)
@given(st.sampled_from(["en-de", "ar-en", "en-ar", "x", "-", "en-en"]), st.text(max_size=400))
def test_any_text_has_an_answer(pair, source):
    inputs = [{"pair": pair, "source": source}]
    validity.check_outputs(MODEL.card, inputs, MODEL.predict(inputs))


@pytest.mark.parametrize("stored", ["", "[]", '{"languages": ["en"], "entries": []}', None])
def test_a_broken_list_is_refused_with_the_reason(copied, stored):
    folder = copied("translation-lexicon")
    text = json.dumps({"languages": ["en", "de"], "entries": [["one"]]}) if stored is None else stored
    (folder / "lexicon.json").write_text(text)
    with pytest.raises(Invalid, match=r"lexicon\.json"):
        catalog.open_model(folder)
