"""The JSON that `dynabench evaluate run --json` writes, read as a log."""

from collections.abc import Iterator, Mapping
from typing import Any

from dynabench.evaluate.cards.evaluation_log import EvaluationLog, LoggedScore, checked_scores, mapping, number
from dynabench.evaluate.cards.yaml_text import CardError

PROGRAM = "Dynabench"


def is_run_document(value: Any) -> bool:
    """Return True for the JSON of `dynabench evaluate run`."""
    return isinstance(value, Mapping) and isinstance(value.get("scores"), list) and "data" in value


def read_run_document(value: Mapping[str, Any]) -> EvaluationLog:
    """Return the scores of a document. Raises `CardError` where it has none."""
    split = value.get("split")
    log = EvaluationLog(
        program=PROGRAM,
        model=str(value.get("model") or ""),
        scores=checked_scores(_scores(value, str(split) if split else None), "The document"),
        made_at=str(value["_timestamp"]) if value.get("_timestamp") else None,
    )
    if not log.scores:
        raise CardError("The document has no scores.")
    return log


def _scores(value: Mapping[str, Any], split: str | None) -> Iterator[LoggedScore]:
    for entry in value["scores"]:
        group = str(entry.get(value.get("by")) or "") if isinstance(entry, Mapping) else ""
        rows = mapping(entry).get("rows")
        for name, result in mapping(mapping(entry).get("result")).items():
            score = number(result.get("score") if isinstance(result, Mapping) else result)
            if score is None:
                continue
            metric = str(mapping(entry).get("metric"))
            variant = " ".join(part for part in (name if name != metric else "", group) if part)
            error = number(mapping(result).get("standard_error"))
            yield LoggedScore(str(value["data"]), metric, score, variant, None, split, error, rows)
