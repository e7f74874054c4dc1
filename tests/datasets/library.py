"""Datasets in tests: owners, files that are sent, and a worker's steps run in this process."""

import json

import pytest

from dynabench.datasets import jobs as durable
from dynabench.kit import jobs
from dynabench.kit.jobs import Job
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks

API = "/api/v1/tasks/sentiment/datasets"
GOOD = [
    {"statement": f"A fine film, number {n}.", "label": ("positive", "negative", "neutral")[n % 3], "id": f"r{n}",
     "tags": ["even"] if n % 2 == 0 else []}
    for n in range(40)
]  # fmt: skip


def lines(rows):
    return "\n".join(json.dumps(row) for row in rows).encode()


def config_of(name):
    [result] = [shipped.config for shipped in shipped_tasks() if shipped.config.id == name]
    return result


@pytest.fixture
def olga(person, database):
    """The owner of the tasks sentiment and qa."""
    owner = person("olga")
    for shipped in shipped_tasks():
        if shipped.config.id in ("sentiment", "qa"):
            database.write(rounds.save_task, None, shipped.source)
            database.write(rounds.set_role, None, shipped.config.id, owner.name, "owner")
    return owner


@pytest.fixture
def work(database, settings, monkeypatch):
    """Do what the worker does with every reading that waits."""
    monkeypatch.setattr(jobs, "_database", database)
    monkeypatch.setattr(durable, "get_settings", lambda: settings)
    done = set()

    def now():
        waiting = database.read(lambda s: [(j.id, j.payload) for j in s.query(Job) if j.kind == "read_dataset"])
        for id, payload in waiting:
            if id not in done:
                done.add(id)
                durable.end_step(payload["version"], durable.read_step(id, payload))

    return now


def send(caller, content, name="rows.jsonl", base=API):
    answer = caller.post(f"{base}/files", params={"name": name}, content=content)
    assert answer.status_code == 201, answer.text
    return answer.json()


def added(caller, work, rows=GOOD, name="films", **more):
    """A dataset of these rows, read."""
    file = send(caller, lines(rows))["file"]
    answer = caller.post(API, json={"name": name, "file": file, **more})
    assert answer.status_code == 202, answer.text
    work()
    return caller.get(f"{API}/{name}").json()
