"""Mean intersection over union, against scikit-learn's Jaccard score and a published example."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from dynabench.evaluate import load

PUBLISHED = {  # the example of the original's documentation
    "predictions": [
        [[1, 2], [3, 4], [5, 255]],
        [[2, 7], [9, 2], [3, 6]],
        [[2, 2, 3], [8, 2, 4], [3, 255, 2]],
    ],
    "references": [
        [[0, 3], [5, 4], [6, 255]],
        [[1, 7], [9, 2], [3, 6]],
        [[1, 2, 2], [8, 2, 1], [3, 255, 1]],
    ],
}


def compute(predictions: Any, references: Any, **options: Any) -> Any:
    return load("mean_iou").compute(predictions=predictions, references=references, **options)


def test_the_published_example_gives_its_figures() -> None:
    result = compute(**PUBLISHED, num_labels=10, ignore_index=255)
    assert result["mean_iou"] == pytest.approx(0.4775)
    assert result["mean_accuracy"] == pytest.approx(0.5916666666666666)
    assert result["overall_accuracy"] == pytest.approx(0.5263157894736842)
    assert result["per_category_iou"] == pytest.approx([0, 0, 0.375, 0.4, 0.5, 0, 0.5, 1, 1, 1])
    assert result["per_category_accuracy"] == pytest.approx([0, 0, 0.75, 2 / 3, 1, 0, 0.5, 1, 1, 1])


images = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6)), min_size=1, max_size=4)


def drawn(sizes: Any, classes: int = 4) -> tuple[Any, Any]:
    answer, true = [], []
    for height, width, seed in sizes:
        rng = np.random.default_rng(seed)
        answer.append(rng.integers(0, classes, (height, width)))
        true.append(rng.integers(0, classes, (height, width)))
    return answer, true


@given(images)
def test_equals_the_confusion_matrix_of_all_pixels(sizes: Any) -> None:
    answer, true = drawn(sizes)
    cells = confusion_matrix(
        *(np.concatenate([first.ravel() for first in maps]) for maps in (true, answer)), labels=range(4)
    )
    hits, union = np.diag(cells), cells.sum(0) + cells.sum(1) - np.diag(cells)
    result = compute(answer, true, num_labels=4)
    for k in range(4):
        assert result["per_category_iou"][k] == (pytest.approx(hits[k] / union[k]) if union[k] else None)
        right = cells.sum(1)[k]
        assert result["per_category_accuracy"][k] == (pytest.approx(hits[k] / right) if right else None)
    assert result["overall_accuracy"] == pytest.approx(hits.sum() / cells.sum())
    assert result["mean_iou"] == pytest.approx(np.mean(hits[union > 0] / union[union > 0]))


@given(images, images)
def test_merged_batches_equal_all_images(first: Any, second: Any) -> None:
    module = load("mean_iou", num_labels=4)
    states = [
        module.state(dict(zip(("predictions", "references"), drawn(single), strict=True))) for single in (first, second)
    ]
    answer, true = drawn(first + second)
    assert module.result(module.merge(*states)) == module.compute(predictions=answer, references=true)


def test_labels_are_mapped_all_at_once_and_then_reduced() -> None:
    true, answer = [[[0, 1, 2, 3]]], [[[1, 0, 0, 1]]]
    result = compute(answer, true, num_labels=2, label_map={1: 2, 2: 1, 3: 2}, reduce_labels=True, ignore_index=255)
    assert result["overall_accuracy"] == pytest.approx(2 / 3)  # 0 is void; 1, 2, 3 become 2, 1, 2 and then 1, 0, 1
    assert result["per_category_accuracy"] == [1, 0.5]


def test_small_integers_do_not_overflow() -> None:
    true = np.array([[0, 1, 255]], np.uint8)
    result = compute([np.array([[0, 0, 0]], np.uint8)], [true], num_labels=1, reduce_labels=True, ignore_index=255)
    assert result["overall_accuracy"] == 1


def test_what_is_undefined_takes_the_number_asked_for() -> None:
    result = compute([[[0]]], [[[0]]], num_labels=2, nan_to_num=0)
    assert result["per_category_iou"] == [1, 0]
    assert result["mean_iou"] == 1


def test_a_prediction_outside_the_classes_is_wrong_and_of_no_class() -> None:
    result = compute([[[0, 255, -1]]], [[[0, 0, 1]]], num_labels=2)
    assert result["per_category_iou"] == [0.5, 0]
    assert result["overall_accuracy"] == pytest.approx(1 / 3)


def test_images_have_scores_of_their_own_and_an_interval() -> None:
    answer, true = drawn([(4, 4, seed) for seed in range(30)])
    result = compute(answer, true, num_labels=4, per_example=True, interval=0.9)
    alone = [compute([first], [other], num_labels=4)["mean_iou"] for first, other in zip(answer, true, strict=True)]
    assert result["per_example"]["mean_iou"] == pytest.approx(alone)
    span = result["interval"]["mean_iou"]
    assert span["low"] < result["mean_iou"] < span["high"]
    assert len(result["interval"]["per_category_iou"]["low"]) == 4


def test_memory_stays_at_one_image_beyond_what_is_given() -> None:
    maps = [np.random.default_rng(seed).integers(0, 50, (400, 400)).astype(np.uint8) for seed in range(40)]
    total = sum(first.nbytes for first in maps)
    tracemalloc.start()
    compute(maps, maps, num_labels=50)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < total, "as eight-byte integers the images would take eight times what they do"


@pytest.mark.parametrize(
    ("predictions", "true", "options", "message"),
    [
        ([[[0]]], [[[0]]], {}, "give num_labels"),
        ([[[0]]], [[[0]]], {"num_labels": 0}, "give num_labels"),
        ([[[0, 1]]], [[[0]]], {"num_labels": 2}, r"image 0 has the shape \(1, 2\), its reference \(1, 1\)"),
        ([[[0]]], [[[2]]], {"num_labels": 2}, "holds the label 2, but num_labels is 2"),
        ([[[0]]], [[[-1]]], {"num_labels": 2}, "holds the label -1"),
        ([[[0]]], [[[255]]], {"num_labels": 2, "ignore_index": 255}, "no pixel counts"),
        ([[[0.5]]], [[[0]]], {"num_labels": 2}, "no plane of whole numbers"),
        ([[0, 1]], [[0, 1]], {"num_labels": 2}, "no plane of whole numbers"),
        ([[[0, 1], [1]]], [[[0, 1], [1]]], {"num_labels": 2}, "lines of different lengths"),
        ([None], [[[0]]], {"num_labels": 2}, "no plane of whole numbers"),
    ],
)
def test_what_is_no_map_is_told(predictions: Any, true: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute(predictions, true, **options)
