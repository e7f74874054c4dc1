"""Models on files of other people's: guessed, answered once, scored as the evaluation library scores."""

import csv
import io
import json
from urllib.parse import parse_qsl

import pytest

from dynabench.benchmark.evaluations import records as signing
from dynabench.kit import errors
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import board, jobs, predictions, records, service
from dynabench.open_evaluations.choices import OpenChoices
from tests.open_evaluations.conftest import Desk, reviews

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
TWO = ["sentiment-ngram", "sentiment-minilm"]


def scores(desk: Desk, id: int) -> dict[tuple[str, str], float]:
    seen = desk.seen(id)
    whole_board = desk.database.read(board.read_board, seen)
    return {
        (line.model.name, column.title): score.value
        for line in whole_board.lines
        for column, score in zip(whole_board.columns, line.scores, strict=True)
        if score is not None
    }


@pytest.mark.release
def test_a_file_with_strange_names_is_guessed_answered_and_scored(desk: Desk):
    dataset = desk.upload("films.csv", reviews(300))
    plan = desk.plan(dataset, models=TWO)
    assert not plan.problems
    assert plan.task.name == "text-classification"
    assert plan.choices.columns == {"text": "review", "label": "sentiment"}
    assert {model.reference for model in plan.chosen} == set(TWO)
    assert plan.chosen[0].labels.meanings == {"positive": "pos", "negative": "neg"}
    id = desk.start(dataset, TWO, metrics=["accuracy", "matthews_correlation", "f1:average=macro"])
    ended = desk.run(id).evaluation
    assert (ended.state, ended.rows, ended.refused) == ("done", 300, 0), ended.reason
    values = scores(desk, id)
    table = desk.database.read(lambda s: predictions.prediction_table(s, desk.settings, desk.someone(s), id))
    lines = [dict(zip(table.header, line, strict=True)) for line in predictions.read_lines(desk.settings, table)]
    assert [line["row"] for line in lines][:2] == ["2", "3"]
    for model in TWO:
        share = sum(line[model] == line["reference"] for line in lines) / 300
        assert values[model, "accuracy"] == pytest.approx(share)
        assert (model, "matthews_correlation") in values
        assert sum(line[f"{model} right"] for line in lines) == pytest.approx(share * 300)
    whole = desk.database.read(lambda s: board.read_board(s, desk.seen(id)))
    [pair] = whole.pairs
    assert pair.low <= pair.value <= pair.high
    signed = desk.database.read(lambda s: records.read_record(s, id))
    [key, *_rest] = signing.public_keys(desk.settings)
    assert signing.is_signature_valid(signed.document, signed.signature, key)
    assert json.dumps(signed.document).count('"first"') == 4


def test_the_address_of_a_form_fills_it_again(desk: Desk):
    dataset = desk.upload("films.csv", reviews(60))
    labels = {"sentiment-ngram": {"neutral": "neg"}}
    plan = desk.plan(dataset, models=TWO, metrics=["f1:average=macro"], labels=labels, listed=True, rows=50)
    again = OpenChoices.from_query(parse_qsl(plan.choices.query()))
    assert again == plan.choices
    assert (
        next(model for model in plan.chosen if model.reference == "sentiment-ngram").labels.meanings["neutral"] == "neg"
    )


def test_what_does_not_fit_is_named_with_what_to_do(desk: Desk):
    dataset = desk.upload("films.csv", reviews(30))
    assert "models" in desk.plan(dataset).problems
    assert "nli-ngram" in desk.plan(dataset, models=["nli-ngram"]).problems["models"]
    assert "hub" in desk.plan(dataset, models=["someone/model"]).problems.get("models", "hub")
    assert "metrics" in desk.plan(dataset, models=TWO, metrics=["code_eval"]).problems
    assert "metrics" in desk.plan(dataset, models=TWO, metrics=["/etc/passwd.py"]).problems
    numbers = desk.upload("numbers.csv", b"text,label\na warm film,7\na dull film,8\n")
    problem = desk.plan(numbers, models=["sentiment-ngram"]).problems["labels"]
    assert "positive" in problem
    assert "7" in problem
    meant = {"sentiment-ngram": {"positive": "7", "negative": "8"}}
    assert not desk.plan(numbers, models=["sentiment-ngram"], labels=meant).problems
    nothing = desk.upload("empty.csv", b"text,label\n,\n,\n")
    assert desk.plan(nothing, task="text-classification", models=TWO).problems
    with pytest.raises(errors.Invalid):
        desk.upload("none.csv", b"text,label\n")
    with pytest.raises(errors.Invalid):
        desk.start(numbers, ["sentiment-ngram"])


@pytest.mark.slow
def test_rows_that_do_not_fit_are_left_out_and_counted(desk: Desk):
    content = b"text,label\n" + b"a warm and funny film,positive\n" * 20 + b",negative\na dull film,\n"
    id = desk.start(desk.upload("films.csv", content), ["sentiment-ngram"])
    ended = desk.run(id).evaluation
    assert (ended.state, ended.rows, ended.refused) == ("done", 20, 2)
    assert len(ended.report) == 2


@pytest.mark.slow
def test_a_file_is_its_owners_alone(desk: Desk, owner_of):
    dataset = desk.upload("films.csv", reviews(30))
    id = desk.start(dataset, ["sentiment-ngram"])
    other = Desk(desk.database, desk.settings, owner_of("mallory"))
    with pytest.raises(errors.Invalid):
        other.plan(dataset)
    with pytest.raises(errors.NotFound):
        other.seen(id)
    desk.run(id)
    desk.database.write(lambda s: service.list_publicly(s, desk.someone(s), id, True))
    assert not other.seen(id).own
    with pytest.raises(errors.Forbidden):
        desk.database.read(lambda s: predictions.prediction_table(s, other.settings, other.someone(s), id))


@pytest.mark.slow
def test_csv_of_predictions_is_safe_and_whole(desk: Desk):
    rows = [["text", "label"], ['=HYPERLINK("x") a warm film', "positive"], ["a dull\nfilm", "negative"]]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    id = desk.start(desk.upload("films.csv", out.getvalue().encode()), ["sentiment-ngram"])
    assert desk.run(id).evaluation.state == "done"
    table = desk.database.read(lambda s: predictions.prediction_table(s, desk.settings, desk.someone(s), id))
    assert len(list(predictions.read_lines(desk.settings, table))) == 2
    assert predictions.as_parquet(desk.settings, table)[:4] == b"PAR1"


@pytest.mark.slow
def test_a_start_that_is_sent_again_is_one_evaluation_until_it_ends(desk: Desk):
    dataset = desk.upload("reviews.csv", reviews(12))
    models = ["sentiment-ngram"]
    first = desk.start(dataset, models)
    assert desk.start(dataset, models) == first
    assert desk.start(dataset, models, rows=6) != first
    desk.run(first)
    assert desk.start(dataset, models) != first


def test_an_evaluation_waits_for_disk_space_and_goes_on_or_is_cancelled(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    id = desk.start(desk.upload("reviews.csv", reviews(12)), ["sentiment-ngram"])
    states: list[str] = []

    def has_room(settings: Settings) -> bool:
        states.append(desk.seen(id).evaluation.state)
        return len(states) == 3

    monkeypatch.setattr(jobs, "has_disk_room", has_room)
    monkeypatch.setattr(jobs, "ROOM_SECONDS", 0.0)
    assert desk.run(id).evaluation.state == "done"
    assert states == ["queued"] * 3
    other = desk.start(desk.upload("reviews.csv", reviews(15)), ["sentiment-ngram"])

    def cancel(settings: Settings) -> bool:
        desk.database.write(lambda s: service.cancel_evaluation(s, desk.someone(s), other))
        return False

    monkeypatch.setattr(jobs, "has_disk_room", cancel)
    assert desk.run(other).evaluation.state == "cancelled"
