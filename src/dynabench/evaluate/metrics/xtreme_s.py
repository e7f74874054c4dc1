"""The measures of the XTREME-S benchmark of speech."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats, Labels, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.metrics import bleu, glue
from dynabench.evaluate.metrics.classification import average_scores, f1
from dynabench.evaluate.metrics.edit_rates import edit_counts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Cells, Confusion, Rows, Sums

BLEU = ("smooth_method", "smooth_value", "force", "lowercase", "tokenize", "use_effective_order")
SPACES = re.compile(r"\s\s+")


class XtremeS(Metric):
    """Word and character error rates, BLEU, or accuracy and F1, after the data set."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = ("fleurs-asr", "mls", "voxpopuli", "babel", "covost2", "fleurs-lang_id", "minds14")

    def update(
        self,
        predictions: Ints | list[str],
        references: Ints | list[str],
        *,
        bleu_kwargs: Mapping[str, Any] | None = None,
        wer_kwargs: Mapping[str, Any] | None = None,
    ) -> Sums | Cells | Rows:
        """Counts of edits, BLEU's counts or cells of a confusion matrix, after the config."""
        if self.config_name in ("fleurs-lang_id", "minds14"):
            return Cells.of(references, predictions)
        predicted = Texts().clean(predictions, "predictions")
        right = Texts().clean(references, "references")
        if self.config_name == "covost2":
            bleu_options = _check_keys(bleu_kwargs, BLEU, "bleu_kwargs")
            rows = [[text] for text in right]
            return bleu.sacrebleu_state(
                predicted, rows, bleu_options.get("tokenize") or "13a", bleu_options.get("lowercase", False)
            )
        if _check_keys(wer_kwargs, ("concatenate_texts",), "wer_kwargs").get("concatenate_texts"):
            return Rows((np.array(predicted, object), np.array(right, object)))
        return Sums(np.array(list(map(_errors, predicted, right)), np.int64).reshape(-1, 4))

    def formula(self, total: Any, *, bleu_kwargs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the metrics of the config."""
        if isinstance(total, Confusion):
            return self._classes(total)
        if isinstance(total, tuple):
            return _concatenated_rates(*total)
        if self.config_name == "covost2":
            smoothing = {name: value for name, value in (bleu_kwargs or {}).items() if name.startswith("smooth")}
            effective = bool((bleu_kwargs or {}).get("use_effective_order"))
            return {"bleu": bleu.sacrebleu_scores(total, effective_order=effective, **smoothing)["score"]}
        return {
            name: total[..., place] / np.maximum(total[..., place + 1], 1) for name, place in (("wer", 0), ("cer", 2))
        }

    def _classes(self, total: Confusion) -> dict[str, Floats]:
        scores = {"accuracy": glue.accuracy(total)}
        return scores if self.config_name == "fleurs-lang_id" else {"f1": average_scores(f1, total, "macro"), **scores}


def _check_keys(options: Mapping[str, Any] | None, names: Sequence[str], argument: str) -> Mapping[str, Any]:
    for name in options or {}:
        if name not in names:
            raise ValueError(f"{argument} knows {', '.join(names)}, not {name!r}")
    return options or {}


def _clean(text: str) -> str:
    return SPACES.sub(" ", text).strip()


def _concatenated_rates(predicted: NDArray[Any], right: NDArray[Any]) -> dict[str, Floats]:
    """Rates of texts of shape (..., n): words are aligned text by text, characters all at once, as jiwer has it."""
    rates = []
    for row in zip(predicted.reshape(-1, predicted.shape[-1]), right.reshape(-1, predicted.shape[-1]), strict=True):
        words = np.sum([_errors(*texts)[:2] for texts in zip(*row, strict=True)], axis=0)
        first, second = ("".join(map(_clean, texts)) for texts in row)
        letters = edit_counts(second, first)
        rates.append((words[0] / max(words[1], 1), letters.errors / max(letters.length, 1)))
    rate_table = np.array(rates).reshape(*predicted.shape[:-1], 2)
    return {"wer": rate_table[..., 0], "cer": rate_table[..., 1]}


def _errors(predicted: str, right: str) -> tuple[int, int, int, int]:
    """Edits and words of the reference, edits and characters of the reference; runs of white space are one space."""
    first, second = _clean(predicted), _clean(right)
    words = edit_counts(*([word for word in text.split(" ") if word] for text in (second, first)))
    letters = edit_counts(second, first)
    return words.errors, words.length, letters.errors, letters.length
