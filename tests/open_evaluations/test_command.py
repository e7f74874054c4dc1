"""`dynabench evaluate run --dataset`: here without a server, and with the client at a platform that runs."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from benchmarks.running import platform
from dynabench.cli import app
from dynabench.client import ApiError, Client
from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from dynabench.open_evaluations import board
from tests.open_evaluations import small_data
from tests.open_evaluations.chat_server import ChatServer
from tests.open_evaluations.conftest import Desk, reviews
from tests.scoring.conftest import statements

TWO = ["--model", "sentiment-ngram", "--model", "sentiment-minilm"]


def run(*words: str, status: int = 0) -> Any:
    """Run the command, which has to end with this status; return what it wrote."""
    result = CliRunner().invoke(app, ["evaluate", "run", *words])
    assert result.exit_code == status, f"{result.output}\n{result.exception!r}"
    return result


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder of this test alone; what a run leaves there is looked at."""
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    get_settings.cache_clear()
    yield tmp_path / "home"
    get_settings.cache_clear()


@pytest.fixture
def films(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_bytes(reviews(300))
    return path


def as_scores(document: dict[str, Any]) -> dict[tuple[str, str, str], tuple[float, float, float]]:
    """Scores of a document of the command by model, metric and key."""
    return {(score["model"], score["metric"], score["key"]): (score["value"], score["low"], score["high"])
            for score in document["board"]["scores"]}  # fmt: skip


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_run_here_has_the_scores_of_the_platform(desk: Desk, films: Path, tmp_path: Path):
    predictions = tmp_path / "predictions.csv"
    result = run("--dataset", str(films), *TWO, "--json", "-", "--predictions-out", str(predictions))
    document = json.loads(result.stdout)
    assert document["columns"] == {"text": "review", "label": "sentiment"}
    assert (document["rows"], document["refused"], document["task"]) == (300, 0, "text-classification")
    id = desk.start(desk.upload("films.csv", films.read_bytes()), [TWO[1], TWO[3]])
    seen = desk.run(id)
    assert document["sha256"] == seen.evaluation.digest
    stored = desk.database.read(board.read_board, seen)
    expected = {
        (line.model.reference, score.metric, score.key): (score.value, score.low, score.high)
        for line in stored.lines
        for score in line.scores
        if score is not None
    }
    assert as_scores(document) == expected
    [pair] = document["board"]["pairs"]
    assert (pair["low"], pair["high"]) == (stored.pairs[0].low, stored.pairs[0].high)
    with predictions.open(newline="") as file:
        lines = list(csv.DictReader(file))
    share = sum(int(line["sentiment-minilm right"]) for line in lines) / 300
    assert share == pytest.approx(expected["sentiment-minilm", "accuracy", "accuracy"][0])


@pytest.mark.release
def test_the_board_is_printed_with_intervals(films: Path, tmp_path: Path, home: Path):
    out = tmp_path / "predictions.parquet"
    result = run("--dataset", str(films), *TWO, "--rows", "60", "--metric", "accuracy", "--predictions-out", str(out))
    assert "accuracy" in result.stdout
    assert " to " in result.stdout
    assert re.search("sentiment-[a-z]+ - sentiment-[a-z]+: ", result.stdout)
    assert pq.read_table(out).num_rows == 60
    assert not [path for path in home.rglob("*.parquet") if path.is_file()]


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        (["--model", "nli-ngram"], ["--model: nli-ngram does not fit Text classification"]),
        (["--model", "no-such-model"], ["--model: There is no model 'no-such-model'"]),
        ([*TWO, "--metric", "nope"], ["--metric: There is no metric 'nope'"]),
        ([*TWO, "--map", "text=nothing"], ["--map text=COLUMN: The dataset has no column 'nothing'", "review, senti"]),
        ([*TWO, "--task", "juggling"], ["--task: There is no kind of problem called 'juggling'"]),
        ([*TWO, "--task", "translation"], ["--map translation=COLUMN: Choose the column for"]),
        ([*TWO, "--map", "label=stars"], ["--label-mapping: No label of sentiment-"]),
        ([*TWO, "--data", "x.csv"], ["--data does not go with --dataset"]),
        ([*TWO, "--predictions-out", "x.txt"], ["--predictions-out needs a name"]),
        ([], ["at least one --model"]),
    ],
)
def test_what_does_not_fit_is_said_with_the_option_that_mends_it(films: Path, words: list[str], reasons: list[str]):
    output = run("--dataset", str(films), *words, status=1).output
    for reason in reasons:
        assert reason in " ".join(output.split())


def test_a_file_that_is_not_there_and_one_without_rows_are_refused(tmp_path: Path):
    assert "is no file or folder here" in run("--dataset", "nosuch.csv", *TWO, status=1).output
    empty = tmp_path / "empty.csv"
    empty.write_text("text,label\n")
    assert "There are no rows in this file" in run("--dataset", str(empty), *TWO, status=1).output


@pytest.mark.slow
def test_labels_and_columns_are_mapped_and_a_folder_is_a_model(films: Path, tmp_path: Path):
    folder = shutil.copytree(catalog.entry("sentiment-ngram").folder, tmp_path / "mine")
    words = ("--map", "label=stars", "--label-mapping", "positive=0,negative=1,neutral=2")
    document = json.loads(run("--dataset", str(films), "--model", str(folder), *words, "--json", "-").stdout)
    assert document["columns"] == {"label": "stars", "text": "review"}
    assert document["models"][0]["labels"] == {"positive": "0", "negative": "1", "neutral": "2"}


@pytest.mark.release
def test_models_that_fail_are_named_and_change_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    path = tmp_path / "roads.csv"
    path.write_bytes(small_data.table(small_data.similarities()))
    server = ChatServer(one=lambda fields: "3", words=lambda fields: "many")
    try:
        choices = ("--dataset", str(path), "--task", "regression", "--metric", "mae")
        both = run(*choices, "--model", server.address("one"), "--model", server.address("words"), status=3)
        assert "12 of 12 answers hold no number, the first in row 2: 'many'" in " ".join(both.output.split())
        document = json.loads(run(*choices, "--model", server.address("words"), "--json", "-", status=1).stdout)
        assert document["models"][0]["code"] == "wrong_output"
    finally:
        server.close()
        get_settings.cache_clear()


@pytest.mark.release
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_dataset_of_the_platform_here_is_read_from_its_database(
    desk: Desk, place: Any, monkeypatch: pytest.MonkeyPatch
):
    sentiment = place("sentiment")
    sentiment.dataset("films", statements(40))
    sentiment.dataset("secret", statements(40), visibility="hidden")
    for name, value in (("HOME", desk.settings.home), ("DATABASE_URL", desk.settings.url), ("SECRET", "s" * 32)):
        monkeypatch.setenv(f"DYNABENCH_{name}", str(value))
    get_settings.cache_clear()
    document = json.loads(run("--dataset", "sentiment/films", *TWO, "--json", "-").stdout)
    assert document["rows"] == 40
    assert "hidden" not in run("--dataset", "sentiment/secret", *TWO, status=1).stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A platform with its worker, and a person with a token."""
    home = tmp_path_factory.mktemp("platform")
    with platform(home, ready=False, hub_url="") as base, Client(base) as client:
        client.register("mia", "mia@example.org", "correct horse battery")
        token = client.log_in("mia", "correct horse battery")
        yield SimpleNamespace(base=base, token=token, client=client)


@pytest.mark.release
def test_the_command_and_the_client_evaluate_at_a_server(site: SimpleNamespace, films: Path, tmp_path: Path):
    here = json.loads(run("--dataset", str(films), *TWO, "--json", "-").stdout)
    out = tmp_path / "predictions.csv"
    words = ("--server", site.base, "--token", site.token, "--predictions-out", str(out))
    at_server = json.loads(run("--dataset", str(films), *TWO, *words, "--json", "-").stdout)
    assert as_scores(at_server) == pytest.approx(as_scores(here))
    assert len(out.read_text().splitlines()) == 301

    client: Client = site.client
    id = at_server["evaluation"]
    assert [row["id"] for row in client.open_evaluations()] == [id]
    assert client.open_board(id, by="f1 macro")["main"] == "f1 macro"
    assert client.open_record(id)["document"]["dataset"]["rows"] == 300
    assert client.open_predictions(id, "parquet")[:4] == b"PAR1"
    plan = client.plan_evaluation(client.upload_rows(str(films)), ["sentiment-ngram"], rows="50")
    assert (plan["rows"], plan["estimate"]["rows"], plan["problems"]) == (300, 50, {})
    choices = {"columns": {"label": "sentiment"}, "metrics": ["accuracy", "f1:average=macro"], "rows": 50}
    choices |= {"labels": {"sentiment-minilm": {"positive": "good"}}, "classes": ["a", "b"], "listed": True}
    planned = client.plan_evaluation(plan["choices"]["dataset"], ["sentiment-minilm"], **choices)["choices"]
    assert {name: planned[name] for name in choices} == choices | {"columns": planned["columns"]}
    assert planned["columns"]["label"] == "sentiment"
    long = client.evaluate_openly(plan["choices"]["dataset"], ["sentiment-minilm"], columns={"label": "sentiment"})
    with pytest.raises(ApiError, match="running"):
        client.delete_open_evaluation(long["id"])
    assert client.cancel_open_evaluation(long["id"])["state"] == "cancelled"
    client.delete_open_evaluation(long["id"])
    assert [row["id"] for row in client.open_evaluations()] == [id]
    with pytest.raises(ApiError, match="no open evaluation"):
        client.open_evaluation(long["id"])


@pytest.mark.release
def test_what_a_server_refuses_is_said_with_its_option(site: SimpleNamespace, films: Path):
    at = ("--server", site.base, "--token", site.token)
    output = run("--dataset", str(films), "--model", "nli-ngram", *at, status=1).output
    assert "--model: nli-ngram does not fit" in " ".join(output.split())
    assert "There is no task 'sentiment'" in run("--dataset", "sentiment/nosuch", *TWO, *at, status=1).output
    assert "401" in run("--dataset", str(films), *TWO, "--server", site.base, status=1).output
    gone = run("--dataset", str(films), *TWO, "--server", "http://127.0.0.1:9", status=1).output
    assert "does not answer" in gone
