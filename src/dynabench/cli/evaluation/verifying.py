"""`dynabench evaluate verify`: where a record comes from, and what was found of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dynabench.benchmark.evaluations import records
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.benchmark.evaluations.records import SignedRecord
from dynabench.kit.errors import Problem
from dynabench.kit.settings import get_settings


def found(score: str, server: str) -> SignedRecord:
    """The record of a file, or of an evaluation's number here or at a server. Raises ValueError."""
    if not score.isdecimal():
        return _told(records.read_record, Path(score))
    if not server:
        return _told(records.own_record, get_settings(), int(score))
    from dynabench.client import ApiError, Client

    try:
        with Client(server) as client:
            told = client.request("GET", f"/evaluations/{score}/record")
            keys = client.request("GET", "/key")
            return records.trusted_record(told["document"], told["signature"], [keys["key"], *keys["older"]])
    except (ApiError, OSError) as error:
        raise ValueError(f"{server} gives no record of {score}: {error}") from None


def verify(score: str, server: str, key: str, again: bool, tolerance: float) -> dict[str, Any]:
    """Return the result of checking a signed record, as JSON: `valid`, and the key that it was checked with.

    With `again`, also each score as it is computed now. Raises ValueError.
    """
    signed = found(score, server)
    document = signed.document
    made = {
        "valid": signed.holds(key),
        "key": key or signed.key,
        "given": bool(key or not Path(score).is_file()),
        "model": f"{document['model']['name']}@{document['model']['version']}",
        "dataset": document["dataset"],
        "made_at": document["made_at"],
        "answered_at": document["answered_at"],
        "asked": document["asked"],
    }
    if not again:
        return made
    try:
        compared = list(records.compare_again(get_settings(), document, tolerance))
    except (Problem, EvaluationStopped) as error:
        raise ValueError(f"It cannot be run again here: {error}") from None
    other = [{"metric": name, "recorded": old, "here": new} for name, old, new in records.outdated_metrics(document)]
    return made | {"tolerance": tolerance, "scores": [vars(each) for each in compared], "other_versions": other}


def _told(function: Callable[..., SignedRecord], *given: Any) -> SignedRecord:
    try:
        return function(*given)
    except Problem as problem:
        raise ValueError(problem.detail) from None
