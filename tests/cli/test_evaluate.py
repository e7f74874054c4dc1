"""`dynabench evaluate`, with files as people have them."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.evaluate import list_evaluation_modules, load, loading
from dynabench.models import catalog

ROWS = "text,prediction,label,topic\na,1,1,film\nb,0,1,film\nc,1,0,book\nd,0,0,book\ne,1,1,film\n"


def run(*words):
    return CliRunner().invoke(app, ["evaluate", *map(str, words)])


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def printed(*words):
    outcome = run("run", *words, "--json", "-")
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def test_the_list_has_every_module_and_narrows():
    document = json.loads(run("list", "--json").stdout)
    assert [item["name"] for item in document] == list_evaluation_modules()
    metrics = json.loads(run("list", "--kind", "metric", "--task", "image-classification", "--json").stdout)
    assert "accuracy" in [metric["name"] for metric in metrics]
    assert "f1" not in [element["name"] for element in metrics]
    assert "accuracy" in run("list").stdout


def test_checking_computes_the_examples_and_names_what_is_wrong(monkeypatch):
    here = [("metric", "accuracy"), ("metric", "f1")]
    monkeypatch.setattr(loading, "builtin_modules", lambda: iter(here))
    assert all(item["checked"] and not item["failures"] for item in json.loads(run("list", "--check", "--json").stdout))
    broken = loading.find_module("f1")
    monkeypatch.setattr(broken, "formula", lambda self, total, **options: {"f1": total.counts.sum() * 0.0})
    outcome = run("list", "--check")
    assert outcome.exit_code == 1
    assert "the card says" in outcome.stdout


def test_what_cannot_run_here_says_what_it_lacks(monkeypatch):
    monkeypatch.setattr(loading, "builtin_modules", lambda: iter([("metric", "f1")]))
    monkeypatch.setattr(
        "dynabench.cli.evaluation_views.missing_requirement", lambda module: "torch: pip install 'dynabench[x]'"
    )
    (answer,) = json.loads(run("list", "--check", "--json").stdout)
    assert answer["lacks"].startswith("torch")
    assert not answer["checked"]
    assert "lacks torch" in run("list").stdout


def test_a_card_is_shown_and_an_unknown_name_is_refused_with_near_ones():
    view = run("show", "f1").stdout
    assert "harmonic mean" in view
    assert "0 to 1, higher is better" in view
    assert json.loads(run("show", "f1", "--json").stdout)["kind"] == "metric"
    refused = run("show", "acuracy")
    assert refused.exit_code == 1
    assert "did you mean accuracy" in refused.stderr


def test_a_file_of_ones_own_that_imports_what_is_not_there_is_named_with_it(tmp_path, rows):
    path = tmp_path / "mine.py"
    path.write_text("import no_such_library.parts\n")
    for words in (["show", path], ["run", "--data", rows, "--metric", path]):
        outcome = run(*words)
        assert outcome.exit_code == 1
        (line,) = outcome.stderr.strip().splitlines()
        assert line == f"`dynabench evaluate` needs no_such_library, which is not installed: {path} imports it"


@pytest.mark.slow
def test_new_modules_work_and_their_tests_pass(tmp_path):
    kinds = ("metric", "measurement", "comparison")
    for kind in kinds:
        answer = run("new", f"mean_{kind}", "--kind", kind, "--folder", tmp_path)
        assert answer.exit_code == 0, answer.output
        assert load(str(tmp_path / f"mean_{kind}.py")).module_type == kind
        assert f"mean_{kind}" in run("show", tmp_path / f"mean_{kind}.py").stdout
    names = [f"test_mean_{kind}.py" for kind in kinds]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", *names]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "6 passed" in done.stdout, done.stdout


def test_a_new_module_is_well_formed_and_overwrites_nothing(tmp_path):
    assert run("new", "gap", "--folder", tmp_path).exit_code == 0
    for style in (["format", "--check"], ["check", "--select", "E,F,I"]):
        command = [sys.executable, "-m", "ruff", *style, "--isolated", "--line-length", "120", tmp_path / "gap.py"]
        assert subprocess.run(command, capture_output=True).returncode == 0
    again = run("new", "gap", "--folder", tmp_path)
    assert again.exit_code == 1
    assert "nothing was written" in again.stderr
    for name in ("Gap", "my gap", "../gap", "class", ""):
        assert run("new", name, "--folder", tmp_path).exit_code == 1, name
    assert run("new", "other", "--kind", "meter", "--folder", tmp_path).exit_code == 1


def test_predictions_in_the_data_are_scored_with_options_intervals_and_slices(rows):
    result = printed(
        "--data", rows, "--metric", "accuracy", "--metric", "f1:average=macro", "--interval", "--by", "topic"
    )
    accuracy, book, film, f1 = result["scores"][:4]
    assert accuracy["result"]["accuracy"] == 0.6
    assert accuracy["result"]["interval"]["accuracy"]["level"] == 0.95
    assert (book["topic"], book["rows"], book["result"]["accuracy"]) == ("book", 2, 0.5)
    assert (film["topic"], film["rows"]) == ("film", 3)
    assert f1["options"] == {"average": "macro"}
    assert f1["result"]["f1"] == pytest.approx(7 / 12)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv.gz", ".tsv", ".parquet"])
def test_files_of_all_kinds_are_read(tmp_path, ending):
    table = [dict(zip(("prediction", "label"), pair, strict=True)) for pair in ((1, 1), (0, 1))]
    path = tmp_path / f"rows{ending}"
    if ending == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(table), path)
    else:
        text = {".jsonl": "\n".join(map(json.dumps, table)), ".json": json.dumps(table)}.get(ending)
        separated = "prediction,label\n1,1\n0,1\n".replace(",", "\t" if ending == ".tsv" else ",")
        raw = (text or separated).encode()
        path.write_bytes(gzip.compress(raw) if ending.endswith(".gz") else raw)
    assert printed("--data", path, "--metric", "accuracy")["scores"][0]["result"] == {"accuracy": 0.5}


def test_predictions_of_another_file_and_columns_by_name(rows, tmp_path):
    (tmp_path / "said.txt").write_text("1\n1\n0\n0\n1\n")
    result = printed("--data", rows, "--predictions", tmp_path / "said.txt", "--metric", "accuracy")
    assert result["scores"][0]["result"] == {"accuracy": 1.0}
    named = printed("--data", rows, "--metric", "accuracy", "--column", "predictions=label")
    assert named["scores"][0]["result"] == {"accuracy": 1.0}


def test_the_report_is_one_file_that_needs_nothing_else(rows, tmp_path):
    rows.write_text(ROWS.replace("film", "<script>alert(1)</script>"))
    report, results = tmp_path / "report.html", tmp_path / "results.json"
    outcome = run("run", "--data", rows, "--metric", "accuracy", "--interval", "--by", "topic", "--html", report,
               "--json", results)  # fmt: skip
    assert outcome.exit_code == 0, outcome.output
    html = report.read_text()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert not [mark for mark in ("http://", "https://", "src=", "@import", "url(") if mark in
                html.replace("http://www.w3.org", "")]  # fmt: skip
    assert "<svg" in html
    assert json.loads(results.read_text())["scores"][0]["result"]["accuracy"] == 0.6
    assert "0.6000" in outcome.stdout


def test_a_choice_of_options_is_offered_as_it_is_typed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("prediction,reference\npos,pos\nneg,pos\nneg,neg\n")
    refused = run("run", "--data", path, "--metric", "precision:zero_division=0")
    assert refused.exit_code == 1
    offered = [line.split()[1] for line in refused.stderr.splitlines() if line.startswith("  --metric")]
    assert offered == [
        f"precision:zero_division=0,{text}" for text in ("pos_label=neg", "pos_label=pos", "average=macro")
    ]
    for metric in offered:
        assert printed("--data", path, "--metric", metric)["scores"][0]["result"]["precision"] > 0.4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metric", "acuracy"], "did you mean accuracy"),
        (["--metric", "f1:averag=macro"], "its options are average"),
        (["--metric", "f1:average=all"], "average takes binary, macro"),
        (["--metric", "accuracy", "--column", "predictions=said"], "'said' is no column of the data"),
        (["--metric", "accuracy", "--column", "predictions"], "not of the form NAME=VALUE"),
        (["--metric", "accuracy", "--by", "genre"], "'genre' is no column"),
        (["--metric", "accuracy", "--column", "references=text"], "some labels are texts and some numbers"),
        ([], "say which --metric"),
        (["--model", "some/model"], "say which --task"),
    ],
)
def test_what_cannot_be_evaluated_is_told_in_a_line(rows, words, message):
    done = run("run", "--data", rows, *words)
    assert done.exit_code == 1
    assert message in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("no.csv", None, "there is no file"),
        ("x.xlsx", "", "ends in none of"),
        ("x.csv", "", "empty"),
        ("x.json", "[]", "empty"),
        ("x.csv", "a,b\n1\n", "row 0 has 1 cells"),
        ("x.jsonl", "{}\n{\n", "row 1 is no JSON"),
    ],
)
def test_files_that_cannot_be_read_are_told(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    done = run("run", "--data", tmp_path / name, "--metric", "accuracy")
    assert done.exit_code == 1
    assert message in done.stderr


@pytest.mark.slow
def test_the_command_needs_nothing_but_the_light_install():
    platform = (
        "fastapi",
        "sqlalchemy",
        "torch",
        "transformers",
        "jinja2",
        "structlog",
        "vl_convert",
        "altair",
    )
    code = (
        "import sys\n"
        f"for name in {platform!r}: sys.modules[name] = None\n"
        "from dynabench.cli import app\n"
        "app(['evaluate', 'show', 'f1'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "harmonic mean" in done.stdout


@pytest.mark.models
def test_a_shipped_model_is_asked_once_for_all_metrics_and_slices(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [("I loved every minute.", "positive", "a"), ("A complete waste of time.", "negative", "b")] * 4
    path.write_text("\n".join(json.dumps({"text": text, "label": label, "of": source}) for text, label, source in rows))
    metrics = ("--metric", "accuracy", "--metric", "f1:average=macro")
    result = printed("--data", path, "--model", "sentiment-ngram", *metrics, "--by", "of")
    assert [score["metric"] for score in result["scores"]] == ["accuracy"] * 3 + ["f1"] * 3
    assert result["scores"][0]["rows"] == 8
    assert result["timing"]["samples_per_second"] > 0


PREDICTIONS = [
    ("I loved every minute.", "positive"),
    ("A complete waste of time.", "negative"),
    ("It runs for two hours.", "neutral"),
    ("Dull, loud and far too long.", "negative"),
    ("A warm and funny film.", "positive"),
    ("The film was shot in Spain.", "positive"),
    ("Nobody should have to see this.", "negative"),
    ("The best film of the year.", "neutral"),
]
NUMBERS = {"negative": 0, "neutral": 1, "positive": 2}


@pytest.fixture
def probabilities():
    """The shipped model's answer to each text: a row with a probability of each label, sorted by name."""
    result = {entry.name: entry for entry in catalog.find([catalog.BUILTIN])}
    outputs = catalog.open_model(result["sentiment-ngram"].folder).predict(
        [{"statement": text} for text, _ in PREDICTIONS]
    )
    return np.array([[output.probabilities[label] for label in sorted(NUMBERS)] for output in outputs])


def write_predictions(tmp_path, labels):
    path = tmp_path / "said.jsonl"
    rows = [
        {"text": text, "label": label, "half": at % 2}
        for at, ((text, _), label) in enumerate(zip(PREDICTIONS, labels, strict=True))
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


MAPPING = ("--label-mapping", ",".join(f"{name}={number}" for name, number in NUMBERS.items()))


@pytest.mark.models
@pytest.mark.parametrize("numbered", [False, True], ids=["texts", "numbers"])
def test_metrics_of_probabilities_get_those_of_the_model(tmp_path, probabilities, numbered):
    labels = [NUMBERS[label] if numbered else label for _, label in PREDICTIONS]
    result = printed(
        "--data", write_predictions(tmp_path, labels), "--model", "sentiment-ngram", *(MAPPING if numbered else ()),
        "--metric", "accuracy", "--metric", "expected_calibration_error:n_bins=1", "--metric", "brier_score",
        "--metric", "roc_auc:multi_class=ovr", "--by", "half",
    )  # fmt: skip
    right = np.array([NUMBERS[label] for _, label in PREDICTIONS])

    def expected(some):
        chances, true = probabilities[some], right[some]
        accuracy = (chances.argmax(1) == true).mean()
        yield accuracy
        yield abs(accuracy - chances.max(1).mean())
        yield ((chances - np.eye(3)[true]) ** 2).sum(1).mean()
        yield roc_auc_score(true, chances, multi_class="ovr")

    parts = [np.arange(8), np.arange(0, 8, 2), np.arange(1, 8, 2)]
    by_hand = [value for item in zip(*map(expected, parts), strict=True) for value in item]
    assert [next(iter(score["result"].values())) for score in result["scores"]] == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.models
def test_a_ranking_of_two_labels_is_by_the_probability_of_the_greater(tmp_path, probabilities):
    labels = [int(label == "positive") for _, label in PREDICTIONS]
    mapping = ("--label-mapping", "negative=0,neutral=0,positive=1")
    words = (
        "--data",
        write_predictions(tmp_path, labels),
        "--model",
        "sentiment-ngram",
        *mapping,
        "--metric",
        "roc_auc",
    )
    assert printed(*words)["scores"][0]["result"]["roc_auc"] == pytest.approx(
        roc_auc_score(labels, probabilities[:, 2])
    )


@pytest.mark.models
def test_a_model_without_probabilities_is_refused_by_metrics_that_take_them(tmp_path):
    path = tmp_path / "questions.jsonl"
    answers = {"text": ["Paris"], "answer_start": [10]}
    row = {"id": "1", "question": "Where?", "context": "It is in Paris.", "answers": answers}
    path.write_text(json.dumps(row))
    done = run("run", "--data", path, "--model", "qa-minilm", "--metric", "brier_score")
    assert done.exit_code == 1
    assert "takes probabilities of labels, and question-answering has none" in done.stderr


@pytest.mark.release
@pytest.mark.models
def test_the_metric_of_choices_needs_no_name(tmp_path):
    from tests.evaluate.evaluator.tiny import gpt2, saved

    folder = saved(tmp_path / "model", *gpt2())
    path = tmp_path / "choices.jsonl"
    path.write_text(json.dumps({"text": "the film is", "classes": ["good", "bad"], "target": 0}))
    words = ("--data", path, "--model", folder, "--task", "zero-shot-classification", "--html", tmp_path / "x.html")
    (score,) = printed(*words)["scores"]
    assert score["result"]["loss"] > 0
