"""WikiSplit: SARI, BLEU and exact matches of split sentences."""

import re
from string import punctuation
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import bleus, simplification

ARTICLES = re.compile(r"\b(a|an|the)\b")
MARKS = str.maketrans("", "", punctuation)


class WikiSplit(Metric):
    """SARI, BLEU and exact matches together."""

    columns = {"sources": Texts(), "predictions": Texts(), "references": References()}

    def update(self, sources: list[str], predictions: list[str], references: list[list[str]]) -> Sums:
        """SARI, exact match and BLEU's counts of each row, shape (n, 12)."""
        exact = [
            _plain(predicted) in map(_plain, right) for predicted, right in zip(predictions, references, strict=True)
        ]
        scores = np.stack([simplification.sari_scores(sources, predictions, references), np.array(exact, float)], 1)
        return Sums(np.concatenate([scores, bleus.sacrebleu_state(predictions, references, "13a").rows], 1))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Two means, and BLEU of sums of shape (..., 13)."""
        sari, exact = (100 * total[..., place] / total[..., -1] for place in (0, 1))
        return {"sari": sari, "sacrebleu": bleus.sacrebleu_scores(total[..., 2:])["score"], "exact": exact}


def _plain(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces: as SQuAD compares answers."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(MARKS)).split())
