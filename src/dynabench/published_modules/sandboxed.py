"""Published modules in the sandbox of models' handlers: a process that is asked, and the module that asks it."""

import json
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

import dynabench
from dynabench.evaluate.columns import Floats, join_batches, to_numpy
from dynabench.evaluate.module import Module
from dynabench.evaluate.values import to_plain
from dynabench.kit.errors import Unavailable
from dynabench.models.sandbox.available import sandbox
from dynabench.models.sandbox.box import REQUEST, HandlerOptions
from dynabench.models.sandbox.process import HANDLER, Ended, Process, content
from dynabench.models.validity import Broken
from dynabench.published_modules.inside import FOLDER, HANDLER_TEXT
from dynabench.published_modules.manifest import ModuleManifest, check_result, declared_class, read_manifest
from dynabench.stats.bootstrap import REPLICATES

LIMITS = HandlerOptions(
    memory_mb=1024, disk_mb=16, processors=1, processes=8, open_files=128, predict_seconds=10.0, load_seconds=60.0
)
"""What a module may take; see `HandlerOptions`."""
MOST_RESULT = 4 * 2**20
"""Characters of a result as JSON."""
LOG_LINES = 20


class ModuleFailed(ValueError):
    """A module's code failed, did not answer in time, or answered what is no result; the message says which."""


class ModuleProcess:
    """The process of one module in the sandbox, started at the first request and again after its end.

    Used by one thread at a time; `close` ends it and removes its files.
    """

    def __init__(self, name: str, files: Mapping[str, bytes], file: str, limits: HandlerOptions = LIMITS) -> None:
        """`files` are the module's files by path, `file` is the one with the module.

        Raises ValueError where no sandbox is here.
        """
        try:
            self._box = sandbox(Path(dynabench.__file__).parent)
        except Unavailable as problem:
            raise ValueError(f"{problem.detail} Or run the module without one: in_process=True") from None
        self._name, self._file, self._limits = name, file, limits
        self._folder = tempfile.TemporaryDirectory(prefix="dynabench-module-", ignore_cleanup_errors=True)
        _write_files(Path(self._folder.name), files)
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._process: Process | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, action: str, **request: Any) -> Any:
        """Return the module's answer. Raises ValueError for what it refuses, `ModuleFailed` where it fails."""
        try:
            packed = json.dumps([{"action": action, "file": self._file, **request}], allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._name} takes values of JSON in the sandbox: {error}") from None
        if len(packed) > REQUEST:
            raise ValueError(f"{self._name} takes at most {REQUEST // 2**20} MiB of rows at a time in the sandbox")
        try:
            answers = self._exchange(packed)
        except Ended as ended:
            self.end()
            raise ModuleFailed(self._explain(str(ended))) from None
        except Broken as broken:
            raise ModuleFailed(self._explain(broken.detail)) from None
        answer = answers[0] if isinstance(answers, list) and len(answers) == 1 else None
        if isinstance(answer, dict) and isinstance(answer.get("refused"), str):
            raise ValueError(answer["refused"][:2000])
        if not isinstance(answer, dict) or "ok" not in answer:
            self.end()
            raise ModuleFailed(f"{self._name} answered what is neither a result nor a refusal")
        return answer["ok"]

    def close(self) -> None:
        """End the process and remove its files."""
        self.end()
        self._folder.cleanup()

    def _exchange(self, packed: bytes) -> Any:
        if self._process is None or not self._process.alive:
            self.end()
            self._process = Process(self._box, Path(self._folder.name), self._limits, self._log)
            content(self._process.first(self._limits.load_seconds))
        return content(self._process.ask(packed, self._limits.predict_seconds))

    def end(self) -> None:
        """End the process; the next request starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _explain(self, reason: str) -> str:
        """Return a message with the last lines that the module printed."""
        printed = "\n".join(self._log)
        return f"{self._name}: {reason.strip()}"[:4000] + (f"\nThe end of its log:\n{printed}" if printed else "")


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a module's files where the sandbox's user can read them."""
    folder.chmod(0o755)
    contents = {HANDLER: HANDLER_TEXT.encode(), **{f"{FOLDER}/{name}": files[name] for name in files}}
    for name, data in contents.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


class SandboxedModule(Module):
    """A published module whose code runs in the sandbox; used as every module. `revision` is its commit.

    Made by `sandbox_module`. Its rows travel as JSON; `state`, `merge` and `formula` are inside and cannot be used.
    """

    manifest: ModuleManifest
    revision: str = ""
    _process: ModuleProcess

    def compute(
        self,
        *,
        interval: float | None = None,
        resamples: int = 9999,
        method: str = "bca",
        seed: int | None = None,
        per_example: bool = False,
        **given: Any,
    ) -> Any:
        """Return the result for these columns and all rows that were added before; see `Module.compute`.

        Raises ValueError for rows that the module refuses, and `ModuleFailed` where its code fails or takes too long.
        """
        columns = {name: given.pop(name) for name in (*self.columns, *self.optional) if name in given}
        self._check_options(given)
        batches, self._batches = self._batches, []
        batches = [*batches, {name: to_numpy(column) for name, column in columns.items() if column is not None}]
        rows = {name: to_plain(_as_rows(column, name)) for name, column in join_batches(batches).items()}
        extra: dict[str, Any] = {}
        if interval is not None:
            if not self.manifest.interval:
                raise ValueError(f"{self.name} has no interval: it is one number for all that was given")
            extra = {"interval": interval, "resamples": resamples, "method": method}
        extra |= {"seed": seed} if seed is not None else {}
        extra |= {"per_example": True} if per_example else {}
        options = {**self.options, **given, **extra}
        result = self._process.ask("compute", config=self.config_name, columns=rows, options=options)
        if len(json.dumps(result)) > MOST_RESULT:
            raise ModuleFailed(f"{self.name} gave a result of more than {MOST_RESULT // 2**20} MiB")
        number = max((len(rows[name]) for name in rows if name in self.columns), default=0)
        try:
            return check_result(self.manifest, result, number)
        except ValueError as error:
            raise ModuleFailed(str(error)) from None

    def replicates(self, columns: Mapping[str, Any], digest: str) -> dict[str, Floats]:
        """Return the module's scores in samples of its rows by key; see `score_replicates`.

        Raises ValueError for rows that the module refuses, and `ModuleFailed` where its code fails or answers what are
        no scores of samples.
        """
        if not self.manifest.interval:
            raise ValueError(f"{self.name} has no interval: it is one number for all that was given")
        rows = {name: to_plain(_as_rows(column, name)) for name, column in columns.items()}
        drawn = self._process.ask(
            "replicates", config=self.config_name, columns=rows, options=self.options, digest=digest
        )
        outputs = {output.name for output in self.manifest.card.outputs}
        try:
            arrays = {key: np.array(drawn[key], float) for key in drawn if key in outputs}
        except (TypeError, ValueError):
            raise ModuleFailed(f"{self.name} gave what are no scores of samples") from None
        if any(values.shape != (REPLICATES,) for values in arrays.values()):
            raise ModuleFailed(f"{self.name} gave scores of other than {REPLICATES:,} samples")
        return arrays

    def merged(self, parts: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> Any:
        """Return the result of several batches of rows that the module reduces one by one and merges."""
        return self._process.ask("merge", config=self.config_name, parts=list(parts), options=dict(options))

    def close_process(self) -> None:
        """End the module's process; the next request starts another."""
        self._process.end()

    def close(self) -> None:
        """End the module's process for good, and remove its files."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _as_rows(column: Any, name: str) -> Any:
    if isinstance(column, str | bytes | Mapping):
        raise ValueError(f"{name}: give a list with one value for each example, not {type(column).__name__}")
    return column.tolist() if hasattr(column, "tolist") else [to_numpy(value) for value in column]


def sandbox_module(
    manifest: ModuleManifest,
    files: Mapping[str, bytes],
    config_name: str | None = None,
    *,
    revision: str = "",
    limits: HandlerOptions = LIMITS,
    **options: Any,
) -> SandboxedModule:
    """Return a module that runs in the sandbox. Raises ValueError for a config or an option that it does not have."""
    module = declared_class(manifest, SandboxedModule)(config_name, **options)
    assert isinstance(module, SandboxedModule)
    module.manifest, module.revision = manifest, revision
    module._process = ModuleProcess(manifest.name, files, manifest.file, limits)
    return module


def describe_files(files: Mapping[str, bytes], file: str) -> tuple[ModuleManifest, dict[str, Any]]:
    """Return the declaration that the code in some files makes, found in the sandbox, and its document.

    Raises ValueError where the code has no module or fails.
    """
    with ModuleProcess(file.removesuffix(".py"), files, file) as process:
        document = process.ask("describe")
    if not isinstance(document, dict):
        raise ValueError(f"{file} described itself as {document!r:.60}")
    return read_manifest(document), document
