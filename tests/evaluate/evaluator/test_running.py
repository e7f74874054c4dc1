"""Timing counts inference and nothing else; a run that broke off goes on where it stopped."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import evaluator
from dynabench.evaluate.evaluator.label_tasks import TextClassificationEvaluator
from dynabench.evaluate.evaluator.running import make_batches
from tests.evaluate.evaluator.tiny import Seen, bert, texts


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Slow(Sequence[Any]):
    """A column that takes its time."""

    def __init__(self, values: Sequence[Any], wait: Callable[[], None]) -> None:
        self.values = values
        self.wait = wait

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: Any) -> Any:
        self.wait()
        return self.values[row]


def rows_of(n: int) -> list[dict[str, str]]:
    return [{"text": f"row {at}", "label": "x"} for at in range(n)]


def timed(batch_size: int = 4, data: float = 0.0, metric: float = 0.0, progress: float = 0.0) -> dict[str, Any]:
    """A model that takes 2 s for each of 10 rows, between slow data, a slow metric and slow progress."""
    clock = Clock()

    def spend(seconds: float) -> None:
        clock.now += seconds

    def model(rows: list[str]) -> list[str]:
        spend(2.0 * len(rows))
        return ["x"] * len(rows)

    class Slowly(Seen):
        def compute(self, **columns: Any) -> dict[str, float]:
            spend(metric)
            return super().compute(**columns)

    columns = {"text": Slow([f"row {at}" for at in range(10)], lambda: spend(data)), "label": ["x"] * 10}
    task = TextClassificationEvaluator("text-classification", clock)
    return task.compute(model, columns, metric=Slowly(), batch_size=batch_size, progress=lambda *_: spend(progress))


def test_only_inference_is_timed() -> None:
    plain, slow = timed(), timed(data=50.0, metric=1000.0, progress=30.0)
    assert plain["total_time_in_seconds"] == slow["total_time_in_seconds"] == 20
    assert plain["samples_per_second"] == slow["samples_per_second"] == 0.5
    assert plain["latency_in_seconds"] == slow["latency_in_seconds"] == 2


def test_lazy_rows_are_fetched_outside_the_clock() -> None:
    clock = Clock()

    def spend(seconds: float) -> None:
        clock.now += seconds

    def model(rows: list[Any]) -> list[str]:
        spend(1.0)
        return ["x"] * len(rows)

    from dynabench.evaluate.evaluator.label_tasks import ImageClassificationEvaluator

    columns = {"image": Slow([0] * 6, lambda: spend(9.0)), "label": ["x"] * 6}
    result = ImageClassificationEvaluator("image-classification", clock).compute(
        model, columns, metric=Seen(), batch_size=2
    )
    assert result["total_time_in_seconds"] == 3


def test_percentiles_are_of_each_examples_share_of_its_batch() -> None:
    clock, seconds = Clock(), iter([8.0, 2.0])

    def model(rows: list[str]) -> list[str]:
        clock.now += next(seconds)
        return ["x"] * len(rows)

    task = TextClassificationEvaluator("text-classification", clock)
    result = task.compute(model, rows_of(8), metric=Seen(), batch_size=4)
    assert result["latency_in_seconds"] == 1.25
    assert result["latency_p50_in_seconds"] == 1.25
    assert result["latency_p99_in_seconds"] == 2
    assert "tokens_per_second" not in result


def test_tokens_are_counted_without_padding() -> None:
    model, tokenizer = bert("BertForSequenceClassification")
    written = texts(20)
    rows = [{"text": text, "label": 0} for text in written]
    result = evaluator("text-classification").compute(model, rows, tokenizer=tokenizer)
    tokens = sum(len(ids) for ids in tokenizer(written)["input_ids"])
    assert result["tokens_per_second"] == pytest.approx(tokens / result["total_time_in_seconds"])
    assert result["peak_memory_in_bytes"] > 1e6
    assert result["hardware"]["cores"] >= 1
    assert json.loads(json.dumps(result, allow_nan=False))["batch_size"] == 32


def test_models_warm_up_on_one_row_and_callables_do_not() -> None:
    request: list[int] = []

    def model(rows: list[str]) -> list[str]:
        request.append(len(rows))
        return ["x"] * len(rows)

    task = evaluator("text-classification")
    task.compute(model, rows_of(5), batch_size=3)
    assert request == [3, 2]
    request.clear()
    task.compute(model, rows_of(5), batch_size=3, warm_up=True)
    assert request == [1, 3, 2]


class Crash(Exception):
    pass


def breaking(after: int, sizes: list[int]) -> Callable[[list[str]], list[str]]:
    """A model that fails after so many batches."""

    def model(rows: list[str]) -> list[str]:
        if len(sizes) == after:
            raise Crash
        sizes.append(len(rows))
        return [row.replace("row", "answer") for row in rows]

    return model


def resumed(path: Path, model: Any, rows: list[dict[str, str]], **more: Any) -> tuple[dict[str, Any], Seen]:
    seen = Seen()
    result = evaluator("text-classification").compute(model, rows, metric=seen, checkpoint=path, batch_size=3, **more)
    return result, seen


def test_a_run_that_broke_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, rows, request = tmp_path / "deep" / "answers.jsonl", rows_of(10), []
    for after in (2, 3):
        with pytest.raises(Crash):
            resumed(path, breaking(after, request), rows)
    answer: list[tuple[int, int]] = []
    result, seen = resumed(path, breaking(99, request), rows, progress=lambda *at: answer.append(at))
    assert request == [3, 3, 3, 1]
    assert answer == [(10, 10)]
    assert seen.columns["predictions"] == [f"answer {at}" for at in range(10)]
    lines = path.read_text().splitlines()
    assert len(lines) == 5
    again, _ = resumed(path, breaking(0, []), rows)
    assert again["total_time_in_seconds"] == result["total_time_in_seconds"] > 0


def test_a_torn_line_is_computed_again(tmp_path: Path) -> None:
    path, rows, request = tmp_path / "answers.jsonl", rows_of(7), []
    resumed(path, breaking(99, request), rows)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in (1, len(lines[-1]) - 1):
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][:cut])
        request.clear()
        _, seen = resumed(path, breaking(99, request), rows)
        assert request == [1]
        assert seen.columns["predictions"] == [f"answer {at}" for at in range(7)]
    path.write_bytes(lines[0][:20])
    request.clear()
    resumed(path, breaking(99, request), rows)
    assert request == [3, 3, 1]
    path.write_bytes(lines[0] + b"{broken\n" + lines[2])
    with pytest.raises(ValueError, match="line 2, is damaged"):
        resumed(path, breaking(99, request), rows)


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    path, rows = tmp_path / "answers.jsonl", rows_of(4)
    model, tokenizer = bert("BertForSequenceClassification")
    task, values = evaluator("text-classification"), {"tokenizer": tokenizer, "checkpoint": path, "metric": Seen()}
    numbered = [{**row, "label": 0} for row in rows]
    task.compute(model, numbered, **values)
    other, _ = bert("BertForSequenceClassification", seed=1)
    with pytest.raises(ValueError, match="of another model; delete it"):
        task.compute(other, numbered, **values)
    with pytest.raises(ValueError, match="on other data"):
        task.compute(model, numbered[:3], **values)
    with pytest.raises(ValueError, match="with other settings"):
        task.compute(model, numbered, **values, random_state=3)
    path.write_text("some notes\n")
    with pytest.raises(ValueError, match=r"damaged|no checkpoint"):
        task.compute(model, numbered, **values)


def test_a_resumed_model_gives_just_what_an_unbroken_run_gives(tmp_path: Path) -> None:
    model, tokenizer = bert("BertForSequenceClassification")
    rows = [{"text": text, "label": 0} for text in texts(30)]
    whole, part = tmp_path / "whole", tmp_path / "part"

    def stop(done: int, _: int) -> None:
        if done >= 12:
            raise Crash

    def run(path: Path, **more: Any) -> None:
        evaluator("text-classification").compute(
            model, rows, tokenizer=tokenizer, metric=Seen(), batch_size=4, checkpoint=path, **more
        )

    run(whole)
    with pytest.raises(Crash):
        run(part, progress=stop)
    run(part)
    first, second = (
        [{**json.loads(line), "seconds": 0} for line in path.read_text().splitlines()[1:]] for path in (whole, part)
    )
    assert first == second


class Nested:
    """A module with results within results, one without an interval, as seqeval has them."""

    name = "nested"

    def compute(self, **given: Any) -> dict[str, Any]:
        result: dict[str, Any] = {"LOC": {"f1": 0.5, "number": 3}, "all": 1.0, "told": ["x"]}
        if "interval" in given:
            assert (given["interval"], given["resamples"], given["seed"], given["method"]) == (0.8, 50, 4, "basic")
            span = {"low": 0.25, "high": 0.75, "standard_error": 0.1, "level": 0.8, "method": "basic"}
            result["interval"] = {"LOC": {"f1": span}, "all": span}
        return result


def test_results_within_results_have_their_own_intervals() -> None:
    task = evaluator("text-classification")
    result = task.compute(
        breaking(9, []),
        rows_of(3),
        metric=Nested(),
        strategy="bootstrap",
        confidence_level=0.8,
        n_resamples=50,
        random_state=4,
        method="basic",
    )
    span = {"confidence_interval": (0.25, 0.75), "standard_error": 0.1}
    assert result["LOC"] == {"f1": {**span, "score": 0.5}, "number": {"score": 3}}
    assert result["all"] == {**span, "score": 1.0}
    assert result["told"] == {"score": ["x"]}


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 7))
def test_batches_hold_each_row_once_with_the_longest_first(sizes: list[int], size: int) -> None:
    batches = make_batches(sizes, len(sizes), size)
    flat = [row for batch in batches for row in batch]
    assert sorted(flat) == list(range(len(sizes)))
    assert [sizes[row] for row in flat] == sorted(sizes, reverse=True)
    assert all(len(batch) == size for batch in batches[:-1])
    assert [row for batch in make_batches(None, len(sizes), size) for row in batch] == list(range(len(sizes)))


def test_a_batch_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="batch_size=0"):
        evaluator("text-classification").compute(lambda rows: rows, rows_of(2), batch_size=0)
