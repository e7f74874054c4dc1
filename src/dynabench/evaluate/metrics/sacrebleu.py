"""BLEU as the sacrebleu library computes it."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import bleus
from dynabench.evaluate.texts.tokenizers import Tokenizer
from dynabench.language import N_

OUTPUTS = (
    Output("score", "BLEU", 0, 100, "higher"),
    Output("counts", "n-grams that are found, for each order", 0),
    Output("totals", "n-grams of the predictions, for each order", 0),
    Output("precisions", "share of n-grams that are found, for each order, smoothed", 0, None, "higher"),
    Output("bp", "penalty for short predictions", 0, 1, "higher"),
    Output("sys_len", "tokens of the predictions", 0),
    Output("ref_len", "tokens of the references closest in length", 0),
)
SMOOTHING = {
    "smooth_method": "exp, floor, add-k or none: what stands for an order without a match",
    "smooth_value": "floor's numerator (0.1) or add-k's k (1)",
    "use_effective_order": "True leaves out orders longer than the predictions, as fits single sentences",
}


class Sacrebleu(bleus.CorpusBleu):
    """BLEU whose tokens are fixed, so that scores of different papers can be compared."""

    card = Card(
        description=N_(
            "BLEU with the tokenisation, reference lengths and smoothing of the sacrebleu library, which make scores "
            "comparable between papers: the official figure of WMT, from texts that are not tokenised."
        ),
        formula=(
            r"100 \min(1, e^{1 - r / c}) \Bigl(\prod_{n=1}^{4} p_n\Bigr)^{1/4}, \quad p_n \text{ as in bleu, and for "
            r"the } k\text{-th order without a match } 2^{-k} / \textstyle\sum_g c(g) \text{ (exp)}"
        ),
        inputs={
            "predictions": "translation to score, a text for each example, not tokenised",
            "references": "right translation of each example, or a list of right ones, perhaps not equally many",
        },
        options={
            **SMOOTHING,
            "tokenize": "13a (by default), none, char, intl, zh, ja-mecab, ko-mecab, or a function",
            "lowercase": "True ignores case",
            "force": "of no effect: it silences a warning of sacrebleu about tokenised texts, which is not given here",
        },
        outputs=OUTPUTS,
        examples=(
            Example(
                "One translation is right, one is not",
                {
                    "predictions": ["hello there general kenobi", "on our way to ankh morpork"],
                    "references": [
                        ["hello there general kenobi", "hello there !"],
                        ["goodbye ankh morpork", "ankh morpork"],
                    ],
                },
                {"score": 39.76353643835252, "counts": [6, 4, 2, 1], "totals": [10, 8, 6, 4], "ref_len": 7},
            ),
            Example(
                "No pair of words is right: smoothed, the score is not 0",
                {"predictions": ["a b c d"], "references": ["d c b a"]},
                {"score": 100 * (1 / 6 * 1 / 8 * 1 / 8) ** 0.25, "precisions": [100, 100 / 6, 12.5, 12.5]},
            ),
            Example(
                "A short sentence that is right",
                {"predictions": ["thank you"], "references": ["thank you"]},
                {"score": 100.0, "totals": [2, 1, 0, 0]},
                {"use_effective_order": True},
            ),
            Example(
                "A tokeniser that would have to be downloaded",
                {"predictions": ["a b c d"], "references": ["d c b a"]},
                {},
                {"tokenize": "flores200"},
                error="use spbleu",
            ),
        ),
        limits=(
            "Blind to synonyms and meaning; meant for corpora: scores per example use the same options, so choose "
            "use_effective_order for them. Always report the options with the score. Where sacrebleu wants equally "
            "many references for each example, this does not."
        ),
        citation="Post, A call for clarity in reporting BLEU scores, WMT 2018, 186-191.",
        tasks=("translation", "text2text-generation"),
        references=("https://github.com/mjpost/sacrebleu", "https://aclanthology.org/W18-6319"),
    )

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenize: str | Tokenizer | None = None,
        lowercase: bool = False,
        force: bool = False,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`."""
        return bleus.sacrebleu_state(predictions, references, tokenize or "13a", lowercase)
