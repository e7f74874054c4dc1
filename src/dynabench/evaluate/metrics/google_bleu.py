"""Google BLEU (GLEU)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.gram_counts import best, encoded, flattened, in_blocks, overlaps, possible
from dynabench.evaluate.texts.tokenizers import Tokenizer, tokenized
from dynabench.language import N_

DUCKS = {
    "predictions": [
        "It is a guide to action which ensures that the rubber duck always disobeys the commands of the cat",
        "he read the book because he was interested in world history",
    ],
    "references": [
        [
            "It is the guiding principle which guarantees the rubber duck forces never being under the command "
            "of the cat"
        ],
        ["he was interested in world history because he read the book"],
    ],
}


class GoogleBleu(Metric):
    """The smaller of precision and recall of n-grams, made for single sentences."""

    card = Card(
        description=N_(
            "The n-grams (of 1 to 4 tokens) that predictions share with references, as a share of all n-grams of the "
            "prediction or of the reference, whichever are more: the smaller of precision and recall. Made to reward "
            "single sentences, where BLEU is often 0."
        ),
        formula=r"\frac{\sum_i m_{i j(i)}}{\sum_i \max(c_i, r_{i j(i)})}, \quad j(i): \text{ the best reference of } i",
        inputs={
            "predictions": "translation to score, a text for each example",
            "references": "right translation of each example, or a list of right ones, of which the best counts",
        },
        options={
            "tokenizer": "13a (of WMT), none (white space), char, intl, zh, or a function from a text to its tokens",
            "min_len": "tokens in the shortest n-gram",
            "max_len": "tokens in the longest n-gram",
        },
        outputs=(Output("google_bleu", "GLEU", 0, 1, "higher"),),
        examples=(
            Example("Two sentences", DUCKS, {"google_bleu": 47 / 108}),
            Example("Without single words", DUCKS, {"google_bleu": 1 / 3}, {"min_len": 2}),
            Example("Nothing was said", {"predictions": [""], "references": ["a cat"]}, {"google_bleu": 0.0}),
            Example("No length is left", DUCKS, {}, {"min_len": 5}, error="min_len=5"),
        ),
        limits=(
            "Blind to synonyms and meaning, and dependent on the tokeniser. Two empty texts have no n-grams and count "
            "nothing; a corpus of them scores 0."
        ),
        citation="Wu et al., Google's neural machine translation system, arXiv:1609.08144 (2016), section 5.2.",
        tasks=("translation", "text2text-generation"),
        references=("https://arxiv.org/abs/1609.08144",),
    )
    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenizer: str | Tokenizer = "13a",
        min_len: int = 1,
        max_len: int = 4,
    ) -> Sums:
        """Shared n-grams and the more of both sides' n-grams, shape (n, 2)."""
        if not 1 <= min_len <= max_len:
            raise ValueError(f"min_len={min_len} and max_len={max_len} leave no n-grams to compare")
        return Sums(in_blocks(partial(_rows, of=tokenizer, low=min_len, high=max_len), predictions, references))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The ratio of sums of shape (..., 3)."""
        return {"google_bleu": ratio(total[..., 0], total[..., 1])}


def _rows(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, of: str | Tokenizer, low: int, high: int
) -> Ints:
    n = len(predictions)
    texts, owners = flattened(references)
    tokens = tokenized([*predictions, *texts], of)
    pairs = np.arange(len(texts))
    said, right = encoded(([tokens[place] for place in owners.tolist()], pairs), (tokens[n:], pairs))
    shared = overlaps(said, right, len(texts), high)[:, low - 1 :].sum(1)
    most = np.maximum(*(possible(one.lengths, high)[:, low - 1 :].sum(1) for one in (said, right)))
    found: Ints = np.stack([shared, most], 1)[best(ratio(shared, most, -1.0), owners, n)]
    return found
