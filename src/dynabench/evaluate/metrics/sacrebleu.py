"""BLEU as the sacrebleu library computes it."""

from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import bleus
from dynabench.evaluate.texts.tokenizers import Tokenizer


class Sacrebleu(bleus.CorpusBleu):
    """BLEU whose tokens are fixed, so that scores of different papers can be compared."""

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
