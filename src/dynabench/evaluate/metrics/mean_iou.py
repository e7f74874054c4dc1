"""Mean intersection over union of segmentation maps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, as_list
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio

Map = NDArray[Any]
VOID = 255  # the background's label once `reduce_labels` has taken it away


class SegmentationMaps(Column):
    """Segmentation maps: whole numbers in a plane; a list of n arrays of their own sizes, not copied."""

    dtype = "image"
    text = "map of labels of each image"

    def clean(self, values: Any, name: str) -> list[Map]:
        """Return the maps. Raises ValueError for anything but a plane of whole numbers."""
        maps = []
        for row, value in enumerate(as_list(values, name)):
            try:
                label_map = np.asarray(value)
            except ValueError:
                raise ValueError(f"{name}: image {row} has lines of different lengths") from None
            if label_map.ndim != 2 or label_map.dtype.kind not in "iub":
                raise ValueError(
                    f"{name}: image {row} is no plane of whole numbers but {label_map.dtype} of "
                    f"shape {label_map.shape}; take the argmax over classes first"
                )
            maps.append(label_map)
        return maps


class MeanIou(Metric):
    """Intersection over union of predicted and right regions, averaged over classes."""

    columns = {"predictions": SegmentationMaps(), "references": SegmentationMaps()}
    arrays = True

    def update(
        self,
        predictions: list[Map],
        references: list[Map],
        *,
        num_labels: int | None = None,
        ignore_index: int | None = None,
        label_map: Mapping[int, int] | None = None,
        reduce_labels: bool = False,
    ) -> Sums:
        """Areas of intersection, prediction and reference of each class in each image, (n, 3 num_labels)."""
        if num_labels is None or num_labels < 1:
            raise ValueError(f"give num_labels, the number of classes (it is {num_labels})")
        areas = np.zeros((len(references), 3, num_labels), np.int64)
        for row, (predicted, true) in enumerate(zip(predictions, references, strict=True)):
            if predicted.shape != true.shape:
                raise ValueError(
                    f"predictions: image {row} has the shape {predicted.shape}, its reference {true.shape}"
                )
            areas[row] = _areas(predicted, _relabel(true, label_map, reduce_labels), num_labels, ignore_index, row)
        return Sums(areas.reshape(len(areas), -1))

    def formula(self, total: Floats, *, nan_to_num: float | None = None) -> dict[str, Any]:
        """The averages, shape (...), and each class, (..., num_labels)."""
        hits, predicted, true = np.moveaxis(total[..., :-1].reshape(*total.shape[:-1], 3, -1), -2, 0)
        by_class = {"iou": ratio(hits, predicted + true - hits, np.nan), "accuracy": ratio(hits, true, np.nan)}
        scores = {
            **{f"mean_{key}": _mean(values) for key, values in by_class.items()},
            "overall_accuracy": ratio(hits.sum(-1), true.sum(-1), np.nan),
            **{f"per_category_{key}": values for key, values in by_class.items()},
        }
        if nan_to_num is None:
            return scores
        return {key: np.nan_to_num(value, nan=nan_to_num) for key, value in scores.items()}

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """Return the scores. Raises ValueError where no pixel counts."""
        if not state.rows.any():
            raise ValueError("nothing to compute: no pixel counts; look at ignore_index")
        return super().result(state, **options)


def _mean(values: Floats) -> Floats:
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0).sum(-1), defined.sum(-1), np.nan)


def _relabel(true: Map, label_map: Mapping[int, int] | None, reduce_labels: bool) -> Map:
    """Right labels after `label_map`, of which all look at the first labels, and `reduce_labels`."""
    if not label_map and not reduce_labels:
        return true
    labels = true.astype(np.int64)
    for old, new in (label_map or {}).items():
        labels[true == int(old)] = new
    if reduce_labels:
        labels = np.where((labels == 0) | (labels == VOID), VOID, labels - 1)
    return labels


def _areas(predicted: Map, true: Map, size: int, ignore: int | None, row: int) -> NDArray[np.int64]:
    """Intersection, prediction and reference of each class, (3, size). Raises ValueError for unknown right labels."""
    if ignore is not None:
        counts = true != ignore
        predicted, true = predicted[counts], true[counts]
    predicted, true = predicted.ravel(), true.ravel()
    wrong = (true < 0) | (true >= size)
    if wrong.any():
        raise ValueError(
            f"references: image {row} holds the label {int(true[wrong][0])}, but num_labels is {size}; raise it, or "
            "set ignore_index, label_map or reduce_labels"
        )
    predicted_labels = predicted[(predicted >= 0) & (predicted < size)]
    return np.stack([np.bincount(part, minlength=size) for part in (true[predicted == true], predicted_labels, true)])
