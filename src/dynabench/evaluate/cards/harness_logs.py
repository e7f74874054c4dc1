"""Results of the LM Evaluation Harness (`lm_eval`): `results_*.json`, with the `samples_*.jsonl` beside it."""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    text_lines,
)
from dynabench.evaluate.cards.yaml_text import CardError

PROGRAM = "lm_eval"
MAX_LITERAL = 10_000
_NOT_SCORES = {"alias", "name", "sample_len", "sample_count"}


def is_harness_log(value: Any) -> bool:
    """Return True for the JSON of a results file."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("results"), Mapping)
        and ("configs" in value or "versions" in value or "n-shot" in value)
    )


def read_harness_log(path: Path) -> EvaluationLog:
    """Return the results of a file, with the samples in files of the same run beside it. Raises `CardError`."""
    value = read_json(read_bytes(path), path.name)
    if not is_harness_log(value):
        raise CardError(f"{path.name} has no results of {PROGRAM}.")
    log = EvaluationLog(PROGRAM, _model(value), [], _moment(value))
    log.scores = checked_scores(_scores(value, log.left_out), path.name)
    run = path.stem.removeprefix("results_")
    tasks = {task: path.with_name(f"samples_{task}_{run}.jsonl") for task in map(str, value["results"])}
    present = {task: file for task, file in tasks.items() if "/" not in task and file.is_file()}
    if present:
        log.read_rows = lambda: (row for task, file in present.items() for row in read_samples(file, task))
    return log


def read_samples(path: Path, task: str = "") -> Iterator[LoggedRow]:
    """Yield the rows of a `samples_*.jsonl`. Raises `CardError` naming the line of another shape."""
    for line_number, line in text_lines(path):
        sample = read_json(line, f"{path.name}, line {line_number},")
        if not isinstance(sample, Mapping) or "doc_id" not in sample or "target" not in sample:
            raise CardError(f"{path.name}, line {line_number}, is not a sample of {PROGRAM}.")
        yield _row(sample, task or path.stem.removeprefix("samples_"))


def write_harness_log(log: EvaluationLog, rows: Sequence[LoggedRow] | None = None) -> dict[str, bytes]:
    """Return the files of a run by their names: one with results, and one with the samples of each dataset."""
    results: dict[str, dict[str, Any]] = {}
    for score in log.scores:
        entry = results.setdefault(score.dataset, {"alias": score.dataset})
        variant = score.variant or "none"
        entry[f"{score.metric},{variant}"] = score.value
        entry[f"{score.metric}_stderr,{variant}"] = "N/A" if score.error is None else score.error
    counts = {score.dataset: score.rows for score in log.scores if score.rows}
    document = {
        "results": results,
        "configs": {name: {"task": name} for name in results},
        "versions": dict.fromkeys(results, "N/A"),
        "n-shot": dict.fromkeys(results, 0),
        "n-samples": {name: {"original": count, "effective": count} for name, count in counts.items()},
        "config": {"model": "dynabench", "model_args": log.model},
        "model_name": log.model,
        "model_source": "dynabench",
        "lm_eval_version": None,
        "dynabench_version": __version__,
    }
    run = _file_word(log.made_at or "run")
    files = {f"results_{run}.json": json.dumps(document, indent=2, ensure_ascii=False).encode()}
    for row in rows or ():
        name = f"samples_{_file_word(row.dataset)}_{run}.jsonl"
        line = json.dumps(_sample(row), ensure_ascii=False) + "\n"
        files[name] = files.get(name, b"") + line.encode()
    return files


def _model(value: Mapping[str, Any]) -> str:
    name = value.get("model_name")
    if isinstance(name, str) and name:
        return name
    arguments = mapping(value.get("config")).get("model_args")
    if isinstance(arguments, Mapping):
        return str(arguments.get("pretrained") or arguments.get("model") or "")
    pairs = dict(part.partition("=")[::2] for part in str(arguments or "").split(","))
    return pairs.get("pretrained") or pairs.get("model") or ""


def _moment(value: Mapping[str, Any]) -> str | None:
    from datetime import UTC, datetime

    date = number(value.get("date"))
    try:
        return datetime.fromtimestamp(date, UTC).isoformat(timespec="seconds") if date is not None else None
    except (OverflowError, ValueError, OSError):
        return None


def _scores(value: Mapping[str, Any], left_out: list[str]) -> Iterator[LoggedScore]:
    for task, entry in value["results"].items():
        config = mapping(mapping(value.get("configs")).get(task))
        counts = mapping(mapping(value.get("n-samples")).get(task))
        for key, score in mapping(entry).items():
            metric, _, variant = str(key).partition(",")
            if metric in _NOT_SCORES or metric.endswith("_stderr"):
                continue
            number_of_key = number(score)
            if number_of_key is None:
                if score not in ("", " ", "N/A"):
                    leave_out(left_out, f"{task}, {key}: {score!r} is not a number")
                continue
            error_key = f"{metric}_stderr,{variant}" if variant else f"{metric}_stderr"
            rows = number(counts.get("effective"))
            split, subset = config.get("test_split") or config.get("validation_split"), config.get("dataset_name")
            yield LoggedScore(
                dataset=str(task),
                metric=metric,
                value=number_of_key,
                variant="" if variant == "none" else variant,
                config=subset if isinstance(subset, str) else None,
                split=split if isinstance(split, str) else None,
                error=number(mapping(entry).get(error_key)),
                rows=int(rows) if rows is not None else None,
            )


def _row(sample: Mapping[str, Any], task: str) -> LoggedRow:
    names = sample.get("metrics")
    scores = {
        str(name): float(value)
        for name in (names if isinstance(names, list) else [])
        if (value := _mark(sample.get(name))) is not None
    }
    variant = sample.get("filter")
    suffix = f"/{variant}" if isinstance(variant, str) and variant != "none" else ""
    prediction = _prediction(sample)
    return LoggedRow(
        dataset=task,
        id=f"{sample['doc_id']}{suffix}",
        input=_prompt(sample.get("arguments")),
        prediction=prediction,
        references=_references(sample["target"], isinstance(prediction, int)),
        scores=scores,
    )


def _mark(value: Any) -> float | None:
    return float(value) if isinstance(value, bool) else number(value)


def _prompt(arguments: Any) -> str:
    first = arguments
    for _ in range(2):  # the first request's first argument
        if isinstance(first, Mapping):
            first = next(iter(first.values()), "")
        elif isinstance(first, list):
            first = first[0] if first else ""
    return first if isinstance(first, str) else ""


def _prediction(sample: Mapping[str, Any]) -> Any:
    """Return the text that was generated, or the number of the choice with the greatest likelihood."""
    responses = sample.get("filtered_resps") or sample.get("resps")
    if not isinstance(responses, list) or not responses:
        return None
    likelihoods = [_likelihood(response) for response in responses]
    if all(likelihood is not None for likelihood in likelihoods):
        if len(likelihoods) == 1:
            return likelihoods[0]
        return max(range(len(likelihoods)), key=lambda place: likelihoods[place] or 0.0)
    first = responses[0]
    while isinstance(first, list) and first:
        first = first[0]
    return first if isinstance(first, str) else None


def _likelihood(response: Any) -> float | None:
    """Return the log-likelihood of `[number, greedy]`, which lm_eval writes as numbers or as their texts."""
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    if not isinstance(response, list) or len(response) != 2 or str(response[1]) not in ("True", "False"):
        return None
    try:
        return float(response[0])
    except (TypeError, ValueError):
        return None


def _references(target: Any, choice: bool) -> tuple[Any, ...]:
    """Return the right answers: lm_eval writes every target as text, also the number of a choice and a list."""
    text = str(target)
    if choice and text.isascii() and text.isdecimal() and len(text) < 10:
        return (int(text),)
    if text.startswith("[") and len(text) <= MAX_LITERAL:
        try:
            values = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return (text,)
        if isinstance(values, list) and values and all(isinstance(value, str | int) for value in values):
            return tuple(values)
    return (text,)


def _sample(row: LoggedRow) -> dict[str, Any]:
    target = row.references[0] if len(row.references) == 1 else list(row.references)
    prediction = "" if row.prediction is None else str(row.prediction)
    doc = {"id": row.id, "input": row.input}
    return {
        "doc_id": row.id,
        "doc": doc,
        "target": str(target),
        "arguments": {"gen_args_0": {"arg_0": row.input}},
        "resps": [[prediction]],
        "filtered_resps": [prediction],
        "filter": "none",
        "metrics": list(row.scores),
        "doc_hash": _digest(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _digest(row.input),
        "target_hash": _digest(str(target)),
        **row.scores,
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file_word(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in text)[:100]
