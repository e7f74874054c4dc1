"""Many people at once against a real web process on PostgreSQL; and many requests that leave nothing open."""

import gc
import os
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import psutil
import pytest
from sqlalchemy import func, select

from benchmarks.running import free_port, wait_for
from dynabench.collection.tables import Example, Standing, Tally
from dynabench.rounds.tables import Context
from dynabench.validation.rebuild import rebuild_all
from tests.api.serving import Site, model_host

pytestmark = pytest.mark.release

PEOPLE, TURNS = 20, 6


def snapshot(session, table):
    """All rows but the random keys."""
    columns = [column for column in table.__table__.columns if column.name != "draw"]
    return sorted(map(tuple, session.execute(select(*columns)).all()))


@pytest.fixture
def database_url(empty_url):
    """An empty database: the web process makes its tables."""
    return empty_url


@pytest.fixture
def process(settings, database, tmp_path):
    """`dynabench web` as a process of its own."""
    port = free_port()
    with model_host(tmp_path) as host:
        env = os.environ | {
            "DYNABENCH_HOME": str(settings.home),
            "DYNABENCH_DATABASE_URL": settings.database_url,
            "DYNABENCH_HOST_URL": host,
            "DYNABENCH_PORT": str(port),
            "DYNABENCH_RATE_LIMIT": "false",
            "DYNABENCH_PASSWORD_COST": "1",
            "DYNABENCH_ANSWER_SECONDS": "20",
        }
        with (tmp_path / "web.log").open("wb") as log:
            web = subprocess.Popen([sys.executable, "-m", "dynabench", "web"], env=env, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/readyz")
            running = Site(f"http://127.0.0.1:{port}", database)
            running.ready()
            running.open_rounds("olga")
            running.pid, running.log = web.pid, tmp_path / "web.log"
            yield running
        finally:
            web.terminate()
            web.wait(15)


def work(http: httpx2.Client, number: int, statuses: list[int]) -> None:
    """Write, take back, and vote, as quickly as it goes."""
    rng = random.Random(number)
    for turn in range(TURNS):
        document = http.post("/tasks/nli/contexts/next").json()
        body = {
            "context_id": document["id"],
            "input": {"hypothesis": f"Person {number} says that turn {turn} is not dry."},
            "answer": document["goal"],
        }
        response = http.post("/tasks/nli/examples", json=body)
        statuses.append(response.status_code)
        if rng.random() < 0.2:
            statuses.append(http.post(f"/examples/{response.json()['id']}/retract").status_code)
        item = http.post("/tasks/nli/validations/next")
        statuses.append(item.status_code)
        if item.status_code == 200:
            vote = {"vote": rng.choice(["correct", "correct", "incorrect"])}
            statuses.append(http.post(f"/examples/{item.json()['example_id']}/validations", json=vote).status_code)
        statuses.append(http.get("/tasks/nli/rounds/1/statistics").status_code)


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)
def test_twenty_people_at_once_see_no_deadlock_and_no_error_of_ours(process, database):
    programs = [process.join(f"person{number}") for number in range(PEOPLE)]
    statuses: list[int] = []
    with ThreadPoolExecutor(PEOPLE) as pool:
        for done in [pool.submit(work, http, number, statuses) for number, http in enumerate(programs)]:
            done.result(120)
    for http in programs:
        http.close()
    assert set(statuses) <= {200, 201, 204, 409}, sorted(set(statuses))
    assert "deadlock" not in process.log.read_text().lower()
    written = database.read(lambda session: session.scalar(select(func.count()).select_from(Example)))
    assert written == PEOPLE * TURNS
    used = database.read(lambda session: session.scalar(select(func.sum(Context.used))))
    assert used == written
    before = database.read(lambda s: (snapshot(s, Standing), snapshot(s, Tally)))
    rebuild_all(database)
    assert database.read(lambda s: (snapshot(s, Standing), snapshot(s, Tally))) == before


def open_things(pid):
    process = psutil.Process(pid)
    return process.num_fds(), process.num_threads()


def test_five_hundred_requests_leave_no_file_and_no_thread_open(process):
    with process.join("mia") as http:
        document = http.post("/tasks/nli/contexts/next").json()
        draft = {
            "context_id": document["id"],
            "input": {"hypothesis": "x"},
            "answer": document["goal"],
            "sandbox": True,
        }
        requests = [
            lambda: http.get("/tasks"),
            lambda: http.get("/me"),
            lambda: http.get("/nothing"),
            lambda: http.post("/tasks/nli/examples", json=draft),
            lambda: http.post("/tasks/nli/examples", json={}),
            lambda: http.post("/tasks/nli/contexts/next"),
            lambda: http.get("/tasks/nli/rounds/1/statistics"),
            lambda: httpx2.get(f"{process.address}/"),
            lambda: httpx2.get(f"{process.address}/tasks/nli"),
            lambda: httpx2.get(f"{process.address}/readyz"),
        ]

        def all_of_them(times):
            with ThreadPoolExecutor(4) as pool:
                result = list(pool.map(lambda n: requests[n % len(requests)]().status_code, range(times)))
            gc.collect()
            return result

        all_of_them(100)  # pools and caches fill
        before = open_things(process.pid)
        assert max(all_of_them(500)) < 500
        threading.Event().wait(0.3)
        after = open_things(process.pid)
    assert after[0] <= before[0] + 2, (before, after)
    assert after[1] <= before[1] + 2, (before, after)
