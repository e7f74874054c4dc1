"""SARI and WikiSplit against a plain count, published values and sacrebleu."""

from collections import Counter

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.tokens import mteval_tokens
from tests.evaluate.real import pairs

TEXTS = st.lists(st.sampled_from(["a", "b", "C", "c", "d."]), max_size=6).map(" ".join)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=4)


def share(top: float, bottom: float) -> float:
    return top / bottom if bottom else 1.0


def harmonic(p: float, r: float) -> float:
    return 2 * p * r / (p + r) if p + r else 0.0


def plain_sari(source: str, prediction: str, references: list[str]) -> float:
    """The three parts, set by set, from bags of n-grams."""
    texts = [mteval_tokens(text.lower()) or [""] for text in (source, prediction, *references)]
    total = 0.0
    for order in (1, 2, 3, 4):
        bags = [Counter(tuple(t[i : i + order]) for i in range(len(t) - order + 1)) for t in texts]
        right = sum(bags[2:], Counter())
        before, after = (Counter({gram: many * len(references) for gram, many in bag.items()}) for bag in bags[:2])
        stored, expected = before & after, before & right
        good = stored & right
        precision = share(sum(good[gram] / stored[gram] for gram in good), len(stored))
        total += harmonic(precision, share(good.total(), expected.total()))
        gone = before - after
        total += share(sum(many / gone[gram] for gram, many in (gone - right).items()), len(gone))
        new, needed = set(bags[1]) - set(bags[0]), set(right) - set(bags[0])
        total += harmonic(share(len(new & needed), len(new)), share(len(new & needed), len(needed)))
    return total / 12


@settings(deadline=None)
@given(ROWS)
def test_sari_is_what_its_sets_say(rows):
    sources, answer, right = ([row[part] for row in rows] for part in range(3))
    result = load("sari").compute(sources=sources, predictions=answer, references=right, per_example=True)
    expected = [100 * plain_sari(*row) for row in rows]
    assert result["per_example"]["sari"] == pytest.approx(expected, abs=1e-9)
    assert result["sari"] == pytest.approx(sum(expected) / len(rows), abs=1e-9)


def test_sari_on_real_texts_is_the_mean_of_plain_counts():
    answer, right = pairs(200)
    sources = [row[0] for row in right]
    right = [row[: 1 + place % 2] for place, row in enumerate(right)]
    sari = load("sari").compute(sources=sources, predictions=answer, references=right)["sari"]
    expected = [plain_sari(*row) for row in zip(sources, answer, right, strict=True)]
    assert sari == pytest.approx(100 * sum(expected) / len(expected), rel=1e-12)


def test_sari_by_hand():
    # kept: "b" is in all three; deleted: "a" is not wanted; added: "c" is, and so are "b c"; no more orders
    result = load("sari").compute(sources=["a b"], predictions=["b c"], references=["b c"])
    assert result["sari"] == pytest.approx(100)
    # kept "a" is not wanted (0), nothing deleted (1), nothing added but "b" wanted (0); three orders without n-grams
    result = load("sari").compute(sources=["a"], predictions=["a"], references=["b"])
    assert result["sari"] == pytest.approx(100 * (1 + 9) / 12)


def test_batches_merge_and_intervals_are_there():
    answer, right = pairs(100)
    columns = {"sources": [row[1] for row in right], "predictions": answer, "references": right}
    for name in ("sari", "wiki_split"):
        module = load(name)
        parts = [
            module.state({key: rows[cut] for key, rows in columns.items()}) for cut in (slice(30), slice(30, None))
        ]
        whole = module.compute(**columns, interval=0.9, resamples=300)
        assert module.result(module.merge(*parts)) == pytest.approx(
            {key: whole[key] for key in whole if key != "interval"}
        )
        assert whole["interval"]["sari"]["low"] < whole["sari"] < whole["interval"]["sari"]["high"]


def test_wiki_split_is_sari_sacrebleu_and_exact_matches():
    answer, right = pairs(200)
    sources = [row[1] for row in right]
    answer = [*answer[:150], *(f"The {row[0].upper()}" for row in right[150:])]
    result = load("wiki_split").compute(sources=sources, predictions=answer, references=right)
    alone = load("sari").compute(sources=sources, predictions=answer, references=right)
    assert result["sari"] == pytest.approx(alone["sari"], rel=1e-12)
    assert result["sacrebleu"] == pytest.approx(sacrebleu.corpus_bleu(answer, list(zip(*right, strict=True))).score)
    assert result["exact"] == 25.0


def test_exact_matches_ignore_case_marks_articles_and_spaces():
    result = load("wiki_split").compute(
        sources=["x"] * 3,
        predictions=["The cat,  sat.", "a cat sat", "cats sat"],
        references=["cat sat", ["no", "A cat sat!"], "cat sat"],
    )
    assert result["exact"] == pytest.approx(200 / 3)
