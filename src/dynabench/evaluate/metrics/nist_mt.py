"""NIST's measure of machine translation."""

from functools import partial
from typing import Any

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.texts.ngram_counts import flatten_references
from dynabench.evaluate.texts.nist_information import NistCorpus, WeightedCorpus, nist_row_scores, nist_score
from dynabench.evaluate.texts.tokenizers import nist_tokens as words
from dynabench.evaluate.texts.tokenizers import tokenize_all


class NistMt(Metric):
    """Shared n-grams, each weighing by the information that it carries."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        n: int = 5,
        lowercase: bool = False,
        western_lang: bool = True,
    ) -> NistCorpus:
        """The tokens of all rows."""
        if n < 1:
            raise ValueError(f"n-grams have at least one token: n cannot be {n}")
        split = partial(words, lowercase=lowercase, western_lang=western_lang)
        texts, owners = flatten_references(references)
        return NistCorpus.of(tokenize_all(predictions, split), tokenize_all(texts, split), owners, n)

    def formula(self, total: WeightedCorpus) -> dict[str, Floats]:
        """See `nist_score`."""
        return {"nist_mt": nist_score(total)}

    def per_example(self, state: NistCorpus, **options: Any) -> dict[str, Floats]:
        """Each row by the information of the whole corpus, shape (n,)."""
        return {"nist_mt": nist_row_scores(state.total())}
