"""FEVER: claims verified with evidence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Records
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class Fever(Metric):
    """Whether claims are judged rightly, and for the right reasons."""

    card = Card(
        description=N_(
            "For claims that are supported, refuted or not decidable from a corpus: how often the label is right, "
            "how often it is right and one whole set of evidence was found (the FEVER score), and precision, recall "
            "and F1 of all evidence found."
        ),
        formula=(
            r"\mathrm{FEVER} = \frac{1}{n} \sum_i [\hat y_i = y_i]\,[\exists E \in \mathcal{E}_i : E \subseteq "
            r"\hat E_i \;\lor\; \mathcal{E}_i = \emptyset]"
        ),
        inputs={
            "predictions": "{label, evidence: list of texts} for each claim",
            "references": "{label, evidence_sets: list of lists of texts} for each claim; any one set suffices",
        },
        outputs=(
            Output("label_accuracy", "share of right labels", 0, 1, "higher"),
            Output("fever_score", "share of right labels with a whole set of evidence", 0, 1, "higher"),
            Output("evidence_precision", "share of the evidence found that is in a set", 0, 1, "higher"),
            Output("evidence_recall", "share of all evidence that was found", 0, 1, "higher"),
            Output("evidence_f1", "harmonic mean of both", 0, 1, "higher"),
        ),
        examples=(
            Example(
                "One of two sets is enough",
                {
                    "predictions": [{"label": "SUPPORTS", "evidence": ["E1", "E2"]}],
                    "references": [{"label": "SUPPORTS", "evidence_sets": [["E1", "E2"], ["E3"]]}],
                },
                {
                    "label_accuracy": 1.0,
                    "fever_score": 1.0,
                    "evidence_precision": 1.0,
                    "evidence_recall": 2 / 3,
                    "evidence_f1": 0.8,
                },
            ),
            Example(
                "A right label for an incomplete reason; a claim that needs no evidence",
                {
                    "predictions": [
                        {"label": "REFUTES", "evidence": ["E1"]},
                        {"label": "NOT ENOUGH INFO", "evidence": []},
                    ],
                    "references": [
                        {"label": "REFUTES", "evidence_sets": [["E1", "E2"]]},
                        {"label": "NOT ENOUGH INFO", "evidence_sets": []},
                    ],
                },
                {"label_accuracy": 1.0, "fever_score": 0.5, "evidence_precision": 1.0, "evidence_recall": 0.5},
            ),
            Example(
                "Evidence comes in lists",
                {
                    "predictions": [{"label": "SUPPORTS", "evidence": "E1"}],
                    "references": [{"label": "SUPPORTS", "evidence_sets": [["E1"]]}],
                },
                error="give a list of texts",
            ),
        ),
        limits=(
            "A claim without any set of evidence (NOT ENOUGH INFO) is right by its label alone, as in the shared "
            "task; Hugging Face evaluate scores it 0. Evidence counts over all claims together, where the shared "
            "task averages over claims and looks at the first five pieces only. Evidence is compared in lower case "
            "without surrounding white space. Precision is 0 where no evidence was predicted at all."
        ),
        citation=(
            "Thorne, Vlachos, Christodoulopoulos and Mittal, FEVER: a Large-scale Dataset for Fact Extraction and "
            "VERification, NAACL 2018."
        ),
        tasks=("fact-checking", "text-classification"),
    )
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
