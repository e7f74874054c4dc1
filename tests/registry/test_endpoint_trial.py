"""Models by address: recognised and asked before anything is kept, submitted once, and made targets of rounds."""

import shutil
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from dynabench.benchmark.registry import endpoint_trial, future_targets, submissions
from dynabench.benchmark.registry.tables import Submission
from dynabench.kit.settings import get_settings
from dynabench.models import references
from dynabench.models.backends.served.endpoint import breaker, lend_token, token
from dynabench.models.catalog import BUILTIN, entry
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from tests.jobs.conftest import Worker
from tests.models.conftest import served
from tests.models.test_references import server
from tests.models.waiting import until_ready
from tests.registry.sending import SENT
from tests.registry.test_submission_checks import ended

TEST, PAGE = f"{SENT}/test", "/tasks/nli/submit"
ENDPOINT = {"kind": "endpoint", "name": "far", "protocol": "oip", "url": "https://example.org", "model": "m"}
LABELS = ["entailment", "neutral", "contradiction"]
TENSORS = {
    "/v2": {"name": "far"},
    "/v2/repository/index": [{"name": "m"}],
    "/v2/models/m": {
        "name": "m",
        "inputs": [{"name": "text_a", "datatype": "BYTES", "shape": [-1, 1]},
                   {"name": "hypothesis", "datatype": "BYTES", "shape": [-1, 1]}],
        "outputs": [{"name": "scores", "datatype": "FP32", "shape": [-1, 3]}],
    },
    "/v2/models/m/infer": {"outputs": [{"name": "scores", "datatype": "FP32", "shape": [1, 3],
                                        "data": [0.1, 0.7, 0.2]}]},
}  # fmt: skip
CHAT = {
    "/v1/models": {"data": [{"id": "small"}]},
    "/v1/chat/completions": {
        "choices": [{"message": {"content": '{"label": "contradiction"}'}, "finish_reason": "stop"}]
    },
}
CONTAINER = {"/": [[{"label": "LABEL_2", "score": 0.9}, {"label": "LABEL_0", "score": 0.1}]]}


@pytest.fixture
def settings(settings):
    return settings.model_copy(update={"private_endpoints": "127.0.0.1"})


@pytest.fixture(autouse=True)
def environment(settings, monkeypatch):
    """The settings of the process are those of the application."""
    monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", settings.private_endpoints)
    get_settings.cache_clear()
    breaker.cache_clear()
    yield
    get_settings.cache_clear()


def submissions_of(database):
    return database.read(lambda s: s.scalars(select(Submission).order_by(Submission.id)).all())


def nothing_kept(database, settings):
    folder = settings.folder
    return submissions_of(database) == [] and not (folder / "tokens").exists() and not (folder / "models").exists()


@pytest.mark.slow
def test_a_host_is_recognised_by_its_address_and_answers_for_a_row(ada, owner, tmp_path, database, settings):
    shutil.copytree(BUILTIN / "nli-ngram", tmp_path / "elsewhere" / "nli-ngram")
    with served(create_app(Repository([tmp_path / "elsewhere"])), "http://127.0.0.1:0") as url:
        until_ready(url)
        outcome = ada.post(TEST, json={"url": url}).json()
        assert (outcome["protocol"], outcome["model"], outcome["passed"]) == ("oip", "nli-ngram", True), outcome
        assert outcome["answer"] in LABELS
        assert outcome["inputs"] == {"premise": "premise", "hypothesis": "hypothesis"}
        assert outcome["seconds"] < 10
        owners = owner.post(TEST, json={"url": url}).json()
        assert owners["sent"]["premise"] != outcome["sent"]["premise"], "contexts are shown to those who manage them"
    assert nothing_kept(database, settings)


@pytest.mark.slow
def test_tensors_are_guessed_and_what_a_person_says_wins_and_is_submitted(ada, database):
    with server(TENSORS) as url:
        outcome = ada.post(TEST, json={"url": url}).json()
        assert (outcome["answer"], outcome["holds"], outcome["columns"]) == ("neutral", "probabilities", True), outcome
        assert outcome["inputs"] == {"premise": "text_a", "hypothesis": "hypothesis"}
        values = {name: outcome[name] for name in ("protocol", "url", "model", "inputs", "output", "holds", "columns")}
        other = values | {"mapped": "oip elsewhere m", "output": "nothing"}
        assert endpoint_trial._forget_mapping(other).get("output") is None, "it was guessed for another model"
        twice = values | {"inputs": {"premise": "a", "hypothesis": "a"}}
        assert list(ada.post(TEST, json=twice).json()["fields"]) == ["inputs.hypothesis"]
        assert list(ada.post(TEST, json=values | {"holds": "secrets"}).json()["fields"]) == ["holds"]
        assert list(ada.post(TEST, json=values | {"labels": {"maybe": "x"}}).json()["fields"]) == ["labels.maybe"]
        assert ada.post(SENT, json=values | {"kind": "endpoint", "name": "far"}).status_code == 201
    [submission] = submissions_of(database)
    assert submission.source["tensors"] == {"premise": "text_a"}
    assert (submission.source["output"], submission.source["holds"]) == ("scores", "probabilities")


@pytest.mark.slow
def test_labels_of_a_container_are_mapped(ada):
    with server(CONTAINER) as url:
        body = {"protocol": "huggingface", "url": url}
        first = ada.post(TEST, json=body).json()
        assert not first["passed"]
        assert "LABEL_2" in first["reason"]
        labels = {"entailment": "LABEL_0", "neutral": "LABEL_1", "contradiction": "LABEL_2"}
        second = ada.post(TEST, json=body | {"labels": labels}).json()
        assert (second["answer"], second["labels"]) == ("contradiction", labels), second


@pytest.mark.slow
def test_the_page_shows_the_answer_never_the_token_and_asks_for_it_again(browser, owner, database, settings):
    eve = browser()
    eve.join("eve")
    with server(CHAT) as url:
        fields = {"kind": "endpoint", "name": "talks", "url": url, "token": "sesame-open", "key": "k1"}
        page = eve.submit(f"{PAGE}/test", page="/settings", **fields)
        assert page.status_code == 200
        assert "Answer after" in page.text
        assert "contradiction" in page.text
        assert f'value="{url}/v1"' in page.text, "the address that works"
        assert "sesame-open" not in page.text
        assert nothing_kept(database, settings)
        part = eve.submit(f"{PAGE}/test", page="/settings", htmx=True, **fields)
        assert part.text.strip().startswith("<div")
        values = fields | {"protocol": "openai", "model": "small", "url": f"{url}/v1", "token_tested": "yes"}
        again = eve.submit(PAGE, page="/settings", **values | {"token": ""})
        assert (again.status_code, "Enter the token again." in again.text) == (422, True)
        assert eve.submit(PAGE, page="/settings", **values).status_code == 303
    [submission] = submissions_of(database)
    assert "sesame" not in str(submission.source)


@pytest.mark.slow
def test_a_slow_a_dead_and_a_private_server_are_told_in_time(ada, monkeypatch, settings, database):
    monkeypatch.setattr(references, "SECONDS", 0.5)
    monkeypatch.setattr(endpoint_trial, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        assert list(ada.post(TEST, json={"url": url}).json()["fields"]) == ["url"]
        outcome = ada.post(TEST, json={"url": url, "protocol": "openai", "model": "m"}).json()
        assert (outcome["passed"], bool(outcome["reason"])) == (False, True)
        assert time.monotonic() - began < 8
    dead = ada.post(TEST, json={"url": url, "protocol": "huggingface"}).json()
    assert not dead["passed"]
    assert list(ada.post(TEST, json={"url": "https://169.254.169.254/x"}).json()["fields"]) == ["url"]
    assert nothing_kept(database, settings)


@pytest.mark.slow
def test_more_tests_than_threads_for_them_are_refused(ada, monkeypatch):
    with server(TENSORS) as url:
        while endpoint_trial._running_tests.acquire(blocking=False):
            pass
        try:
            assert ada.post(TEST, json={"url": url}).status_code == 429
        finally:
            for _ in range(6):
                endpoint_trial._running_tests.release()
        assert ada.post(TEST, json={"url": url}).json()["passed"]


def test_a_lent_token_is_for_its_host_and_gone_afterwards():
    with lend_token("a.example.org", "secret") as name:
        assert token(name, "a.example.org") == "secret"
        with pytest.raises(Exception, match="another host"):
            token(name, "b.example.org")
    with pytest.raises(Exception, match="no token"):
        token(name, "a.example.org")


def test_a_double_click_submits_one_model(ada, database):
    body = ENDPOINT | {"key": "k"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ada.post(SENT, json=body | {"token": "t"}), range(4)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(submissions_of(database)) == 1


def test_only_owners_choose_a_round_and_only_a_draft(ada, owner, database):
    assert ada.post(SENT, json=ENDPOINT | {"round": "new"}).status_code == 403
    assert list(owner.post(SENT, json=ENDPOINT | {"round": "1"}).json()["fields"]) == ["round"], "it is open"
    assert list(owner.post(SENT, json=ENDPOINT | {"round": "x"}).json()["fields"]) == ["round"]
    assert submissions_of(database) == []


def test_a_model_that_passed_becomes_a_target_unless_the_draft_was_opened(owner, database):
    draft = database.write(lambda s: rounds.draft_round(s, None, "nli", []).number)
    card = entry("nli-ngram").card
    ids = [owner.post(SENT, json=ENDPOINT | {"round": choice}).json()["id"] for choice in (str(draft), "new")]

    def check(session, id):
        future_targets.add_chosen_target(session, session.get_one(Submission, id), card)

    def targets(session):
        entries = session.scalars(round_queries.rounds("nli"))
        return {entry.number: [target.model for target in entry.targets] for entry in entries}

    for id in ids:
        database.write(check, id)
        database.write(check, ids[0])
    assert database.read(targets) == {1: ["nli-a"], draft: [card.name], draft + 1: [card.name]}

    def closed(session):
        rounds.round_of(session, "nli", draft).state = RoundState.CLOSED

    database.write(closed)
    database.write(check, ids[0])
    assert "is no target" in owner.get("/api/v1/me/notices").text


def test_the_form_of_the_next_round_ticks_what_was_chosen_for_it(owner, database):
    id = owner.post(SENT, json=ENDPOINT | {"round": "next"}).json()["id"]

    def pass_check(session):
        submissions.mark_ready(session, session.get_one(Submission, id), "nli-b", "1", False, {})

    database.write(pass_check)
    assert database.read(future_targets.preselected_targets, "nli") == ["nli-b@1"]
    database.write(lambda s: rounds.draft_round(s, None, "nli", []).number)
    assert database.read(future_targets.preselected_targets, "nli") == []


@pytest.fixture
def worker(settings, tmp_path, owner):
    process = Worker(settings, tmp_path / "worker.log")
    process.env |= {"DYNABENCH_CHECK_MEMORY_MB": "3000", "OMP_NUM_THREADS": "1"}
    process.env["DYNABENCH_PRIVATE_ENDPOINTS"] = settings.private_endpoints
    process.start()
    yield process
    if process.process.poll() is None:
        process.end()


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_an_address_becomes_a_model_on_the_board_and_the_target_of_a_draft(owner, worker, tmp_path, settings, database):
    shutil.copytree(BUILTIN / "nli-ngram", tmp_path / "elsewhere" / "nli-ngram")
    with served(create_app(Repository([tmp_path / "elsewhere"])), "http://127.0.0.1:0") as url:
        until_ready(url)
        body = {"kind": "endpoint", "name": "far", "protocol": "oip", "url": url, "model": "nli-ngram", "round": "new"}
        result = ended(owner, worker, owner.post(SENT, json=body).json()["id"])
        assert result["state"] == "ready", (result, worker.log_text())
    [draft] = database.read(lambda s: s.scalars(select(Round).where(Round.state == RoundState.DRAFT)).all())
    targets = database.read(lambda s: [(t.model, t.version) for t in s.get_one(Round, draft.id).targets])
    assert targets == [("far", result["version"])]
    assert (settings.folder / "models" / f"far-{result['version']}" / "model.yaml").is_file()
