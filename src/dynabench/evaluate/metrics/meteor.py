"""METEOR."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import meteors
from dynabench.evaluate.texts.gram_counts import flattened
from dynabench.evaluate.texts.meteors import Synonyms, stemmer
from dynabench.evaluate.texts.tokenizers import Tokenizer, tokenized
from dynabench.language import N_

GUIDE = {
    "predictions": ["It is a guide to action which ensures that the military always obeys the commands of the party"],
    "references": ["It is a guide to action that ensures that the military will forever heed Party commands"],
}


class Meteor(Metric):
    """Words matched by form, stem and perhaps meaning, less a penalty where their order differs."""

    card = Card(
        description=N_(
            "Matches each word of a prediction with a word of its reference that is equal, has the same stem or, if "
            "synonyms are given, the same meaning; scores precision and recall of the matches, less a penalty for "
            "matches that are not next to each other in both. The mean over examples."
        ),
        formula=(
            r"\frac{P R}{\alpha P + (1 - \alpha) R} \Bigl(1 - \gamma \bigl(\tfrac{\text{chunks}}{\text{matches}}\bigr)"
            r"^{\beta}\Bigr)"
        ),
        inputs={
            "predictions": "translation to score, a text for each example",
            "references": "right translation of each example, or a list of right ones, of which the best counts",
        },
        options={
            "alpha": "weight of recall against precision, between 0 and 1",
            "beta": "power of the penalty",
            "gamma": "weight of the penalty, between 0 and 1",
            "synonyms": "a function from a word to its synonyms, wordnet (where NLTK has it installed), or None",
            "tokenizer": "a function from a text to its words, or the name of one of bleu's; NLTK's words by default",
        },
        outputs=(Output("meteor", "METEOR", 0, 1, "higher"),),
        examples=(
            Example("One sentence", GUIDE, {"meteor": 0.6944444444444445}),
            Example(
                "The same words in another order: each is a chunk of its own",
                {"predictions": ["c b a"], "references": ["a b c"]},
                {"meteor": 0.5},
            ),
            Example(
                "Equal stems",
                {"predictions": ["cats jumped"], "references": ["cat jumps"]},
                {"meteor": 1 - 0.5 / 8},
            ),
            Example("Weights have bounds", GUIDE, {}, {"alpha": 2}, error="alpha lies between 0 and 1"),
        ),
        limits=(
            "Without `synonyms` the stage of WordNet is left out, of which the data is not shipped: scores are then a "
            "little lower than those of NLTK, which has it always, wherever a prediction uses another word of the "
            "same meaning; give synonyms='wordnet' for the same figures. Ends of sentences are found without NLTK's "
            "data of English abbreviations, so words around one (Mr. Smith) may be cut otherwise. Stems are English."
        ),
        citation="Banerjee and Lavie, METEOR, ACL Workshop on Intrinsic and Extrinsic Evaluation Measures 2005, 65-72.",
        tasks=("translation", "text2text-generation", "image-to-text"),
        needs=("metrics",),
        references=("https://aclanthology.org/W05-0909", "https://aclanthology.org/W07-0734"),
    )
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
