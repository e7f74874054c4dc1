"""Logs of inspect_ai (`.eval`, `.json`, version 2): read as scores and rows, written from them.

An `.eval` file is a zip with `header.json` and one file for each sample. Entries are read one by one, within bounds.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from dynabench import __version__
from dynabench.evaluate.cards.evaluation_log import (
    EvaluationLog,
    LoggedRow,
    LoggedScore,
    checked_scores,
    leave_out,
    mapping,
    number,
    read_bytes,
    read_json,
)
from dynabench.evaluate.cards.yaml_text import CardError

PROGRAM = "inspect_ai"
MAX_ENTRIES = 200_000
MAX_ENTRY_BYTES = 64 * 1024 * 1024
MAX_TOTAL_BYTES = 8 * 1024 * 1024 * 1024
ZSTANDARD = 93
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_SAMPLES = "samples/"
_REFERENCE = "attachment://"


def is_inspect_log(value: Any) -> bool:
    """Return True for the JSON of a log, or of its header."""
    return isinstance(value, Mapping) and isinstance(value.get("eval"), Mapping) and "version" in value


def read_inspect_log(path: Path) -> EvaluationLog:
    """Return the log in a `.eval` or `.json` file. Raises `CardError`."""
    if path.suffix.lower() == ".json":
        return log_of_values(read_json(read_bytes(path), path.name), path.name)
    with _open_archive(path) as archive:
        names = {entry.filename for entry in archive.infolist()}
        if "header.json" not in names:
            unfinished = "_journal/start.json" in names
            raise CardError(f"{path.name} is not finished yet." if unfinished else f"{path.name} has no header.json.")
        header = read_json(_read_entry(archive, archive.getinfo("header.json"), path.name), "header.json")
    log = log_of_values(header, path.name)
    if any(name.startswith(_SAMPLES) for name in names):
        dataset = _dataset(header["eval"])
        log.read_rows = lambda: _archived_rows(path, dataset)
    return log


def log_of_values(value: Any, name: str) -> EvaluationLog:
    """Return the log in the values of its JSON. Raises `CardError`."""
    if not is_inspect_log(value):
        raise CardError(f"{name} is not a log of {PROGRAM}.")
    status, evaluation = value.get("status"), value["eval"]
    log = EvaluationLog(PROGRAM, _text(evaluation.get("model")), [], _text(evaluation.get("created")) or None)
    if status != "success":
        leave_out(log.left_out, f"the evaluation ended with the status {status!r}")
    dataset = _dataset(evaluation)
    log.scores = checked_scores(_scores(value, dataset, log.left_out), name)
    samples = value.get("samples")
    if isinstance(samples, list) and samples:
        log.read_rows = lambda: (_row(sample, dataset, f"sample {at + 1}") for at, sample in enumerate(samples))
    return log


def write_inspect_log(log: EvaluationLog, rows: Sequence[LoggedRow] | None = None) -> bytes:
    """Return the log as the bytes of an `.eval` file, with samples where there are rows. One file has one dataset."""
    datasets = sorted({score.dataset for score in log.scores})
    if len(datasets) != 1:
        raise CardError(f"A log of {PROGRAM} is of one dataset; this has {len(datasets)}.")
    header = _header(log, datasets[0], rows)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", _dumped({"version": 2, "eval": header["eval"], "plan": header["plan"]}))
        for row in rows or ():
            archive.writestr(f"{_SAMPLES}{_entry_name(row.id)}_epoch_1.json", _dumped(_sample(row)))
        archive.writestr("summaries.json", _dumped([_summary(row) for row in rows or ()]))
        archive.writestr("header.json", _dumped(header))
    return written.getvalue()


def _scores(value: Mapping[str, Any], dataset: str, left_out: list[str]) -> Iterator[LoggedScore]:
    results = mapping(value.get("results"))
    scores = results.get("scores")
    if scores is None and results.get("scorer"):  # logs of the first version
        scores = [dict(mapping(results["scorer"])) | {"metrics": results.get("metrics")}]
    for score in scores if isinstance(scores, list) else []:
        metrics = mapping(mapping(score).get("metrics"))
        errors = {name: number(mapping(metric).get("value")) for name, metric in metrics.items()}
        for name, metric in metrics.items():
            if name == "stderr":
                continue
            value_of_metric = number(mapping(metric).get("value"))
            if value_of_metric is None:
                leave_out(left_out, f"{name}: {mapping(metric).get('value')!r} is not a number")
                continue
            reducer, scorer = _text(score.get("reducer")), _text(score.get("name"))
            variant = " ".join(part for part in (scorer, reducer) if part)
            rows = number(score.get("scored_samples")) or number(results.get("completed_samples"))
            yield LoggedScore(
                dataset, name, value_of_metric, variant, None, None, errors.get("stderr"), int(rows) if rows else None
            )


def _dataset(evaluation: Mapping[str, Any]) -> str:
    task = _text(evaluation.get("task"))
    return _text(mapping(evaluation.get("dataset")).get("name")) or task or "unnamed"


def _archived_rows(path: Path, dataset: str) -> Iterator[LoggedRow]:
    total = 0
    with _open_archive(path) as archive:
        for entry in archive.infolist():
            if entry.filename.startswith(_SAMPLES) and entry.filename.endswith(".json"):
                content = _read_entry(archive, entry, path.name)
                total += len(content)
                if total > MAX_TOTAL_BYTES:
                    raise CardError(f"{path.name} unpacks to more than {MAX_TOTAL_BYTES // 2**30} GB.")
                yield _row(read_json(content, entry.filename), dataset, entry.filename)


def _row(sample: Any, dataset: str, where: str) -> LoggedRow:
    if not isinstance(sample, Mapping):
        raise CardError(f"{where} is not a mapping.")
    attachments = mapping(sample.get("attachments"))
    target = sample.get("target")
    scores = {str(name): mapping(score) for name, score in mapping(sample.get("scores")).items()}
    answers = [score["answer"] for score in scores.values() if isinstance(score.get("answer"), str)]
    marks = {name: mark for name, score in scores.items() if (mark := _mark(score.get("value"))) is not None}
    epoch = sample.get("epoch", 1)
    return LoggedRow(
        dataset=dataset,
        id=_text(sample.get("id")) + (f"/{epoch}" if epoch != 1 else ""),
        input=_messages_text(sample.get("input"), attachments),
        prediction=answers[0] if answers else _completion(mapping(sample.get("output")), attachments),
        references=tuple(map(_text, target)) if isinstance(target, list) else (_text(target),),
        scores=marks,
    )


def _mark(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    return _GRADES.get(value) if isinstance(value, str) else number(value)


def _completion(output: Mapping[str, Any], attachments: Mapping[str, Any]) -> str:
    if isinstance(output.get("completion"), str) and output["completion"]:
        return _resolved(output["completion"], attachments)
    choices = output.get("choices")
    first = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    return _content_text(mapping(first.get("message")).get("content"), attachments)


def _messages_text(value: Any, attachments: Mapping[str, Any]) -> str:
    if isinstance(value, list):
        return "\n\n".join(_content_text(mapping(message).get("content"), attachments) for message in value)
    return _resolved(_text(value), attachments)


def _content_text(content: Any, attachments: Mapping[str, Any]) -> str:
    if isinstance(content, list):
        parts = (mapping(part).get("text") for part in content)
        return "\n".join(_resolved(part, attachments) for part in parts if isinstance(part, str))
    return _resolved(_text(content), attachments)


def _resolved(text: str, attachments: Mapping[str, Any]) -> str:
    if text.startswith(_REFERENCE):
        return _text(attachments.get(text.removeprefix(_REFERENCE), text))
    return text


def _text(value: Any) -> str:
    if value is None or isinstance(value, Mapping | list):
        return ""
    return value if isinstance(value, str) else str(value)


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            if len(archive.infolist()) > MAX_ENTRIES:
                raise CardError(f"{path.name} has more than {MAX_ENTRIES:,} entries.")
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError, RuntimeError) as error:
        raise CardError(f"{path.name} is not a whole zip file: {error}.") from None
    except OSError as error:
        raise CardError(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> bytes:
    """Return an entry's bytes, never more than `MAX_ENTRY_BYTES`, whatever its header says."""
    if entry.compress_type == ZSTANDARD:
        content = _read_zstandard(archive, entry)
    else:
        with archive.open(entry) as file:
            content = file.read(MAX_ENTRY_BYTES + 1)
    if len(content) > MAX_ENTRY_BYTES:
        raise CardError(f"{entry.filename} in {name} unpacks to more than {MAX_ENTRY_BYTES // 2**20} MB.")
    return content


def _read_zstandard(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return an entry that was compressed with Zstandard, which `zipfile` does not read before Python 3.14."""
    packed = _packed_bytes(archive, entry)
    try:
        import zstandard
    except ImportError:
        pass
    else:
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
            return bytes(reader.read(MAX_ENTRY_BYTES + 1))
        except zstandard.ZstdError as error:
            raise CardError(f"{entry.filename} is not whole: {error}.") from None
    try:
        import pyarrow as pa
    except ImportError:
        raise CardError("This log is compressed with Zstandard: pip install zstandard, or pyarrow.") from None
    try:
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            return bytes(stream.read(MAX_ENTRY_BYTES + 1))
    except (OSError, pa.ArrowException) as error:
        raise CardError(f"{entry.filename} is not whole: {error}.") from None


def _packed_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    file: IO[bytes] | None = archive.fp
    if file is None or entry.flag_bits & 1:
        raise CardError(f"{entry.filename} is encrypted.")
    file.seek(entry.header_offset)
    local = file.read(30)
    if len(local) < 30 or local[:4] != b"PK\x03\x04":
        raise CardError(f"{entry.filename} is not where the zip file says.")
    file.seek(
        entry.header_offset + 30 + int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    )
    if entry.compress_size > MAX_ENTRY_BYTES:
        raise CardError(f"{entry.filename} has more than {MAX_ENTRY_BYTES // 2**20} MB.")
    return file.read(entry.compress_size)


def _header(log: EvaluationLog, dataset: str, rows: Sequence[LoggedRow] | None) -> dict[str, Any]:
    created = _moment(log.made_at)
    count = len(rows) if rows is not None else max((score.rows or 0 for score in log.scores), default=0)
    by_variant: dict[str, list[LoggedScore]] = {}
    for score in log.scores:
        by_variant.setdefault(score.variant, []).append(score)
    scores = [
        {
            "name": variant or "score",
            "scorer": variant or "score",
            "scored_samples": count,
            "metrics": {name: {"name": name, "value": value} for name, value in _metric_values(members)},
        }
        for variant, members in by_variant.items()
    ]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "",
            "run_id": "",
            "created": created,
            "task": dataset,
            "task_id": "",
            "dataset": {"name": dataset, "samples": count},
            "model": log.model,
            "config": {},
            "packages": {"dynabench-eval": __version__},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": count, "completed_samples": count, "scores": scores},
        "stats": {"started_at": created, "completed_at": created},
    }


def _metric_values(scores: Sequence[LoggedScore]) -> Iterator[tuple[str, float]]:
    for score in scores:
        yield score.metric, score.value
    errors = [score.error for score in scores if score.error is not None]
    if errors:
        yield "stderr", errors[0]


def _sample(row: LoggedRow) -> dict[str, Any]:
    prediction = "" if row.prediction is None else str(row.prediction)
    message = {"role": "assistant", "content": prediction, "source": "generate"}
    return {
        "id": row.id,
        "epoch": 1,
        "input": row.input,
        "target": [str(reference) for reference in row.references],
        "messages": [{"role": "user", "content": row.input}, message],
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "completion": prediction},
        "scores": {name: {"value": value, "answer": prediction} for name, value in row.scores.items()} or None,
    }


def _summary(row: LoggedRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "epoch": 1,
        "input": row.input[:5000],
        "target": [str(reference) for reference in row.references],
        "scores": {name: {"value": value} for name, value in row.scores.items()} or None,
    }


def _entry_name(id: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in id)[:150] or "sample"


def _moment(text: str | None) -> str:
    try:
        moment = datetime.fromisoformat(text) if text else datetime.now(UTC)
    except ValueError:
        moment = datetime.now(UTC)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat(timespec="seconds")


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
