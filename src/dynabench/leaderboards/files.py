"""A board as weighed, to take away: CSV, JSON and Parquet, and a picture."""

import io
from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.benchmark.disclosure import is_anonymous
from dynabench.leaderboards.board import Entry
from dynabench.leaderboards.ranking import Cell, Ranking, Row
from dynabench.sheets import as_csv

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}


def document(of: Ranking, rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that the board says, as JSON: weights, metrics with units and directions, datasets, rows."""
    board = of.board
    return {
        "task": board.task,
        "weights": of.weights.document(),
        "metrics": [
            {"name": each.name, "title": each.title, "unit": each.unit, "better": each.better}
            for each in board.metrics
        ],
        "datasets": [
            {"name": each.name, "title": each.title, "version": each.number, "digest": each.digest, "rows": each.rows,
             "visibility": each.visibility}
            for each in board.datasets
        ],
        "rows": [row_document(of, row) for row in rows],
    }  # fmt: skip


def row_document(of: Ranking, row: Row) -> dict[str, Any]:
    """One row with its scores on each dataset; `rank` is None where `unranked` says why."""
    entry, board = row.entry, of.board
    at = board.places[row.place]
    per_dataset = {
        dataset.name: {
            metric.name: _cell(_of(board.of, at, d, m)) for m, metric in enumerate(board.metrics)
        }
        for d, dataset in enumerate(board.datasets)
    }  # fmt: skip
    return {
        "id": entry.id,
        "name": entry.name,
        "model": entry.model,
        "version": entry.version,
        "kind": entry.kind,
        "submitter": entry.submitter,
        "anonymous": is_anonymous(entry.visibility),
        "submitted_at": entry.made_at.date().isoformat(),
        "licence": entry.licence,
        "languages": list(entry.languages),
        "bytes": entry.bytes,
        **({"rows": entry.rows, "balance": dict(entry.balance)} if entry.rows else {}),
        "verified": row.verified,
        "held": row.held,
        "rank": {"low": row.rank.low, "high": row.rank.high, "group": row.rank.group} if row.rank else None,
        "unranked": row.why,
        "score": _cell(row.score),
        "metrics": {metric.name: _cell(cell) for metric, cell in zip(board.metrics, row.cells, strict=True)},
        "datasets": per_dataset,
    }


def _of(standing: Any, model: int, dataset: int, metric: int) -> Cell:
    at = (model, dataset, metric)
    return Cell(*(float(x) if x == x else None for x in (standing.values[at], standing.low[at], standing.high[at])))


def _cell(of: Cell) -> dict[str, float | None]:
    return {"value": of.value, "low": of.low, "high": of.high}


def table(of: Ranking, rows: Sequence[Row]) -> tuple[list[str], list[list[Any]]]:
    """Header and lines: one line a row, three columns a metric; where there are training sets, what each is made of."""
    numbers = [f"{each.name}{part}" for each in of.board.metrics for part in ("", "_low", "_high")]
    header = ["rank_low", "rank_high", "tie_group", "name", "model", "version", "submitter", "submitted_at", "licence",
              "languages", "bytes", "verified", "score", "score_low", "score_high", *numbers, "unranked"]  # fmt: skip
    learnt = ["rows", "balance"] if any(row.entry.rows for row in rows) else []
    lines = []
    for row in rows:
        entry, rank = row.entry, row.rank
        ranks = [rank.low, rank.high, rank.group] if rank else [None, None, None]
        cells = [part for cell in (row.score, *row.cells) for part in (cell.value, cell.low, cell.high)]
        lines.append([
            *ranks, entry.name, entry.model, entry.version, entry.submitter, entry.made_at.date().isoformat(),
            entry.licence, " ".join(entry.languages), entry.bytes, row.verified, *cells, row.why,
            *([entry.rows, _balance(entry)] if learnt else []),
        ])  # fmt: skip
    return header + learnt, lines


def _balance(of: Entry) -> str:
    return ", ".join(f"{label}: {count}" for label, count in of.balance)


def file(of: Ranking, rows: Sequence[Row], kind: str) -> bytes:
    """The board as `csv`, `json` or `parquet`."""
    if kind == "json":
        return orjson.dumps(document(of, rows))
    header, lines = table(of, rows)
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
    texts = ("name", "model", "version", "submitter", "submitted_at", "licence", "languages", "unranked", "balance")
    return pa.string() if column in texts else pa.float64()
