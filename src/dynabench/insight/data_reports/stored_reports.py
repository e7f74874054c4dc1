"""Reports kept as files by the digest of all that determines them: the same data are measured once."""

from pathlib import Path
from uuid import uuid4

import orjson

from dynabench.insight.data_reports.report import DataReport, read_report
from dynabench.kit.settings import Settings


def report_path(settings: Settings, key: str) -> Path:
    """Return the file of the report with this key."""
    return settings.folder / "measurements" / key[:2] / f"{key}.json"


def find_report(settings: Settings, key: str) -> DataReport | None:
    """Return the stored report with this key; None where there is none that can be read."""
    try:
        return read_report(orjson.loads(report_path(settings, key).read_bytes()))
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def store_report(settings: Settings, key: str, report: DataReport) -> None:
    """Keep a report under its key; a reader never sees half of it."""
    path = report_path(settings, key)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    waiting = path.with_name(f".{uuid4()}")
    try:
        waiting.write_bytes(orjson.dumps(report.record(), option=orjson.OPT_SERIALIZE_NUMPY))
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)
