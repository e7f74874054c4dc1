"""WikiSplit: SARI, BLEU and exact matches of split sentences."""

import re
from string import punctuation
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.metrics.sari import INPUTS
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import bleus, simplification
from dynabench.language import N_

ARTICLES = re.compile(r"\b(a|an|the)\b")
MARKS = str.maketrans("", "", punctuation)


class WikiSplit(Metric):
    """SARI, BLEU and exact matches together."""

    card = Card(
        description=N_(
            "For long sentences split into short ones: SARI, BLEU as sacrebleu has it, and the share of predictions "
            "that equal a reference but for case, punctuation, articles (a, an, the) and white space."
        ),
        formula=r"\text{sari; sacrebleu; } \mathrm{exact} = \frac{100}{n} \sum_i \max_j [\hat y_i \equiv y_{ij}]",
        inputs=INPUTS,
        outputs=(
            Output("sari", "SARI", 0, 100, "higher"),
            Output("sacrebleu", "BLEU", 0, 100, "higher"),
            Output("exact", "exact matches in a hundred", 0, 100, "higher"),
        ),
        examples=(
            Example(
                "One reference",
                {
                    "sources": ["About 95 species are currently accepted ."],
                    "predictions": ["About 95 you now get in ."],
                    "references": [["About 95 species are currently known ."]],
                },
                {"sari": 21.805555555555557, "sacrebleu": 14.535768424205482, "exact": 0.0},
            ),
            Example(
                "The same but for an article and a comma",
                {"sources": ["It rains"], "predictions": ["The rain, it falls"], "references": ["rain it falls"]},
                {"exact": 100.0},
            ),
            Example(
                "Sources are needed",
                {"predictions": ["It rains"], "references": ["It rains"]},
                error="needs sources",
            ),
        ),
        limits="Those of sari and sacrebleu. Exact matches know English articles only.",
        citation="Botha et al., Learning to split and rephrase from Wikipedia edit history, EMNLP 2018, 732-737.",
        tasks=("text2text-generation",),
        references=("https://aclanthology.org/D18-1080",),
    )
    columns = {"sources": Texts(), "predictions": Texts(), "references": References()}

    def update(self, sources: list[str], predictions: list[str], references: list[list[str]]) -> Sums:
        """SARI, exact match and BLEU's counts of each row, shape (n, 12)."""
        exact = [_plain(said) in map(_plain, right) for said, right in zip(predictions, references, strict=True)]
        scores = np.stack([simplification.sari(sources, predictions, references), np.array(exact, float)], 1)
        return Sums(np.concatenate([scores, bleus.sacrebleu_state(predictions, references, "13a").rows], 1))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Two means, and BLEU of sums of shape (..., 13)."""
        sari, exact = (100 * total[..., place] / total[..., -1] for place in (0, 1))
        return {"sari": sari, "sacrebleu": bleus.sacrebleu(total[..., 2:])["score"], "exact": exact}


def _plain(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces: as SQuAD compares answers."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(MARKS)).split())
