"""CharCut."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.charcut import cost
from dynabench.language import N_


class CharcutMt(Metric):
    """Characters that differ or moved, after finding long common pieces."""

    card = Card(
        description=N_(
            "The share of characters that two texts do not have in common: the longest common pieces are matched "
            "first, pieces of fewer than three characters count only at both beginnings or ends, and what moved "
            "counts once, unless it moved far."
        ),
        formula=r"\mathrm{CharCut} = \frac{\sum_i (\text{deleted}_i + \text{inserted}_i + \text{moved}_i)}"
        r"{\sum_i (|\hat y_i| + |y_i|)}",
        inputs={"predictions": "translations", "references": "right translation of each"},
        outputs=(Output("charcut_mt", "share of characters that differ or moved", 0, 1, "lower"),),
        examples=(
            Example(
                "Two translations",
                {
                    "predictions": [
                        "this week the saudis denied information published in the new york times",
                        "this is in fact an estimate",
                    ],
                    "references": [
                        "saudi arabia denied this week information published in the american new york times",
                        "this is actually an estimate",
                    ],
                },
                {"charcut_mt": 0.1971153846153846},
            ),
            Example("Nothing in common", {"predictions": ["abc"], "references": ["xyz"]}, {"charcut_mt": 1.0}),
            Example("Two empty texts are equal", {"predictions": [""], "references": [" "]}, {"charcut_mt": 0.0}),
            Example(
                "One reference for each",
                {"predictions": ["a"], "references": [["a", "b"]]},
                error="row 0 is ['a', 'b'], not a text",
            ),
        ),
        limits=(
            "Made to mark differences for human eyes; it knows no synonyms and punishes free translation. Long texts "
            "weigh more than short ones. White space at the ends does not count."
        ),
        citation=(
            "Lardilleux and Lepage, CHARCUT: Human-Targeted Character-Based MT Evaluation with Loose Differences, "
            "IWSLT 2017, 146-153."
        ),
        tasks=("translation",),
    )
    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Cost and length of each row."""
        pairs = [(said.strip(), true.strip()) for said, true in zip(predictions, references, strict=True)]
        return Sums(np.array([(cost(*pair), sum(map(len, pair))) for pair in pairs], np.int64).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Costs / lengths."""
        return {"charcut_mt": ratio(total[..., 0], total[..., 1])}
