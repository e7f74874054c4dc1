"""Submissions that tests send, and datasets that they are evaluated on."""

from sqlalchemy import update

from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.stored import StoredRow
from dynabench.kit.db import now

SENT = "/api/v1/tasks/nli/submissions"
HUB = {"kind": "hub", "name": "mine", "hub": "owner/name"}


def send(caller, **said):
    answer = caller.post(SENT, json=HUB | said)
    assert answer.status_code == 201, answer.text
    return answer.json()


def ready(database, id, **more):
    """Let a submission have passed its check."""
    values = {"state": "ready", "ready_at": now(), "model": "mine", "version": f"{id:016x}"} | more
    database.write(lambda s: s.execute(update(Submission).where(Submission.id == id).values(**values)))


def empty_zip():
    return b"PK\5\6" + bytes(18)


def packed(tmp_path):
    path = tmp_path / "m.zip"
    path.write_bytes(empty_zip())
    return path


def pairs(count):
    labels = ("entailment", "neutral", "contradiction")
    created = ({"premise": f"It rains {n}.", "hypothesis": "It is dry."} for n in range(count))
    return [StoredRow(f"r{n}", inputs, ({"label": labels[n % 3]},)) for n, inputs in enumerate(created)]
