"""Scores of trained models, their spread over seeds, and the calibration of their probabilities."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.models.protocol import Model, ModelOutput
from dynabench.models.spec import LabelScore, SpanScore, Spec
from dynabench.models.training.learning import Progress
from dynabench.models.training.recipes import Aim
from dynabench.models.training.rows import TrainingQuestion, TrainingRow
from dynabench.stats.rates import wilson
from dynabench.tasks.words import answer_words, word_f1

CHUNK = 512
"""Labelled rows that are answered at once."""
QUESTION_CHUNK = 128


def score(
    model: Model, rows: Sequence[TrainingRow], progress: Callable[[float], None] = lambda share: None
) -> LabelScore:
    """Return scores of the model's answers; each answer is one of the card's labels."""
    answer, labels = model.card.answer, model.card.labels
    counts = np.zeros((len(labels), len(labels)), int)
    for row, output in _answered(model, rows, CHUNK, progress):
        counts[labels.index(row.label), labels.index(output.answer[answer])] += 1
    return count_scores(counts)


def score_sets(
    model: Model, sets: Mapping[str, Sequence[Any]], progress: Progress
) -> dict[str, LabelScore | SpanScore]:
    """Return the score of each set that has rows: of questions as of spans, of labelled rows as of labels."""
    scores: dict[str, LabelScore | SpanScore] = {}
    for name, rows in sets.items():
        if rows:
            score_rows: Any = score_questions if isinstance(rows[0], TrainingQuestion) else score
            scores[name] = score_rows(model, rows, lambda share, name=name: progress(name, share, ""))
    return scores


def _answered(
    model: Model, rows: Sequence[Any], size: int, progress: Callable[[float], None]
) -> Iterator[tuple[Any, ModelOutput]]:
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        yield from zip(part, model.predict([row.inputs for row in part]), strict=True)
        progress(min(1.0, (start + size) / len(rows)))


def score_questions(
    model: Model, questions: Sequence[TrainingQuestion], progress: Callable[[float], None] = lambda share: None
) -> SpanScore:
    """Return exact match and word F1 of the model's answers as SQuAD scores them (Rajpurkar et al. 2016, section 6.1).

    Of a question's right answers the one nearest to the model's counts. A model that finds none answers with no words.
    """
    order = sorted(questions, key=lambda question: len(question.passage))
    exact, f1 = 0, 0.0
    for question, output in _answered(model, order, QUESTION_CHUNK, progress):
        text = " ".join(span["text"] for span in output.answer[model.card.answer])
        exact += any(answer_words(text) == answer_words(right) for right in question.answers)
        f1 += max(word_f1(text, right) for right in question.answers)
    n = len(order)
    rate = wilson(exact, n)
    return SpanScore(
        exact_match=round(rate.value or 0.0, 4),
        f1=round(f1 / max(n, 1), 4),
        n=n,
        low=round(rate.low or 0.0, 4),
        high=round(rate.high or 0.0, 4),
    )


def count_scores(counts: "np.ndarray[tuple[int, int], np.dtype[np.int64]]") -> LabelScore:
    """Scores of a matrix of counts (reference, answer); the interval is Wilson's at 95 %."""
    n, hits = int(counts.sum()), np.diagonal(counts)
    total = counts.sum(0) + counts.sum(1)
    f1 = np.divide(2 * hits, total, out=np.zeros(len(hits)), where=total > 0)
    rate = wilson(int(hits.sum()), n)
    return LabelScore(
        accuracy=round(rate.value or 0.0, 4),
        macro_f1=round(float(f1.mean()), 4),
        n=n,
        low=round(rate.low or 0.0, 4),
        high=round(rate.high or 0.0, 4),
    )


BIASES = {"adapter": ("head.safetensors", "out.bias"), "ngram": ("ngram.safetensors", "bias")}
"""The file and the tensor that hold a model's bias, by its kind."""
SHIFTS = np.round(np.arange(-3.0, 3.01, 0.05), 2)
WIDTH = 7
"""Neighbouring shifts whose mean value is compared: a single best shift owes too much to single rows."""

Floats = NDArray[np.float64]


def calibrate(folder: Path, development: Mapping[str, Sequence[TrainingRow]], aim: Aim = "mean") -> float:
    """Add to the first label's bias what gives the best macro F1 over the development sets; returns it.

    Raises `Invalid` for a model with other than two labels or without development rows.
    """
    details = spec.read(folder)
    if len(details.labels) != 2 or not any(development.values()):
        raise Invalid({"calibrate": "A threshold needs a model of two labels and development rows."})
    model = catalog.open_model(folder)
    first = details.labels[0]
    odds, truth = [], []
    for rows in development.values():
        outputs = model.predict([row.inputs for row in rows])
        odds.append(np.array([_log_odds((output.probabilities or {})[first]) for output in outputs]))
        truth.append(np.array([row.label == first for row in rows]))
    chosen = best_shift(odds, truth, aim)
    shift_bias(folder, details.kind, chosen)
    return chosen


def best_shift(odds: Sequence[Floats], truth: Sequence[NDArray[np.bool_]], aim: Aim = "mean") -> float:
    """The shift of the first label's log-odds with the best mean, or the best least, macro F1 over data sets.

    `odds` and `truth` hold an array (rows,) per data set: log-odds of the first label, and whether it is right. Of
    equal shifts the one nearest to none is taken.
    """
    scores = np.array([[_macro_f1(z + shift > 0, y) for z, y in zip(odds, truth, strict=True)] for shift in SHIFTS])
    values = scores.mean(1) if aim == "mean" else scores.min(1)
    smooth = np.convolve(np.pad(values, WIDTH // 2, mode="edge"), np.full(WIDTH, 1 / WIDTH), "valid")
    top = np.flatnonzero(smooth >= smooth.max() - 1e-9)
    return float(min(SHIFTS[top], key=abs)) + 0.0  # never "-0.0"


def shift_bias(folder: Path, kind: str, shift: float) -> None:
    """Add `shift` to the first label's bias in the folder's weights."""
    from safetensors.numpy import load_file, save_file

    file, name = BIASES[kind]
    tensors = load_file(folder / file)
    tensors[name][0] += shift
    save_file(tensors, folder / file)
    (folder / file).chmod(0o644)


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return float(np.log(inside / (1 - inside)))


def _macro_f1(answered: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    counts = np.array([[np.sum((truth == t) & (answered == a)) for a in (True, False)] for t in (True, False)])
    return count_scores(counts).macro_f1


@dataclass(frozen=True)
class Spread:
    """A set's scores (accuracy, of spans F1) over seeds: their mean, standard deviation, least and most."""

    mean: float
    deviation: float
    least: float
    most: float
    seeds: int

    def summary_line(self) -> str:
        """In one line."""
        return f"mean {self.mean:.4f}, deviation {self.deviation:.4f}, {self.least:.4f} to {self.most:.4f}"


def spread_over_seeds(models: Sequence[Spec]) -> Mapping[str, Spread]:
    """The spread of each set's score over models that differ in their seeds; the deviation is the sample's."""
    spreads = {}
    for name in models[0].scores:
        scores = [model.scores[name] for model in models]
        values = np.array([score.accuracy if isinstance(score, LabelScore) else score.f1 for score in scores])
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        spreads[name] = Spread(
            round(float(values.mean()), 4),
            round(deviation, 4),
            float(values.min()),
            float(values.max()),
            len(values),
        )
    return spreads
