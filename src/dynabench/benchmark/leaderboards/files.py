"""A board as weighed in files: CSV, JSON and Parquet, and the forms that other sites read.

These are Papers-with-Code's evaluation tables (`sota-extractor`), and `model-index` of Hugging Face's model cards
(https://github.com/huggingface/hub-docs, modelcard.md).
"""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.benchmark.evaluations.card_results import CardPlace, ResultSigner, card_snippet, score_result
from dynabench.benchmark.ranking import BoardRanking, DisplayedScore, RankedEntrant, default_weights, displayed
from dynabench.benchmark.standings import TaskBoard
from dynabench.kit.csv_tables import as_csv
from dynabench.stats.rates import FEW_ROWS

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}


def board_document(ranking: BoardRanking, rows: Sequence[RankedEntrant]) -> dict[str, Any]:
    """Everything that the board says, as JSON: weights, metrics with units and directions, datasets, rows.

    A dataset with `few_rows` weighs nothing (`weight`, `default_weight`) unless a weight is asked for.
    """
    board, usual = ranking.board, default_weights(ranking.board).datasets
    return {
        "task": board.config.id,
        "weights": ranking.weights.document(),
        "metrics": [
            {"name": entry.name, "title": entry.title, "unit": entry.unit, "better": entry.better}
            for entry in board.metrics
        ],
        "datasets": [
            {"name": entry.name, "title": entry.title, "version": entry.number, "digest": entry.digest,
             "rows": entry.rows, "visibility": entry.visibility, "few_rows": entry.rows < FEW_ROWS,
             "weight": ranking.weights.datasets.get(entry.name, 0), "default_weight": usual[entry.name]}
            for entry in board.datasets
        ],
        "rows": [row_document(ranking, row) for row in rows],
    }  # fmt: skip


def row_document(ranking: BoardRanking, row: RankedEntrant) -> dict[str, Any]:
    """One row with its scores on each dataset; `rank` is None where `unranked` says why."""
    entrant, board = row.entrant, ranking.board
    scale = np.array([metric.scale for metric in board.metrics])
    at = board.rows[row.place], board.columns
    arrays = [array[at] * scale for array in (board.standings.values, board.standings.low, board.standings.high)]
    per_dataset = {
        dataset.name: {
            metric.name: _cell(displayed(*numbers)) for metric, *numbers in zip(board.metrics, *limits, strict=True)
        }
        for dataset, *limits in zip(board.datasets, *arrays, strict=True)
    }
    return {
        "id": entrant.id,
        "name": entrant.name,
        "model": entrant.model,
        "version": entrant.version,
        "kind": entrant.kind,
        "submitter": entrant.submitter,
        "anonymous": entrant.anonymous,
        "submitted_at": entrant.entered_at.date().isoformat(),
        "licence": entrant.licence,
        "languages": list(entrant.languages),
        "bytes": entrant.bytes,
        **({"rows": entrant.rows, "balance": dict(entrant.balance)} if entrant.rows else {}),
        "verified": row.verified,
        "held": row.held,
        "baseline": entrant.baseline,
        "rank": {"low": row.rank.low, "high": row.rank.high, "group": row.rank.group} if row.rank else None,
        "unranked": row.why,
        "score": _cell(row.score),
        "metrics": {metric.name: _cell(cell) for metric, cell in zip(board.metrics, row.cells, strict=True)},
        "datasets": per_dataset,
    }


def _cell(score: DisplayedScore) -> dict[str, float | None]:
    return {"value": score.value, "low": score.low, "high": score.high}


def board_table(ranking: BoardRanking, rows: Sequence[RankedEntrant]) -> tuple[list[str], list[list[Any]]]:
    """Header and lines: one line a row, three columns a metric; where there are training sets, what each is made of."""
    numbers = [f"{metric.name}{part}" for metric in ranking.board.metrics for part in ("", "_low", "_high")]
    header = ["rank_low", "rank_high", "tie_group", "name", "model", "version", "submitter", "submitted_at", "licence",
              "languages", "bytes", "verified", "score", "score_low", "score_high", *numbers, "unranked"]  # fmt: skip
    learnt = ["rows", "balance"] if any(row.entrant.rows for row in rows) else []
    small = unweighed_datasets(ranking)
    notes = ["datasets_without_weight"] if small else []
    lines = []
    for row in rows:
        entrant, rank = row.entrant, row.rank
        ranks = [rank.low, rank.high, rank.group] if rank else [None, None, None]
        cells = [part for cell in (row.score, *row.cells) for part in (cell.value, cell.low, cell.high)]
        lines.append([
            *ranks, entrant.name, entrant.model, entrant.version, entrant.submitter,
            entrant.entered_at.date().isoformat(), entrant.licence, " ".join(entrant.languages), entrant.bytes,
            row.verified, *cells, row.why,
            *([entrant.rows, ", ".join(f"{label}: {n}" for label, n in entrant.balance)] if learnt else []),
            *([small] if small else []),
        ])  # fmt: skip
    return header + learnt + notes, lines


def unweighed_datasets(ranking: BoardRanking) -> str:
    """Return the datasets that weigh nothing because they have few rows, with how many; empty where none does."""
    names = [
        f"{dataset.name}: {dataset.rows} of {FEW_ROWS} rows"
        for dataset in ranking.board.datasets
        if dataset.rows < FEW_ROWS and not ranking.weights.datasets.get(dataset.name, 0)
    ]
    return "; ".join(names)


def board_file(ranking: BoardRanking, rows: Sequence[RankedEntrant], kind: str) -> bytes:
    """The board as `csv`, `json` or `parquet`."""
    if kind == "json":
        return orjson.dumps(board_document(ranking, rows))
    header, lines = board_table(ranking, rows)
    if kind == "csv":
        return as_csv(header, lines)
    columns = {name: pa.array([line[at] for line in lines], _type(name)) for at, name in enumerate(header)}
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written, compression="zstd")
    return written.getvalue()


def _type(column: str) -> pa.DataType:
    if column in ("rank_low", "rank_high", "tie_group", "bytes", "rows"):
        return pa.int64()
    if column == "verified":
        return pa.bool_()
    texts = (
        "name",
        "model",
        "version",
        "submitter",
        "submitted_at",
        "licence",
        "languages",
        "unranked",
        "balance",
        "datasets_without_weight",
    )
    return pa.string() if column in texts else pa.float64()


def papers_with_code(ranking: BoardRanking, name: str, description: str) -> list[dict[str, Any]]:
    """The board as one task with a table for each dataset, without scores that are an earlier submission's."""
    board = ranking.board
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
            for row in ranking.rows
        ]
        tables.append({
            "dataset": dataset.title,
            "description": f"{board.config.id}/{dataset.name}, version {dataset.number}, SHA-256 {dataset.digest}",
            "sota": {
                "metrics": [metric.title for metric in board.metrics],
                "rows": [row for row in rows if row["metrics"]],
            },
        })  # fmt: skip
    return [{"task": name, "description": description, "categories": [], "datasets": tables, "subtasks": []}]


def _measured(board: TaskBoard, place: int, dataset: int) -> dict[str, str]:
    if board.held(board.entrants[place], board.datasets[dataset]):
        return {}
    values = board.values[place, dataset]
    return {
        metric.title: f"{value:.6g}" for metric, value in zip(board.metrics, values, strict=True) if value == value
    }  # fmt: skip


def model_index(board: TaskBoard, entry: int, place: CardPlace, signer: ResultSigner) -> str:
    """The front matter of a model card with what one submission scored here, not what is told in its place."""
    entrant, results = board.entrants[entry], []
    for at, dataset in enumerate(board.datasets):
        if board.held(entrant, dataset):
            continue
        for metric, value in zip(board.metrics, board.values[entry, at], strict=True):
            if value == value:
                result = score_result(place, dataset.name, dataset.title, dataset.digest, metric, float(value))
                results.append(signer.signed(place, dataset.version_id, result))
    return card_snippet(place.model, results)
