"""XTREME-S against jiwer, sacrebleu and scikit-learn."""

import jiwer
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from dynabench.evaluate import load
from tests.evaluate.real import pairs

SPEECH = ("fleurs-asr", "mls", "voxpopuli", "babel")
TEXTS = st.text("ab \t\n", max_size=12)


@pytest.mark.parametrize("config", SPEECH)
def test_error_rates_are_jiwers(config):
    said, right = pairs(200)
    first = [row[0] for row in right]
    found = load("xtreme_s", config).compute(predictions=said, references=first)
    assert found == pytest.approx({"wer": jiwer.wer(first, said), "cer": jiwer.cer(first, said)}, rel=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_error_rates_of_odd_texts_are_jiwers(rows):
    said, right = [row[0] for row in rows], [row[1] for row in rows]
    spaces = jiwer.Compose([jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfChars()])
    found = load("xtreme_s", "mls").compute(predictions=said, references=right)
    assert found["wer"] == pytest.approx(jiwer.wer(right, said), rel=1e-12)
    assert found["cer"] == pytest.approx(jiwer.cer(right, said, spaces, spaces), rel=1e-12)


def test_characters_of_joined_texts_are_aligned_as_one():
    said, right = ["ab", " c  d "], ["a", "bc d"]
    module = load("xtreme_s", "mls")
    found = module.compute(predictions=said, references=right, wer_kwargs={"concatenate_texts": True})
    assert found == {"wer": jiwer.wer(right, ["ab", "c d"]), "cer": 0.0}
    parts = [
        module.state({"predictions": said[cut], "references": right[cut]}, wer_kwargs={"concatenate_texts": True})
        for cut in (slice(1), slice(1, None))
    ]
    assert module.result(module.merge(*parts)) == found


def test_translations_are_scored_by_sacrebleu_with_its_options():
    said, right = pairs(100)
    first = [row[0] for row in right]
    module = load("xtreme_s", "covost2")
    assert module.compute(predictions=said, references=first)["bleu"] == pytest.approx(
        sacrebleu.corpus_bleu(said, [first]).score
    )
    options = {"smooth_method": "floor", "smooth_value": 0.2, "lowercase": True, "tokenize": "char"}
    found = module.compute(predictions=said[:2], references=first[:2], bleu_kwargs=options)["bleu"]
    assert found == pytest.approx(sacrebleu.corpus_bleu(said[:2], [first[:2]], **options).score)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_classes_have_accuracy_and_macro_f1(rows):
    said, right = [row[0] for row in rows], [row[1] for row in rows]
    accuracy, f1 = accuracy_score(right, said), f1_score(right, said, average="macro")
    found = load("xtreme_s", "minds14").compute(predictions=said, references=right)
    assert found == pytest.approx({"f1": f1, "accuracy": accuracy})
    assert load("xtreme_s", "fleurs-lang_id").compute(predictions=said, references=right) == {"accuracy": accuracy}


@pytest.mark.parametrize("config", [*SPEECH, "covost2"])
def test_states_merge_and_have_intervals(config):
    said, right = pairs(60)
    first = [row[0] for row in right]
    module = load("xtreme_s", config)
    parts = [module.state({"predictions": said[cut], "references": first[cut]}) for cut in (slice(9), slice(9, None))]
    whole = module.compute(predictions=said, references=first, interval=0.9, resamples=200)
    for key, value in module.result(module.merge(*parts)).items():
        assert value == whole[key]
        assert whole["interval"][key]["low"] < value < whole["interval"][key]["high"]


def test_unknown_options_and_configs_are_refused():
    columns = {"predictions": ["a"], "references": ["a"]}
    with pytest.raises(ValueError, match="bleu_kwargs knows"):
        load("xtreme_s", "covost2").compute(**columns, bleu_kwargs={"smooth": 1})
    with pytest.raises(ValueError, match="wer_kwargs knows concatenate_texts"):
        load("xtreme_s", "mls").compute(**columns, wer_kwargs={"concatenate": True})
    with pytest.raises(ValueError, match="there are fleurs-asr"):
        load("xtreme_s", "fleurs")
