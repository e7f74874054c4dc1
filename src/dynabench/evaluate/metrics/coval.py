"""Coreference evaluation."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.coreference import Corpus, sentence
from dynabench.evaluate.columns import Floats, Tokens
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_

MEASURES = {
    "mentions": "mentions found",
    "muc": "MUC: links",
    "bcub": "B-cubed: mentions by the agreement of their clusters",
    "ceafe": "CEAF-e: clusters in their best one-to-one alignment",
    "lea": "LEA: links, weighed by the size of clusters",
}
HEAD = "bc/cctv/00/cctv_0005 0"
KEY = [
    f"{HEAD} 0 Thank VBP (TOP(S(VP* thank 01 1 Xu_li * (V*) * -",
    f"{HEAD} 1 you PRP (NP*) - - - Xu_li * (ARG1*) (ARG0*) (116)",
    f"{HEAD} 2 everyone NN (NP*) - - - Xu_li * (ARGM-DIS*) * (116)",
    f"{HEAD} 3 for IN (PP* - - - Xu_li * (ARG2* * -",
    f"{HEAD} 4 watching VBG (S(VP*)))) watch 01 1 Xu_li * *) (V*) -",
    f"{HEAD} 5 . . *)) - - - Xu_li * * * -",
]


class Coval(Metric):
    """How well a system's coreference chains agree with those of a key."""

    card = Card(
        description=N_(
            "How well a system finds which mentions in a text are of the same thing: mention detection, MUC, B-cubed, "
            "CEAF-e, LEA, and the CoNLL score, the mean F1 of MUC, B-cubed and CEAF-e in percent."
        ),
        formula=r"\mathrm{CoNLL} = \frac{100}{3} \left(F_{\mathrm{MUC}} + F_{B^3} + F_{\mathrm{CEAF}_e}\right), \quad "
        r"R_{\mathrm{LEA}} = \frac{\sum_k |k| \sum_r \mathrm{link}(k \cap r) / \mathrm{link}(k)}{\sum_k |k|}",
        inputs={
            "predictions": "sentences, each a list of lines in the CoNLL format (a word each), with the system's "
            "chains in the last column",
            "references": "the same sentences with the key's chains; for NP_only and min_span also word, part of "
            "speech and parse in columns 4 to 6",
        },
        options={
            "keep_singletons": "False leaves out chains of one mention",
            "NP_only": "True leaves out mentions that are verb phrases in the key's parse",
            "min_span": "True compares the words that mentions cannot do without (MINA) instead of whole spans",
            "remove_nested": "True leaves out mentions within another of their own chain",
        },
        outputs=(
            *(
                Output(f"{name}/{part}", f"{part} of {text}", 0, 1, "higher")
                for name, text in MEASURES.items()
                for part in ("recall", "precision", "f1")
            ),
            Output("conll_score", "mean F1 of MUC, B-cubed and CEAF-e in percent", 0, 100, "higher"),
        ),
        examples=(
            Example("The key itself", {"predictions": [KEY], "references": [KEY]}, {"conll_score": 100.0}),
            Example(
                "Key {a} {b c} {d e f}, system {a} {d e}",
                {
                    "predictions": [["a (1)", "b -", "c -", "d (3)", "e (3)", "f -"]],
                    "references": [["a (1)", "b (2)", "c (2)", "d (3)", "e (3)", "f (3)"]],
                },
                {"muc/f1": 0.5, "bcub/f1": 0.56, "ceafe/f1": 0.72, "lea/recall": 1 / 3, "lea/precision": 1.0},
            ),
            Example(
                "A chain that does not end",
                {"predictions": [["a (1", "b -"]], "references": [["a (1)", "b -"]]},
                error="predictions: row 0: the mention of chain 1",
            ),
        ),
        limits=(
            "MUC does not see singletons and favours large chains; B-cubed and CEAF-e give credit for mentions alone; "
            "LEA was made to avoid both. Documents (columns 1 and 2 of lines with five columns or more) are scored "
            "apart and their counts summed, as the official scorer does; Hugging Face evaluate takes everything for "
            "one document, as compat=True does. A mention of two chains belongs to the one where it ends first. "
            "Ratios without a base are 0."
        ),
        citation=(
            "Moosavi and Strube, Which coreference evaluation metric do you trust?, ACL 2016; Moosavi, Born, Poesio "
            "and Strube, Using automatically extracted minimum spans, ACL 2019; Vilain and others, MUC-6, 1995; Bagga "
            "and Baldwin, 1998; Luo, 2005; Pradhan and others, Scoring coreference partitions, ACL 2014."
        ),
        tasks=("coreference-resolution", "token-classification"),
        references=("https://aclanthology.org/P16-1060", "https://aclanthology.org/P19-1408"),
    )
    columns = {"predictions": Tokens(), "references": Tokens()}

    def update(
        self,
        predictions: list[list[str]],
        references: list[list[str]],
        *,
        keep_singletons: bool = True,
        NP_only: bool = False,
        min_span: bool = False,
        remove_nested: bool = False,
    ) -> Corpus:
        """The mentions of each sentence."""
        found = (
            sentence(key, response, row, self.compat, NP_only or min_span, min_span)
            for row, (response, key) in enumerate(zip(predictions, references, strict=True))
        )
        return Corpus(tuple(one for one in found if one), keep_singletons, remove_nested, NP_only)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Recall, precision and F1 of each measure from its summed numerators and denominators."""
        found: dict[str, Floats] = {}
        for place, name in enumerate(MEASURES):
            part = total[..., 4 * place : 4 * place + 4]
            recall, precision = ratio(part[..., 0], part[..., 1]), ratio(part[..., 2], part[..., 3])
            f1 = ratio(2 * recall * precision, recall + precision)
            found |= {f"{name}/recall": recall, f"{name}/precision": precision, f"{name}/f1": f1}
        score = (found["muc/f1"] + found["bcub/f1"] + found["ceafe/f1"]) / 3 * 100
        return {**found, "conll_score": score}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError where no sentence has a word."""
        if not len(state):
            raise ValueError("nothing to compute: no sentence has a line with a word")
        return super().result(state, **options)

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """All measures of each document, and its name under "document"."""
        return {"document": list(state.documents), **self.formula(state.sums.alone())}
