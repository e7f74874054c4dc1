"""The run of a predictor over all rows: in batches, timed, resumed from a checkpoint of an interrupted run.

The checkpoint is a file of JSON lines: first a header with fingerprints of model, data and settings, then a line for
each batch with its row numbers, answers, seconds and tokens. A line that a crash left incomplete is cut off.
"""

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from dynabench.evaluate.values import to_plain

if TYPE_CHECKING:
    from dynabench.evaluate.evaluator.predictors.base import Predictor

SAMPLED = 64  # values of each weight that are looked at: all of a large model's would take minutes


def fingerprint_value(value: Any) -> str:
    """Return 16 hex digits of the SHA-256 of a value.

    Values are texts, numbers, arrays, images, and lists and dictionaries of them.
    """
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()[:16]


def fingerprint_rows(rows: Iterable[Any]) -> str:
    """Return 16 hex digits of all rows in order; one row at a time is held in memory."""
    digest = hashlib.sha256()
    for row in rows:
        _feed(digest, row)
    return digest.hexdigest()[:16]


def fingerprint_network(model: Any) -> str:
    """Return 16 hex digits of a torch model: its class, configuration, and a sample of each of its weights."""
    parts: list[Any] = [type(model).__qualname__]
    config: Any = getattr(model, "config", None)
    if hasattr(config, "to_dict"):
        parts.append(json.dumps(config.to_dict(), sort_keys=True, default=str))
    for name, weight in model.state_dict().items():
        flat = weight.detach().reshape(-1)
        step = max(flat.numel() // SAMPLED, 1)
        parts += [name, str(tuple(weight.shape)), flat[::step].double().cpu().numpy()]
    return fingerprint_value(parts)


def fingerprint_tokenizer(tokenizer: Any) -> str:
    """Return 16 hex digits of a tokenizer or feature extractor: its vocabulary and settings."""
    if hasattr(tokenizer, "backend_tokenizer"):
        return fingerprint_value(tokenizer.backend_tokenizer.to_str())
    if hasattr(tokenizer, "get_vocab"):
        return fingerprint_value(sorted(tokenizer.get_vocab().items()))
    settings = tokenizer.to_dict() if hasattr(tokenizer, "to_dict") else {}
    return fingerprint_value([type(tokenizer).__qualname__, json.dumps(settings, sort_keys=True, default=str)])


def _feed(digest: Any, value: Any) -> None:
    """Kind and length go before each content, so that no two values run into one."""
    if isinstance(value, Mapping):
        digest.update(f"d{len(value)}:".encode())
        for key in value:
            _feed(digest, key)
            _feed(digest, value[key])
    elif isinstance(value, str | Path):
        content = str(value).encode("utf-8", "surrogatepass")
        digest.update(f"s{len(content)}:".encode() + content)
    elif isinstance(value, np.ndarray):
        digest.update(f"a{value.dtype}{value.shape}:".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, bytes):
        digest.update(f"b{len(value)}:".encode() + value)
    elif isinstance(value, Sequence):
        digest.update(f"l{len(value)}:".encode())
        for item in value:
            _feed(digest, item)
    elif hasattr(value, "tobytes") and hasattr(value, "size"):
        _feed(digest, [str(value.size), value.tobytes()])
    else:
        _feed(digest, repr(value))


def make_batches(sizes: Sequence[int] | None, rows: int, batch_size: int) -> list[list[int]]:
    """Return row numbers in batches of `batch_size`, the longest rows first.

    A batch that exceeds memory fails at once.

    Without `sizes` the rows stay in order. Equal sizes stay in order too, so the same rows give the same batches.
    Raises ValueError for a batch size below 1.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size} is below 1")
    order = list(range(rows)) if sizes is None else sorted(range(rows), key=lambda row: -sizes[row])
    return [order[start : start + batch_size] for start in range(0, rows, batch_size)]


PERCENTILES = (50, 95, 99)


@dataclass
class Timing:
    """Seconds of encoding all rows once, and of each batch with its number of rows and tokens."""

    encoding: float = 0.0
    seconds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    tokens: list[int | None] = field(default_factory=list)

    def add(self, seconds: float, rows: int, tokens: int | None) -> None:
        """Add the time of one batch."""
        self.seconds.append(seconds)
        self.rows.append(rows)
        self.tokens.append(tokens)

    def result(self) -> dict[str, Any]:
        """Return seconds in all, samples a second, seconds a sample, percentiles of the latter, and tokens a second.

        The latency of an example is its batch's time over the batch's rows, and its share of the encoding; with
        batch_size=1 that is the time to its answer. Rates are None where the clock did not move.
        """
        n, total = sum(self.rows), self.encoding + sum(self.seconds)
        figures: dict[str, Any] = {
            "total_time_in_seconds": total,
            "samples_per_second": n / total if total > 0 else None,
            "latency_in_seconds": total / n,
        }
        latencies = np.repeat(np.array(self.seconds) / np.array(self.rows), self.rows) + self.encoding / n
        for percent, value in zip(PERCENTILES, np.percentile(latencies, PERCENTILES), strict=True):
            figures[f"latency_p{percent}_in_seconds"] = float(value)
        token_counts = [count for count in self.tokens if count is not None]
        if len(token_counts) == len(self.tokens):
            figures["tokens_per_second"] = sum(token_counts) / total if total > 0 else None
        return figures


VERSION = 1
MISMATCHES = {"model": "of another model", "data": "on other data", "settings": "with other settings"}


class AnswerCheckpoint:
    """One checkpoint file. `answers` maps row numbers to answers; `lines` are the batches read from the file."""

    def __init__(self, path: str | Path, fingerprints: dict[str, str]) -> None:
        """Open the file, or start it; `fingerprints` has the keys model, data and settings.

        Raises ValueError for a file of another model, data or settings, or one that is no checkpoint.
        """
        self.path = Path(path)
        self.about = fingerprints
        self.encoding: float | None = None
        self.lines: list[dict[str, Any]] = []
        self.done: dict[int, Any] = {}
        self._file: TextIO | None = None
        if self.path.is_file() and self.path.stat().st_size:
            self._read()

    def begin(self, encoding: float) -> None:
        """Write the header with the seconds that encoding took, unless the file has one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a", encoding="utf-8")
        if self.encoding is None:
            self.encoding = encoding
            self._write({"checkpoint": VERSION, **self.about, "encoding_seconds": encoding})

    def add(self, rows: list[int], answers: list[Any], seconds: float, tokens: int | None) -> None:
        """Append one batch; when this returns, a crash of this process cannot lose it."""
        self._write({"rows": rows, "answers": to_plain(answers), "seconds": seconds, "tokens": tokens})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def _read(self) -> None:
        raw = self.path.read_bytes()
        whole, _, torn = raw.rpartition(b"\n")
        parts = [self._parsed(line, number) for number, line in enumerate(whole.split(b"\n"), 1) if line]
        if parts:
            self._check(parts[0])
        elif raw and not raw.startswith(b'{"checkpoint"'):
            raise ValueError(f"{self.path} is no checkpoint of an evaluation; name another file")
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(len(raw) - len(torn))
        for line in parts[1:]:
            self.lines.append(line)
            self.done.update(zip(line["rows"], line["answers"], strict=True))

    def _parsed(self, line: bytes, number: int) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            raise ValueError(f"{self.path}, line {number}, is damaged; delete the file to start anew") from None

    def _check(self, header: Any) -> None:
        if not isinstance(header, dict) or header.get("checkpoint") != VERSION:
            raise ValueError(f"{self.path} is no checkpoint of an evaluation; name another file")
        other = [phrase for part, phrase in MISMATCHES.items() if header.get(part) != self.about[part]]
        if other:
            raise ValueError(
                f"{self.path} belongs to an evaluation {' and '.join(other)}; delete it to start anew, or name another"
            )
        self.encoding = float(header["encoding_seconds"])


Progress = Callable[[int, int], Any]
Clock = Callable[[], float]


@dataclass(frozen=True)
class RunResult:
    """One answer for each row, in order, and the times of the run."""

    answers: list[Any]
    timing: Timing


def run_predictor(
    predictor: "Predictor",
    inputs: Sequence[Any],
    *,
    batch_size: int,
    clock: Clock,
    checkpoint: AnswerCheckpoint | None = None,
    progress: Progress | None = None,
    warm_up: bool = True,
) -> RunResult:
    """Return the answers to `inputs`, with the times.

    Only encoding and predicting are timed: fetching lazy rows, the checkpoint and `progress` are not. The warm-up
    is an untimed pass over the shortest row.
    """
    began = clock()
    encoded = predictor.encode(inputs)
    timing = Timing(encoding=clock() - began)
    groups = make_batches(predictor.sizes(encoded), len(encoded), batch_size)
    answers: dict[int, Any] = {}
    if checkpoint is not None:
        answers.update(_restore_answers(checkpoint, timing))
        groups = _remaining_batches(groups, answers)
    if groups and warm_up:
        predictor.predict([encoded[groups[-1][-1]]])
    try:
        if checkpoint is not None:
            checkpoint.begin(timing.encoding)
        for rows in groups:
            answers.update(_run_batch(predictor, encoded, rows, timing, clock, checkpoint))
            if progress is not None:
                progress(len(answers), len(encoded))
    finally:
        if checkpoint is not None:
            checkpoint.close()
    return RunResult([answers[row] for row in range(len(encoded))], timing)


def _run_batch(
    predictor: "Predictor",
    encoded: Sequence[Any],
    rows: list[int],
    timing: Timing,
    clock: Clock,
    checkpoint: AnswerCheckpoint | None,
) -> dict[int, Any]:
    fetched = [encoded[row] for row in rows]
    began = clock()
    result = predictor.predict(fetched)
    seconds = clock() - began
    if len(result.answers) != len(rows):
        raise ValueError(
            f"the model gave {len(result.answers)} answers to {len(rows)} inputs; it must give one for each"
        )
    timing.add(seconds, len(rows), result.tokens)
    if checkpoint is not None:
        checkpoint.add(rows, result.answers, seconds, result.tokens)
    return dict(zip(rows, result.answers, strict=True))


def _restore_answers(checkpoint: AnswerCheckpoint, timing: Timing) -> dict[int, Any]:
    """Earlier answers; their times join this run's, and encoding counts as it did when the file was begun."""
    if checkpoint.encoding is not None:
        timing.encoding = checkpoint.encoding
    for line in checkpoint.lines:
        timing.add(line["seconds"], len(line["rows"]), line["tokens"])
    return checkpoint.done


def _remaining_batches(groups: list[list[int]], done: dict[int, Any]) -> list[list[int]]:
    """Batches without the rows that are done.

    Whole batches stay whole, so answers are those of an uninterrupted run.
    """
    remaining = ([row for row in rows if row not in done] for rows in groups)
    return [rows for rows in remaining if rows]


def hardware(device: str | None = None) -> dict[str, Any]:
    """Return processor, usable cores, memory in bytes, torch's threads, and the accelerator that was used, if any."""
    torch = sys.modules.get("torch")  # a model without torch shall not load it
    on_accelerator = torch is not None and device is not None and device.startswith("cuda")
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_in_bytes": _memory(),
        "threads": torch.get_num_threads() if torch is not None else None,
        "accelerator": torch.cuda.get_device_name(device) if torch is not None and on_accelerator else None,
        "platform": platform.platform(),
    }


def peak_memory(device: str | None = None) -> int | None:
    """Return the peak memory in bytes: of torch on this accelerator since `watch_memory`, else of this process
    since its start; None where the system does not tell."""
    torch = sys.modules.get("torch")
    if torch is not None and device is not None and device.startswith("cuda"):
        return int(torch.cuda.max_memory_allocated(device))
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def watch_memory(device: str | None = None) -> None:
    """Reset the accelerator's peak, so that `peak_memory` counts from here."""
    torch = sys.modules.get("torch")
    if torch is not None and device is not None and device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
