"""Translation edit rate."""

from collections.abc import Sequence

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.gram_counts import flattened
from dynabench.evaluate.texts.shifts import edits
from dynabench.evaluate.texts.tokenizers import tercom, tokenized
from dynabench.language import N_

JOKES = {
    "predictions": [
        "does this sentence match??",
        "what about this sentence?",
        "What did the TER metric user say to the developer?",
    ],
    "references": [
        ["does this sentence match", "does this sentence match!?!"],
        ["wHaT aBoUt ThIs SeNtEnCe?", "wHaT aBoUt ThIs SeNtEnCe?"],
        ["Your jokes are...", "...TERrible"],
    ],
}


class Ter(Metric):
    """How many edits turn the predictions into their references, moving a block of words being one."""

    card = Card(
        description=N_(
            "The edits (a word put in, left out or replaced, a block of words moved) that turn predictions into their "
            "nearest references, for each hundred words of the references."
        ),
        formula=r"100 \frac{\sum_i \min_j \mathrm{edits}(\hat y_i, y_{ij})}{\sum_i \frac{1}{J_i} \sum_j |y_{ij}|}",
        inputs={
            "predictions": "translation to score, a text for each example",
            "references": "right translation of each example, or a list of right ones, of which the nearest counts",
        },
        options={
            "normalized": "True separates marks from words, as mteval does",
            "ignore_punct": "True drops . , ? : ; ! quotation marks and brackets",
            "support_zh_ja_chars": "True also treats Chinese and Japanese characters and marks so",
            "case_sensitive": "True tells lower from upper case",
        },
        outputs=(
            Output("score", "edits for a hundred words of the references", 0, None, "lower"),
            Output("num_edits", "edits", 0, None, "lower"),
            Output("ref_length", "words of the references, of several their mean", 0),
        ),
        examples=(
            Example(
                "Nothing fits, case matters",
                JOKES,
                {"score": 150.0, "num_edits": 15, "ref_length": 10.0},
                {"case_sensitive": True},
            ),
            Example(
                "Without marks and case the first two are right",
                JOKES,
                {"score": 100.0, "num_edits": 10, "ref_length": 10.0},
                {"ignore_punct": True},
            ),
            Example(
                "Three words move at once",
                {"predictions": ["on the mat the cat sat"], "references": ["the cat sat on the mat"]},
                {"score": 100 / 6, "num_edits": 1},
            ),
            Example("Something for nothing", {"predictions": ["a cat"], "references": [""]}, {"score": 100.0}),
            Example("A reference that is no text", {"predictions": ["a"], "references": [1]}, error="row 0 is 1"),
        ),
        limits=(
            "Can exceed 100. The search for moves is greedy, so a smaller number of edits may exist, and slow for long "
            "texts: two of a hundred words that differ much take about half a second. Where all references are empty "
            "the score is 100, or 0 if the predictions are empty too."
        ),
        citation="Snover et al., A study of translation edit rate with targeted human annotation, AMTA 2006, 223-231.",
        tasks=("translation", "text2text-generation"),
        references=("https://aclanthology.org/2006.amta-papers.25", "https://github.com/mjpost/sacrebleu"),
    )
    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
    ) -> Sums:
        """Edits to the nearest reference and mean length of the references, shape (n, 2)."""
        texts, owners = flattened(references)
        split = tercom(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
        said, right = tokenized(predictions, split), tokenized(texts, split)
        return Sums(_rows(said, right, owners.tolist()))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The rate of sums of shape (..., 3)."""
        number, length = total[..., 0], total[..., 1]
        rate = np.where(length > 0, ratio(number, length), number > 0)
        return {"score": 100 * rate, "num_edits": number.astype(np.int64), "ref_length": length}


def _rows(said: Sequence[Sequence[str]], right: Sequence[Sequence[str]], owners: Sequence[int]) -> Floats:
    fewest = np.full(len(said), np.inf)
    lengths, sizes = np.zeros(len(said)), np.zeros(len(said))
    for row, words in zip(owners, right, strict=True):
        fewest[row] = min(fewest[row], edits(said[row], words))
        lengths[row] += len(words)
        sizes[row] += 1
    return np.stack([fewest, lengths / sizes], 1)
