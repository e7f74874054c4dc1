"""F1 of labelled spans, such as the names in a text."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.labelled_spans import Span, SpanLists, hits
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, undefined
from dynabench.evaluate.states import Sums
from dynabench.language import N_

# Columns of the state: what `hits` counts, then predicted and right spans.
STRICT, EXACT, PARTIAL, TYPE, SAID, RIGHT = range(6)
ADA = {"start": 0, "end": 12, "label": "person"}  # Ada Lovelace, in "Ada Lovelace was born in London."
LONDON = {"start": 25, "end": 31, "label": "place"}


class LabelledSpansF1(Metric):
    """Precision, recall and F1 of spans with labels, by place and label, by place alone, and with credit for parts."""

    card = Card(
        description=N_(
            "Compares spans with labels, such as the names in a text with their kinds. A predicted span is right if "
            "its start, its end and its label are (strict, the entity-level F1 of CoNLL); beside it stand the F1 of "
            "places whatever the label (exact), of places where an overlap is worth a half (partial), and of labels "
            "where spans overlap (type)."
        ),
        formula=r"P = \frac{\mathrm{hits}}{|\hat S|},\; R = \frac{\mathrm{hits}}{|S|},\; F_1 = \frac{2PR}{P+R} = "
        r"\frac{2\,\mathrm{hits}}{|\hat S| + |S|}, \text{ of counts summed over the examples}",
        inputs={
            "predictions": "predicted spans of each example, a list of {start, end, label}, perhaps empty",
            "references": "right spans of each example, in the same way",
        },
        options={
            "zero_division": "value where nothing is predicted, or nothing is there to find: 0 (also 'warn') or 1"
        },
        outputs=(
            Output("f1", "F1 of spans with place and label", 0, 1, "higher"),
            Output("precision", "share of predicted spans that are right in place and label", 0, 1, "higher"),
            Output("recall", "share of right spans that were found, with their labels", 0, 1, "higher"),
            Output("exact_f1", "F1 of places, whatever the label", 0, 1, "higher"),
            Output("partial_f1", "F1 of places, an overlap worth a half, whatever the label", 0, 1, "higher"),
            Output("type_f1", "F1 of labels of spans that overlap", 0, 1, "higher"),
            Output("number", "right spans", 0),
        ),
        examples=(
            Example(
                "One name right, one too short",
                {"predictions": [[ADA, {"start": 25, "end": 29, "label": "place"}]], "references": [[ADA, LONDON]]},
                {"f1": 0.5, "precision": 0.5, "recall": 0.5, "exact_f1": 0.5, "partial_f1": 0.75, "type_f1": 1.0},
            ),
            Example(
                "The right place under a wrong label, and one name missed",
                {"predictions": [[{"start": 25, "end": 31, "label": "person"}]], "references": [[ADA, LONDON]]},
                {"f1": 0.0, "exact_f1": 2 / 3, "partial_f1": 2 / 3, "type_f1": 0.0, "number": 2},
            ),
            Example(
                "Rightly nothing",
                {"predictions": [[]], "references": [[]]},
                {"f1": 1.0, "precision": 1.0, "recall": 1.0},
                {"zero_division": 1},
            ),
            Example(
                "A span ends after it starts",
                {"predictions": [[{"start": 4, "end": 4, "label": "place"}]], "references": [[]]},
                error="ends after it starts",
            ),
        ),
        limits=(
            "Counts are summed over all examples, so that an example with many spans weighs more; one without any on "
            "either side counts for nothing. Offsets must count the same text in the same way. Each span is paired "
            "with one other at most, for each figure in the way that is best for it; the library nervaluate pairs a "
            "right span with every prediction that overlaps it, and so differs where several do."
        ),
        citation=(
            "Tjong Kim Sang and De Meulder, Introduction to the CoNLL-2003 Shared Task, CoNLL 2003; Segura-Bedmar, "
            "Martínez and Herrero-Zazo, SemEval-2013 Task 9, *SEM 2013, section 4."
        ),
        tasks=("token-classification",),
        references=("https://aclanthology.org/W03-0419", "https://aclanthology.org/S13-2056"),
    )
    columns = {"predictions": SpanLists(), "references": SpanLists()}

    def update(self, predictions: list[list[Span]], references: list[list[Span]]) -> Sums:
        """The six counts of each example."""
        rows = [
            (*hits(said, right), len(said), len(right)) for said, right in zip(predictions, references, strict=True)
        ]
        return Sums(np.array(rows, float).reshape(-1, 6))

    def formula(self, total: Floats, *, zero_division: Any = "warn") -> dict[str, Floats]:
        """Precision, recall and F1 of counts of shape (..., 7), the last of them that of examples."""
        default, said, right = undefined(zero_division), total[..., SAID], total[..., RIGHT]
        scores = {
            name: ratio(2 * total[..., kind], said + right, default)
            for name, kind in (("f1", STRICT), ("exact_f1", EXACT), ("partial_f1", PARTIAL), ("type_f1", TYPE))
        }
        return {
            "f1": scores.pop("f1"),
            "precision": ratio(total[..., STRICT], said, default),
            "recall": ratio(total[..., STRICT], right, default),
            **scores,
        }

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """The scores and the number of right spans."""
        return {**super().result(state, **options), "number": int(state.rows[:, RIGHT].sum())}
