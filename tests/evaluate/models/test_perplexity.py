"""Perplexity and bits per byte, from models on disk, as objects and as functions."""

import json

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import AutoModelForCausalLM, AutoTokenizer

from dynabench.evaluate import load
from dynabench.evaluate.networks.checkpoints import load_model

KINDS = [("metric", "predictions"), ("measurement", "data")]


@pytest.fixture(params=KINDS, ids=["metric", "measurement"])
def perplexity(request):
    kind, column = request.param

    def compute(texts, **options):
        return load("perplexity", module_type=kind).compute(**{column: texts}, **options)

    return compute


def losses(folder, texts, start=True):
    """Mean loss and tokens of each text alone, by the loss that transformers itself computes."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    result = []
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        ids = torch.tensor([[tokenizer.bos_token_id, *ids] if start else ids])
        with torch.no_grad():
            result.append((float(model(ids, labels=ids).loss), ids.shape[1] - 1))
    return np.array(result)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "opt"])
def test_each_text_has_the_exponential_of_its_mean_loss(perplexity, language_model, texts, kind):
    folder = str(language_model(kind))
    result = perplexity(texts, model_id=folder, batch_size=3)
    loss, tokens = losses(folder, texts).T
    assert result["perplexities"] == pytest.approx(np.exp(loss).tolist(), rel=1e-4)
    assert result["mean_perplexity"] == pytest.approx(np.exp(loss).mean(), rel=1e-4)
    assert result["corpus_perplexity"] == pytest.approx(np.exp((loss * tokens).sum() / tokens.sum()), rel=1e-4)
    json.dumps(result, allow_nan=False)


def test_without_the_start_token_and_cut_short(perplexity, language_model, texts):
    folder = str(language_model("gpt2"))
    chosen = texts[:4]
    result = perplexity(chosen, model_id=folder, add_start_token=False)
    assert result["perplexities"] == pytest.approx(np.exp(losses(folder, chosen, False)[:, 0]).tolist(), rel=1e-4)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    cut = [tokenizer.decode(tokenizer(text)["input_ids"][:4]) for text in chosen]
    by_cut, by_limit = perplexity(cut, model_id=folder), perplexity(chosen, model_id=folder, max_length=5)
    assert by_limit["perplexities"] == pytest.approx(by_cut["perplexities"], rel=1e-5)


def test_a_folder_objects_and_a_function_give_the_same(perplexity, language_model, texts, naive):
    folder = str(language_model("gpt2"))
    model = load_model(folder, "AutoModelForCausalLM", "cpu")

    def scores(texts):
        rows = []
        for text in texts:
            ids = model.tokenizer(text)["input_ids"]
            rows.append([naive("gpt2", [0, *ids[:at]], [token]) for at, token in enumerate(ids)])
        return rows

    chosen = texts[3:6]
    by_folder = perplexity(chosen, model_id=folder)
    assert perplexity(chosen, model=tuple(model)) == by_folder
    assert perplexity(chosen, model=scores)["perplexities"] == pytest.approx(by_folder["perplexities"], rel=1e-5)


def test_compat_gives_what_evaluate_gives(language_model, texts):
    result = load("perplexity", compat=True).compute(predictions=texts, model_id=str(language_model("gpt2")))
    assert list(result) == ["perplexities", "mean_perplexity"]


def test_the_interval_of_the_mean_is_that_of_scipy():
    rng = np.random.default_rng(1)
    tables = {f"text {row}": (-rng.exponential(2, rng.integers(3, 9))).tolist() for row in range(40)}
    result = load("perplexity", model=tables).compute(
        predictions=list(tables), interval=0.9, method="percentile", resamples=5000
    )
    item = np.array(result["perplexities"])
    theirs = stats.bootstrap(
        (item,), np.mean, confidence_level=0.9, method="percentile", n_resamples=5000, random_state=rng
    ).confidence_interval
    span = result["interval"]["mean_perplexity"]
    assert (span["low"], span["high"]) == pytest.approx((theirs.low, theirs.high), rel=0.05)
    inner = result["interval"]["corpus_perplexity"]
    assert inner["low"] < result["corpus_perplexity"] < inner["high"]


@pytest.mark.parametrize("kind", ["gpt2", "llama", "opt"])
def test_bits_per_byte_are_losses_over_bytes(language_model, texts, kind):
    folder = str(language_model(kind))
    result = load("bits_per_byte").compute(predictions=texts, model_id=folder, batch_size=3)
    loss, tokens = losses(folder, texts).T
    size = sum(len(text.encode()) for text in texts)
    assert result["bits_per_byte"] == pytest.approx((loss * tokens).sum() / np.log(2) / size, rel=1e-5)
    assert result["bytes_per_token"] == pytest.approx(size / tokens.sum())


def test_a_long_text_has_bits_and_no_perplexity_unless_it_is_cut(language_model):
    folder = str(language_model("gpt2"))
    long = "the captain was kind to the girls " * 20
    result = load("bits_per_byte").compute(predictions=[long], model_id=folder)
    assert 0 < result["bits_per_byte"] < 100
    with pytest.raises(ValueError, match=r"row 0 has .* tokens, the model reads 64; shorten it or set max_length"):
        load("perplexity").compute(predictions=[long], model_id=folder)
    assert load("perplexity").compute(predictions=[long], model_id=folder, max_length=64)["mean_perplexity"] > 1


def test_batches_merge_into_the_corpus(language_model, texts):
    module = load("perplexity", model_id=str(language_model("gpt2")))
    for text in texts:
        module.add(prediction=text)
    merged = module.merge(module.state({"predictions": texts[:3]}), module.state({"predictions": texts[3:]}))
    whole = module.compute()
    assert module.result(merged)["corpus_perplexity"] == pytest.approx(whole["corpus_perplexity"], rel=1e-6)


@pytest.mark.parametrize("name", ["perplexity", "bits_per_byte"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs one model"),
        ({"model_id": "a", "model": {}}, "needs one model"),
        ({"model": {"six": [0.5]}}, "none above 0"),
        ({"model": {"six": -1.0}}, "has to give a list"),
        ({"model": {"six": [float("nan")]}}, "none above 0"),
        ({"model": {"six": [-float("inf")]}}, "row 0 is impossible"),
        ({"model": {"other": [-1.0]}}, "does not know 'six'"),
        ({"model": 7}, "a model is the path of a local folder, a hub id"),
    ],
)
def test_what_cannot_be_computed_is_told(name, options, message):
    with pytest.raises(ValueError, match=message):
        load(name).compute(predictions=["six"], **options)
