"""Turns of computing processes, and the load of others on the machine."""

import subprocess
import sys
import threading

import pytest

from dynabench.benchmark.evaluations import costs
from dynabench.benchmark.evaluations.costs import ProcessorLoad
from dynabench.kit import compute_lock, jobs
from dynabench.kit.compute_lock import ComputeTurns
from tests.jobs.conftest import until


def test_who_wants_to_be_alone_waits_for_a_long_job_and_others_are_not_kept_for_long(monkeypatch):
    monkeypatch.setattr(compute_lock, "PATIENCE", 0.2)
    monkeypatch.setattr(compute_lock, "EVERY", 0.05)
    here, ended, order = ComputeTurns(), threading.Event(), []

    def long_job():
        with here.shared():
            ended.wait(20)
        order.append("long")

    def measure():
        with here.alone():
            order.append("alone")

    threads = [threading.Thread(target=item) for item in (long_job, measure)]
    for thread in threads:
        thread.start()
    until(lambda: here._sharing and here._waiting)
    with here.shared():
        order.append("beside")
    ended.set()
    for thread in threads:
        thread.join(20)
    assert order[0] == "beside", "it got its turn while one waited to be alone"
    assert sorted(order) == ["alone", "beside", "long"]


@pytest.mark.parametrize("kind", ["read_dataset", "perturb_dataset", "check_submission", "import_data"])
def test_jobs_that_compute_run_in_turn_with_what_is_measured(kind):
    assert kind in jobs.WORKFLOWS
    seen = []
    run = jobs._in_turn(kind, lambda payload: seen.append(compute_lock.TURNS._sharing) or payload)
    assert run({"a": 1}) == {"a": 1}
    assert seen == [1]
    assert compute_lock.TURNS._sharing == 0


def test_what_others_compute_is_told_apart_from_what_is_measured():
    commands = [[sys.executable, "-c", f"import time\nwhile True: {text}"] for text in ("pass", "time.sleep(1)")]
    busy, idle = (subprocess.Popen(command) for command in commands)
    try:
        measured, beside = ProcessorLoad(busy.pid), ProcessorLoad(idle.pid)
        until(lambda: costs._process_ticks(busy.pid) > 50)
        assert 0 <= measured.others() < beside.others() <= 1
    finally:
        for item in (busy, idle):
            item.kill()
            item.wait()
