"""BLEU three ways, against the sacrebleu library, NLTK and a plain count."""

import math
from collections import Counter

import pytest
import sacrebleu
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers import tokenizer_spm

from dynabench.evaluate import load
from dynabench.evaluate.loading import missing_requirement
from dynabench.evaluate.metrics.bleu import Spbleu
from dynabench.evaluate.tokens import mteval_tokens
from tests.evaluate.real import pairs

KEYS = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
TEXTS = st.text("aab ,.-1&;<\n", max_size=24)
CORPORA = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=6)


def library(predictions: list[str], references: list[list[str]], **options) -> dict:
    most = max(map(len, references))
    streams = [[row[turn] if turn < len(row) else None for row in references] for turn in range(most)]
    if "use_effective_order" in options:
        options["effective_order"] = options.pop("use_effective_order")
    result = BLEU(**options).corpus_score(predictions, streams)
    return {key: getattr(result, key) for key in KEYS}


def plain_bleu(predictions: list[list[str]], references: list[list[list[str]]], orders: int, more: int) -> float:
    """Papineni's equations, one n-gram after the other, with the shortest reference's length."""
    product = 1.0
    for order in range(1, orders + 1):
        hits = total = 0
        for prediction, right in zip(predictions, references, strict=True):
            grams, *others = (
                Counter(tuple(tokens[start : start + order]) for start in range(len(tokens) - order + 1))
                for tokens in (prediction, *right)
            )
            total += sum(grams.values())
            hits += sum(min(count, max(other[gram] for other in others)) for gram, count in grams.items())
        product *= (hits + more) / (total + more) if total + more else 0
    c, r = sum(map(len, predictions)), sum(min(map(len, right)) for right in references)
    return product ** (1 / orders) * (1 if c > r else math.exp(1 - r / c)) if c and r else 0.0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": True, "tokenize": "none"},
        {"tokenize": "char"},
        {"tokenize": "intl"},
        {"tokenize": "zh"},
        {"smooth_method": "floor"},
        {"smooth_method": "floor", "smooth_value": 0.3},
        {"smooth_method": "add-k", "smooth_value": 0.5},
        {"smooth_method": "none", "use_effective_order": True},
    ],
    ids=str,
)
def test_sacrebleu_equals_the_library_on_real_texts(options):
    answer, right = pairs(600)
    result = load("sacrebleu").compute(predictions=answer, references=right, **options)
    expected = library(answer, right, **options)
    assert list(result) == list(KEYS)
    for key in KEYS:
        assert result[key] == pytest.approx(expected[key], rel=1e-12, abs=1e-9), key
    assert isinstance(result["sys_len"], int)


@settings(deadline=None)
@given(CORPORA, st.sampled_from(["exp", "floor", "add-k", "none"]), st.booleans())
def test_sacrebleu_equals_the_library_on_odd_texts(corpus, method, effective):
    answer, right = [row[0] for row in corpus], [row[1] for row in corpus]
    options = {"smooth_method": method, "use_effective_order": effective}
    result = load("sacrebleu").compute(predictions=answer, references=right, **options)
    expected = library(answer, right, **options)
    for key in KEYS:
        assert result[key] == pytest.approx(expected[key], rel=1e-12, abs=1e-9), key


def test_scores_per_example_are_sacrebleus_of_single_sentences():
    answer, right = pairs(200)
    options = {"use_effective_order": True}
    result = load("sacrebleu").compute(predictions=answer, references=right, per_example=True, **options)
    single = [sacrebleu.sentence_bleu(first, many).score for first, many in zip(answer, right, strict=True)]
    assert result["per_example"]["score"] == pytest.approx(single, rel=1e-12, abs=1e-9)


@settings(deadline=None)
@given(CORPORA, st.integers(1, 5), st.integers(0, 1))
def test_bleu_is_what_its_equations_say(corpus, orders, smooth):
    answer, right = [row[0] for row in corpus], [row[1] for row in corpus]
    result = load("bleu").compute(predictions=answer, references=right, max_order=orders, smooth=bool(smooth))
    expected = plain_bleu(
        [mteval_tokens(text) for text in answer],
        [[mteval_tokens(first) for first in row] for row in right],
        orders,
        smooth,
    )
    assert result["bleu"] == pytest.approx(expected, abs=1e-12)
    assert len(result["precisions"]) == orders


@pytest.mark.release
def test_bleu_equals_nltk_for_texts_of_four_words_and_more():
    # of shorter ones NLTK counts one n-gram of each order that they do not have
    rows = [(pair, right[0]) for pair, right in zip(*pairs(1500), strict=True) if len(pair.split()) > 3]
    answer, right = [row[0] for row in rows], [row[1] for row in rows]
    result = load("bleu").compute(predictions=answer, references=right, tokenizer="none")
    expected = corpus_bleu([[text.split()] for text in right], [text.split() for text in answer])
    assert result["bleu"] == pytest.approx(expected, rel=1e-12)


def test_one_reference_may_be_a_text_or_a_list_of_one():
    answer, right = pairs(50)
    bleu = load("bleu")
    texts = bleu.compute(predictions=answer, references=[row[0] for row in right])
    assert texts == bleu.compute(predictions=answer, references=[row[:1] for row in right])


def test_batches_merge_to_the_result_of_all_rows():
    answer, right = pairs(300)
    for name in ("bleu", "sacrebleu"):
        module = load(name)
        parts = [
            module.state({"predictions": answer[cut], "references": right[cut]})
            for cut in (slice(0, 110), slice(110, 111), slice(111, None))
        ]
        merged = module.merge(module.merge(parts[0], parts[1]), parts[2])
        assert module.result(merged) == module.compute(predictions=answer, references=right)


def test_many_blocks_of_rows_give_what_one_gives(monkeypatch):
    answer, right = pairs(100)
    whole = load("sacrebleu").compute(predictions=answer, references=right)
    monkeypatch.setattr("dynabench.evaluate.ngrams.BLOCK", 7)
    assert load("sacrebleu").compute(predictions=answer, references=right) == whole


def test_an_interval_covers_the_score_of_most_resamples_and_is_the_same_each_time():
    answer, right = pairs(200)
    result, again = (
        load("sacrebleu").compute(predictions=answer, references=right, interval=0.9, resamples=500) for _ in range(2)
    )
    span = result["interval"]["score"]
    assert result == again
    assert span["low"] < result["score"] < span["high"]
    low, high = library_interval(answer, right)
    assert span["low"] == pytest.approx(low, abs=0.6)
    assert span["high"] == pytest.approx(high, abs=0.6)


def library_interval(predictions: list[str], right: list[list[str]]) -> tuple[float, float]:
    """sacrebleu's own resampling, one corpus after the other."""
    import numpy as np

    rng = np.random.default_rng(1)
    metric = BLEU()
    stats = np.array(metric._extract_corpus_statistics(predictions, list(zip(*right, strict=True))))
    drawn = [
        metric._compute_score_from_stats(
            stats[rng.integers(0, len(predictions), len(predictions))].sum(0).tolist()
        ).score
        for _ in range(500)
    ]
    return tuple(np.quantile(drawn, [0.05, 0.95]))


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("bleu", {"max_order": 0}, "max_order cannot be 0"),
        ("bleu", {"tokenizer": "words"}, "no tokeniser 'words'"),
        ("bleu", {"tokenizer": lambda text: 3}, "must return a list of texts"),
        ("sacrebleu", {"smooth_method": "add"}, "no smooth_method 'add'"),
        ("sacrebleu", {"tokenize": "flores200"}, "use spbleu"),
        ("sacrebleu", {"tokenize": "ja-mecab"}, "pip install"),
        ("spbleu", {"model": "no/such.model"}, "SentencePiece"),
        ("spbleu", {}, "needs model="),
    ],
)
def test_what_cannot_be_computed_with_is_told(name, options, words):
    with pytest.raises(ValueError, match=words):
        load(name).compute(predictions=["a b"], references=["a b"], **options)


def test_spbleu_is_sacrebleu_over_the_pieces():
    answer, right = pairs(100)

    def pieces(text: str) -> list[str]:
        return [text[start : start + 3] for start in range(0, len(text), 3)]

    cut = [
        [" ".join("".join(piece.split()) for piece in pieces(first)) for first in row]
        for row in (answer, *zip(*right, strict=True))
    ]
    result = load("spbleu").compute(predictions=answer, references=right, model=lambda text: cut_up(pieces(text)))
    expected = library(cut[0], [list(row) for row in zip(*cut[1:], strict=True)], tokenize="none")
    assert result["score"] == pytest.approx(expected["score"], rel=1e-12)


def cut_up(pieces: list[str]) -> list[str]:
    return [word for piece in pieces for word in ["".join(piece.split())] if word]


def test_spbleu_reads_a_sentencepiece_model(tmp_path):
    answer, right = pairs(300)
    text = tmp_path / "texts.txt"
    text.write_text("\n".join(row[0] for row in right), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.Train(
        input=str(text), model_prefix=str(tmp_path / "tiny"), vocab_size=200, minloglevel=2
    )
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tiny.model"))
    joined = [
        [" ".join(processor.EncodeAsPieces(first)) for first in row] for row in (answer, *zip(*right, strict=True))
    ]
    result = load("spbleu").compute(predictions=answer, references=right, model=tmp_path / "tiny.model")
    expected = library(joined[0], [list(row) for row in zip(*joined[1:], strict=True)], tokenize="none")
    assert result["score"] == pytest.approx(expected["score"], rel=1e-12)
    (tmp_path / "broken.model").write_bytes(b"no model")
    with pytest.raises(ValueError, match="is no SentencePiece model"):
        load("spbleu").compute(predictions=answer, references=right, model=tmp_path / "broken.model")


def test_spbleu_takes_the_model_of_flores_where_sacrebleu_keeps_it_and_the_one_that_is_set_before_it(
    tmp_path, monkeypatch
):
    answer, right = pairs(100)
    stored = (
        tmp_path / "models" / "flores200sacrebleuspm"
    )  # stands in for FLORES-200's, which cannot be downloaded here
    stored.parent.mkdir()
    for path, size in ((stored, 150), (tmp_path / "other", 90)):
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=(row[0] for row in right), model_prefix=str(path), vocab_size=size, minloglevel=2
        )
    stored.with_name(f"{stored.name}.model").rename(stored)
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "nowhere"))
    monkeypatch.delenv("DYNABENCH_SPBLEU_MODEL", raising=False)
    assert missing_requirement(Spbleu)
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    assert not missing_requirement(Spbleu)
    result = load("spbleu").compute(predictions=answer, references=right)
    expected = library(answer, right, tokenize="flores200")
    assert result["score"] == pytest.approx(expected["score"], rel=1e-12)
    monkeypatch.setenv("DYNABENCH_SPBLEU_MODEL", f"{tmp_path / 'other'}.model")
    assert load("spbleu").compute(predictions=answer, references=right)["score"] != pytest.approx(result["score"])
