import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dynabench.kit.errors import Invalid
from dynabench.models.backends.encoded import AdapterModel
from dynabench.models.backends.pieces import CLS, SEP, encode
from dynabench.models.backends.pool import Pool
from dynabench.models.catalog import BUILTIN
from dynabench.models.protocol import Attributable
from dynabench.models.validity import Broken

from .texts import HARD

pytestmark = pytest.mark.models
TOLERANCE = {"fp32": 2e-4, "bf16": 5e-3, "int8": 0.3}
"""By how much probabilities may depend on the batch; int8 shares one scale among all that is computed together."""


@pytest.fixture(scope="module")
def pool():
    return Pool()


@pytest.fixture(scope="module")
def nli(pool):
    return AdapterModel.load(BUILTIN / "nli-minilm", pool)


@pytest.fixture(scope="module")
def sentiment(pool, nli):
    return AdapterModel.load(BUILTIN / "sentiment-minilm", pool)


PAIRS = [
    {"premise": "A man is sleeping on a bench.", "hypothesis": "A man is awake."},
    {"premise": "A man is sleeping on a bench.", "hypothesis": "Someone sleeps."},
    {"premise": "Two dogs run along the beach while children watch from afar.", "hypothesis": "Animals move."},
    {"premise": "A woman plays the violin.", "hypothesis": "She is in an orchestra in front of a large audience."},
]


def test_it_is_a_model_and_gives_plain_answers(nli, sentiment):
    assert isinstance(nli, Attributable)
    assert [output.answer["label"] for output in nli.predict(PAIRS[:2])] == ["contradiction", "entailment"]
    good, bad = sentiment.predict([{"statement": "A wonderful film."}, {"statement": "An awful film."}])
    assert (good.answer["label"], bad.answer["label"]) == ("positive", "negative")


@pytest.mark.release
def test_an_answer_hardly_depends_on_its_batch_even_when_other_models_share_it(nli, sentiment):
    texts = [{"statement": text} for text in HARD]
    alone = [sentiment.predict([inputs])[0] for inputs in texts] + [nli.predict([inputs])[0] for inputs in PAIRS]
    calls = [(sentiment, sentiment.prepare(inputs)) for inputs in texts]
    calls += [(nli, nli.prepare(inputs)) for inputs in PAIRS]
    for mixed, single in zip(nli.answer(calls), alone, strict=True):
        assert mixed.answer == single.answer
        assert mixed.probabilities == pytest.approx(single.probabilities, abs=TOLERANCE[nli._pool.precision])


@pytest.mark.release
@pytest.mark.parametrize("method", ["gradient", "layer_integrated_gradients"])
def test_weights_belong_to_words_of_the_original_fields(nli, method):
    inputs = {"premise": "Zwölf  cats 👩‍👩‍👧 don't sleep…", "hypothesis": "They're awake!!!"}
    result = nli.attribute(inputs, "entailment", method)
    assert list(result.fields) == ["premise", "hypothesis"]
    for field, words in result.fields.items():
        assert all(inputs[field][word.start : word.end] == word.text for word in words)
    assert [word.text for word in result.fields["hypothesis"]] == ["They're", "awake", "!!!"]
    assert max(abs(word.weight) for words in result.fields.values() for word in words) == pytest.approx(1)


@pytest.mark.parametrize("text", ["", " ", "x", "👩‍👩‍👧‍👦", "هذا فيلم", "a" * 5000])
def test_hard_texts_are_explained(sentiment, text):
    result = sentiment.attribute({"statement": text}, "neutral", "gradient")
    assert all(text[word.start : word.end] == word.text for word in result.fields["statement"])


def test_the_strip_finds_the_word_that_decides(sentiment):
    text = "The story is a complete disaster from the first scene."
    words = sentiment.attribute({"statement": text}, "negative", "gradient").fields["statement"]
    assert max(words, key=lambda word: word.weight).text == "disaster"


@pytest.mark.release
def test_explaining_leaves_predictions_untouched(sentiment):
    inputs = {"statement": "Fine acting, thin plot."}
    before = sentiment.predict([inputs])
    sentiment.attribute(inputs, "negative", "layer_integrated_gradients")
    sentiment.attribute(inputs, "negative", "gradient")
    assert sentiment.predict([inputs]) == before


@pytest.mark.release
def test_integrated_gradients_are_complete_within_five_per_cent(nli, sentiment):
    for model, inputs in [(nli, PAIRS[0]), (sentiment, {"statement": "Not bad, but hardly good."})]:
        label = model.predict([inputs])[0].answer["label"]
        assert model.attribute(inputs, label, "layer_integrated_gradients").completeness_error < 0.05


def test_unknown_labels_methods_and_missing_fields_are_refused(nli):
    with pytest.raises(Invalid, match="label"):
        nli.attribute(PAIRS[0], "positive", "gradient")
    with pytest.raises(Invalid, match="method"):
        nli.attribute(PAIRS[0], "neutral", "exact")
    with pytest.raises(Invalid, match="premise"):
        nli.predict([{"hypothesis": "x"}])


@pytest.mark.parametrize("limit", [8, 9, 16, 64, 256])
def test_pieces_never_exceed_the_limit_and_both_fields_keep_room(limit):
    inputs = {"a": "one two three " * 100, "b": "four five " * 300}
    (pieces,) = encode([inputs], ["a", "b"], limit)
    assert len(pieces) == limit
    assert (pieces.ids[0], pieces.ids[-1], pieces.ids.count(SEP), pieces.ids.count(CLS)) == (101, SEP, 2, 1)
    fields = [owner[0] for owner in pieces.owner if owner is not None]
    assert abs(fields.count(0) - fields.count(1)) <= 1


def test_words_that_look_like_marks_are_read_as_text():
    (pieces,) = encode([{"a": "[SEP] [CLS] [MASK]"}], ["a"], 64)
    assert pieces.ids.count(SEP) == pieces.ids.count(CLS) == 1


def spoil_head(folder):
    path = folder / "head.safetensors"
    save_file({name: value[:-1].copy() for name, value in load_file(path).items()}, path)


def spoil_adapter(folder):
    path = folder / "adapter" / "adapter_model.safetensors"
    tensors = load_file(path)
    save_file(dict(list(tensors.items())[5:]), path)


def spoil_shapes(folder):
    path = folder / "adapter" / "adapter_model.safetensors"
    save_file({name: value[..., :-1].copy() for name, value in load_file(path).items()}, path)


def spoil_numbers_of(name):
    def spoil(folder):
        tensors = load_file(folder / name)
        next(iter(tensors.values())).flat[0] = float("nan")
        save_file(tensors, folder / name)

    return spoil


def spoil_config(folder):
    path = folder / "adapter" / "adapter_config.json"
    path.write_text(json.dumps({"peft_type": "NONSENSE"}))


SPOILT = [spoil_head, spoil_adapter, spoil_shapes, spoil_config]
SPOILT += [spoil_numbers_of("head.safetensors"), spoil_numbers_of("adapter/adapter_model.safetensors")]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_damaged_adapter_is_refused_and_harms_no_other(pool, sentiment, copied, spoil):
    before = sentiment.predict([{"statement": "A fine film."}])
    folder = copied("sentiment-minilm", "damaged")
    spoil(folder)
    with pytest.raises(Invalid, match="cannot be loaded"):
        AdapterModel.load(folder, pool)
    assert sentiment.predict([{"statement": "A fine film."}]) == before


def test_an_expression_for_layers_is_not_run(pool, copied):
    folder = copied("sentiment-minilm", "expression")
    path = folder / "adapter" / "adapter_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "target_modules": r"((\w|\.)*)*!"}))
    model = AdapterModel.load(folder, pool)
    assert model.predict([{"statement": "A wonderful film."}])[0].answer == {"label": "positive"}
    model.close()


def test_numbers_that_overflow_are_no_answer(pool, sentiment, copied):
    folder = copied("sentiment-minilm", "large")
    path = folder / "head.safetensors"
    tensors = load_file(path)
    save_file({name: np.full(value.shape, 3e38, np.float32) for name, value in tensors.items()}, path)
    model = AdapterModel.load(folder, pool)
    with pytest.raises(Broken, match="not finite"):
        model.predict([{"statement": "A fine film."}])
    model.close()


def test_an_adapter_can_be_unloaded_and_loaded_again(pool, sentiment, copied):
    inputs = [{"statement": "A fine film."}]
    other = AdapterModel.load(copied("sentiment-minilm", "twin"), pool)
    assert other.predict(inputs) == sentiment.predict(inputs)
    other.close()
    assert AdapterModel.load(copied("sentiment-minilm", "twin2"), pool).predict(inputs) == sentiment.predict(inputs)
