"""Runs of HELM: a folder with `run_spec.json` and `stats.json`, and `scenario_state.json` with what the model said."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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

PROGRAM = "HELM"
CORRECT = "correct"
RowKey = tuple[str, str, str]
"""Instance, trial and perturbation of a row."""


def is_helm_run(path: Path) -> bool:
    """Return True for the folder of a run."""
    return path.is_dir() and (path / "run_spec.json").is_file() and (path / "stats.json").is_file()


def read_helm_run(path: Path) -> EvaluationLog:
    """Return the run in a folder. Raises `CardError`."""
    if not is_helm_run(path):
        raise CardError(f"{path.name} is not the folder of a run of {PROGRAM}: run_spec.json or stats.json is missing.")
    spec, stats = (read_json(read_bytes(path / name), name) for name in ("run_spec.json", "stats.json"))
    if not isinstance(spec, Mapping) or not isinstance(stats, list):
        raise CardError(f"{path.name} is not a run of {PROGRAM}.")
    dataset = str(spec.get("name") or path.name).partition(",model=")[0]
    adapter = mapping(spec.get("adapter_spec"))
    log = EvaluationLog(PROGRAM, str(adapter.get("model") or adapter.get("model_deployment") or ""), [])
    log.scores = checked_scores(_scores(stats, dataset, log.left_out), "stats.json")
    if (path / "scenario_state.json").is_file():
        log.read_rows = lambda: _rows(path, dataset)
    return log


def write_helm_run(log: EvaluationLog, rows: Sequence[LoggedRow] | None = None) -> dict[str, bytes]:
    """Return the files of a run by their names. A run has one dataset."""
    datasets = sorted({score.dataset for score in log.scores})
    if len(datasets) != 1:
        raise CardError(f"A run of {PROGRAM} is of one dataset; this has {len(datasets)}.")
    adapter = {"method": "generation", "model": log.model, "model_deployment": log.model}
    spec = {
        "name": f"{datasets[0]},model={log.model.replace('/', '_')}",
        "scenario_spec": {"class_name": "dynabench", "args": {}},
        "adapter_spec": adapter,
        "metric_specs": [],
        "groups": [],
    }
    stats = [_stat(score) for score in log.scores]
    documents: dict[str, Any] = {"run_spec.json": spec, "stats.json": stats}
    if rows is not None:
        states = [_request_state(row, log.model) for row in rows]
        documents["scenario_state.json"] = {"adapter_spec": adapter, "request_states": states}
        documents["per_instance_stats.json"] = [_instance_stats(row) for row in rows]
    return {name: json.dumps(value, indent=2, ensure_ascii=False).encode() for name, value in documents.items()}


def _scores(stats: Sequence[Any], dataset: str, left_out: list[str]) -> Iterator[LoggedScore]:
    for stat in stats:
        name = mapping(mapping(stat).get("name"))
        metric, mean = name.get("name"), number(mapping(stat).get("mean"))
        if not isinstance(metric, str):
            leave_out(left_out, "a statistic without a name")
            continue
        if mean is None:
            continue  # a statistic of no instance
        perturbation = mapping(name.get("perturbation"))
        parts = [name.get("sub_split"), perturbation.get("name"), perturbation.get("computed_on")]
        split, count = name.get("split"), number(stat.get("count"))
        yield LoggedScore(
            dataset=dataset,
            metric=metric,
            value=mean,
            variant=" ".join(str(part) for part in parts if part),
            split=split if isinstance(split, str) else None,
            rows=int(count) if count else None,
        )


def _rows(path: Path, dataset: str) -> Iterator[LoggedRow]:
    state = read_json(read_bytes(path / "scenario_state.json"), "scenario_state.json")
    requests = mapping(state).get("request_states")
    if not isinstance(requests, list):
        raise CardError("scenario_state.json has no request_states.")
    scores = _instance_scores(path)
    choices: dict[RowKey, list[Mapping[str, Any]]] = {}
    for place, request in enumerate(requests):
        instance = mapping(mapping(request).get("instance"))
        if not instance:
            raise CardError(f"Request {place + 1} of scenario_state.json has no instance.")
        key = _key(instance.get("id"), request.get("train_trial_index"), instance.get("perturbation"))
        if request.get("reference_index") is None:
            yield _row(request, instance, dataset, key, scores.get(key, {}))
        elif request.get("request_mode") != "calibration":
            choices.setdefault(key, []).append(request)
    for key, group in choices.items():  # each reference was a request of its own
        best = max(group, key=lambda request: _likelihood(mapping(request)))
        instance = mapping(best["instance"])
        chosen = _reference_texts(instance)[best["reference_index"] : best["reference_index"] + 1]
        yield _row(best, instance, dataset, key, scores.get(key, {}), chosen[0] if chosen else "")


def _row(
    request: Mapping[str, Any],
    instance: Mapping[str, Any],
    dataset: str,
    key: RowKey,
    scores: Mapping[str, float],
    prediction: str | None = None,
) -> LoggedRow:
    return LoggedRow(
        dataset=dataset,
        id="/".join(part for part in (key[0], "" if key[1] == "0" else key[1], key[2]) if part),
        input=str(mapping(instance.get("input")).get("text") or ""),
        prediction=_prediction(request) if prediction is None else prediction,
        references=tuple(_reference_texts(instance, correct=True)),
        scores=scores,
    )


def _reference_texts(instance: Mapping[str, Any], correct: bool = False) -> list[str]:
    references = instance.get("references")
    return [
        str(mapping(mapping(reference).get("output")).get("text") or "")
        for reference in (references if isinstance(references, list) else [])
        if not correct or CORRECT in (mapping(reference).get("tags") or ())
    ]


def _prediction(request: Mapping[str, Any]) -> str:
    """Return what the model said; of a multiple choice, the text of the choice whose letter it said."""
    completions = mapping(request.get("result")).get("completions")
    first = mapping(completions[0]) if isinstance(completions, list) and completions else {}
    text = str(first.get("text") or "").strip()
    return str(mapping(request.get("output_mapping")).get(text, text))


def _likelihood(request: Mapping[str, Any]) -> float:
    completions = mapping(request.get("result")).get("completions")
    first = mapping(completions[0]) if isinstance(completions, list) and completions else {}
    value = number(first.get("logprob"))
    return float("-inf") if value is None else value


def _instance_scores(path: Path) -> dict[RowKey, dict[str, float]]:
    if not (path / "per_instance_stats.json").is_file():
        return {}
    scores: dict[RowKey, dict[str, float]] = {}
    values = read_json(read_bytes(path / "per_instance_stats.json"), "per_instance_stats.json")
    for entry in values if isinstance(values, list) else []:
        fields = mapping(entry)
        key = _key(fields.get("instance_id"), fields.get("train_trial_index"), fields.get("perturbation"))
        stats = fields.get("stats")
        for stat in stats if isinstance(stats, list) else []:
            mean = number(mapping(stat).get("mean"))
            if mean is not None:
                scores.setdefault(key, {})[str(mapping(mapping(stat).get("name")).get("name"))] = mean
    return scores


def _key(id: Any, trial: Any, perturbation: Any) -> RowKey:
    return str(id or ""), str(trial or 0), str(mapping(perturbation).get("name") or "")


def _stat(score: LoggedScore) -> dict[str, Any]:
    name = {"name": score.metric, "split": score.split or "test"}
    if score.variant:
        name["sub_split"] = score.variant
    return _statistic(name, score.value, score.rows or 1)


def _statistic(name: dict[str, Any], mean: float, count: int) -> dict[str, Any]:
    return {"name": name, "count": count, "sum": mean * count, "mean": mean}


def _request_state(row: LoggedRow, model: str) -> dict[str, Any]:
    references = [{"output": {"text": str(reference)}, "tags": [CORRECT]} for reference in row.references]
    prediction = "" if row.prediction is None else str(row.prediction)
    return {
        "instance": {"input": {"text": row.input}, "references": references, "split": "test", "id": row.id},
        "train_trial_index": 0,
        "request": {"model": model, "model_deployment": model, "prompt": row.input},
        "result": {"success": True, "embedding": [], "cached": True,
                   "completions": [{"text": prediction, "logprob": 0, "tokens": []}]},
        "num_train_instances": 0,
        "prompt_truncated": False,
    }  # fmt: skip


def _instance_stats(row: LoggedRow) -> dict[str, Any]:
    stats = [_statistic({"name": name, "split": "test"}, value, 1) for name, value in row.scores.items()]
    return {"instance_id": row.id, "train_trial_index": 0, "stats": stats}
