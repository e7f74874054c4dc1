"""SQuAD 1.1 and 2.0, against the published rules, written down here a second time, and on their own questions."""

import random
import re
import string
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from tests.evaluate import real


def questions(name: str) -> list[dict]:
    return [qa for paragraph in real.paragraphs(name=name) for qa in paragraph["qas"]]


def bare(text: str) -> list[str]:
    """Lower case, no punctuation, no articles, one space: one step after the other."""
    stored = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", stored).split()


def f1(prediction: str, true: str, empty_matches: bool) -> float:
    single, other = bare(prediction), bare(true)
    if empty_matches and not (single and other):
        return float(single == other)
    common = (Counter(single) & Counter(other)).total()
    if not common:
        return 0.0
    precision, recall = common / len(single), common / len(other)
    return 2 * precision * recall / (precision + recall)


def perturbed(text: str, rng: random.Random) -> str:
    words = text.split()
    return rng.choice(
        [text, text.upper() + "!", "the " + text, " ".join(words[1:]), f"{text} or so", words[0] if words else "", "no"]
    )


@pytest.fixture(scope="module")
def first() -> tuple[list[dict], list[dict]]:
    """Predictions and references of SQuAD 1.1, every third question."""
    rng = random.Random(1)
    request = questions("squad11_dev.jsonl.gz")[::3]
    predictions = [{"id": qa["id"], "prediction_text": perturbed(qa["answers"][0]["text"], rng)} for qa in request]
    return predictions, [{"id": qa["id"], "answers": {"text": [a["text"] for a in qa["answers"]]}} for qa in request]


@pytest.fixture(scope="module")
def second() -> tuple[list[dict], list[dict]]:
    """Predictions and references of SQuAD 2.0, every third question, with different probabilities of no answer."""
    rng = random.Random(2)
    request = questions("squad20_dev.jsonl.gz")[::3]
    predictions = []
    for qa in request:
        right = qa["answers"][0]["text"] if qa["answers"] else rng.choice(["", "", "something"])
        chance = rng.betavariate(1, 2) if qa["answers"] else rng.betavariate(2, 1)
        predictions.append(
            {"id": qa["id"], "prediction_text": perturbed(right, rng) if right else "", "no_answer_probability": chance}
        )
    assert len({prediction["no_answer_probability"] for prediction in predictions}) == len(predictions)
    return predictions, [{"id": qa["id"], "answers": {"text": [a["text"] for a in qa["answers"]]}} for qa in request]


@pytest.mark.release
def test_squad_scores_real_questions_by_the_published_rules(first):
    predictions, references = first
    exact, words = [], []
    for prediction, reference in zip(predictions, references, strict=True):
        texts = reference["answers"]["text"]
        exact.append(max(bare(prediction["prediction_text"]) == bare(text) for text in texts))
        words.append(max(f1(prediction["prediction_text"], text, empty_matches=False) for text in texts))
    result = load("squad").compute(predictions=predictions, references=references, per_example=True)
    n = len(exact)
    assert result["exact_match"] == pytest.approx(100 * sum(exact) / n)
    assert result["f1"] == pytest.approx(100 * sum(words) / n)
    assert result["per_example"]["f1"] == pytest.approx([100 * word for word in words])
    assert result["per_example"]["exact_match"] == [100.0 * single for single in exact]
    assert 30 < result["exact_match"] < result["f1"] < 90


@pytest.mark.release
def test_plain_texts_and_ids_in_another_order_give_the_same(first):
    predictions, references = first
    whole = load("squad").compute(predictions=predictions, references=references)
    texts = [prediction["prediction_text"] for prediction in predictions]
    right = [reference["answers"]["text"] for reference in references]
    assert load("squad").compute(predictions=texts, references=right) == whole
    assert load("squad").compute(predictions=texts, references=references) == whole
    assert load("squad").compute(predictions=predictions[::-1], references=references) == whole
    listed = [
        {"id": single["id"], "answers": [{"text": text} for text in single["answers"]["text"]]} for single in references
    ]
    assert load("squad").compute(predictions=predictions, references=listed) == whole


def test_batches_merge_to_the_whole_and_an_interval_holds_the_value(first):
    predictions, references = first
    metric = load("squad")
    parts = [
        metric.state({"predictions": predictions[part], "references": references[part]})
        for part in (slice(0, 1000), slice(1000, None))
    ]
    outcome = metric.compute(predictions=predictions, references=references, interval=0.95, resamples=999)
    merged = metric.result(metric.merge(*parts))
    assert merged == pytest.approx({key: outcome[key] for key in merged})
    share = outcome["exact_match"] / 100
    error = 100 * (share * (1 - share) / len(predictions)) ** 0.5  # of a share
    assert outcome["interval"]["exact_match"]["standard_error"] == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(
    ("predictions", "references", "words"),
    [
        (
            [{"id": "a", "prediction_text": "x"}],
            [{"id": "b", "answers": {"text": ["x"]}}],
            "'b', which has no prediction",
        ),
        ([{"id": "a"}], [{"id": "a", "answers": {"text": ["x"]}}], "row 0"),
        ([None], ["x"], "row 0 is None"),
        (["x"], [{"id": "a"}], "row 0 lacks answers"),
        ([{"prediction_text": "x"}], ["x"], "lacks its question's id"),
        ([{"id": 1, "prediction_text": None}], ["x"], "give ''"),
        (["x"], [[3]], "the answer 3, not a text"),
        (["x", "y"], ["x"], "predictions has 2"),
        (
            [{"id": "a", "prediction_text": "x"}] * 2,
            [{"id": name, "answers": {"text": ["x"]}} for name in "ab"],
            "ids come twice",
        ),
    ],
)
def test_squad_says_which_row_cannot_be_scored(predictions, references, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        load("squad").compute(predictions=predictions, references=references)


def expected_second(predictions: list[dict], references: list[dict], threshold: float) -> dict[str, float]:
    """The published rules of SQuAD 2.0."""
    exact, words, has, chance, texts = [], [], [], [], []
    for prediction, reference in zip(predictions, references, strict=True):
        right = [text for text in reference["answers"]["text"] if bare(text)] or [""]
        exact.append(float(max(bare(prediction["prediction_text"]) == bare(text) for text in right)))
        words.append(max(f1(prediction["prediction_text"], text, empty_matches=True) for text in right))
        has.append(bool(reference["answers"]["text"]))
        chance.append(prediction["no_answer_probability"])
        texts.append(prediction["prediction_text"])
    result: dict[str, float] = {"total": len(has)}
    for key, raw in (("exact", exact), ("f1", words)):
        scores = [float(not h) if p > threshold else s for s, h, p in zip(raw, has, chance, strict=True)]
        result[key] = 100 * sum(scores) / len(scores)
        for kind, expected in (("HasAns", True), ("NoAns", False)):
            mine = [score for score, h in zip(scores, has, strict=True) if h is expected]
            if mine:
                result |= {f"{kind}_{key}": 100 * sum(mine) / len(mine), f"{kind}_total": len(mine)}
        now = best = has.count(False)
        where = 0.0
        for _, row in sorted((p, row) for row, p in enumerate(chance)):
            now += raw[row] if has[row] else -1 if texts[row] else 0
            if now > best:
                best, where = now, chance[row]
        result |= {f"best_{key}": 100 * best / len(has), f"best_{key}_thresh": where}
    return result


@pytest.mark.release
@pytest.mark.parametrize("threshold", [1.0, 0.4])
def test_squad_v2_scores_real_questions_by_the_published_rules(threshold, second):
    predictions, references = second
    result = load("squad_v2").compute(predictions=predictions, references=references, no_answer_threshold=threshold)
    assert result == pytest.approx(expected_second(predictions, references, threshold))
    assert result["best_f1"] > result["f1"]


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "cat", "the cat", "black cat", "dog"]),
        st.lists(st.sampled_from(["cat", "the", "big dog", "dog"]), max_size=2),
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=8,
)


def records(rows) -> dict[str, list[dict]]:
    return {
        "predictions": [
            {"id": str(at), "prediction_text": answer, "no_answer_probability": chance}
            for at, (answer, _, chance) in enumerate(rows)
        ],
        "references": [{"id": str(at), "answers": {"text": texts}} for at, (_, texts, _) in enumerate(rows)],
    }


@settings(deadline=None)
@given(ROWS, st.sampled_from([0.0, 0.3, 1.0]))
def test_compatible_squad_v2_parts_ties_as_the_script_does(rows, threshold):
    inputs = records(rows)
    result = load("squad_v2", compat=True).compute(**inputs, no_answer_threshold=threshold)
    assert result == pytest.approx(expected_second(*inputs.values(), threshold))


@settings(deadline=None)
@given(ROWS)
def test_the_best_score_of_squad_v2_is_that_at_its_threshold_and_no_other_is_higher(rows):
    result = load("squad_v2").compute(**records(rows))
    for key in ("exact", "f1"):
        at = {
            level: load("squad_v2").compute(**records(rows), no_answer_threshold=level)[key]
            for level in (0.0, 0.1, 0.25, 0.3, 0.5, 0.9, 1.0)
        }
        assert result[f"best_{key}"] == pytest.approx(max(at.values()))
        assert at[result[f"best_{key}_thresh"]] == pytest.approx(result[f"best_{key}"])


def test_squad_v2_leaves_out_kinds_that_do_not_occur():
    answered = load("squad_v2").compute(predictions=["x"], references=[["x"]])
    assert not [key for key in answered if key.startswith("NoAns")]
    silent = load("squad_v2").compute(predictions=["", "x"], references=[[], []], interval=0.9, resamples=50)
    assert not [key for key in silent if key.startswith("HasAns")]
    assert silent["NoAns_exact"] == silent["exact"] == 50
    assert silent["interval"]["HasAns_f1"]["low"] is None
