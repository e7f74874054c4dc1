"""Perturbed copies of rows, and the job that makes them."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from dynabench.adversaries.perturbations import find_transformations, names_on_axis
from dynabench.datasets import copy_jobs, stored, twins
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, Twin
from dynabench.kit import jobs
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig
from tests.datasets import twinned
from tests.datasets.twinned import ADDRESS, ROWS, furnish

place = twinned.place

QA = TaskConfig.parse("""
id: spans
name: Spans
context: [{name: passage, type: text, max_length: 2000}]
input: [{name: question, type: text}]
answer: {name: answer, type: spans, of: passage, max_spans: 1}
""")


def test_a_version_gets_the_twins_that_its_task_names_once(place):
    expected = place.database.read(rounds.newest_config, "nli").metrics.perturb
    answer = place.ask()
    assert {twin.axis for twin in answer} == set(expected) & set(twins.AXES) != set()
    assert place.ask() == []
    place.run()
    for axis in expected:
        twin = place.twin(axis)
        rows = list(stored.read_rows(place.settings, twin.digest))
        assert twin.rows == len(rows) == sum(twin.transformations.values()) > 0
        assert {row.original_uid for row in rows} <= {"r1", "r2"}
        assert all(row.uid == f"{row.original_uid}#{row.transformation}" for row in rows)
        originals = {row.uid: row for row in ROWS}
        assert all(
            row.answers == originals[row.original_uid].answers and row.tags == originals[row.original_uid].tags
            for row in rows
        )
        assert all(dict(row.inputs) != dict(originals[row.original_uid].inputs) for row in rows)


def test_the_same_seed_gives_the_same_rows_and_another_seed_others(place):
    digests = []
    for seed in (4, 4, 5):
        answer = place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "robustness", "seed": seed, "copies": 5})
        assert answer.status_code == 202, answer.text
        place.run()
        digests.append(place.twin("robustness").digest)
    assert digests[0] == digests[1] != digests[2]
    old = place.database.read(lambda s: list(s.scalars(select(Twin).order_by(Twin.id))))
    assert [twin.replaced_at is None for twin in old] == [False, False, True]


def test_only_one_set_of_copies_is_made_at_a_time(place):
    body = {"axis": "fairness", "transformations": ["gender_swapped"]}
    assert place.olga.post(f"/api/v1{ADDRESS}", json=body).status_code == 202
    assert place.olga.post(f"/api/v1{ADDRESS}", json=body).status_code == 409
    place.run()
    assert set(place.twin("fairness").transformations) == {"gender_swapped"}
    wrong = place.olga.post(f"/api/v1{ADDRESS}", json=body | {"axis": "robustness"})
    assert "robustness" in wrong.json()["fields"]["transformations"]


def test_a_step_that_runs_again_changes_nothing(place):
    place.ask()
    twin = place.last("robustness")
    job = place.database.read(lambda s: s.get_one(jobs.Job, twin.job_id))
    first = copy_jobs.generate_copies(job.payload, lambda _: None)
    assert copy_jobs.generate_copies(job.payload, lambda _: None)["digest"] == first["digest"]
    assert not list((place.settings.folder / "datasets").glob(".twin*"))


def test_rows_that_nothing_changes_say_so(place):
    place.database.write(rename)
    version = place.database.write(furnish, place.settings, "public", ROWS[2:])
    place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "fairness"})
    place.run()
    failed = place.database.read(lambda s: s.scalar(twins.newest_twin(version, "fairness")))
    assert failed.state == "failed"
    assert "No transformation" in place.olga.get(f"/api/v1{ADDRESS}").json()["items"][0]["reason"]


def rename(session):
    session.scalars(select(Dataset)).one().name = "other"


def test_spans_are_where_their_text_is():
    passage = "Mary met John in the beautiful garden. She gave him her umbrella because it was raining, twice."
    start = passage.index("umbrella because")
    row = StoredRow("q", {"passage": passage, "question": "What did Mary give to John?"},
                 ({"answer": [{"start": 0, "end": 4, "text": "Mary"}]},
                  {"answer": [{"start": start, "end": start + 16, "text": "umbrella because"}]}))  # fmt: skip
    fields = twins.CopyFields.of(QA)
    copied_rows = [
        copy
        for seed in range(6)
        for axis in twins.AXES
        for copy in twins.perturbed_copies(row, fields, find_transformations(names_on_axis(axis)), seed, 30)
    ]
    assert len(copied_rows) > 60
    for copy in copied_rows:
        for answer, before in zip(copy.answers, row.answers, strict=True):
            [span] = answer["answer"]
            assert span["text"] == copy.inputs["passage"][span["start"] : span["end"]]
            if copy.transformation in names_on_axis("robustness"):
                assert span["text"] == before["answer"][0]["text"]


@given(st.integers(0, 60), st.integers())
def test_transformations_come_in_the_order_of_a_sample(count, seed):
    assert list(twins._shuffled(range(count), Random(seed))) == Random(seed).sample(range(count), count)


def test_no_copy_is_longer_than_its_field():
    row = StoredRow("q", {"passage": "x", "question": "w" + "hat is it" * 110 + "so"}, ())
    fields = twins.CopyFields.of(QA)
    assert len(row.inputs["question"]) <= fields.lengths["question"]
    for copy in twins.perturbed_copies(row, fields, find_transformations(names_on_axis("robustness")), 1, 30):
        assert len(copy.inputs["question"]) <= fields.lengths["question"]
