"""Any file with results of models: which form it has, and the results in it."""

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from dynabench.evaluate.cards import dataset_card, result_files
from dynabench.evaluate.cards.card_text import MAX_BYTES, decode_card, split_card
from dynabench.evaluate.cards.evaluation_log import EvaluationLog, read_bytes, read_json
from dynabench.evaluate.cards.harness_logs import is_harness_log, read_harness_log, write_harness_log
from dynabench.evaluate.cards.helm_runs import read_helm_run, write_helm_run
from dynabench.evaluate.cards.inspect_logs import is_inspect_log, log_of_values, read_inspect_log, write_inspect_log
from dynabench.evaluate.cards.model_index import KEY, RESULTS_KEY, CardModel, CardResult, read_model_index
from dynabench.evaluate.cards.run_documents import is_run_document, read_run_document
from dynabench.evaluate.cards.yaml_text import CardError, read_yaml


@dataclass
class ResultsFile:
    """The content of a file: results of models, ways to evaluate (of a dataset), a benchmark, or a log."""

    form: str
    models: list[CardModel] = field(default_factory=list)
    entries: list[result_files.ResultEntry] = field(default_factory=list)
    indexes: list[dataset_card.EvaluationIndex] = field(default_factory=list)
    benchmark: dataset_card.Benchmark | None = None
    log: EvaluationLog | None = None
    left_out: list[str] = field(default_factory=list)

    @property
    def results(self) -> list[CardResult]:
        """The results of all models."""
        return [result for model in self.models for result in model.results]


def read_results_file(path: Path, task_type: str = "other", source_url: str | None = None) -> ResultsFile:
    """Return what a card, a result file or a log says. Raises `CardError`.

    Scores of a log become results of tasks of the type `task_type`, with the log's address as their source.
    """
    if path.is_dir() or path.suffix.lower() in (".json", ".eval"):
        log = read_log(path)
        model = log.card_model(task_type, source_url)
        return ResultsFile("log", [model], log=log, left_out=log.left_out)
    text = decode_card(read_bytes(path, MAX_BYTES))
    return _read_yaml_file(text) if path.suffix.lower() in (".yaml", ".yml") else read_card(text)


def read_card(text: str) -> ResultsFile:
    """Return what a model's or a dataset's card says. Raises `CardError` where its front matter cannot be read."""
    metadata, results_file = split_card(text).metadata(), ResultsFile("card")
    for key in (KEY, RESULTS_KEY):
        if metadata.get(key) is not None:
            results_file.models += read_model_index(metadata[key], results_file.left_out)
    try:
        results_file.indexes = dataset_card.read_evaluation_indexes(metadata)
    except CardError as error:
        results_file.left_out.append(str(error))
    return results_file


def read_log(path: Path) -> EvaluationLog:
    """Return the log of another evaluation program, or of `dynabench evaluate run`. Raises `CardError`.

    The log is a `.eval` or `.json` file of inspect_ai, a results file of lm_eval, or the folder of a run of HELM.
    """
    if path.is_dir():
        return read_helm_run(path)
    if path.suffix.lower() == ".eval":
        return read_inspect_log(path)
    value = read_json(read_bytes(path), path.name)
    if is_run_document(value):
        return read_run_document(value)
    if is_inspect_log(value):
        return log_of_values(value, path.name)
    if is_harness_log(value):
        return read_harness_log(path)
    raise CardError(f"{path.name} is not a log of inspect_ai, of lm_eval or of dynabench evaluate run.")


class LogFormat(StrEnum):
    """Forms in which a log is written."""

    INSPECT = "inspect"
    LM_EVAL = "lm-eval"
    HELM = "helm"
    ROWS = "rows"
    EVAL_RESULTS = "eval-results"


def write_log(log: EvaluationLog, form: LogFormat, path: Path) -> list[Path]:
    """Write a log in another form, as a file or into a folder, and return the files. Raises `CardError`."""
    rows = list(log.rows()) if log.read_rows is not None or form is LogFormat.ROWS else None
    if form is LogFormat.ROWS:
        lines = (json.dumps(row.document(), ensure_ascii=False) for row in rows or ())
        files = {path: "".join(f"{line}\n" for line in lines).encode()}
    elif form is LogFormat.INSPECT:
        files = {path: write_inspect_log(log, rows)}
    elif form is LogFormat.EVAL_RESULTS:
        results = log.card_model("other").results
        entries = [result_files.entry_of(result, score.config or "default", log.made_at)
                   for result, score in zip(results, log.scores, strict=True)]  # fmt: skip
        files = {path: result_files.write_entries(entries).encode()}
    else:
        write = write_harness_log if form is LogFormat.LM_EVAL else write_helm_run
        files = {path / name: content for name, content in write(log, rows).items()}
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CardError(f"{path} cannot be made: {error.strerror}.") from None
    for file, content in files.items():
        write_whole(file, content)
    return list(files)


def _read_yaml_file(text: str) -> ResultsFile:
    values = read_yaml(text)
    if isinstance(values, list):
        return ResultsFile("eval_results", entries=result_files.read_entries(text))
    if isinstance(values, dict) and KEY in values:
        return ResultsFile("model-index", read_model_index(values[KEY]))
    return ResultsFile("eval.yaml", benchmark=dataset_card.read_benchmark(text))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at any moment its old or its new content is there, whole. Raises `CardError`."""
    try:
        handle, waiting = tempfile.mkstemp(dir=path.parent or Path(), prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                Path(waiting).chmod(path.stat().st_mode & 0o777)
            else:
                mask = os.umask(0)
                os.umask(mask)
                Path(waiting).chmod(0o666 & ~mask)
            Path(waiting).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(waiting).unlink()
            raise
    except OSError as error:
        raise CardError(f"{path} cannot be written: {error.strerror}.") from None
