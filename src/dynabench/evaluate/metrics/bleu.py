"""BLEU."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.bleus import bleu_state, brevity, geometric_mean, parts
from dynabench.evaluate.texts.tokenizers import Tokenizer
from dynabench.language import N_


class Bleu(Metric):
    """How many n-grams of the predictions are in their references, with a penalty for short predictions."""

    card = Card(
        description=N_(
            "The geometric mean of the shares of the predictions' n-grams (of 1 to 4 tokens) that are found in their "
            "references, over the whole corpus, times a penalty where the predictions are shorter than the references."
        ),
        formula=(
            r"\mathrm{BLEU} = \min(1, e^{1 - r / c}) \Bigl(\prod_{n=1}^{N} p_n\Bigr)^{1/N}, \quad "
            r"p_n = \frac{\sum_i \sum_g \min(c_i(g), \max_j r_{ij}(g))}{\sum_i \sum_g c_i(g)}"
        ),
        inputs={
            "predictions": "translation to score, a text for each example",
            "references": "right translation of each example, or a list of several right ones",
        },
        options={
            "tokenizer": "13a (of WMT), none (white space), char, intl, zh, or a function from a text to its tokens",
            "max_order": "tokens in the longest n-gram",
            "smooth": "True adds 1 to the n-grams found and to all n-grams of each order (Lin and Och 2004)",
        },
        outputs=(
            Output("bleu", "BLEU", 0, 1, "higher"),
            Output("precisions", "share of n-grams that are found, for each order", 0, 1, "higher"),
            Output("brevity_penalty", "penalty for short predictions", 0, 1, "higher"),
            Output("length_ratio", "tokens of the predictions / tokens of the shortest references", 0),
            Output("translation_length", "tokens of the predictions", 0),
            Output("reference_length", "tokens of the shortest reference of each example", 0),
        ),
        examples=(
            Example(
                "Both translations are among their references",
                {
                    "predictions": ["hello there general kenobi", "foo bar foobar"],
                    "references": [["hello there general kenobi", "hello there!"], ["foo bar foobar"]],
                },
                {"bleu": 1.0, "precisions": [1, 1, 1, 1], "translation_length": 7, "reference_length": 6},
            ),
            Example(
                "One word less than the reference, single words and pairs",
                {"predictions": ["the cat sat on the"], "references": ["the cat sat on the mat"]},
                {"bleu": 0.8187307530779819, "length_ratio": 5 / 6},
                {"max_order": 2},
            ),
            Example(
                "No four words in a row are right: the score is 0, whatever the words",
                {"predictions": ["a cat is here"], "references": ["here is a cat"]},
                {"bleu": 0.0, "precisions": [1.0, 1 / 3, 0.0, 0.0]},
            ),
            Example(
                "An example without a reference",
                {"predictions": ["a cat"], "references": [[]]},
                error="give a text or a list of at least one text",
            ),
        ),
        limits=(
            "Depends on the tokeniser: compare only scores with the same one (sacrebleu fixes it). Blind to synonyms "
            "and to meaning; a measure of corpora, weak for single sentences. Takes the shortest reference's length "
            "and smooths single words too, unlike sacrebleu, so the two differ; 0 where an order has no match."
        ),
        citation="Papineni et al., BLEU: a method for automatic evaluation of machine translation, ACL 2002, 311-318.",
        tasks=("translation", "text2text-generation"),
        references=("https://aclanthology.org/P02-1040", "https://aclanthology.org/C04-1072"),
    )
    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenizer: str | Tokenizer = "13a",
        max_order: int = 4,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`."""
        return bleu_state(predictions, references, tokenizer, max_order, closest=False)

    def formula(self, total: Floats, *, smooth: bool = False) -> dict[str, Any]:
        """BLEU of sums of shape (..., 2 + 2 N + 1)."""
        said, right, hits, grams = parts(total)
        shares = ratio(hits + smooth, grams + smooth)
        penalty = brevity(said, right) * ((said > 0) & (right > 0))
        return {
            "bleu": penalty * geometric_mean(shares, np.full(said.shape, shares.shape[-1])),
            "precisions": shares,
            "brevity_penalty": penalty,
            "length_ratio": ratio(said, right),
            "translation_length": said.astype(np.int64),
            "reference_length": right.astype(np.int64),
        }
