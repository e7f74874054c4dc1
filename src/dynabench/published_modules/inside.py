"""A published module as the sandbox's program asks it: the class `Model` of a file `handler.py` that imports this one.

It runs in the sandbox alone, beside code that nobody has checked, so nothing here protects anything: limits are those
of the sandbox, and each answer is checked by the process that asked (`sandboxed.py`).
"""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynabench.evaluate import loading
from dynabench.evaluate.module import Module
from dynabench.evaluate.resampling import score_replicates
from dynabench.published_modules.manifest import describe_module

FOLDER = "module"
"""The folder of the module's files, below the one that the sandbox shows."""
HANDLER_TEXT = f"""import sys
sys.path.insert(0, "/packages")
sys.path.append("/model/{FOLDER}")
from dynabench.published_modules.inside import HostedModule as Model
"""


class HostedModule:
    """The module in the Python file that the first request names."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder) / FOLDER
        self._module: type[Module] | None = None

    def predict(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Answer each request: `ok` with what was asked for, or `refused` with the module's message."""
        return [self._answer(**request) for request in requests]

    def _answer(self, action: str, file: str, **request: Any) -> dict[str, Any]:
        if self._module is None:
            path = self._folder / file
            if not path.is_file():
                return {"refused": f"the repository has no file {file}"}
            try:
                self._module = loading.module_in_file(path)
            except (ValueError, ImportError) as error:
                return {"refused": f"{file} cannot be loaded: {error}"}
        try:
            return {"ok": getattr(self, f"_{action}")(self._module, file, **request)}
        except (ValueError, TypeError) as error:
            return {"refused": str(error) or type(error).__name__}
        except (MemoryError, RecursionError):
            return {"refused": "this needs more memory than is allowed; give fewer or shorter rows"}

    def _describe(self, module: type[Module], file: str) -> dict[str, Any]:
        return describe_module(module, file)

    def _compute(
        self, module: type[Module], file: str, config: str | None, columns: dict[str, Any], options: dict[str, Any]
    ) -> Any:
        return module(config).compute(**columns, **options)

    def _replicates(
        self, module: type[Module], file: str, config: str | None, columns: dict[str, Any], options: dict[str, Any],
        digest: str,
    ) -> dict[str, list[float | None]]:  # fmt: skip
        """The scores in samples of the rows by key; None for a sample in which one is undefined."""
        drawn = score_replicates(module(config, **options), columns, digest)
        return {key: [x if math.isfinite(x) else None for x in values.tolist()] for key, values in drawn.items()}

    def _merge(
        self, module: type[Module], file: str, config: str | None, parts: list[dict[str, Any]], options: dict[str, Any]
    ) -> Any:
        """The result of several batches that are merged."""
        loaded = module(config, **options)
        states = [loaded.state(part) for part in parts]
        total = states[0]
        for state in states[1:]:
            total = loaded.merge(total, state)
        return loaded.result(total, **loaded.options_for(loaded.result))


sys.setrecursionlimit(1000)
