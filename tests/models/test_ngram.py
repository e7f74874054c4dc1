import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from dynabench.kit.errors import Invalid
from dynabench.models.backends.ngram import NgramModel
from dynabench.models.catalog import BUILTIN
from dynabench.models.protocol import Attributable

from .texts import HARD


@pytest.fixture(scope="module")
def nli():
    return NgramModel.load(BUILTIN / "nli-ngram")


@pytest.fixture(scope="module")
def sentiment():
    return NgramModel.load(BUILTIN / "sentiment-ngram")


def test_it_is_a_model_and_can_explain_itself(nli, sentiment):
    assert isinstance(nli, Attributable)
    assert sentiment.card.labels == ("positive", "neutral", "negative")


def test_plain_sentences_get_plain_answers(nli, sentiment):
    assert sentiment.predict([{"statement": "A wonderful, moving film."}])[0].answer == {"label": "positive"}
    assert sentiment.predict([{"statement": "A boring, stupid waste of time."}])[0].answer == {"label": "negative"}
    inputs = {"premise": "A man sleeps on a bench.", "hypothesis": "A man sleeps."}
    assert nli.predict([inputs])[0].answer == {"label": "entailment"}


@pytest.mark.parametrize("text", HARD)
def test_any_text_gets_probabilities_and_exact_weights(sentiment, text):
    output = sentiment.predict([{"statement": text}])[0]
    assert sum(output.probabilities.values()) == pytest.approx(1, abs=1e-5)
    result = sentiment.attribute({"statement": text}, "positive", "exact")
    assert result.completeness_error < 1e-6
    assert all(text[word.start : word.end] == word.text for word in result.fields["statement"])


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_weights_of_both_texts_add_up_to_what_the_logit_gained(premise, hypothesis):
    model = NgramModel.load(BUILTIN / "nli-ngram") if not CACHE else CACHE[0]
    CACHE[:] = [model]
    result = model.attribute({"premise": premise, "hypothesis": hypothesis}, "neutral", "exact")
    assert result.completeness_error < 1e-6
    weights = [abs(word.weight) for words in result.fields.values() for word in words]
    assert not weights or max(weights) == pytest.approx(1) or max(weights) == 0


CACHE: list[NgramModel] = []


def test_answers_do_not_depend_on_who_else_is_in_the_batch(nli):
    batch = [{"premise": a, "hypothesis": b} for a in HARD[:8] for b in HARD[:8]]
    assert nli.predict(batch) == [nli.predict([inputs])[0] for inputs in batch]


def test_missing_fields_and_unknown_labels_are_refused(nli):
    with pytest.raises(Invalid, match="hypothesis"):
        nli.predict([{"premise": "x"}])
    with pytest.raises(Invalid, match="hypothesis"):
        nli.predict([{"premise": "x", "hypothesis": 5}])
    with pytest.raises(Invalid, match="label"):
        nli.attribute({"premise": "x", "hypothesis": "y"}, "positive", "exact")
    with pytest.raises(Invalid, match="method"):
        nli.attribute({"premise": "x", "hypothesis": "y"}, "neutral", "gradient")


def test_damaged_weights_are_refused(copied):
    folder = copied("nli-ngram")
    weights = folder / "ngram.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(Invalid, match="cannot be loaded"):
        NgramModel.load(folder)


@pytest.mark.parametrize("name", ["weights", "bias"])
def test_weights_that_are_no_numbers_are_refused(copied, name):
    folder = copied("nli-ngram")
    arrays = load_file(folder / "ngram.safetensors")
    arrays[name].flat[0] = np.nan
    save_file(arrays, folder / "ngram.safetensors")
    with pytest.raises(Invalid, match="no finite numbers"):
        NgramModel.load(folder)


def test_weights_of_another_size_are_refused(copied):
    folder = copied("nli-ngram")
    options = folder / "ngram.json"
    options.write_text(options.read_text().replace("18", "17"))
    with pytest.raises(Invalid, match="asks for"):
        NgramModel.load(folder)
