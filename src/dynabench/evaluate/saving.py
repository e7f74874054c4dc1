"""Results in a JSON file, with version, commit and interpreter."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dynabench import __version__
from dynabench.evaluate.values import to_plain


def save(path_or_file: str | Path, **data: Any) -> Path:
    """Write `data` as JSON to the file; into a folder, as a new file named after the time. Returns its path.

    A path with an ending is a file, unless a folder is there.

    Beside `data` stand `_timestamp` (ISO 8601, UTC), `_git_commit_hash` (null outside a checkout),
    `_evaluate_version`, `_python_version` and `_interpreter_path`.
    """
    now = datetime.now(UTC)
    path = Path(path_or_file)
    if path.is_dir() or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"result-{now:%Y_%m_%d-%H_%M_%S}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        **to_plain(data),
        "_timestamp": now.isoformat(),
        "_git_commit_hash": _commit(),
        "_evaluate_version": __version__,
        "_python_version": sys.version,
        "_interpreter_path": sys.executable,
    }
    path.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return path


def _commit() -> str | None:
    try:
        process = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.strip() if process.returncode == 0 else None
