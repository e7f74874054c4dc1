"""Boards in the forms that others read; what others write in them is read by `outside`.

Papers-with-Code's evaluation tables (`sota-extractor`), and `model-index` of Hugging Face's model cards
(https://github.com/huggingface/hub-docs, modelcard.md).
"""

from typing import Any

import yaml

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.ranking import BoardRanking
from dynabench.benchmark.standings import ScoredDataset, TaskBoard


def papers_with_code(of: BoardRanking, name: str, description: str) -> list[dict[str, Any]]:
    """The board as one task with a table for each dataset, without scores that are an earlier submission's."""
    board = of.board
    tables = []
    for at, dataset in enumerate(board.datasets):
        rows: list[dict[str, Any]] = [
            {
                "model_name": row.entrant.name,
                "metrics": _measured(board, row.place, at),
                "paper_date": row.entrant.entered_at.date().isoformat(),
                "code_links": [],
                "model_links": [],
                "paper_title": "",
                "paper_url": None,
            }
            for row in of.rows
        ]
        tables.append({
            "dataset": dataset.title,
            "description": f"{board.config.id}/{dataset.name}, version {dataset.number}, SHA-256 {dataset.digest}",
            "sota": {
                "metrics": [each.title for each in board.metrics],
                "rows": [row for row in rows if row["metrics"]],
            },
        })  # fmt: skip
    return [{"task": name, "description": description, "categories": [], "datasets": tables, "subtasks": []}]


def _measured(board: TaskBoard, place: int, dataset: int) -> dict[str, str]:
    if board.held(board.entrants[place], board.datasets[dataset]):
        return {}
    values = board.values[place, dataset]
    return {
        each.title: f"{value:.6g}" for each, value in zip(board.metrics, values, strict=True) if value == value
    }  # fmt: skip


def model_index(board: TaskBoard, place: int, task_name: str, address: str) -> str:
    """The front matter of a model card with what one submission scored here, not what is told in its place."""
    entrant, results = board.entrants[place], []
    for at, dataset in enumerate(board.datasets):
        values = board.values[place, at]
        metrics = [
            _metric(each, float(value)) for each, value in zip(board.metrics, values, strict=True) if value == value
        ]
        if metrics and not board.held(entrant, dataset):
            results.append(_result(board, dataset, metrics, task_name, address))
    text = yaml.safe_dump(
        {"model-index": [{"name": entrant.name, "results": results}]}, sort_keys=False, allow_unicode=True
    )
    return f"---\n{text}---\n"


def _metric(of: Measure, value: float) -> dict[str, Any]:
    return {"type": of.name, "name": f"{of.title} ({of.unit})" if of.unit else of.title, "value": round(value, 6)}


def _result(
    board: TaskBoard, of: ScoredDataset, metrics: list[dict[str, Any]], task: str, address: str
) -> dict[str, Any]:
    return {
        "task": {"type": board.config.id, "name": task},
        "dataset": {"type": f"{board.config.id}/{of.name}", "name": of.title, "revision": of.digest},
        "metrics": metrics,
        "source": {"name": "Dynabench", "url": address},
    }
