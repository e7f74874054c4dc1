"""Batches that a module remembers: copies of what was given, one at a time, whoever gives them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dynabench.evaluate import load


class Tensor:
    """As a tensor, which shares its memory with the array that it becomes."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def detach(self) -> "Tensor":
        return self

    cpu = detach

    def numpy(self) -> np.ndarray:
        return self.values


@pytest.mark.parametrize("wrapped", [np.asarray, Tensor, lambda values: [values]], ids=["array", "tensor", "in a list"])
def test_what_is_filled_again_was_copied(wrapped):
    buffer = np.zeros((1, 2))
    inputs = buffer[0] if isinstance(wrapped(buffer), list) else buffer
    module = load("mae", "multilist")
    for value in (1.0, 2.0):
        buffer[:] = value
        module.add_batch(predictions=wrapped(inputs), references=[[0.0, 0.0]])
    assert module.compute() == {"mae": 1.5}


def test_batches_may_be_generators_and_are_counted():
    module = load("accuracy")
    module.add_batch(predictions=(value for value in [1, 0]), references=[1, 1])
    module.add(prediction=1, reference=1)
    assert len(module) == 3
    assert module.compute() == {"accuracy": pytest.approx(2 / 3)}


def test_a_text_is_no_batch():
    with pytest.raises(ValueError, match="predictions: give a list"):
        load("exact_match").add_batch(predictions="ab", references=["a", "b"])


def test_threads_may_share_a_module():
    module = load("accuracy")

    def own(share: int) -> float:
        rows = {"predictions": [1] * share + [0] * (20 - share), "references": [1] * 20}
        return module.compute(**rows)["accuracy"]

    def added(share: int) -> None:
        module.add_batch(predictions=[share] * 3, references=[share] * 3)

    with ThreadPoolExecutor(8) as pool:
        shares = [share % 21 for share in range(400)]
        assert list(pool.map(own, shares)) == [share / 20 for share in shares]
        list(pool.map(added, range(400)))
    assert len(module) == 1200
    assert module.compute() == {"accuracy": 1.0}
