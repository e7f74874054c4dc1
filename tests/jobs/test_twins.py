"""Perturbed copies made by a worker that may die at any moment."""

import json
import signal

import pytest
from sqlalchemy import select

from dynabench.datasets import copy_jobs, stored, twins
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion
from tests.jobs.conftest import until
from tests.kept import dataset

pytestmark = pytest.mark.release

ROWS = 2 * copy_jobs.SHARD + 5


def furnish(session, settings, count):
    rows = (
        StoredRow(f"r{n}", {"premise": f"A man is outside with his dog, number {n}.",
                            "hypothesis": "He has an animal."}, ({"label": "entailment"},))
        for n in range(count)
    )  # fmt: skip
    return dataset(session, settings, rows, "small")


def ended(database, version, axis):
    def look():
        twin = database.read(lambda s: s.scalar(twins.newest_twin(version, axis)))
        return twin if twin.state != "reading" else None

    return until(look, 120)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_killed_worker_goes_on_and_makes_the_same_copies(owner, worker, database, settings):
    version = database.write(furnish, settings, ROWS)
    worker.start()
    body = {"axis": "robustness", "transformations": ["upper_case", "zero_width"], "copies": 1}
    document = owner.post("/api/v1/tasks/nli/datasets/small/twins", json=body).json()
    folder = settings.folder / "datasets" / f".twin-{document['id']}"
    until(lambda: list(folder.glob("0.jsonl")), pause=0.02)
    worker.end(signal.SIGKILL)
    worker.start()
    twin = ended(database, version, "robustness")
    assert (twin.state, twin.rows) == ("ready", ROWS), worker.log_text()
    rows = stored.read_rows(settings, twin.digest)
    assert [row.original_uid for row in rows] == [f"r{n}" for n in range(ROWS)]
    until(lambda: not folder.exists())


def test_a_worker_makes_and_replaces_copies(owner, worker, database, settings):
    version = database.write(furnish, settings, 3)
    worker.start()
    database.write(lambda s: twins.request_twins(s, s.get_one(DatasetVersion, version)))
    assert {ended(database, version, axis).state for axis in twins.AXES} == {"ready"}, worker.log_text()
    rows = [{"uid": "mine", "input_id": "r1", "hypothesis": "They have an animal."}]
    content = "\n".join(json.dumps(row) for row in rows).encode()
    address = "/api/v1/tasks/nli/datasets/small/twins/fairness/file"
    assert owner.post(address, params={"file": "mine.jsonl"}, content=content).status_code == 202
    assert (result := ended(database, version, "fairness")).origin == "uploaded", result.reason
    assert [row.uid for row in stored.read_rows(settings, result.digest)] == ["mine"]
    before = database.read(lambda s: s.scalar(select(Dataset.version_id)))
    assert before == version
