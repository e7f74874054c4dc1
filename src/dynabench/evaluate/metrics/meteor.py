"""METEOR."""

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import meteors
from dynabench.evaluate.texts.gram_counts import flattened
from dynabench.evaluate.texts.meteors import Synonyms, stemmer
from dynabench.evaluate.texts.tokenizers import Tokenizer, tokenized


class Meteor(Metric):
    """Words matched by form, stem and perhaps meaning, less a penalty where their order differs."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        alpha: float = 0.9,
        beta: float = 3,
        gamma: float = 0.5,
        synonyms: Synonyms | str | None = None,
        tokenizer: str | Tokenizer | None = None,
    ) -> Sums:
        """METEOR of each row with its best reference."""
        for name, weight in (("alpha", alpha), ("gamma", gamma)):
            if not 0 <= weight <= 1:
                raise ValueError(f"{name} lies between 0 and 1, not at {weight}")
        same, stem = _synonyms(synonyms), stemmer()
        texts, owners = flattened(references)
        split = meteors.splitter() if tokenizer is None else tokenizer
        said, right = (
            [[word.lower() for word in words] for words in tokenized(column, split)] for column in (predictions, texts)
        )
        best = np.zeros(len(said))
        for row, words in zip(owners.tolist(), right, strict=True):
            best[row] = max(best[row], meteors.meteor(said[row], words, stem, same, alpha, beta, gamma))
        return Sums(best)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean of the rows."""
        return {"meteor": total[..., 0] / total[..., -1]}


def _synonyms(given: Synonyms | str | None) -> Synonyms | None:
    if given == "wordnet":
        return meteors.wordnet()
    if isinstance(given, str):
        raise ValueError(f"no synonyms {given!r}; give wordnet, a function from a word to its synonyms, or None")
    return given
