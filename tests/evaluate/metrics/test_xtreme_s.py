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
    answer, right = pairs(200)
    first = [row[0] for row in right]
    result = load("xtreme_s", config).compute(predictions=answer, references=first)
    assert result == pytest.approx({"wer": jiwer.wer(first, answer), "cer": jiwer.cer(first, answer)}, rel=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_error_rates_of_odd_texts_are_jiwers(rows):
    answer, right = [row[0] for row in rows], [row[1] for row in rows]
    spaces = jiwer.Compose([jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfChars()])
    result = load("xtreme_s", "mls").compute(predictions=answer, references=right)
    assert result["wer"] == pytest.approx(jiwer.wer(right, answer), rel=1e-12)
    assert result["cer"] == pytest.approx(jiwer.cer(right, answer, spaces, spaces), rel=1e-12)


def test_characters_of_joined_texts_are_aligned_as_one():
    answer, right = ["ab", " c  d "], ["a", "bc d"]
    module = load("xtreme_s", "mls")
    outcome = module.compute(predictions=answer, references=right, wer_kwargs={"concatenate_texts": True})
    assert outcome == {"wer": jiwer.wer(right, ["ab", "c d"]), "cer": 0.0}
    parts = [
        module.state({"predictions": answer[cut], "references": right[cut]}, wer_kwargs={"concatenate_texts": True})
        for cut in (slice(1), slice(1, None))
    ]
    assert module.result(module.merge(*parts)) == outcome


def test_translations_are_scored_by_sacrebleu_with_its_options():
    answer, right = pairs(100)
    first = [row[0] for row in right]
    module = load("xtreme_s", "covost2")
    assert module.compute(predictions=answer, references=first)["bleu"] == pytest.approx(
        sacrebleu.corpus_bleu(answer, [first]).score
    )
    options = {"smooth_method": "floor", "smooth_value": 0.2, "lowercase": True, "tokenize": "char"}
    bleu = module.compute(predictions=answer[:2], references=first[:2], bleu_kwargs=options)["bleu"]
    assert bleu == pytest.approx(sacrebleu.corpus_bleu(answer[:2], [first[:2]], **options).score)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_classes_have_accuracy_and_macro_f1(rows):
    answer, right = [row[0] for row in rows], [row[1] for row in rows]
    accuracy, f1 = accuracy_score(right, answer), f1_score(right, answer, average="macro")
    result = load("xtreme_s", "minds14").compute(predictions=answer, references=right)
    assert result == pytest.approx({"f1": f1, "accuracy": accuracy})
    assert load("xtreme_s", "fleurs-lang_id").compute(predictions=answer, references=right) == {"accuracy": accuracy}


@pytest.mark.parametrize("config", [*SPEECH, "covost2"])
def test_states_merge_and_have_intervals(config):
    answer, right = pairs(60)
    first = [row[0] for row in right]
    module = load("xtreme_s", config)
    parts = [module.state({"predictions": answer[cut], "references": first[cut]}) for cut in (slice(9), slice(9, None))]
    whole = module.compute(predictions=answer, references=first, interval=0.9, resamples=200)
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
