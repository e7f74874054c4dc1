"""Rows of a log, scored anew by the evaluation library."""

from collections.abc import Mapping
from typing import Any

from dynabench.evaluate import loading
from dynabench.evaluate.cards.evaluation_log import EvaluationLog, LoggedScore, number
from dynabench.evaluate.cards.yaml_text import CardError

MAX_ROWS = 5_000_000


def rescore(log: EvaluationLog, metric: str, options: Mapping[str, Any] | None = None) -> list[LoggedScore]:
    """Return a metric's values over the rows of each dataset of a log. Raises `CardError`.

    A metric that takes several references gets them all, any other gets the first; a metric of texts gets numbers of
    choices as texts.
    """
    columns: dict[str, tuple[list[Any], list[Any]]] = {}
    for count, row in enumerate(log.rows()):
        if count >= MAX_ROWS:
            raise CardError(f"This log has more than {MAX_ROWS:,} rows.")
        if not row.references:
            raise CardError(f"The row {row.id} has no right answer, so that it cannot be scored.")
        predictions, references = columns.setdefault(row.dataset, ([], []))
        predictions.append(row.prediction)
        references.append(row.references)
    scores = []
    for dataset, (predictions, references) in columns.items():
        try:
            module = loading.load(metric)
            try:
                values = _compute(module, predictions, references, dict(options or {}))
            except (ValueError, TypeError):
                if not any(isinstance(prediction, int) for prediction in predictions):
                    raise
                texts = [tuple(map(str, row_references)) for row_references in references]
                values = _compute(module, list(map(str, predictions)), texts, dict(options or {}))
        except (ValueError, TypeError, KeyError) as error:
            raise CardError(f"{metric} cannot be computed on {dataset}: {error}") from None
        for name, value in values.items():
            if (score := number(value)) is not None:
                variant = "" if name == metric else name
                scores.append(LoggedScore(dataset, metric, score, variant, rows=len(predictions)))
    return scores


def _compute(
    module: Any, predictions: list[Any], references: list[tuple[Any, ...]], options: dict[str, Any]
) -> Mapping[str, Any]:
    first = [reference[0] for reference in references]
    if all(len(reference) == 1 for reference in references):
        values: Mapping[str, Any] = module.compute(predictions=predictions, references=first, **options)
        return values
    try:
        values = module.compute(predictions=predictions, references=list(map(list, references)), **options)
    except (ValueError, TypeError):
        values = module.compute(predictions=predictions, references=first, **options)
    return values
