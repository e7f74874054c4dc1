"""Sums of log-probabilities equal those of a loop over tokens: batched, padded, with shared prompts, in windows."""

import numpy as np
import pytest
from transformers import AutoTokenizer

from dynabench.evaluate.networks import language_models
from dynabench.evaluate.networks.checkpoints import load_model
from dynabench.evaluate.networks.language_models import (
    log_likelihoods,
    text_likelihoods,
    window_likelihoods,
)

pytestmark = pytest.mark.release

KINDS = ["gpt2", "llama", "opt"]
LONG = "The ferry at Lind was built in 1921 and crossed the river without an engine, the captain"


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind, language_model):
    return load_model(str(language_model(kind)), "AutoModelForCausalLM", "cpu")


def ids_of(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_a_whole_text_scores_what_its_tokens_score_one_by_one(kind, model, texts, naive, batch_size):
    result = text_likelihoods(*model, texts, batch_size)
    for row, text in enumerate(texts):
        ids = ids_of(model.tokenizer, text)
        assert result.log_probabilities[row] == pytest.approx(
            naive(kind, [model.tokenizer.bos_token_id], ids), rel=1e-5, abs=1e-4
        )
        assert result.tokens[row] == len(ids)
        assert result.bytes[row] == len(text.encode())


def test_without_the_start_token_the_first_token_is_given(kind, model, texts, naive):
    chosen = [text for text in texts if len(ids_of(model.tokenizer, text)) > 1]
    result = text_likelihoods(*model, chosen, add_start_token=False)
    for row, text in enumerate(chosen):
        ids = ids_of(model.tokenizer, text)
        assert result.log_probabilities[row] == pytest.approx(naive(kind, ids[:1], ids[1:]), rel=1e-5, abs=1e-4)
        assert result.tokens[row] == len(ids) - 1


def test_a_text_is_cut_to_the_length_that_was_asked_for(kind, model, naive):
    result = text_likelihoods(*model, [LONG], max_length=6)
    ids = ids_of(model.tokenizer, LONG)[:5]
    assert result.tokens[0] == 5
    assert result.log_probabilities[0] == pytest.approx(naive(kind, [model.tokenizer.bos_token_id], ids), rel=1e-5)


@pytest.mark.parametrize("prompt", ["", "The", LONG])
@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_continuations_score_what_their_tokens_score_after_the_prompt(kind, model, naive, prompt, batch_size):
    more = [" said", " painted the hull green", " again and again and again", " I"]
    result = log_likelihoods(*model, [prompt] * len(more), more, batch_size)
    tokenizer = model.tokenizer
    start = [tokenizer.bos_token_id] if kind == "llama" or not prompt else []
    for row, text in enumerate(more):
        context, whole = ids_of(tokenizer, prompt), ids_of(tokenizer, prompt + text)
        assert whole[: len(context)] == context
        target = whole[len(context) :]
        assert result.tokens[row] == len(target)
        assert result.bytes[row] == len(text.encode())
        expected = naive(kind, start + context, target)
        assert result.log_probabilities[row] == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_prompts_of_all_lengths_in_any_order_keep_their_rows(kind, model):
    rng = np.random.default_rng(3)
    prompts, more = [], []
    for size in rng.integers(0, len(LONG), 12):
        for text in rng.choice([" said", " I", " went to the library", " kind"], 3, replace=False):
            prompts.append(LONG[:size].rstrip())
            more.append(str(text))
    order = rng.permutation(len(prompts))
    together = log_likelihoods(*model, [prompts[at] for at in order], [more[at] for at in order], 8)
    for place, at in enumerate(order):
        alone = log_likelihoods(*model, [prompts[at]], [more[at]], 1)
        assert together.log_probabilities[place] == pytest.approx(alone.log_probabilities[0], rel=1e-5, abs=1e-4)
        assert together.tokens[place] == alone.tokens[0]


def test_a_shared_prompt_is_run_once(model, monkeypatch):
    read = []
    forward = model.model.forward

    def counting(*args, **kwargs):
        read.append(int(kwargs["input_ids"].numel()))
        return forward(*args, **kwargs)

    more = [" said", " I", " went", " kind"]
    monkeypatch.setattr(language_models, "MIN_SHARED_CONTEXT", 1 << 30)
    plainly = log_likelihoods(*model, [LONG] * 4, more)
    monkeypatch.setattr(language_models, "MIN_SHARED_CONTEXT", 16)
    monkeypatch.setattr(language_models, "_takes", lambda model, name: True)
    monkeypatch.setattr(model.model, "forward", counting)
    shared = log_likelihoods(*model, [LONG] * 4, more)
    assert shared.log_probabilities == pytest.approx(plainly.log_probabilities, rel=1e-5)
    assert read[0] <= len(ids_of(model.tokenizer, LONG)) + 1
    assert sum(read) < 2 * len(ids_of(model.tokenizer, LONG))


def test_a_token_across_the_seam_is_scored_with_every_continuation(language_model, naive):
    """ "The" + " ferry" has one token for " ferry"; a space at the end of the prompt moves to the continuations."""
    model = load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cpu")
    tidy = log_likelihoods(*model, ["The", "The"], [" ferry", " river"])
    loose = log_likelihoods(*model, ["The ", "The "], ["ferry", "river"])
    assert loose.log_probabilities == pytest.approx(tidy.log_probabilities)
    assert loose.tokens.tolist() == tidy.tokens.tolist()
    assert loose.bytes.tolist() == [5, 5]


def test_a_word_that_goes_on_leaves_all_continuations_the_same_context(language_model, naive):
    model = load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cpu")
    tokenizer = model.tokenizer
    prompt, more = "the capt", ["ain", " river"]
    whole = [ids_of(tokenizer, prompt + text) for text in more]
    common = 0
    while whole[0][common] == whole[1][common] == ids_of(tokenizer, prompt)[common]:
        common += 1
    assert common < len(ids_of(tokenizer, prompt))
    result = log_likelihoods(*model, [prompt] * 2, more)
    for row, ids in enumerate(whole):
        assert result.tokens[row] == len(ids) - common
        assert result.log_probabilities[row] == pytest.approx(naive("gpt2", ids[:common], ids[common:]), rel=1e-5)


def test_a_long_text_is_read_in_windows_that_score_each_token_once(kind, model, texts, naive):
    result = window_likelihoods(*model, [LONG, "", texts[4]], max_length=8)
    ids = [model.tokenizer.bos_token_id, *ids_of(model.tokenizer, LONG)]
    expected, done = naive(kind, ids[:1], ids[1:8]), 8
    while done < len(ids):
        end = min(done + 4, len(ids))
        expected += naive(kind, ids[max(end - 8, 0) : done], ids[done:end])
        done += 4
    assert result.tokens.tolist() == [len(ids) - 1, 0, len(ids_of(model.tokenizer, texts[4]))]
    assert result.log_probabilities[0] == pytest.approx(expected, rel=1e-5)
    assert result.log_probabilities[1] == 0


def test_a_text_within_the_window_scores_as_without_windows(kind, model, texts):
    assert window_likelihoods(*model, texts).log_probabilities == pytest.approx(
        text_likelihoods(*model, texts).log_probabilities, rel=1e-6
    )


@pytest.mark.parametrize(
    ("prompts", "more", "message"),
    [
        (["a"], ["b", "c"], "1 prompts for 2"),
        (["a"], [""], "continuation 0 is empty"),
        (["a " * 100], ["b"], "the model reads 64"),
    ],
)
def test_what_cannot_be_scored_is_told(language_model, prompts, more, message):
    model = load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cpu")
    with pytest.raises(ValueError, match=message):
        log_likelihoods(*model, prompts, more)


def test_texts_of_too_few_tokens_are_told(language_model):
    model = load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cpu")
    with pytest.raises(ValueError, match="row 1 has 0 tokens"):
        text_likelihoods(*model, ["a", ""])
    with pytest.raises(ValueError, match=r"row 0 has 1 tokens.*add_start_token=True"):
        text_likelihoods(*model, ["I"], add_start_token=False)


def test_a_tokenizer_without_a_start_token_is_told(language_model):
    model = load_model(str(language_model("gpt2")), "AutoModelForCausalLM", "cpu")
    tokenizer = AutoTokenizer.from_pretrained(language_model("gpt2"), bos_token=None)
    with pytest.raises(ValueError, match="add_start_token=False"):
        text_likelihoods(model.model, tokenizer, ["some text"])
