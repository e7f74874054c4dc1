"""The metrics of SuperGLUE."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Column, Labels, Records
from dynabench.evaluate.metrics.matthews_correlation import matthews
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Sums
from dynabench.evaluate.texts.reading import Questions, best_match, question_of, rows_of
from dynabench.language import N_


class SuperGlue(Metric):
    """The metrics of the tasks of SuperGLUE."""

    card = Card(
        description=N_(
            "The metrics of the SuperGLUE benchmark, by config: accuracy; with macro F1 for cb; Matthews correlation "
            "for axb; exact match and word F1 of answers for record; exact match of questions, F1 within questions "
            "and F1 over all answers for multirc. Without a config: accuracy, as for boolq."
        ),
        formula=r"\frac{1}{n} \sum_i [\hat y_i = y_i]; \quad F_{1m} = \text{mean over questions of macro } F_1; "
        r"\quad F_{1a} = F_1 \text{ of label 1 over all answers}",
        inputs={
            "predictions": "predicted label of each example; for record {idx: {passage, query}, prediction_text}; for "
            "multirc {idx: {paragraph, question, answer}, prediction}",
            "references": "right label of each example; for record {idx: {passage, query}, answers: [texts]}",
        },
        outputs=(
            Output("accuracy", "share of right labels (all configs but axb, record and multirc)", 0, 1, "higher"),
            Output("f1", "macro F1 (cb), or mean word F1 of the best answer (record)", 0, 1, "higher"),
            Output("exact_match", "share of questions that are answered exactly (record, multirc)", 0, 1, "higher"),
            Output("f1_m", "mean over questions of macro F1 (multirc)", 0, 1, "higher"),
            Output("f1_a", "F1 of label 1 over all answers (multirc)", 0, 1, "higher"),
            Output("matthews_correlation", "Matthews correlation (axb)", -1, 1, "higher"),
        ),
        examples=(
            Example("Yes or no", {"predictions": [0, 1], "references": [0, 0]}, {"accuracy": 0.5}, config="boolq"),
            Example(
                "Three labels",
                {"predictions": [0, 1, 2, 1], "references": [0, 1, 2, 2]},
                {"accuracy": 0.75, "f1": 7 / 9},
                config="cb",
            ),
            Example(
                "An answer nearly right",
                {
                    "predictions": [
                        {"idx": {"passage": 0, "query": 0}, "prediction_text": "the Eiffel tower"},
                        {"idx": {"passage": 0, "query": 1}, "prediction_text": "tower of Paris"},
                    ],
                    "references": [
                        {"idx": {"passage": 0, "query": 0}, "answers": ["Eiffel Tower", "a tower"]},
                        {"idx": {"passage": 0, "query": 1}, "answers": ["Paris"]},
                    ],
                },
                {"exact_match": 0.5, "f1": 0.75},
                config="record",
            ),
            Example(
                "Two questions, of which one is answered right throughout",
                {
                    "predictions": [
                        {"idx": {"paragraph": 0, "question": 0, "answer": 0}, "prediction": 0},
                        {"idx": {"paragraph": 0, "question": 0, "answer": 1}, "prediction": 1},
                        {"idx": {"paragraph": 0, "question": 1, "answer": 0}, "prediction": 1},
                        {"idx": {"paragraph": 0, "question": 1, "answer": 1}, "prediction": 1},
                    ],
                    "references": [0, 1, 1, 0],
                },
                {"exact_match": 0.5, "f1_m": 2 / 3, "f1_a": 0.8},
                config="multirc",
            ),
            Example(
                "An answer to another question",
                {
                    "predictions": [{"idx": {"passage": 0, "query": 5}, "prediction_text": "Paris"}],
                    "references": [{"idx": {"passage": 0, "query": 1}, "answers": ["Paris"]}],
                },
                error="no prediction has the idx",
                config="record",
            ),
        ),
        limits=(
            "Test labels are private: figures are of the development sets unless the benchmark's server gave them. "
            "Intervals of multirc draw whole questions. Answers of record are compared without case, punctuation and "
            "English articles; they are matched by passage and query."
        ),
        citation="Wang et al., SuperGLUE: A Stickier Benchmark for General-Purpose Language Understanding Systems, "
        "NeurIPS 2019.",
        tasks=("text-classification", "question-answering", "natural-language-inference"),
        references=("https://super.gluebenchmark.com",),
    )
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

    def update(self, predictions: Any, references: Any) -> Sums | Cells | Questions:
        """Hits, cells of a confusion matrix, (exact match, F1) of each answer, or answers by question."""
        if self.config_name == "multirc":
            said = Labels().clean([row["prediction"] for row in predictions], "predictions")
            keys = [question_of(row["idx"], place) for place, row in enumerate(predictions)]
            return Questions.of(keys, references, said)
        if self.config_name == "record":
            pairs = rows_of(predictions, references)
            return Sums(np.array([best_match(text, answers) for text, answers in pairs], float).reshape(-1, 2))
        if self.config_name in ("cb", "axb"):
            return Cells.of(references, predictions)
        return benchmarks.hits(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "multirc":
            exact, within, right, ones, n = np.moveaxis(total, -1, 0)
            return {"exact_match": ratio(exact, n), "f1_m": ratio(within, n), "f1_a": ratio(2 * right, ones)}
        if self.config_name == "record":
            return {"exact_match": ratio(total[..., 0], total[..., 2]), "f1": ratio(total[..., 1], total[..., 2])}
        if self.config_name == "axb":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.said)}
        if self.config_name == "cb":
            return {"accuracy": benchmarks.accuracy(total), "f1": benchmarks.macro_f1(total)}
        return {"accuracy": benchmarks.accuracy(total)}
