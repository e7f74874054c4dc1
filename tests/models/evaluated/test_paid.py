"""Models that cost money: a chat server is asked in evaluations, up to a limit a day, and no row is paid for twice."""

import sqlite3
from datetime import timedelta

import pytest
import yaml

from dynabench.benchmark.evaluations.tables import Evaluation
from dynabench.kit.db import now
from dynabench.models.backends.served.stores import ANSWERS_FILE as CACHE
from dynabench.models.backends.served.stores import SPENDING_FILE as SPENDING
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks
from tests.jobs.conftest import Worker, until
from tests.models.served.chat_server import NAME
from tests.scoring.conftest import by_hand, owner_of, place, statements

pytestmark = [pytest.mark.release, pytest.mark.xdist_group("chat")]

__all__ = ["by_hand", "owner_of", "place"]
ROWS, LIMIT = 8, 5
LABELS = ["positive", "neutral", "negative"]


@pytest.fixture
def worker(settings, tmp_path):
    created = Worker(settings, tmp_path / "worker.log")
    created.env |= {"DYNABENCH_PRIVATE_ENDPOINTS": "127.0.0.1", "DYNABENCH_SPENDING_PER_DAY": str(LIMIT)}
    yield created
    if created.process and created.process.poll() is None:
        created.end()


def paid(settings, chat):
    """An installed model of which each call costs 1."""
    folder = settings.folder / "models" / "paid"
    folder.mkdir(parents=True)
    options = {"url": chat.url, "model": NAME, "price_per_call": 1.0, "at_once": 1}
    answer = {"name": "paid", "task": "sentiment", "kind": "openai", "inputs": ["statement"], "answer": "label"}
    answer |= {"labels": LABELS, "licence": "MIT", "seconds": 60, "options": options}
    (folder / "model.yaml").write_text(yaml.safe_dump(answer))
    return "paid"


def another_day(settings, database):
    """As if all that was spent so far had been spent long ago."""
    with sqlite3.connect(settings.folder / SPENDING) as file:
        file.execute("UPDATE spent SET day = '2000-01-01'")

    def earlier(session):
        session.get_one(Evaluation, 1).ended_at = now() - timedelta(days=1)

    database.write(earlier)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_limit_on_spending_stops_an_evaluation_which_goes_on_the_next_day(
    chat, place, worker, database, settings, person, browser
):
    here, sam = place(), person("sam")
    config = yaml.safe_load(
        next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment")
    )
    config["metrics"] = {"primary": "accuracy", "costs": ["price"], "perturb": []}
    database.write(rounds.save_task, None, yaml.safe_dump(config))
    here.dataset("films", statements(ROWS))
    here.submit(paid(settings, chat), sam.id, inside=False, ready_at=now())
    here.queue(submission=1)
    before = chat.calls
    worker.start()
    until(lambda: chat.calls > before + 1, 90)
    worker.end()
    with sqlite3.connect(settings.folder / CACHE) as file:
        lost = chat.calls - before - file.execute("SELECT count(*) FROM responses").fetchone()[0]
    assert 0 <= lost <= 1, "all but the call under way is kept"
    worker.start()
    stopped = here.ended(1)
    assert (stopped.state, stopped.code) == ("failed", "spending"), worker.log_text()
    assert "limit of 5 a day" in stopped.reason
    assert chat.calls - before == LIMIT
    page = browser()
    page.log_in("sam")
    assert "limit of 5 a day" in page.get("/submissions/1").text

    worker.end()
    another_day(settings, database)
    worker.start()
    until(lambda: here.evaluation(1).attempt == 2)
    assert here.ended(1).state == "done", (here.evaluation(1).reason, worker.log_text())
    assert chat.calls - before == ROWS + lost, "no row is paid for twice"
    scores = sam.get("/api/v1/evaluations/1/scores").json()["items"]
    result = {score["metric"]: score["value"] for score in scores if not score["slice"]}
    assert (result["price"], result["spent"]) == (1000, ROWS)
    assert "cost 8.0000" in page.get("/submissions/1").text
    board = sam.get("/api/v1/tasks/sentiment/leaderboard").json()
    assert "price" in str(board)
