"""Logs of inspect_ai, lm_eval and HELM: read as their programs write them, converted, scored anew, or refused."""

import io
import json
import struct
import zipfile

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from dynabench.cli.evaluate import app
from dynabench.evaluate.cards import inspect_logs
from dynabench.evaluate.cards.evaluation_log import EvaluationLog, LoggedRow, LoggedScore
from dynabench.evaluate.cards.files import LogFormat, read_log, read_results_file, write_log
from dynabench.evaluate.cards.rescoring import rescore
from dynabench.evaluate.cards.yaml_text import CardError

some = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def score_of(name, value, error):
    return {"name": name, "scorer": name, "scored_samples": 3, "metrics": {
        "accuracy": {"name": "accuracy", "value": value}, "stderr": {"name": "stderr", "value": error}}}  # fmt: skip


def sample_of(id, prompt, target, answer, grade):
    return {
        "id": id, "epoch": 1, "input": prompt, "target": target, "messages": [],
        "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": "The answer is " + answer}}]},
        "scores": {"match": {"value": grade, "answer": answer}}, "metadata": {}, "events": [],
        "attachments": {"ff": "A long text"},
    }  # fmt: skip


HEADER = {
    "version": 2, "status": "success",
    "eval": {"created": "2026-01-02T03:04:05+00:00", "task": "tiny_task", "dataset": {"name": "tiny"},
             "model": "mockllm/m"},
    "plan": {}, "stats": {},
    "results": {"total_samples": 3, "completed_samples": 3, "scores": [score_of("match", 0.75, 0.1)]},
}  # fmt: skip
SAMPLES = [
    sample_of("a", "1+1?", "2", "2", "C"),
    sample_of(7, [{"role": "user", "content": "attachment://ff"}], ["Paris", "paris"], "Paris", True),
    sample_of("c d", [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "y", "no", "I"),
]
ROWS = [
    ("a", "1+1?", "2", ("2",), 1.0),
    ("7", "A long text", "Paris", ("Paris", "paris"), 1.0),
    ("c d", "x", "no", ("y",), 0.0),
]


def archive(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, value in entries.items():
            file.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def eval_entries():
    return {"_journal/start.json": {"version": 2}, **{f"samples/{at}_epoch_1.json": s for at, s in enumerate(SAMPLES)},
            "header.json": HEADER}  # fmt: skip


def with_zstandard(path):
    """The same archive as newer versions write it: its entries packed with Zstandard, method 93 of zip files."""
    packed = {
        name: pa.compress(json.dumps(value).encode(), "zstd", asbytes=True) for name, value in eval_entries().items()
    }
    content = bytearray(archive(io.BytesIO(), packed, zipfile.ZIP_STORED).getvalue())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = content.find(mark)
        while place >= 0:
            struct.pack_into("<H", content, place + offset, 93)
            place = content.find(mark, place + 4)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("form", ["eval", "zstandard", "json"])
def test_a_log_of_inspect_is_read_in_each_of_its_forms(tmp_path, form):
    if form == "json":
        path = tmp_path / "log.json"
        path.write_text(json.dumps(HEADER | {"samples": SAMPLES}))
    else:
        path = (
            with_zstandard(tmp_path / "log.eval")
            if form == "zstandard"
            else archive(tmp_path / "log.eval", eval_entries())
        )
    log = read_log(path)
    assert (log.model, log.made_at, log.left_out) == ("mockllm/m", "2026-01-02T03:04:05+00:00", [])
    assert log.scores == [LoggedScore("tiny", "accuracy", 0.75, "match", error=0.1, rows=3)]
    rows = [(row.id, row.input, row.prediction, row.references, row.scores["match"]) for row in log.rows()]
    assert rows == ROWS
    (anew,) = rescore(log, "exact_match")
    assert anew.value == pytest.approx(2 / 3), "the log's own figure is not taken over"


HARNESS = {
    "results": {"arc": {"alias": "arc", "acc,none": 0.5, "acc_stderr,none": 0.05, "acc_norm,none": "N/A"},
                "gsm": {"exact_match,strict": 0.25, "exact_match_stderr,strict": "N/A"}},
    "configs": {"arc": {"task": "arc", "dataset_name": "ARC-Easy", "test_split": "test"}, "gsm": {}},
    "versions": {"arc": 1}, "n-shot": {"arc": 0}, "n-samples": {"arc": {"original": 9, "effective": 2}},
    "model_name": "org/model", "date": 1767322800.5,
}  # fmt: skip
CHOICES = [
    {"doc_id": 0, "target": "1", "arguments": {"gen_args_0": {"arg_0": "Q0"}}, "filter": "none",
     "metrics": ["acc"], "acc": 1.0,
     "resps": [[["-5.0", "False"]], [["-1.0", "True"]]], "filtered_resps": [["-5.0", "False"], ["-1.0", "True"]]},
    {"doc_id": 1, "target": "1", "arguments": [["Q1", "x"]], "filter": "none", "metrics": ["acc"], "acc": 0.0,
     "resps": [[[-1.0, True]], [[-4.0, False]]], "filtered_resps": [[-1.0, True], [-4.0, False]]},
]  # fmt: skip
TEXTS = [{"doc_id": 0, "target": "['4', 'four']", "filter": "strict", "metrics": ["exact_match"], "exact_match": 1.0,
          "arguments": {"gen_args_0": {"arg_0": "2+2"}}, "resps": [["it is 4"]], "filtered_resps": ["4"]}]  # fmt: skip


@pytest.fixture
def harness(tmp_path):
    run = "2026-01-02T03-00-00.5"
    for task, samples in (("arc", CHOICES), ("gsm", TEXTS)):
        (tmp_path / f"samples_{task}_{run}.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    path = tmp_path / f"results_{run}.json"
    path.write_text(json.dumps(HARNESS))
    return path


def test_results_of_the_harness_are_read_with_the_samples_beside_them(harness):
    log = read_log(harness)
    assert (log.program, log.model, log.made_at) == ("lm_eval", "org/model", "2026-01-02T03:00:00+00:00")
    assert log.scores == [
        LoggedScore("arc", "acc", 0.5, "", "ARC-Easy", "test", 0.05, 2),
        LoggedScore("gsm", "exact_match", 0.25, "strict"),
    ]
    rows = [(row.dataset, row.prediction, row.references, dict(row.scores)) for row in log.rows()]
    assert rows == [("arc", 1, (1,), {"acc": 1.0}), ("arc", 0, (1,), {"acc": 0.0}),
                    ("gsm", "4", ("4", "four"), {"exact_match": 1.0})]  # fmt: skip
    assert {score.dataset: score.value for score in rescore(log, "accuracy") if score.dataset == "arc"} == {"arc": 0.5}


INSTANCE = {"input": {"text": "Q"}, "split": "test", "id": "id1",
            "references": [{"output": {"text": "yes"}, "tags": ["correct"]},
                           {"output": {"text": "no"}, "tags": []}]}  # fmt: skip
ADAPTER = {"method": "multiple_choice_joint", "model": "org/model"}


def request_of(reference, text, logprob, mapping=None):
    request = {"instance": INSTANCE | {"id": "id1" if reference is None else "id2"}, "train_trial_index": 0,
               "result": {"completions": [{"text": text, "logprob": logprob, "tokens": []}]}}  # fmt: skip
    return (
        request
        | ({"reference_index": reference} if reference is not None else {})
        | ({"output_mapping": mapping} if mapping else {})
    )


@pytest.fixture
def helm(tmp_path):
    files = {
        "run_spec.json": {"name": "boolq:mode=x,model=org_model", "adapter_spec": ADAPTER},
        "stats.json": [
            {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 0.5, "mean": 0.5},
            {"name": {"name": "exact_match", "split": "test", "perturbation": {"name": "robustness"}},
             "count": 1, "mean": 0.25},
            {"name": {"name": "num_train_trials"}, "count": 0},
        ],
        "scenario_state.json": {"adapter_spec": ADAPTER, "request_states": [
            request_of(None, " A", 0.0, {"A": "yes", "B": "no"}), request_of(0, "x", -3.0), request_of(1, "y", -2.0)]},
        "per_instance_stats.json": [{"instance_id": "id1", "train_trial_index": 0, "stats": [
            {"name": {"name": "exact_match"}, "count": 1, "mean": 1.0}]}],
    }  # fmt: skip
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path


def test_a_run_of_helm_is_read_with_what_the_model_said(helm):
    log = read_log(helm)
    assert (log.model, log.scores) == ("org/model", [
        LoggedScore("boolq:mode=x", "exact_match", 0.5, split="test", rows=1),
        LoggedScore("boolq:mode=x", "exact_match", 0.25, "robustness", split="test", rows=1),
    ])  # fmt: skip
    rows = [(row.id, row.prediction, row.references, dict(row.scores)) for row in log.rows()]
    assert rows == [("id1", "yes", ("yes",), {"exact_match": 1.0}), ("id2", "no", ("yes",), {})]


LABEL = st.text("abcdefgh ", min_size=1, max_size=6).map(str.strip).filter(bool)
NUMBER = st.floats(-1e6, 1e6)


@st.composite
def logs(draw):
    scores = [
        LoggedScore("d", metric, draw(NUMBER), rows=draw(st.integers(1, 99)))
        for metric in draw(st.sets(LABEL, min_size=1, max_size=3))
    ]
    rows = [
        LoggedRow("d", f"r{at}", draw(st.text(max_size=9)), draw(LABEL), (draw(LABEL),), {"m": draw(NUMBER)})
        for at in range(draw(st.integers(1, 4)))
    ]
    return EvaluationLog("x", "org/m", scores, "2026-01-02T03:04:05+00:00", lambda: iter(rows))


@pytest.mark.release
@pytest.mark.parametrize("form", [LogFormat.INSPECT, LogFormat.LM_EVAL, LogFormat.HELM])
@some
@given(logs())
def test_a_log_is_the_same_after_another_form(tmp_path_factory, form, log):
    folder = tmp_path_factory.mktemp("log")
    path = folder / "log.eval" if form is LogFormat.INSPECT else folder / "run"
    files = write_log(log, form, path)
    again = read_log(next(file for file in files if "results_" in file.name) if form is LogFormat.LM_EVAL else path)
    assert again.model == log.model
    assert {(score.metric, score.value) for score in again.scores} == {
        (score.metric, score.value) for score in log.scores
    }
    assert sorted(again.rows(), key=lambda row: row.id) == list(log.rows())


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"header.json": b"0" * (inspect_logs.MAX_ENTRY_BYTES + 1)}, "unpacks to more"),
        ({"header.json": b"[" * 100_000}, "nested too deeply"),
        ({"header.json": b"{"}, "not JSON"),
        ({"header.json": {"eval": 3}}, "not a log"),
        ({"_journal/start.json": {}}, "not finished"),
        ({"x": b""}, "no header"),
    ],
)
def test_hostile_archives_are_refused(tmp_path, entries, words):
    with pytest.raises(CardError, match=words):
        read_log(archive(tmp_path / "log.eval", entries))


@pytest.mark.release
def test_hostile_samples_are_refused_when_they_are_read(tmp_path):
    bomb = eval_entries() | {"samples/x_epoch_1.json": b" " * (inspect_logs.MAX_ENTRY_BYTES + 1)}
    log = read_log(archive(tmp_path / "log.eval", bomb))
    with pytest.raises(CardError, match="unpacks to more"):
        list(log.rows())
    whole = archive(tmp_path / "whole.eval", eval_entries()).read_bytes()
    for end in (10, len(whole) // 2, len(whole) - 3):
        (tmp_path / "cut.eval").write_bytes(whole[:end])
        with pytest.raises(CardError, match="zip"):
            read_log(tmp_path / "cut.eval")


KEYS = ["eval", "results", "scores", "metrics", "value", "name", "dataset", "model", "mean", "samples"]


@pytest.mark.release
@some
@given(st.data())
def test_broken_logs_are_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("log")
    part = st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(-9, 9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=12,
    )
    document = data.draw(st.sampled_from([HEADER | {"samples": SAMPLES}, HARNESS, {"data": "x", "scores": []}]))
    document = document | {
        key: data.draw(part) for key in data.draw(st.sets(st.sampled_from(sorted(document)), max_size=2))
    }
    (folder / "log.json").write_text(json.dumps(document))
    for name in ("run_spec.json", "stats.json", "scenario_state.json", "per_instance_stats.json"):
        (folder / name).write_text(json.dumps(data.draw(part)))
    for path in (folder / "log.json", folder):
        try:
            results_file = read_results_file(path)
            if results_file.log and results_file.log.read_rows:
                list(results_file.log.rows())
        except CardError:
            pass


def test_the_commands_score_anew_and_convert(harness, tmp_path):
    run = CliRunner()
    scored = run.invoke(app, ["card", "rescore", str(harness), "--metric", "exact_match", "--json"])
    assert scored.exit_code == 0, scored.output
    assert {item["dataset"] for item in json.loads(scored.output)["rescored"]} == {"arc", "gsm"}
    rows = tmp_path / "rows.jsonl"
    assert run.invoke(app, ["card", "convert", str(harness), str(rows), "--to", "rows"]).exit_code == 0
    assert [json.loads(line)["prediction"] for line in rows.read_text().splitlines()] == [1, 0, "4"]
    refused = run.invoke(app, ["card", "convert", str(harness), str(tmp_path / "x"), "--to", "helm"])
    assert refused.exit_code == 1
    assert "one dataset" in refused.output
    assert not (tmp_path / "x").exists()
