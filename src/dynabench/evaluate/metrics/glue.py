"""Benchmarks of several tasks: GLUE and its relatives, and XTREME-S of speech."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Labels, Numbers, Records, Texts
from dynabench.evaluate.confusion import Cells, Confusion
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.metrics import bleu
from dynabench.evaluate.metrics.classification import average_scores, count_by_class, f1, matthews
from dynabench.evaluate.metrics.correlations import CorrelatedPairs, correlation, rank_correlation
from dynabench.evaluate.metrics.edit_rates import edit_counts
from dynabench.evaluate.metrics.squad import normalize_answer, word_f1
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows, SummedState, Sums
from dynabench.evaluate.values import ratio


def best_match(text: str, answers: Sequence[str]) -> tuple[float, float]:
    """Return exact match and word F1, each with its best answer. ReCoRD, section 5.1, after SQuAD."""
    predicted, right = normalize_answer(text), [normalize_answer(answer) for answer in answers]
    return float(predicted in right), max(word_f1(predicted, answer) for answer in right)


def match_record_rows(predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> list[Any]:
    """(text, right answers) of each reference, matched by idx. Raises ValueError where they do not match one to one."""
    texts_by_idx: dict[tuple[Any, Any], str] = {}
    for row, record in enumerate(predictions):
        key, text = _place(record["idx"], row, "passage", "query"), record["prediction_text"]
        if not isinstance(text, str):
            raise ValueError(f"predictions: row {row} has the prediction_text {text!r}, not a text")
        if key in texts_by_idx:
            raise ValueError(f"predictions: row {row} answers the idx {record['idx']} again")
        texts_by_idx[key] = text
    pairs = []
    for row, record in enumerate(references):
        key, answers = _place(record["idx"], row, "passage", "query"), record["answers"]
        whole = isinstance(answers, list | tuple | np.ndarray) and len(answers) > 0
        if not whole or not all(isinstance(answer, str) for answer in answers):
            raise ValueError(f"references: row {row} has the answers {answers!r}; give a list of at least one text")
        if key not in texts_by_idx:
            raise ValueError(f"references: row {row}: no prediction has the idx {record['idx']}; give '' for none")
        pairs.append((texts_by_idx[key], answers))
    return pairs


def multirc_question(idx: Any, row: int) -> tuple[Any, Any]:
    """Return the question of an answer of MultiRC. Raises ValueError for an idx without paragraph or question."""
    return _place(idx, row, "paragraph", "question", "predictions")


def _place(idx: Any, row: int, first: str, second: str, name: str = "row") -> tuple[Any, Any]:
    if not isinstance(idx, Mapping) or first not in idx or second not in idx:
        raise ValueError(f"{name} {row} has the idx {idx!r}; give {{{first}, {second}}}")
    return idx[first], idx[second]


@dataclass(frozen=True)
class MultircQuestions(SummedState):
    """Answers of MultiRC: the question, the right and the predicted label of each. An example is a question."""

    keys: tuple[tuple[Any, Any], ...]
    true: Ints
    predicted: Ints

    @classmethod
    def of(cls, keys: Sequence[tuple[Any, Any]], true: Any, predicted: Any) -> "MultircQuestions":
        """Return the state of clean columns. Raises ValueError for other labels than 0 and 1."""
        for name, labels in (("references", true), ("predictions", predicted)):
            strange = [row for row, label in enumerate(labels) if label not in (0, 1)]
            if strange:
                raise ValueError(f"{name}: row {strange[0]} is {labels[strange[0]]!r}; multirc has the labels 0 and 1")
        return cls(tuple(keys), np.asarray(true, np.int64), np.asarray(predicted, np.int64))

    def __add__(self, other: "MultircQuestions") -> "MultircQuestions":
        true, predicted = np.concatenate([self.true, other.true]), np.concatenate([self.predicted, other.predicted])
        return MultircQuestions(self.keys + other.keys, true, predicted)

    @cached_property
    def sums(self) -> Sums:
        """All answers right, macro F1 over the labels, hits of 1, true and predicted labels 1, for each question."""
        place = {key: code for code, key in enumerate(dict.fromkeys(self.keys))}
        question_codes = np.array([place[key] for key in self.keys])
        cells = np.bincount(question_codes * 4 + self.true * 2 + self.predicted, minlength=4 * len(place)).reshape(
            -1, 2, 2
        )
        hits, label_counts = np.diagonal(cells, axis1=1, axis2=2), cells.sum(1) + cells.sum(2)
        within = ratio(ratio(2 * hits, label_counts).sum(1), (label_counts > 0).sum(1))
        exact = hits.sum(1) == cells.sum((1, 2))
        return Sums(np.stack([exact, within, hits[:, 1], label_counts[:, 1]], 1))


def correct_rows(predictions: Any, references: Any) -> Sums:
    """Return the state of an accuracy: for each row whether it is right."""
    return Sums(same(predictions, references))


def accuracy(total: Floats | Confusion) -> Floats:
    """Return the share of right rows, shape (...), from the total of `correct_rows` or of cells."""
    if isinstance(total, Confusion):
        return ratio(total.hits.sum(-1), total.true.sum(-1))
    return ratio(total[..., 0], total[..., 1])


def macro_f1(total: Confusion) -> Floats:
    """Return the mean F1 over the classes that occur, shape (...)."""
    return average_scores(f1, total, "macro")


def binary_f1(total: Confusion, config: str) -> Floats:
    """Return F1 of class 1, shape (...). Raises ValueError for classes other than 0 and 1."""
    strange = [label for label in total.labels if label not in (0, 1)]
    if strange:
        raise ValueError(f"{config} has the classes 0 and 1; {strange[0]!r} is none of them")
    if 1 not in total.labels:
        return np.zeros(total.cell_counts.shape[:-1])
    result: Floats = f1(count_by_class(total).of_label(1))[..., 0]
    return result


ACCURACY_CONFIGS = ("sst2", "mnli", "mnli_mismatched", "mnli_matched", "qnli", "rte", "wnli", "hans")
BLOCK = 1 << 22  # similarities that are held at once
NEAREST = 10
INDIC_ACCURACY_CONFIGS = (
    "wnli",
    "copa",
    "sna",
    "csqa",
    "wstp",
    "inltkh",
    "bbca",
    "iitp-mr",
    "iitp-pr",
    "actsa-sc",
    "md",
)


class Glue(Metric, name="glue"):
    """The metrics of the nine tasks of GLUE, and of its diagnostics."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = (*ACCURACY_CONFIGS, "cola", "stsb", "mrpc", "qqp")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or numbers for stsb."""
        return dict.fromkeys(self.columns, Numbers()) if self.config_name == "stsb" else super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | CorrelatedPairs:
        """Hits; cells of a confusion matrix; or the numbers themselves."""
        if self.config_name == "stsb":
            return CorrelatedPairs(np.stack([predictions, references], 1))
        if self.config_name in ("cola", "mrpc", "qqp"):
            return Cells.of(references, predictions)
        return correct_rows(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "stsb":
            return {"pearson": correlation(total[..., 3:]), "spearmanr": rank_correlation(total[..., :3])}
        if self.config_name == "cola":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.predicted)}
        if self.config_name in ("mrpc", "qqp"):
            return {"accuracy": accuracy(total), "f1": binary_f1(total, self.config_name)}
        return {"accuracy": accuracy(total)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return the metrics. Raises ValueError where a correlation is undefined."""
        scores = super().result(state, **options)
        if None in scores.values():
            raise ValueError("a correlation needs two examples that differ: one side is constant")
        return scores


class SuperGlue(Metric, name="super_glue"):
    """The metrics of the tasks of SuperGLUE."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = ("boolq", "cb", "copa", "multirc", "record", "rte", "wic", "wsc", "wsc.fixed", "axb", "axg")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or dictionaries for record and multirc."""
        if self.config_name == "record":
            return {"predictions": Records(("idx", "prediction_text")), "references": Records(("idx", "answers"))}
        if self.config_name == "multirc":
            return {"predictions": Records(("idx", "prediction")), "references": Labels()}
        return super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | MultircQuestions:
        """Hits, cells of a confusion matrix, (exact match, F1) of each answer, or answers by question."""
        if self.config_name == "multirc":
            predicted = Labels().clean([row["prediction"] for row in predictions], "predictions")
            keys = [multirc_question(row["idx"], place) for place, row in enumerate(predictions)]
            return MultircQuestions.of(keys, references, predicted)
        if self.config_name == "record":
            pairs = match_record_rows(predictions, references)
            return Sums(np.array([best_match(text, answers) for text, answers in pairs], float).reshape(-1, 2))
        if self.config_name in ("cb", "axb"):
            return Cells.of(references, predictions)
        return correct_rows(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "multirc":
            exact, within, right, ones, n = np.moveaxis(total, -1, 0)
            return {"exact_match": ratio(exact, n), "f1_m": ratio(within, n), "f1_a": ratio(2 * right, ones)}
        if self.config_name == "record":
            return {"exact_match": ratio(total[..., 0], total[..., 2]), "f1": ratio(total[..., 1], total[..., 2])}
        if self.config_name == "axb":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.predicted)}
        if self.config_name == "cb":
            return {"accuracy": accuracy(total), "f1": macro_f1(total)}
        return {"accuracy": accuracy(total)}


@dataclass(frozen=True)
class TranslationRetrieval(SummedState):
    """Vectors of sentences and of their translations, each of shape (n, d); n queries into n candidates."""

    queries: Floats
    candidates: Floats

    def __add__(self, other: "TranslationRetrieval") -> "TranslationRetrieval":
        pairs = zip((self.queries, self.candidates), (other.queries, other.candidates), strict=True)
        return TranslationRetrieval(*(np.concatenate(pair) for pair in pairs))

    @cached_property
    def sums(self) -> Sums:
        """1 for each query whose own translation is among the ten nearest of all candidates, else 0."""
        queries, candidates = (_directions(vectors) for vectors in (self.queries, self.candidates))
        return Sums(np.concatenate(list(_own_nearest(queries, candidates))))


class IndicGlue(Metric, name="indic_glue"):
    """The metrics of IndicGLUE, tasks in eleven Indian languages."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = (*INDIC_ACCURACY_CONFIGS, "wiki-ner", "cvit-mkb-clsr")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or vectors for cvit-mkb-clsr."""
        if self.config_name == "cvit-mkb-clsr":
            return dict.fromkeys(self.columns, Numbers(wide=True))
        return super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | TranslationRetrieval:
        """Hits; cells of a confusion matrix; or the vectors themselves."""
        if self.config_name == "cvit-mkb-clsr":
            if predictions.ndim != 2 or predictions.shape != references.shape:
                raise ValueError(
                    f"give vectors of one length on both sides, not {predictions.shape} and {references.shape}"
                )
            return TranslationRetrieval(predictions, references)
        if self.config_name == "wiki-ner":
            return Cells.of(references, predictions)
        return correct_rows(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        share = accuracy(total)
        if self.config_name == "cvit-mkb-clsr":
            return {"precision@10": share}
        if self.config_name == "wiki-ner":
            return {"accuracy": share, "f1": binary_f1(total, "wiki-ner")}
        return {"accuracy": share}


def _directions(vectors: Floats) -> Floats:
    """Vectors of length 1 from the mean of all; those at the mean itself stay 0, similar to nothing."""
    centred = vectors - vectors.mean(0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    result: Floats = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return result


def _own_nearest(queries: Floats, candidates: Floats) -> Any:
    """Of each query whether fewer than ten candidates are nearer than its own, in blocks."""
    n = len(queries)
    size = max(BLOCK // n, 1)
    for start in range(0, n, size):
        near: NDArray[Any] = np.round(queries[start : start + size] @ candidates.T, 12)  # equal ones compare equal
        rows = np.arange(len(near))
        own = near[rows, rows + start][:, None]
        earlier = np.arange(n)[None, :] < (rows + start)[:, None]
        yield ((near > own) | ((near == own) & earlier)).sum(1) < NEAREST


class Xnli(Metric, name="xnli"):
    """Accuracy, the metric of the cross-lingual inference corpus XNLI."""

    columns = {"predictions": Labels(), "references": Labels()}

    def update(self, predictions: Any, references: Any) -> Sums:
        """1 for each row that is right, else 0."""
        return correct_rows(predictions, references)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The share of right rows."""
        return {"accuracy": accuracy(total)}


BLEU = ("smooth_method", "smooth_value", "force", "lowercase", "tokenize", "use_effective_order")
SPACES = re.compile(r"\s\s+")


class XtremeS(Metric, name="xtreme_s"):
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
            scores = {"accuracy": accuracy(total)}
            only_accuracy = self.config_name == "fleurs-lang_id"
            return scores if only_accuracy else {"f1": average_scores(f1, total, "macro"), **scores}
        if isinstance(total, tuple):
            return _concatenated_rates(*total)
        if self.config_name == "covost2":
            smoothing = {name: value for name, value in (bleu_kwargs or {}).items() if name.startswith("smooth")}
            effective = bool((bleu_kwargs or {}).get("use_effective_order"))
            return {"bleu": bleu.sacrebleu_scores(total, effective_order=effective, **smoothing)["score"]}
        return {
            name: total[..., place] / np.maximum(total[..., place + 1], 1) for name, place in (("wer", 0), ("cer", 2))
        }


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
