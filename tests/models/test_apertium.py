"""Translators of kind `apertium`: the real program, installed from the distribution's package."""

import shutil

import pytest

from dynabench.kit.errors import Invalid
from dynabench.models import catalog

pytestmark = pytest.mark.skipif(not shutil.which("apertium"), reason="apertium-eng-spa is not installed.")
CARD = """
name: rules
task: translation
kind: apertium
inputs: [pair, source]
answer: translation
returns: text
languages: [en, es]
licence: GPL-2.0-or-later
options:
  directions: {DIRECTIONS}
"""


def folder_of(tmp_path, directions="{en-es: eng-spa, es-en: spa-eng}"):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "model.yaml").write_text(CARD.replace("{DIRECTIONS}", directions))
    return folder


@pytest.mark.release
def test_texts_are_translated_both_ways_and_unknown_words_stay(tmp_path):
    model = catalog.open_model(folder_of(tmp_path))
    rows = [("en-es", "The window is open."), ("es-en", "La ventana está abierta."), ("en-es", "Zorblax\nis old.")]
    answers = [out.answer["translation"] for out in model.predict([{"pair": p, "source": s} for p, s in rows])]
    assert "ventana" in answers[0]
    assert "window" in answers[1]
    assert answers[2].startswith("Zorblax")
    assert "viejo" in answers[2]


@pytest.mark.release
def test_an_empty_text_and_one_of_marks_are_translated_as_they_are(tmp_path):
    model = catalog.open_model(folder_of(tmp_path))
    texts = ["", "[](){}^$/\\<@> **", "\0"]
    answers = [out.answer["translation"] for out in model.predict([{"pair": "en-es", "source": s} for s in texts])]
    assert answers == [texts[0], texts[1], ""]


def test_other_pairs_and_missing_directions_are_refused_with_what_to_do(tmp_path):
    folder = folder_of(tmp_path)
    with pytest.raises(Invalid, match="en-es, es-en only"):
        catalog.open_model(folder).predict([{"pair": "en-de", "source": "Hello."}])
    (folder / "model.yaml").write_text(CARD.replace("{DIRECTIONS}", "{en-eo: eng-epo}"))
    with pytest.raises(Invalid, match="apertium-eng-spa"):
        catalog.open_model(folder)
