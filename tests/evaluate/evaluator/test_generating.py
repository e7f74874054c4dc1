"""Generated text, against writing token by token; zero-shot choices against sums of log-probabilities."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from dynabench.evaluate import evaluator
from tests.evaluate.evaluator.tiny import Seen, bart, gpt2, saved, texts


@pytest.fixture(scope="module")
def writer() -> tuple[Any, Any]:
    return gpt2()


@pytest.fixture(scope="module")
def rewriter() -> tuple[Any, Any]:
    return bart()


def continued(model: Any, tokenizer: Any, text: str, most: int) -> str:
    """Greedy continuation, a forward pass for each token."""
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        for _ in range(most):
            ids.append(int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
            if ids[-1] == 2:
                break
    return str(tokenizer.decode(ids, skip_special_tokens=True))


def rewritten(model: Any, tokenizer: Any, text: str, most: int) -> str:
    values = tokenizer(text, return_tensors="pt")
    ids = [2]
    with torch.no_grad():
        for _ in range(most):
            logit = model(**values, decoder_input_ids=torch.tensor([ids])).logits[0, -1]
            ids.append(int(logit.argmax()))
            if ids[-1] == 2:
                break
    return str(tokenizer.decode(ids, skip_special_tokens=True))


@pytest.mark.release
@pytest.mark.parametrize("size", [1, 5])
def test_texts_are_continued_greedily(writer: tuple[Any, Any], size: int) -> None:
    prompts = texts(12, 20)
    metric = Seen()
    result = evaluator("text-generation").compute(
        writer[0],
        {"text": prompts},
        tokenizer=writer[1],
        metric=metric,
        batch_size=size,
        generation_kwargs={"max_new_tokens": 9},
    )
    assert metric.columns == {"data": [continued(*writer, prompt, 9) for prompt in prompts]}
    assert all(text.startswith(prompt) for text, prompt in zip(metric.columns["data"], prompts, strict=True))
    assert result["tokens_per_second"] <= 12 * 9 / result["total_time_in_seconds"] * 1.001


def test_a_pipeline_that_samples_is_heeded_and_repeats(writer: tuple[Any, Any]) -> None:
    rows = [{"text": text} for text in texts(4, 21)]
    settings = {"max_new_tokens": 8, "do_sample": True, "num_return_sequences": 2, "return_full_text": False}

    def run(seed: int) -> list[str]:
        metric = Seen()
        evaluator("text-generation").compute(
            writer[0], rows, tokenizer=writer[1], metric=metric, generation_kwargs=settings, random_state=seed
        )
        return metric.columns["data"]

    state = torch.random.get_rng_state()
    assert len(run(1)) == 8
    assert run(1) == run(1) != run(2)
    assert torch.equal(torch.random.get_rng_state(), state), "the caller's random numbers go on as they were"


def test_settings_do_not_leak_into_the_next_evaluation(writer: tuple[Any, Any]) -> None:
    task, rows = evaluator("text-generation"), [{"text": "the film"}]
    lengths = []
    for settings in ({"max_new_tokens": 2}, {"max_new_tokens": 12, "eos_token_id": 3}, {"max_new_tokens": 2}):
        metric = Seen()
        task.compute(writer[0], rows, tokenizer=writer[1], metric=metric, generation_kwargs=settings)
        lengths.append(len(metric.columns["data"][0].split()))
    assert lengths[0] == lengths[2] <= 4


def test_a_prompt_that_leaves_no_room_is_told(writer: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="row 1 has 70 tokens, the model reads up to 64"):
        evaluator("text-generation").compute(
            writer[0], {"text": ["a", " ".join(["good"] * 70)]}, tokenizer=writer[1], metric=Seen()
        )


@pytest.mark.release
@pytest.mark.parametrize("task", ["text2text-generation", "summarization", "translation", "translation_en_to_de"])
def test_texts_are_rewritten_greedily(rewriter: tuple[Any, Any], tmp_path: Path, task: str) -> None:
    written = texts(10, 22)
    folder = saved(tmp_path / "bart", *rewriter)
    right = [rewritten(*rewriter, text, 8) for text in written]
    assert len(set(right)) > 3
    metric = Seen()
    evaluator(task).compute(
        folder,
        {"text": written, "label": right},
        metric=metric,
        batch_size=4,
        generation_kwargs={"max_new_tokens": 8},
    )
    assert metric.columns == {"predictions": right, "references": right}


def test_a_models_prefix_for_the_task_goes_before_the_text() -> None:
    model, tokenizer = bart()
    model.config.task_specific_params = {"summarization": {"prefix": "not ", "max_new_tokens": 5}}
    metric = Seen()
    evaluator("summarization").compute(
        model, {"text": ["good film"], "label": [""]}, tokenizer=tokenizer, metric=metric
    )
    assert metric.columns["predictions"] == [rewritten(model, tokenizer, "not good film", 5)]


def test_callables_write_in_any_usual_form() -> None:
    rows, metric = {"text": ["a", "b"], "label": ["x", "y"]}, Seen()
    for answer in (["x", "y"], [{"summary_text": "x"}, {"generated_text": "y"}], [[{"translation_text": "x"}], ["y"]]):
        evaluator("summarization").compute(lambda _, reply=answer: reply, rows, metric=metric)
        assert metric.columns["predictions"] == ["x", "y"]
    evaluator("text-generation").compute(lambda _: [[{"generated_text": "x"}] * 2, "y"], rows, metric=metric)
    assert metric.columns == {"data": ["x", "x", "y"]}
    with pytest.raises(ValueError, match="row 0: the model answered 3"):
        evaluator("summarization").compute(lambda _: [3, 4], rows, metric=metric)


def log_probability(model: Any, tokenizer: Any, prompt: str, text: str) -> float:
    start = [] if prompt else [1]  # a start token stands for no prompt
    values, whole = (start + tokenizer(first)["input_ids"] for first in (prompt, prompt + text))
    with torch.no_grad():
        answer = model(input_ids=torch.tensor([whole])).logits[0].double().log_softmax(-1)
    return sum(float(answer[at - 1, whole[at]]) for at in range(len(values), len(whole)))


PROMPTS = ["the film was", "a plot is not", "who is in the", "Paris is"]
CLASSES = [
    [" good", " very very bad"],
    [" fine", " awful at all", " good"],
    [" city", " actor in Rome"],
    [" a city", " bad"],
]


@pytest.mark.parametrize("normalization", ["sum", "token", "byte", "unconditional"])
def test_the_likeliest_class_is_chosen(normalization: str) -> None:
    model, tokenizer = gpt2(3, pad_token="<pad>")
    scores = []
    for prompt, classes in zip(PROMPTS, CLASSES, strict=True):
        item = np.array([log_probability(model, tokenizer, prompt, text) for text in classes])
        scores.append(
            {
                "sum": item,
                "token": item / [len(text.split()) for text in classes],
                "byte": item / [len(text.encode()) for text in classes],
                "unconditional": item - [log_probability(model, tokenizer, "", text) for text in classes],
            }[normalization]
        )
    target = [0, 2, 1, 0]
    loss = -np.mean(
        [np.log(np.exp(first)[right] / np.exp(first).sum()) for first, right in zip(scores, target, strict=True)]
    )
    columns = {"text": PROMPTS, "classes": CLASSES, "target": target}
    task = evaluator("zero-shot-classification")
    result = task.compute(model, columns, tokenizer=tokenizer, normalization=normalization, return_predictions=True)
    for prediction, right in zip(result["predictions"], scores, strict=True):
        assert prediction == pytest.approx(right.tolist(), abs=1e-4)
    assert result["accuracy"] == np.mean([score.argmax() == right for score, right in zip(scores, target, strict=True)])
    assert result["loss"] == pytest.approx(loss, abs=1e-4)


def test_zero_shot_scores_have_intervals_and_targets_may_be_texts() -> None:
    rows = [{"text": str(at), "classes": ["x", "y"], "target": "x" if at % 3 else "y"} for at in range(12)]
    result = evaluator("zero-shot-classification").compute(
        lambda batch: [[1.0, 0.0] for _ in batch], rows, strategy="bootstrap", n_resamples=199
    )
    assert result["accuracy"]["score"] == 8 / 12
    assert result["loss"]["score"] == pytest.approx(np.log(1 + np.exp(-1)) + 4 / 12)
    low, high = result["accuracy"]["confidence_interval"]
    assert low < 8 / 12 < high


@pytest.mark.parametrize(
    ("row", "more", "message"),
    [
        ({"classes": ["x"]}, {}, "at least two texts"),
        ({"target": 2}, {}, "2 is no number of one of its 2 classes"),
        ({"target": "z"}, {}, "'z' is not one of its classes"),
        ({}, {"normalization": "letter"}, "'letter' is none of sum, token, byte, unconditional"),
    ],
)
def test_rows_that_cannot_be_chosen_from_are_told(row: dict[str, Any], more: dict[str, str], message: str) -> None:
    rows = [{"text": "a", "classes": ["x", "y"], "target": 0, **row}]
    with pytest.raises(ValueError, match=message):
        evaluator("zero-shot-classification").compute(lambda _: [[0.0, 1.0]], rows, **more)


def test_a_pipeline_that_writes_is_taken_apart(writer: tuple[Any, Any]) -> None:
    pipe = transformers.pipeline("text-generation", model=writer[0], tokenizer=writer[1], device=-1)
    metric = Seen()
    evaluator("text-generation").compute(
        pipe, {"text": ["the film"]}, metric=metric, generation_kwargs={"max_new_tokens": 4}
    )
    assert metric.columns["data"] == [continued(*writer, "the film", 4)]
