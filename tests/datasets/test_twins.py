"""Twins: copies of rows, the job that makes them, files that replace them, the page and the API."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import select

from dynabench import jobs
from dynabench.adversaries.perturbations import find, of
from dynabench.datasets import copies, stored, twin_jobs, twins
from dynabench.datasets.stored import Stored
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.db import Database
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RefusedRow
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig, builtin
from tests.conftest import Caller

ROWS = [
    Stored("r1", {"premise": "John gave Mary two apples.", "hypothesis": "A man is generous to his friend."},
           ({"label": "neutral"},), ("gifts",)),
    Stored("r2", {"premise": "Nobody was seen on the beautiful street.", "hypothesis": "The street is empty."},
           ({"label": "entailment"},)),
    Stored("r3", {"premise": "雨が降っている。", "hypothesis": "晴れている。"}, ({"label": "contradiction"},)),
]  # fmt: skip
ADDRESS = "/tasks/nli/datasets/small/twins"
QA = TaskConfig.parse("""
id: spans
name: Spans
context: [{name: passage, type: text, max_length: 2000}]
input: [{name: question, type: text}]
answer: {name: answer, type: spans, of: passage, max_spans: 1}
""")


@dataclass
class Place:
    """A dataset of nli with rows, and its owner."""

    database: Database
    settings: Settings
    olga: Caller
    version: int

    def ask(self) -> list[Twin]:
        return self.database.write(lambda s: twins.ask(s, s.get_one(DatasetVersion, self.version)))

    def run(self) -> None:
        """What the worker does with the jobs that wait, without its engine."""
        for job in self.database.read(lambda s: list(s.scalars(select(jobs.Job).where(jobs.Job.sent_at.is_(None))))):
            if job.kind == twins.KIND:
                run(job, self.database)

    def twin(self, axis: str) -> Twin | None:
        return self.database.read(lambda s: s.scalar(twins.current(self.version, axis)))

    def last(self, axis: str) -> Twin:
        found = self.database.read(lambda s: s.scalar(twins.newest(self.version, axis)))
        assert found is not None
        return found


def run(job: jobs.Job, database: Database) -> None:
    """The workflow's steps in order; `tests/jobs` runs them in a real worker."""
    if "file" in job.payload:
        twin_jobs.upload(job.id, job.payload)
    else:
        twin_jobs.perturb(job.payload, lambda _: None)
    database.write(lambda s: jobs._mark_sent(s, [job.id]))


@pytest.fixture
def place(database: Database, settings: Settings, person: Callable[[str], Caller], monkeypatch) -> Place:
    olga = person("olga")
    [nli] = [shipped for shipped in builtin() if shipped.config.id == "nli"]
    database.write(rounds.save_task, None, nli.source)
    database.write(rounds.set_role, None, "nli", "olga", "owner")
    version = database.write(furnish, settings)
    monkeypatch.setattr(jobs, "_database", database)
    monkeypatch.setattr(twin_jobs, "get_settings", lambda: settings)
    return Place(database, settings, olga, version)


def furnish(session, settings, visibility="public", rows=ROWS, task="nli"):
    written = stored.write(settings, rows)
    dataset = Dataset(task_id=task, name="small", title="Small", visibility=visibility)
    session.add(dataset)
    session.flush()
    version = DatasetVersion(dataset_id=dataset.id, number=1, state="ready", digest=written.digest, rows=written.rows)
    session.add(version)
    session.flush()
    dataset.version_id = version.id
    return version.id


def test_a_version_gets_the_twins_that_its_task_names_once(place):
    wanted = place.database.read(rounds.newest_config, "nli").metrics.perturb
    made = place.ask()
    assert {twin.axis for twin in made} == set(wanted) & set(twins.AXES) != set()
    assert place.ask() == []
    place.run()
    for axis in wanted:
        twin = place.twin(axis)
        rows = list(stored.read(place.settings, twin.digest))
        assert twin.rows == len(rows) == sum(twin.transformations.values()) > 0
        assert {row.of for row in rows} <= {"r1", "r2"}
        assert all(row.uid == f"{row.of}#{row.transformation}" for row in rows)
        originals = {row.uid: row for row in ROWS}
        assert all(row.answers == originals[row.of].answers and row.tags == originals[row.of].tags for row in rows)
        assert all(dict(row.inputs) != dict(originals[row.of].inputs) for row in rows)


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
    first = twin_jobs.perturb(job.payload, lambda _: None)
    assert twin_jobs.perturb(job.payload, lambda _: None)["digest"] == first["digest"]
    assert not list((place.settings.folder / "datasets").glob(".twin*"))


def test_rows_that_nothing_changes_say_so(place):
    place.database.write(rename)
    version = place.database.write(furnish, place.settings, "public", ROWS[2:])
    place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "fairness"})
    place.run()
    failed = place.database.read(lambda s: s.scalar(twins.newest(version, "fairness")))
    assert failed.state == "failed"
    assert "No transformation" in place.olga.get(f"/api/v1{ADDRESS}").json()["items"][0]["reason"]


def rename(session):
    session.scalars(select(Dataset)).one().name = "other"


def test_spans_are_where_their_text_is():
    passage = "Mary met John in the beautiful garden. She gave him her umbrella because it was raining, twice."
    start = passage.index("umbrella because")
    row = Stored("q", {"passage": passage, "question": "What did Mary give to John?"},
                 ({"answer": [{"start": 0, "end": 4, "text": "Mary"}]},
                  {"answer": [{"start": start, "end": start + 16, "text": "umbrella because"}]}))  # fmt: skip
    fields = copies.Fields.of(QA)
    made = [
        copy
        for seed in range(6)
        for axis in twins.AXES
        for copy in copies.copies(row, fields, find(of(axis)), seed, 30)
    ]
    assert len(made) > 60
    for copy in made:
        for answer, before in zip(copy.answers, row.answers, strict=True):
            [span] = answer["answer"]
            assert span["text"] == copy.inputs["passage"][span["start"] : span["end"]]
            if copy.transformation in of("robustness"):
                assert span["text"] == before["answer"][0]["text"]


def test_no_copy_is_longer_than_its_field():
    row = Stored("q", {"passage": "x", "question": "w" + "hat is it" * 110 + "so"}, ())
    fields = copies.Fields.of(QA)
    assert len(row.inputs["question"]) <= fields.lengths["question"]
    for copy in copies.copies(row, fields, find(of("robustness")), 1, 30):
        assert len(copy.inputs["question"]) <= fields.lengths["question"]


def send(place, rows, axis="robustness", name="mine.jsonl"):
    content = "\n".join(json.dumps(row) for row in rows).encode()
    answer = place.olga.post(f"/api/v1{ADDRESS}/{axis}/file", params={"file": name}, content=content)
    assert answer.status_code == 202, answer.text
    place.run()
    return place.last(axis)


def test_copies_of_ones_own_take_the_place_of_those_made_here(place):
    place.ask()
    place.run()
    twin = send(place, [{"uid": "x1", "input_id": "r1", "hypothesis": "A MAN IS GENEROUS."},
                        {"uid": "x2", "of": "r2", "premise": "Nobodyy was seen.", "transformation": "typo",
                         "label": "entailment"}])  # fmt: skip
    assert (twin.state, twin.origin, twin.rows, twin.transformations) == (
        "ready",
        "uploaded",
        2,
        {"uploaded": 1, "typo": 1},
    )
    first, second = stored.read(place.settings, twin.digest)
    assert first.inputs == {"premise": "John gave Mary two apples.", "hypothesis": "A MAN IS GENEROUS."}
    assert (first.of, first.answers, first.tags) == ("r1", ROWS[0].answers, ("gifts",))
    assert second.transformation == "typo"
    assert place.twin("robustness").id == twin.id
    assert not [path for path in (place.settings.folder / "uploads").rglob("*") if path.is_file()]


def test_every_wrong_row_is_named_and_the_copies_before_stay(place):
    place.ask()
    place.run()
    before = place.twin("robustness").id
    twin = send(place, [
        {"uid": "ok", "input_id": "r1", "hypothesis": "Fine."},
        {"uid": "ok", "input_id": "r1", "hypothesis": "Twice."},
        {"uid": "b", "input_id": "r9", "hypothesis": "?"},
        {"uid": "c", "input_id": "r1"},
        {"input_id": "r1", "hypothesis": "?"},
        {"uid": "d", "input_id": "r1", "hypothesis": 7},
        {"uid": "e", "input_id": "r1", "hypothesis": "x" * 5000},
        {"uid": "f", "input_id": "r1", "hypothesis": "?", "label": "entailment"},
        {"uid": "g", "input_id": "r1", "hypothesis": "?", "wrong": 1},
        ["no object"],
    ])  # fmt: skip
    assert twin.state == "failed"
    assert twin.reason.startswith("9 rows were refused")
    for told in ("row 2: uid", "row 3: input_id", "row 4: No text", "row 5: uid", "row 6: hypothesis",
                 "row 7: hypothesis",
                 "row 8: label", "row 9: wrong", "row 10: "):  # fmt: skip
        assert told in twin.reason
    kept = place.database.read(
        lambda s: list(s.scalars(select(RefusedRow.row).where(RefusedRow.job_id == twin.job_id)))
    )
    assert sorted(kept) == list(range(2, 11))
    assert place.twin("robustness").id == before
    assert send(place, []).state == "failed"


def test_the_page_shows_copies_beside_their_originals(place, client):
    assert "No copies yet" in client.get(ADDRESS).text
    place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "robustness", "copies": 30})
    place.run()
    page = client.get(ADDRESS)
    assert page.status_code == 200
    assert "John gave Mary two apples." in page.text
    assert "Make copies" not in page.text
    counts = place.twin("robustness").transformations
    for name, count in counts.items():
        found = client.get(f"/api/v1{ADDRESS}/robustness", params={"transformation": name}).json()["items"]
        assert len(found) == count
        assert {each["transformation"] for each in found} == {name}
    assert "[U+200B]" in client.get(ADDRESS, params={"transformation": "zero_width"}).text
    assert "No copies here" in client.get(ADDRESS, params={"transformation": "nothing"}).text


def test_pages_of_copies_follow_each_other(place, client):
    place.olga.post(f"/api/v1{ADDRESS}", json={"axis": "robustness", "copies": 30})
    place.run()
    uids, after = [], ""
    while after is not None:
        page = client.get(f"/api/v1{ADDRESS}/robustness", params={"limit": 7, "after": after}).json()
        uids += [each["uid"] for each in page["items"]]
        after = page["next"]
    assert uids == [row.uid for row in stored.read(place.settings, place.twin("robustness").digest)]
    lines = client.get(f"{ADDRESS}/robustness.csv").text.split("\r\n")
    assert (
        lines[0] == '"uid","input_id","transformation","premise","hypothesis","answers"'.replace('"', "")
        or "uid" in lines[0]
    )
    assert len([line for line in lines if line]) == len(uids) + 1


@pytest.mark.parametrize("visibility", ["hidden", "scoring"])
def test_where_rows_are_not_public_owners_see_how_many_copies_there_are_and_nobody_reads_them(
    place, client, person, browser, visibility
):
    place.ask()
    place.run()

    def hide(session):
        session.scalars(select(Dataset)).one().visibility = visibility

    place.database.write(hide)
    mia, files = person("mia"), (f"{ADDRESS}/robustness.csv", f"/api/v1{ADDRESS}/robustness")
    for get in (client.get, mia.get):
        for address in (ADDRESS, f"/api/v1{ADDRESS}", *files):
            assert get(address).status_code == 404
    assert mia.post(f"/api/v1{ADDRESS}", json={"axis": "fairness"}).status_code == 403
    assert mia.post(f"/api/v1{ADDRESS}/fairness/file", params={"file": "a.jsonl"}, content=b"{}").status_code == 403
    window = browser()
    window.log_in("olga")
    assert [window.get(files[0]).status_code, place.olga.get(files[1]).status_code] == [403, 403]
    counts = place.twin("robustness").transformations
    told = place.olga.get(f"/api/v1{ADDRESS}").json()["items"]
    assert counts in [each["transformations"] for each in told]
    page = window.get(ADDRESS).text
    assert "so that it stays a fair test" in page
    assert all(find([name])[0].title in page for name in counts)
    assert not any(word in page for word in ("apples", "beautiful", "robustness.csv", "transformation="))


def test_the_owners_forms_make_and_replace(place, browser):
    window = browser()
    window.log_in("olga")
    page = window.get(ADDRESS).text
    assert "Make copies" in page
    wrong = window.submit(ADDRESS, page=ADDRESS, axis="robustness", seed="x", copies="99")
    assert wrong.status_code == 422
    assert "Give a number from 1 to 30" in wrong.text
    made = window.submit(ADDRESS, page=ADDRESS, axis="fairness", seed="3", copies="2")
    assert made.status_code in (200, 303), made.text
    assert place.last("fairness").seed == 3
