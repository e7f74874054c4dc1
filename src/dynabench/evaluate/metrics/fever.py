"""FEVER: claims verified with evidence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Records
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class Fever(Metric):
    """Whether claims are judged rightly, and for the right reasons."""

    columns = {"predictions": Records(("label", "evidence")), "references": Records(("label", "evidence_sets"))}

    def update(self, predictions: list[dict[str, Any]], references: list[dict[str, Any]]) -> Sums:
        """Label right, evidence right too, and numbers of shared, predicted and true pieces of evidence."""
        rows = []
        for row, (said, true) in enumerate(zip(predictions, references, strict=True)):
            found = _pieces(said["evidence"], f"predictions: row {row}")
            sets = [_pieces(one, f"references: row {row}") for one in _listed(true["evidence_sets"], row)]
            everything = frozenset().union(*sets)
            right = said["label"] == true["label"]
            whole = not sets or any(one <= found for one in sets)
            rows.append((right, right and whole, len(found & everything), len(found), len(everything)))
        return Sums(np.array(rows, np.int64).reshape(-1, 5))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Means over claims, and micro-averaged precision, recall and F1 of evidence."""
        label, score, shared, found, true, n = np.moveaxis(total, -1, 0)
        return {
            "label_accuracy": ratio(label, n),
            "fever_score": ratio(score, n),
            "evidence_precision": ratio(shared, found),
            "evidence_recall": ratio(shared, true),
            "evidence_f1": ratio(2 * shared, found + true),
        }


def _listed(given: Any, row: int) -> Sequence[Any]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(f"references: row {row} has {given!r} for evidence_sets; give a list of lists of texts")
    return list(given)


def _pieces(given: Any, where: str) -> frozenset[str]:
    whole = isinstance(given, Sequence | np.ndarray | set | frozenset) and not isinstance(given, str)
    if not whole or not all(isinstance(piece, str) for piece in given):
        raise ValueError(f"{where} has {given!r} for evidence; give a list of texts")
    return frozenset(piece.strip().lower() for piece in given)
