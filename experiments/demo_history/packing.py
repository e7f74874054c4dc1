"""Packing a task's history: the rows of its rounds and the files that they name, in the form that the demo loads."""

import hashlib
import json
import zipfile
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import LargeBinary, Table, select
from sqlalchemy.orm import Session

from dynabench.insight.data_measurements import jobs as measurements
from dynabench.insight.data_measurements import sample as samples
from dynabench.kit.db import Base, Database, Utc
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.operations.demo_history import FORMAT, MATCHED, TABLES, VERSION
from dynabench.rounds.tables import Round
from experiments.demo_history.readme import archive_readme

Row = dict[str, Any]
WAIT_BEFORE_EVALUATION = timedelta(minutes=20)
NO_JOBS = ("job_id",)
ROUNDED = {"latency_ms": 1, "seconds": 2}
PROBABILITY_DIGITS = 4


def measure_rounds(db: Database, settings: Settings) -> None:
    """Measure the data of all rounds, which the worker would do otherwise."""
    for round_id in db.read(lambda session: list(session.scalars(select(Round.id)))):
        measurements.measure_and_store(db, round_id, samples.find_encoder())


class Packer:
    """Collects the rows of a task, table after table; a row comes along if all that it refers to does."""

    def __init__(self, session: Session, task: str) -> None:
        self.session, self.task = session, task
        self.collected_ids: dict[str, set[Any]] = defaultdict(set)
        self.rows: dict[str, list[Row]] = {}

    def collect(self) -> None:
        """Collect all tables."""
        for name, entity in MATCHED.items():
            table: Any = entity.__table__
            columns = (table.c.id, table.c.digest)
            matched = self.session.execute(select(*columns).where(table.c.task_id == self.task)).mappings()
            self.rows[name] = [dict(row) for row in matched]
            self.collected_ids[name] = {row["id"] for row in self.rows[name]}
        for name in TABLES:
            table = Base.metadata.tables[name]
            statement = select(table).order_by(*table.primary_key)
            rows = [dict(row) for row in self.session.execute(statement).mappings()]
            self.rows[name] = [row for row in rows if self._belongs(table, row)]
            if "id" in table.c:
                self.collected_ids[name] = {row["id"] for row in self.rows[name]}
        self._drop_unused()
        self._date_evaluations()

    def _belongs(self, table: Table, row: Row) -> bool:
        for column in table.columns:
            for key in column.foreign_keys:
                name, value = key.column.table.name, row[column.name]
                if value is None:
                    continue
                if name == "tasks":
                    if value != self.task:
                        return False
                elif key.column.table is not table and value not in self.collected_ids[name]:
                    return False
        return table.name != "near_bands" or row["task_id"] == self.task

    def _drop_unused(self) -> None:
        """Leave out hand-outs that became no example, and contexts and seeds that nothing refers to."""
        used = {row["handout_id"] for row in self.rows["examples"]}
        self.rows["handouts"] = [row for row in self.rows["handouts"] if row["id"] in used]
        contexts = {row["context_id"] for row in self.rows["handouts"]}
        self.rows["contexts"] = [row for row in self.rows["contexts"] if row["id"] in contexts]
        seeds = {row["seed_id"] for row in self.rows["handouts"]}
        self.rows["seeds"] = [row for row in self.rows["seeds"] if row["id"] in seeds]

    def _date_evaluations(self) -> None:
        """Date evaluations, which the worker made in real time, soon after model and dataset were both there."""
        ready = {row["id"]: row["ready_at"] for row in self.rows["submissions"]}
        dataset_moments = {row["id"]: row["created_at"] for row in self.rows["dataset_versions"]}
        shifts: dict[int, timedelta] = {}
        for row in self.rows["evaluations"]:
            begin = max(ready[row["submission_id"]], dataset_moments[row["version_id"]]) + WAIT_BEFORE_EVALUATION
            shifts[row["id"]] = begin - row["created_at"]
            for column in ("created_at", "started_at", "ended_at"):
                row[column] = row[column] + shifts[row["id"]] if row[column] else None
            row["log"] = ""
        for name, column in (("shards", "done_at"), ("scores", "made_at"), ("records", "made_at")):
            for row in self.rows[name]:
                row[column] += shifts[row["evaluation_id"]]
        for row in self.rows["records"]:
            for key in ("answered_at", "made_at"):
                moment = datetime.fromisoformat(row["document"][key]) + shifts[row["evaluation_id"]]
                row["document"] = row["document"] | {key: moment.isoformat()}
        for row in self.rows["twins"]:
            row["created_at"] = dataset_moments[row["version_id"]] + timedelta(minutes=3)
        last = {row["id"]: row["closed_at"] or row["opened_at"] for row in self.rows["rounds"]}
        written: dict[int, datetime] = defaultdict(lambda: datetime.min)
        for row in self.rows["examples"]:
            written[row["round_id"]] = max(written.get(row["round_id"], row["at"]), row["at"])
        for row in self.rows["measured"]:
            if row["at"]:
                row["at"] = max(last[row["round_id"]], written.get(row["round_id"], last[row["round_id"]]))


def write_archive(
    db: Database, settings: Settings, task: str, path: Path, latest: datetime, report: Callable[[str], None]
) -> None:
    """Write the archive of a task."""
    packer = db.read(_collected, task)
    shipped = {(entry.name, entry.version) for entry in catalog.find([catalog.BUILTIN])}
    moments = [
        row[column.name]
        for name, rows in packer.rows.items()
        for row in rows
        for column in Base.metadata.tables[name].columns
        if isinstance(column.type, Utc) and row.get(column.name) and column.name != "expires_at"
    ]
    manifest = {
        "format": FORMAT, "version": VERSION, "task": task, "latest": max(moments).isoformat(),
        "shipped_submissions": [r["id"] for r in packer.rows["submissions"] if (r["model"], r["version"]) in shipped],
        "rows": {name: len(rows) for name, rows in packer.rows.items()},
    }  # fmt: skip
    blobs = bytearray()
    links = manifest["links"] = dict[str, list[str]]()
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        for name, rows in packer.rows.items():
            table = Base.metadata.tables[name]
            lines = (
                json.dumps(_document(row, table, blobs), ensure_ascii=False, separators=(",", ":")) for row in rows
            )
            _add(file, f"rows/{name}.jsonl", "".join(f"{line}\n" for line in lines).encode())
        _add(file, "blobs.bin", bytes(blobs))
        _add(file, "README.md", archive_readme(manifest).encode())
        for row in packer.rows["submissions"]:
            if (row["model"], row["version"]) not in shipped:
                entry = catalog.entry(row["model"], row["version"])
                _add_folder(file, entry.folder, f"models/{row['model']}-{row['version']}", links)
        _add(file, "manifest.json", json.dumps(manifest, indent=1).encode())
        for row in packer.rows["evaluations"]:
            _add_folder(file, settings.folder / "evaluations" / str(row["id"]), f"evaluations/{row['id']}")
        digests = {
            row["digest"] for name in ("dataset_versions", "twins") for row in packer.rows[name] if row["digest"]
        }
        for digest in sorted(digests):
            name = f"datasets/{digest[:2]}/{digest}.parquet"
            _add(file, name, (settings.folder / name).read_bytes())
    report(f"{path.name}: {path.stat().st_size / 2**20:.2f} MiB, {manifest['rows']}")


def _collected(session: Session, task: str) -> Packer:
    packer = Packer(session, task)
    packer.collect()
    return packer


def _document(row: Row, table: Table, blobs: bytearray) -> Row:
    values: Row = {}
    for name, value in row.items():
        if value is None or name in NO_JOBS:
            continue
        column = table.c[name]
        if isinstance(column.type, LargeBinary):
            values[name] = [len(blobs), len(value)]
            blobs.extend(_rounded(value) if name == "replicates" else value)
        elif isinstance(value, datetime):
            values[name] = value.isoformat()
        elif name in ROUNDED and isinstance(value, float):
            values[name] = round(value, ROUNDED[name])
        elif name == "probabilities":
            values[name] = {label: round(share, PROBABILITY_DIGITS) for label, share in value.items()}
        else:
            values[name] = value
    return values


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type, info.external_attr = zipfile.ZIP_LZMA, 0o100644 << 16
    file.writestr(info, content)


def _add_folder(file: zipfile.ZipFile, folder: Path, name: str, links: dict[str, list[str]] | None = None) -> None:
    """Add the files of a folder; of one that a shipped model has as well place and SHA-256 are noted in `links`."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        member = f"{name}/{path.relative_to(folder).as_posix()}"
        origin = _shipped_files().get(path.read_bytes()) if links is not None else None
        if links is not None and origin is not None:
            links[member] = [origin, hashlib.sha256(path.read_bytes()).hexdigest()]
        else:
            _add(file, member, path.read_bytes())


@cache
def _shipped_files() -> dict[bytes, str]:
    """The weights of the shipped models and where they are."""
    paths = sorted(catalog.BUILTIN.rglob("*.safetensors"))
    return {path.read_bytes(): path.relative_to(catalog.BUILTIN).as_posix() for path in paths}


def _rounded(replicates: bytes) -> bytes:
    """Replicates with 12 bits of mantissa, which is finer than any interval is drawn."""
    values = np.frombuffer(replicates, "<u4") & np.uint32(0xFFFFF800)
    return values.tobytes()
