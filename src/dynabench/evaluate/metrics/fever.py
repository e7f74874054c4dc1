"""FEVER: claims verified with evidence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Records
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio


class Fever(Metric):
    """Share of claims that are judged rightly, and with the right evidence."""

    columns = {"predictions": Records(("label", "evidence")), "references": Records(("label", "evidence_sets"))}

    def update(self, predictions: list[dict[str, Any]], references: list[dict[str, Any]]) -> Sums:
        """Label right, evidence right too, and numbers of shared, predicted and true pieces of evidence."""
        rows = []
        for row, (prediction, true) in enumerate(zip(predictions, references, strict=True)):
            evidence = _evidence(prediction["evidence"], f"predictions: row {row}")
            sets = [
                _evidence(evidence_set, f"references: row {row}")
                for evidence_set in _evidence_sets(true["evidence_sets"], row)
            ]
            everything = frozenset().union(*sets)
            right = prediction["label"] == true["label"]
            whole = not sets or any(evidence_set <= evidence for evidence_set in sets)
            rows.append((right, right and whole, len(evidence & everything), len(evidence), len(everything)))
        return Sums(np.array(rows, np.int64).reshape(-1, 5))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Means over claims, and micro-averaged precision, recall and F1 of evidence."""
        label, score, shared, predicted, true, n = np.moveaxis(total, -1, 0)
        return {
            "label_accuracy": ratio(label, n),
            "fever_score": ratio(score, n),
            "evidence_precision": ratio(shared, predicted),
            "evidence_recall": ratio(shared, true),
            "evidence_f1": ratio(2 * shared, predicted + true),
        }


def _evidence_sets(sets: Any, row: int) -> Sequence[Any]:
    if isinstance(sets, str | Mapping) or not isinstance(sets, Sequence | np.ndarray):
        raise ValueError(f"references: row {row} has {sets!r} for evidence_sets; give a list of lists of texts")
    return list(sets)


def _evidence(evidence: Any, where: str) -> frozenset[str]:
    whole = isinstance(evidence, Sequence | np.ndarray | set | frozenset) and not isinstance(evidence, str)
    if not whole or not all(isinstance(piece, str) for piece in evidence):
        raise ValueError(f"{where} has {evidence!r} for evidence; give a list of texts")
    return frozenset(piece.strip().lower() for piece in evidence)
