"""NIST's measure of machine translation."""

from functools import partial
from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.texts.gram_counts import flattened
from dynabench.evaluate.texts.information import Corpus, Weighed, nist, nist_alone
from dynabench.evaluate.texts.tokenizers import nist as words
from dynabench.evaluate.texts.tokenizers import tokenized
from dynabench.language import N_

HYPOTHESIS = "It is a guide to action which ensures that the military always obeys the commands of the party"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


class NistMt(Metric):
    """Shared n-grams, each weighing by the information that it carries."""

    card = Card(
        description=N_(
            "The n-grams (of 1 to 5 tokens) that predictions share with references, each weighing by how rare it is in "
            "the references, so that a match of rare words counts more than one of frequent words."
        ),
        formula=(
            r"\sum_{n=1}^{N} \frac{\sum_{g \text{ shared}} \mathrm{info}(g)}{\sum_g 1} \cdot "
            r"e^{\beta \log^2 \min(1, c / r)}, \quad "
            r"\mathrm{info}(w_1 \dots w_n) = \log_2 \frac{\#(w_1 \dots w_{n-1})}{\#(w_1 \dots w_n)}"
        ),
        inputs={
            "predictions": "translation to score, a text for each example",
            "references": "right translation of each example, or a list of right ones, of which the best counts",
        },
        options={
            "n": "tokens in the longest n-gram",
            "lowercase": "True ignores case (of Western languages)",
            "western_lang": "False splits texts at white space only",
        },
        outputs=(Output("nist_mt", "NIST, in bits", 0, None, "higher"),),
        examples=(
            Example(
                "Three references",
                {"predictions": [HYPOTHESIS], "references": [REFERENCES]},
                {"nist_mt": 3.3709935957649324},
            ),
            Example(
                "One reference",
                {"predictions": [HYPOTHESIS], "references": REFERENCES[:1]},
                {"nist_mt": 2.4477124183006533},
            ),
            Example("No n-gram is possible", {"predictions": [""], "references": ["a cat"]}, {"nist_mt": 0.0}),
            Example(
                "n-grams have tokens",
                {"predictions": ["a"], "references": ["a"]},
                {},
                {"n": 0},
                error="n cannot be 0",
            ),
        ),
        limits=(
            "Has no upper end and depends on the references of the whole corpus: scores on different data cannot be "
            "compared. Scores per example use the information of all references; resamples count theirs anew, so an "
            "interval takes a minute for 10,000 examples. Orders "
            "longer than every prediction add nothing, where NLTK divides by zero."
        ),
        citation="Doddington, Automatic evaluation of machine translation quality using n-gram statistics, HLT 2002.",
        tasks=("translation",),
        references=("https://dl.acm.org/doi/10.5555/1289189.1289273",),
    )
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
