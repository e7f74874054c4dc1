"""SARI."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import simplification
from dynabench.language import N_

INPUTS = {
    "sources": "text before simplification, one for each example",
    "predictions": "simplified text, one for each example",
    "references": "right simplification of each example, or a list of several right ones",
}
SPECIES = {
    "sources": ["About 95 species are currently accepted ."],
    "predictions": ["About 95 you now get in ."],
    "references": [
        [
            "About 95 species are currently known .",
            "About 95 species are now accepted .",
            "95 species are now accepted .",
        ]
    ],
}


class Sari(Metric):
    """How well a simplified text keeps, deletes and adds what its references do."""

    card = Card(
        description=N_(
            "For texts made simpler: the mean of how well n-grams (of 1 to 4 words) of the source are kept (F1) and "
            "deleted (precision) and how well new ones are added (F1), compared with what the references do."
        ),
        formula=(
            r"\mathrm{SARI} = \frac{100}{n} \sum_i "
            r"\frac{F_{\mathrm{keep}} + P_{\mathrm{del}} + F_{\mathrm{add}}}{3}"
        ),
        inputs=INPUTS,
        outputs=(Output("sari", "SARI", 0, 100, "higher"),),
        examples=(
            Example("Three references", SPECIES, {"sari": 26.953601953601954}),
            Example(
                "What the reference does",
                {"sources": ["a b c d"], "predictions": ["a b c"], "references": [["a b c"]]},
                {"sari": 100.0},
            ),
            Example(
                "Nothing was changed, all of it should go: keeping is wrong, deleting and adding were not tried",
                {"sources": ["a"], "predictions": ["a"], "references": [["b"]]},
                {"sari": 100 * (0 + 1 + 0 + 3 * 3) / 12},
            ),
            Example(
                "No references",
                {"sources": ["a"], "predictions": ["a"], "references": [[]]},
                error="row 0",
            ),
        ),
        limits=(
            "Texts are lowercased and cut by the rules of mteval-v13a. A part in which nothing was to do and nothing "
            "was done counts as right, so texts under four words score high. Needs references of several people to "
            "be fair; says nothing of grammar or meaning."
        ),
        citation="Xu et al., Optimizing statistical machine translation for simplification, TACL 4 (2016) 401-415.",
        tasks=("text2text-generation", "summarization"),
        references=("https://aclanthology.org/Q16-1029",),
    )
    columns = {"sources": Texts(), "predictions": Texts(), "references": References()}

    def update(self, sources: list[str], predictions: list[str], references: list[list[str]]) -> Sums:
        """SARI of each row: see `simplification`."""
        return Sums(simplification.sari(sources, predictions, references))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Their mean."""
        return {"sari": 100 * total[..., 0] / total[..., -1]}
