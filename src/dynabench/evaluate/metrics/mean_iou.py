"""Mean intersection over union of segmentation maps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, listed
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums

Map = NDArray[Any]
VOID = 255  # the background's label once `reduce_labels` has taken it away


class Maps(Column):
    """Segmentation maps: whole numbers in a plane; a list of n arrays of their own sizes, not copied."""

    dtype = "image"
    text = "map of labels of each image"

    def clean(self, values: Any, name: str) -> list[Map]:
        """Anything but a plane of whole numbers is refused."""
        maps = []
        for row, value in enumerate(listed(values, name)):
            try:
                one = np.asarray(value)
            except ValueError:
                raise ValueError(f"{name}: image {row} has lines of different lengths") from None
            if one.ndim != 2 or one.dtype.kind not in "iub":
                raise ValueError(
                    f"{name}: image {row} is no plane of whole numbers but {one.dtype} of shape {one.shape}; take the "
                    "argmax over classes first"
                )
            maps.append(one)
        return maps


class MeanIou(Metric):
    """How well predicted regions cover the right ones, averaged over classes."""

    columns = {"predictions": Maps(), "references": Maps()}
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
        for row, (said, true) in enumerate(zip(predictions, references, strict=True)):
            if said.shape != true.shape:
                raise ValueError(f"predictions: image {row} has the shape {said.shape}, its reference {true.shape}")
            areas[row] = _areas(said, _relabelled(true, label_map, reduce_labels), num_labels, ignore_index, row)
        return Sums(areas.reshape(len(areas), -1))

    def formula(self, total: Floats, *, nan_to_num: float | None = None) -> dict[str, Any]:
        """The averages, shape (...), and each class, (..., num_labels)."""
        hits, said, true = np.moveaxis(total[..., :-1].reshape(*total.shape[:-1], 3, -1), -2, 0)
        each = {"iou": ratio(hits, said + true - hits, np.nan), "accuracy": ratio(hits, true, np.nan)}
        found = {
            **{f"mean_{key}": _mean(values) for key, values in each.items()},
            "overall_accuracy": ratio(hits.sum(-1), true.sum(-1), np.nan),
            **{f"per_category_{key}": values for key, values in each.items()},
        }
        if nan_to_num is None:
            return found
        return {key: np.nan_to_num(value, nan=nan_to_num) for key, value in found.items()}

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """Raises ValueError where no pixel counts."""
        if not state.rows.any():
            raise ValueError("nothing to compute: no pixel counts; look at ignore_index")
        return super().result(state, **options)


def _mean(each: Floats) -> Floats:
    known = ~np.isnan(each)
    return ratio(np.where(known, each, 0).sum(-1), known.sum(-1), np.nan)


def _relabelled(true: Map, label_map: Mapping[int, int] | None, reduce_labels: bool) -> Map:
    """Right labels after `label_map`, of which all look at the first labels, and `reduce_labels`."""
    if not label_map and not reduce_labels:
        return true
    labels = true.astype(np.int64)
    for old, new in (label_map or {}).items():
        labels[true == int(old)] = new
    if reduce_labels:
        labels = np.where((labels == 0) | (labels == VOID), VOID, labels - 1)
    return labels


def _areas(said: Map, true: Map, size: int, ignore: int | None, row: int) -> NDArray[np.int64]:
    """Intersection, prediction and reference of each class, (3, size). Raises ValueError for unknown right labels."""
    if ignore is not None:
        counts = true != ignore
        said, true = said[counts], true[counts]
    said, true = said.ravel(), true.ravel()
    wrong = (true < 0) | (true >= size)
    if wrong.any():
        raise ValueError(
            f"references: image {row} holds the label {int(true[wrong][0])}, but num_labels is {size}; raise it, or "
            "set ignore_index, label_map or reduce_labels"
        )
    known = said[(said >= 0) & (said < size)]
    return np.stack([np.bincount(part, minlength=size) for part in (true[said == true], known, true)])
