"""Processes die at random moments under load, and nothing that was acknowledged is lost or doubled."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading

import psutil
import pytest
from sqlalchemy import func, select

from benchmarks.running import platform, wait_for
from dynabench.collection.tables import Example, Standing, Tally
from dynabench.kit.db import Database
from dynabench.validation.rebuild import rebuild_all
from dynabench.validation.tables import Validation
from tests.crash.load import Annotator, Validator

pytestmark = [pytest.mark.release, pytest.mark.timeout(1800)]

ROLES = ("web", "host", "worker")


def processes(home):
    """The running processes of the platform in `home`, by role."""
    result = {}
    for process in psutil.process_iter(["cmdline", "environ"]):
        _program, _dynabench, arguments = " ".join(process.info["cmdline"] or []).partition(" dynabench ")
        role = arguments.partition(" ")[0]
        if role in ROLES and (process.info["environ"] or {}).get("DYNABENCH_HOME") == str(home):
            result[role] = process
    return result


def wait_until_answered(people, seconds=60):
    """Somebody's next request succeeds."""
    for person in people:
        person.answered.clear()
    assert any(person.answered.wait(seconds) for person in people[:1]), "no example was accepted after a restart"


def kill_at_random_moments(home, address, people, times, rng):
    for turn in range(times):
        wait_until_answered(people)
        threading.Event().wait(rng.uniform(0, 0.5))
        role = ROLES[turn % len(ROLES)]
        victim = processes(home).get(role)
        if victim is not None:
            os.kill(victim.pid, signal.SIGKILL)
        wait_for(f"{address}/healthz", 60)


def snapshot(session, table):
    columns = [column for column in table.__table__.columns if column.name != "draw"]
    return sorted(map(tuple, session.execute(select(*columns)).all()))


def check_acknowledged(session, writers, checkers):
    """Each example and vote that was acknowledged is there once."""
    for person in writers:
        stored = dict(
            session.execute(select(Example.id, Example.key).where(Example.key.in_(person.acknowledged.values()))).all()
        )
        assert stored == person.acknowledged
    assert session.scalar(select(func.count()).select_from(Example)) == len(set(session.scalars(select(Example.key))))
    for person in checkers:
        for example, vote in person.acknowledged.items():
            votes = session.scalars(
                select(Validation.vote).where(Validation.example_id == example, Validation.vote == vote)
            ).all()
            assert votes
    doubled = (
        select(Validation.example_id).group_by(Validation.example_id, Validation.person_id).having(func.count() > 1)
    )
    assert session.scalars(doubled).all() == []


def test_acknowledged_examples_and_votes_survive_kill_9_once(tmp_path, request):
    rng = random.Random(7)
    stop = threading.Event()
    environment = os.environ | {"DYNABENCH_HOME": str(tmp_path)}

    def dynabench(*arguments):
        subprocess.run([sys.executable, "-m", "dynabench", *arguments], env=environment, check=True)

    with platform(tmp_path, "--demo", ready=True) as address:
        dynabench("round", "close", "nli")
        dynabench("round", "open", "nli", "--target", "nli-ngram")
        people = [Annotator(address, f"writer{n}", stop) for n in range(3)]
        people += [Validator(address, f"checker{n}", stop) for n in range(3)]
        for person in people:
            person.start()
        kill_at_random_moments(tmp_path, address, people, request.config.getoption("--crashes"), rng)
        wait_until_answered(people)
        stop.set()
        for person in people:
            person.join(60)
            person.http.close()
    assert [person.failure for person in people] == [None] * len(people)

    database = Database(f"sqlite:///{tmp_path / 'dynabench.sqlite'}")
    with sqlite3.connect(tmp_path / "dynabench.sqlite") as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()
    with database._reads() as session:
        check_acknowledged(session, people[:3], people[3:])
        before = snapshot(session, Standing), snapshot(session, Tally)
    rebuild_all(database)
    with database._reads() as session:
        assert (snapshot(session, Standing), snapshot(session, Tally)) == before
    database.close()
    print(f"{sum(len(person.acknowledged) for person in people)} acknowledged writes survived")
