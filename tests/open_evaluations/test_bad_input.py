"""Data and servers that nobody should trust: a clear reason each, and nothing half-written."""

from collections.abc import Iterator

import pytest

from dynabench.kit import errors
from dynabench.open_evaluations import answering, sources
from tests.open_evaluations import small_data
from tests.open_evaluations.chat_server import ChatServer
from tests.open_evaluations.conftest import Desk, reviews
from tests.open_evaluations.small_data import json_lines, table, zipped

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    monkeypatch.setattr(answering, "PAUSES", {"crashed": (0.0,), "unreachable": (0.0,)})
    chat = ChatServer(pos=lambda fields: "pos", stray=lambda fields: "wonderful")
    yield chat
    chat.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("films.csv", "text;label\nschön;gut\n".encode("utf-16"), "UTF-16"),
        ("films.xlsx", b"PK", "Upload a file that ends in"),
        ("films.zip", b"PK but no zip", "cannot be read"),
        ("films.parquet", b"PAR1 but no Parquet", "cannot be read"),
        ("films.jsonl", b"[1, 2]\n[3]\n", "No row of this file can be read"),
        ("words.conll", b"alone\n\nalone\n", "needs a word and its tag"),
        ("bomb.zip", b"", "too large when unpacked"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(desk: Desk, name: str, content: bytes, reason: str):
    bomb = {"films.csv": b"text,label\n" + b"0" * 200 * 2**20}
    with pytest.raises((errors.Invalid, errors.TooLarge)) as refused:
        desk.upload(name, content or zipped(bomb))
    fields = refused.value.extra.get("fields") or {}
    assert reason in " ".join([refused.value.detail, *fields.values()])
    assert not [path for path in sources.files_folder(desk.settings).iterdir() if path.is_dir()]


@pytest.mark.release
def test_more_rows_than_fit_are_refused_before_the_start(desk: Desk):
    dataset = desk.upload("many.csv", b"text,label\n" + b"fine,positive\n" * 1_000_001)
    plan = desk.plan(dataset, models=["sentiment-ngram"])
    assert "1,000,001 rows; one evaluation takes at most 100,000" in plan.problems["rows"]
    assert not desk.plan(dataset, models=["sentiment-ngram"], rows=500).problems


@pytest.mark.slow
def test_labels_that_the_model_does_not_know_count_as_wrong(desk: Desk):
    rows = [{"text": "a warm film", "label": label} for label in ("positive", "negative", "mixed", "ironic") * 5]
    id = desk.start(desk.upload("films.csv", table(rows)), ["sentiment-ngram"], metrics=["accuracy"])
    assert desk.run(id).evaluation.state == "done"


@pytest.mark.release
def test_pictures_that_are_none_are_left_out_and_counted(desk: Desk):
    files = {f"digits/{label}/{n}.png": small_data.png(small_data.digit_image(n)) for label in "01" for n in range(3)}
    files["digits/1/broken.png"] = b"no picture"
    id = desk.start(desk.upload("digits.zip", zipped(files)), ["digits-resnet"])
    ended = desk.run(id).evaluation
    assert (ended.state, ended.rows, ended.refused) == ("done", 6, 1)


def failed_reason(desk: Desk, content: bytes, model: str) -> str:
    """The reason why a model failed on these reviews; the other one is scored all the same."""
    id = desk.start(desk.upload("films.csv", content), [model, "sentiment-ngram"])
    seen = desk.run(id)
    assert [row.state for row in seen.models] == ["failed", "done"]
    assert seen.evaluation.state == "done"
    return seen.models[0].reason


@pytest.mark.slow
def test_a_server_that_is_gone_is_named(desk: Desk, server: ChatServer):
    address = server.address("pos")
    server.close()
    assert "127.0.0.1" in failed_reason(desk, reviews(30), address)


@pytest.mark.release
def test_a_server_that_fails_or_lies_is_named(desk: Desk, server: ChatServer):
    assert "none of the options" in failed_reason(desk, reviews(30), server.address("stray"))
    assert "#MODEL" in failed_reason(desk, reviews(31), server.address("other"))
    server.status = 500
    assert "127.0.0.1" in failed_reason(desk, reviews(32), server.address("pos"))


def check_reasons(desk: Desk, server: ChatServer, reasons: dict[str, str]) -> None:
    """Evaluate a model for each trouble: it fails with its words, and two others are scored."""
    server.troubles = {name: name for name in reasons}
    for name in reasons:
        server.models[name], server.questions[name] = server.models["pos"], []
    models = [*(server.address(name) for name in reasons), "sentiment-ngram", server.address("pos")]
    seen = desk.run(desk.start(desk.upload("films.csv", reviews(60)), models))
    ends = {row.reference.rpartition("#")[2]: row for row in seen.models}
    for name, words in reasons.items():
        assert (ends[name].state, ends[name].code) == ("failed", "unreachable"), (name, ends[name].reason)
        assert words in ends[name].reason
    assert {ends[name].state for name in ("sentiment-ngram", "pos")} == {"done"}
    assert {ends[name].rows_done for name in ("sentiment-ngram", "pos")} == {60}
    assert (seen.evaluation.state, seen.open) == ("done", False)


@pytest.mark.release
def test_each_server_ends_with_its_own_reason_and_the_others_go_on(desk: Desk, server: ChatServer):
    check_reasons(desk, server, {"garbage": "web page", "cut": "closed the connection", "later": "503"})


@pytest.mark.release  # an endpoint is waited for as long as its protocol says
def test_a_server_that_stalls_is_left_after_its_time(desk: Desk, server: ChatServer):
    check_reasons(desk, server, {"stall": "did not answer in time"})


@pytest.mark.slow
def test_one_label_alone_is_no_choice_for_a_model_elsewhere(desk: Desk, server: ChatServer):
    rows = [{"text": f"a warm film, scene {n}", "label": "positive"} for n in range(10)]
    assert "1 labels of the rows cannot be given" in failed_reason(desk, table(rows), server.address("pos"))


def test_tags_cannot_come_from_a_chat_server(desk: Desk, server: ChatServer):
    id = desk.start(desk.upload("names.jsonl", json_lines(small_data.tagged())), [server.address("pos")])
    seen = desk.run(id)
    assert "the answers are tags" in seen.models[0].reason
    assert seen.evaluation.reason == "No model could be scored."
