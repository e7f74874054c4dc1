"""Datasets are read by a worker: to their end through a crash, and never for ever."""

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select

from dynabench.benchmark import maintenance as benchmark_maintenance
from dynabench.datasets import jobs as dataset_jobs
from dynabench.datasets import stored
from dynabench.datasets.tables import DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.jobs import Job
from tests.datasets.library import API, lines, olga, send
from tests.jobs.conftest import until
from tests.scoring.test_keeping import give_up

pytestmark = pytest.mark.slow

__all__ = ["olga"]
ROWS = 30_000


def rows(count):
    labels = ("positive", "negative", "neutral")
    return [{"id": f"r{n}", "statement": f"A fine film, number {n}.", "label": labels[n % 3]} for n in range(count)]


def newest(database):
    return database.read(lambda s: s.scalars(select(DatasetVersion).order_by(DatasetVersion.id.desc()).limit(1)).one())


def read_progress(database, id):
    return database.read(lambda s: s.get_one(Job, id)).done


def test_a_dataset_whose_worker_is_killed_while_it_reads_is_read_whole_and_announced_once(
    olga, worker, database, settings
):
    file = send(olga, lines(rows(ROWS)))["file"]
    assert olga.post(API, json={"name": "films", "file": file}).status_code == 202
    worker.start()
    job = newest(database).job_id
    until(lambda: read_progress(database, job), pause=0.02)
    worker.end(signal.SIGKILL)
    assert newest(database).state == "reading"
    worker.start()
    until(lambda: newest(database).state != "reading")
    created = newest(database)
    assert (created.state, created.rows) == ("ready", ROWS), (created.reason, worker.log_text())
    uids = [row.uid for row in stored.read_rows(settings, created.digest)]
    assert uids == [f"r{n}" for n in range(ROWS)]
    with database._reads() as session:
        request = select(func.count()).select_from(Job).where(Job.kind == "queue_evaluations")
        assert session.scalar(request) == 1
        axes = session.scalars(select(Twin.axis)).all()
    assert len(axes) == len(set(axes))
    until(lambda: not [path for path in (settings.folder / "uploads").rglob("*") if path.is_file()])


def test_a_reading_that_was_given_up_bars_no_later_one_and_leaves_no_file(olga, worker, database, settings):
    first = send(olga, lines(rows(30)))["file"]
    assert olga.post(API, json={"name": "films", "file": first}).status_code == 202
    lost = newest(database).job_id
    worker.start()
    until(lambda: newest(database).state == "ready")
    worker.end(signal.SIGKILL)
    database.write(lambda s: setattr(s.get_one(DatasetVersion, 1), "state", "reading"))
    path = Path(database.read(lambda s: s.get_one(Job, lost)).payload["file"])
    path.write_text("{}")
    os.utime(path, (0, 0))
    benchmark_maintenance.tidy_submissions(database, settings)
    assert path.exists(), "its job may still read it"
    give_up(settings, lost)
    benchmark_maintenance.tidy_submissions(database, settings)
    assert not path.exists()
    dataset_jobs.clean_up_datasets(database, settings)
    assert newest(database).state == "failed", jobs.progress(settings, database.read(lambda s: s.get_one(Job, lost)))
    assert "Upload it again" in newest(database).reason
    worker.start()
    again = send(olga, lines(rows(31)))["file"]
    assert olga.post(f"{API}/films/versions", json={"file": again}).status_code == 202
    until(lambda: newest(database).number == 2 and newest(database).state == "ready")
