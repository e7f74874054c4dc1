"""NIST's measure of machine translation."""

from functools import partial
from typing import Any

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.texts.gram_counts import flattened
from dynabench.evaluate.texts.information import Corpus, Weighed, nist, nist_alone
from dynabench.evaluate.texts.tokenizers import nist as words
from dynabench.evaluate.texts.tokenizers import tokenized


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
    ) -> Corpus:
        """The tokens of all rows."""
        if n < 1:
            raise ValueError(f"n-grams have at least one token: n cannot be {n}")
        split = partial(words, lowercase=lowercase, western_lang=western_lang)
        texts, owners = flattened(references)
        return Corpus.of(tokenized(predictions, split), tokenized(texts, split), owners, n)

    def formula(self, total: Weighed) -> dict[str, Floats]:
        """See `information.nist`."""
        return {"nist_mt": nist(total)}

    def per_example(self, state: Corpus, **options: Any) -> dict[str, Floats]:
        """Each row by the information of the whole corpus, shape (n,)."""
        return {"nist_mt": nist_alone(state.total())}
