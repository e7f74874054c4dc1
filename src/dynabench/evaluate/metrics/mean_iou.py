"""Mean intersection over union of segmentation maps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Column, Floats, listed
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.language import N_

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

    card = Card(
        description=N_(
            "Of each class the pixels that are right, divided by those that are of the class or predicted to be "
            "(intersection over union), added up over all images and averaged over classes; with the share of each "
            "class's pixels that were found."
        ),
        formula=r"IoU_c = \frac{|\hat A_c \cap A_c|}{|\hat A_c \cup A_c|},\quad mIoU = \text{mean over classes}",
        inputs={
            "predictions": "predicted map of each image, (height, width); images may differ in size",
            "references": "right map of each image, of the same size",
        },
        options={
            "num_labels": "number of classes, 0 to num_labels - 1; has to be given",
            "ignore_index": "right label of pixels that do not count, such as 255",
            "nan_to_num": "number in place of what is undefined; None leaves it out",
            "label_map": "new label for some right labels, {old: new}",
            "reduce_labels": "True takes 1 from right labels, and makes the background 0 into 255",
        },
        outputs=(
            Output("mean_iou", "mean of per_category_iou", 0, 1, "higher"),
            Output("mean_accuracy", "mean of per_category_accuracy", 0, 1, "higher"),
            Output("overall_accuracy", "share of right pixels", 0, 1, "higher"),
            Output("per_category_iou", "of each class, None where it is nowhere", 0, 1, "higher"),
            Output("per_category_accuracy", "share of each class's pixels that were found", 0, 1, "higher"),
        ),
        examples=(
            Example(
                "Two images of different sizes, with pixels that do not count",
                {
                    "predictions": [[[0, 1], [1, 1]], [[0, 0, 1]]],
                    "references": [[[0, 1], [0, 255]], [[0, 0, 0]]],
                },
                {
                    "mean_iou": 7 / 15,
                    "mean_accuracy": 0.8,
                    "overall_accuracy": 2 / 3,
                    "per_category_iou": [0.6, 1 / 3],
                    "per_category_accuracy": [0.6, 1],
                },
                {"num_labels": 2, "ignore_index": 255},
            ),
            Example(
                "A class that is nowhere has no value",
                {"predictions": [[[0, 0]]], "references": [[[0, 0]]]},
                {"mean_iou": 1, "per_category_iou": [1, None]},
                {"num_labels": 2},
            ),
            Example(
                "A label beyond the number of classes",
                {"predictions": [[[0]]], "references": [[[7]]]},
                error="image 0 holds the label 7",
                options={"num_labels": 2},
            ),
        ),
        limits=(
            "Areas are added up over images before they are divided, so large objects decide; the mean over images is "
            "another figure (see scores per example). A class that is nowhere is left out of the means. A predicted "
            "label outside the classes counts as wrong, and for no class. Nothing is said of boundaries."
        ),
        citation="Everingham et al., The Pascal Visual Object Classes (VOC) Challenge, International Journal of "
        "Computer Vision 88 (2010) 303-338; Long et al., Fully Convolutional Networks, CVPR 2015.",
        tasks=("image-segmentation",),
    )
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
