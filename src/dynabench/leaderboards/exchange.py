"""Boards in the forms that others read, and results that others report.

Papers-with-Code's evaluation tables (`sota-extractor`), and `model-index` of Hugging Face's model cards
(https://github.com/huggingface/hub-docs, modelcard.md). What a model's README reports of itself is listed apart from
what was measured here, and never ranked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from sqlalchemy.orm import Session

from dynabench.leaderboards import queries
from dynabench.leaderboards.board import Board, Column, Entry
from dynabench.leaderboards.ranking import Ranking
from dynabench.scoring.measures import Measure

MOST = 200  # reported results that are listed
FRONT = 64 * 1024  # characters of a README in which its front matter has to end


def papers_with_code(of: Ranking, name: str, description: str) -> list[dict[str, Any]]:
    """The board as one task with a table for each dataset, without scores that are an earlier submission's."""
    board = of.board
    tables = []
    for at, dataset in enumerate(board.datasets):
        rows: list[dict[str, Any]] = [
            {
                "model_name": row.entry.name,
                "metrics": _measured(board, row.place, at),
                "paper_date": row.entry.made_at.date().isoformat(),
                "code_links": [],
                "model_links": [],
                "paper_title": "",
                "paper_url": None,
            }
            for row in of.rows
        ]
        tables.append({
            "dataset": dataset.title,
            "description": f"{board.task}/{dataset.name}, version {dataset.number}, SHA-256 {dataset.digest}",
            "sota": {
                "metrics": [each.title for each in board.metrics],
                "rows": [row for row in rows if row["metrics"]],
            },
        })  # fmt: skip
    return [{"task": name, "description": description, "categories": [], "datasets": tables, "subtasks": []}]


def _measured(board: Board, place: int, dataset: int) -> dict[str, str]:
    if board.held(place, dataset):
        return {}
    values = board.values[place, dataset]
    return {
        each.title: f"{value:.6g}" for each, value in zip(board.metrics, values, strict=True) if value == value
    }  # fmt: skip


def model_index(board: Board, place: int, task_name: str, address: str) -> str:
    """The front matter of a model card with what one submission scored here, not what is told in its place."""
    entry, results = board.entries[place], []
    for at, dataset in enumerate(board.datasets):
        values = board.values[place, at]
        metrics = [
            _metric(each, float(value)) for each, value in zip(board.metrics, values, strict=True) if value == value
        ]
        if metrics and not board.held(place, at):
            results.append(_result(board, dataset, metrics, task_name, address))
    text = yaml.safe_dump(
        {"model-index": [{"name": entry.name, "results": results}]}, sort_keys=False, allow_unicode=True
    )
    return f"---\n{text}---\n"


def _metric(of: Measure, value: float) -> dict[str, Any]:
    return {"type": of.name, "name": f"{of.title} ({of.unit})" if of.unit else of.title, "value": round(value, 6)}


def _result(board: Board, of: Column, metrics: list[dict[str, Any]], task: str, address: str) -> dict[str, Any]:
    return {
        "task": {"type": board.task, "name": task},
        "dataset": {"type": f"{board.task}/{of.name}", "name": of.title, "revision": of.digest},
        "metrics": metrics,
        "source": {"name": "Dynabench", "url": address},
    }


@dataclass(frozen=True)
class Reported:
    """A number that a model's README says of it; nobody measured it here."""

    entry: Entry
    dataset: str
    metric: str
    value: str
    source: str


def reported(session: Session, board: Board) -> list[Reported]:
    """What the READMEs of the board's named rows report, at most `MOST` numbers."""
    named = {entry.id: entry for entry in board.entries if entry.model and entry.name}
    found: list[Reported] = []
    for id, readme in session.execute(queries.readmes(board.task)):
        if id in named and readme:
            found += [Reported(named[id], *told) for told in results(readme)]
    return found[:MOST]


def results(readme: str) -> list[tuple[str, str, str, str]]:
    """Dataset, metric, value and source of each result in a README's `model-index`; none where it has none."""
    if not readme.startswith("---"):
        return []
    front = readme[3:FRONT].split("\n---", 1)[0]
    try:
        matter = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    return list(_told(matter))


def _told(matter: object) -> Iterable[tuple[str, str, str, str]]:
    for model in _maps(_get(matter, "model-index")):
        for result in _maps(model.get("results")):
            data = _text(_get(result.get("dataset"), "name")) or _text(_get(result.get("dataset"), "type"))
            source = _text(_get(result.get("source"), "name"))
            for metric in _maps(result.get("metrics")):
                value = metric.get("value")
                if isinstance(value, int | float | str) and not isinstance(value, bool):
                    yield data, _text(metric.get("name")) or _text(metric.get("type")), _text(value), source


def _get(of: object, name: str) -> object:
    return of.get(name) if isinstance(of, Mapping) else None


def _maps(of: object) -> list[Mapping[str, Any]]:
    return [each for each in of[:MOST] if isinstance(each, Mapping)] if isinstance(of, list) else []


def _text(of: object) -> str:
    return str(of)[:100] if isinstance(of, int | float | str) else ""
