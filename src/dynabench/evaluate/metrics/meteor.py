"""METEOR."""

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import meteors
from dynabench.evaluate.texts.meteors import Synonyms, porter_stemmer
from dynabench.evaluate.texts.ngram_counts import flatten_references
from dynabench.evaluate.texts.tokenizers import Tokenizer, tokenize_all


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
        same, stem = _synonyms(synonyms), porter_stemmer()
        texts, owners = flatten_references(references)
        split = meteors.treebank_splitter() if tokenizer is None else tokenizer
        predicted, right = (
            [[word.lower() for word in words] for words in tokenize_all(column, split)]
            for column in (predictions, texts)
        )
        best = np.zeros(len(predicted))
        for row, words in zip(owners.tolist(), right, strict=True):
            best[row] = max(best[row], meteors.meteor_score(predicted[row], words, stem, same, alpha, beta, gamma))
        return Sums(best)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean of the rows."""
        return {"meteor": total[..., 0] / total[..., -1]}


def _synonyms(synonyms: Synonyms | str | None) -> Synonyms | None:
    if synonyms == "wordnet":
        return meteors.wordnet_synonyms()
    if isinstance(synonyms, str):
        raise ValueError(f"no synonyms {synonyms!r}; give wordnet, a function from a word to its synonyms, or None")
    return synonyms
