"""Coreference evaluation."""

from typing import Any

from dynabench.evaluate.classes.coreference import CoreferenceCorpus, read_sentence
from dynabench.evaluate.columns import Floats, Tokens
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio

MEASURES = ("mentions", "muc", "bcub", "ceafe", "lea")


class Coval(Metric):
    """Agreement of a system's coreference chains with those of a key."""

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
    ) -> CoreferenceCorpus:
        """The mentions of each sentence."""
        sentences = (
            read_sentence(key, response, row, self.compat, NP_only or min_span, min_span)
            for row, (response, key) in enumerate(zip(predictions, references, strict=True))
        )
        return CoreferenceCorpus(
            tuple(parsed_sentence for parsed_sentence in sentences if parsed_sentence),
            keep_singletons,
            remove_nested,
            NP_only,
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Recall, precision and F1 of each measure from its summed numerators and denominators."""
        scores: dict[str, Floats] = {}
        for place, name in enumerate(MEASURES):
            part = total[..., 4 * place : 4 * place + 4]
            recall, precision = ratio(part[..., 0], part[..., 1]), ratio(part[..., 2], part[..., 3])
            f1 = ratio(2 * recall * precision, recall + precision)
            scores |= {f"{name}/recall": recall, f"{name}/precision": precision, f"{name}/f1": f1}
        score = (scores["muc/f1"] + scores["bcub/f1"] + scores["ceafe/f1"]) / 3 * 100
        return {**scores, "conll_score": score}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError where no sentence has a word."""
        if not len(state):
            raise ValueError("nothing to compute: no sentence has a line with a word")
        return super().result(state, **options)

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """All measures of each document, and its name under "document"."""
        return {"document": list(state.documents), **self.formula(state.sums.alone())}
