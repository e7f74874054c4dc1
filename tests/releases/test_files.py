"""Contents of a release: files that never change, that others can load, and that give nobody the hidden part."""

import hashlib
import json
import random

import pytest
from sqlalchemy import select

from dynabench.benchmark.releases import manifest, planning, release_files, release_steps, service
from dynabench.collection import seeds
from dynabench.collection.tables import Example
from dynabench.datasets import exports, scopes, stored
from dynabench.datasets.formats import FORMATS
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.jobs import Job
from dynabench.rounds.tables import Round
from dynabench.tasks.sections import ReleaseSettings as Rules
from tests.datasets.world import written
from tests.releases.world import collected_once, files, released, second_round, texts


@pytest.fixture
def furnish():
    return collected_once


@pytest.fixture
def world(furnished, database):
    return furnished[1].moved_to(database)


def test_a_round_becomes_files_that_are_the_same_each_time(world, settings, tmp_path):
    created = released(world, settings)
    assert created.state == "ready"
    folder = service.release_folder(settings, created.id)
    result = files(folder)
    assert {"README.md", "datasheet.md", "LICENSE.md", "croissant.json", "eval.yaml", "task.yaml", "round.json",
            "manifest.json"} <= result.keys()  # fmt: skip
    assert hashlib.sha256(result["manifest.json"]).hexdigest() == created.digest
    assert json.loads(result["round.json"])["round"]["state"] == "released"
    assert folder.stat().st_mode & 0o077 == 0, "no other user of the machine reads it"
    canary = created.manifest["canary"].encode()
    assert all(canary in content for content in result.values()), "in every file"
    answer = manifest.read_manifest(folder)
    assert {item.path for item in answer.files} | {"manifest.json"} == result.keys()
    assert sum(answer.examples.values()) == 40

    again = tmp_path / "again"
    again.mkdir()
    release_steps.write_folder(world.db, settings, world.task, 1, created, again)
    assert files(again) == result, "to the byte"


def test_the_parts_keep_the_rules(world, settings):
    created = released(world, settings)
    parts = world.db.read(service.part_by_uid, created.round_id)
    sizes = {part: list(parts.values()).count(part) for part in set(parts.values())}
    assert sizes["rejected"] + sizes.get("withheld", 0) >= 10
    assert sizes["train"] >= 10
    assert min(sizes[part] for part in ("dev", "test", "hidden")) >= 1
    rows = {part: [json.loads(line) for line in text.splitlines()] for part, text in _data(settings, created).items()}
    for part in ("dev", "test", "train"):
        assert {row["verdict"] for row in rows[part]} == {"correct"}
    for first, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        for column in ("author", "premise"):
            assert not {row[column] for row in rows[first]} & {row[column] for row in rows[other]}, column
    assert created.report["held"] == ["writers", "contexts"]


def _data(settings, release):
    folder = service.release_folder(settings, release.id) / "data"
    return {path.stem: path.read_bytes() for path in folder.glob("*.jsonl")}


def test_nobody_reads_the_hidden_part(world, settings):
    created = released(world, settings)
    parts, written = world.db.read(service.part_by_uid, created.round_id), texts(world)
    secret = [written[uid] for uid, part in parts.items() if part == "hidden"]
    assert secret
    everything = b"".join(files(service.release_folder(settings, created.id)).values())
    for uid, part in parts.items():
        assert (written[uid].encode() in everything) == (part not in ("hidden", "withheld"))
        assert (uid.encode() in everything) == (part not in ("hidden", "withheld"))

    def versions(session):
        return {part: session.get_one(DatasetVersion, getattr(created, f"{part}_id")) for part in ("test", "hidden")}

    saved = world.db.read(versions)
    hidden = [row.inputs["hypothesis"] for row in stored.read_rows(settings, saved["hidden"].digest)]
    assert sorted(hidden) == sorted(secret)
    public = [row.uid for row in stored.read_rows(settings, saved["test"].digest)]
    assert sorted(public) == sorted(uid for uid, part in parts.items() if part == "test")
    visible = world.db.read(lambda session: {element.name: element.visibility for element in session.query(Dataset)})
    assert visible == {"round-1": "public", "round-1-hidden": "hidden"}
    queued = world.db.read(lambda session: [item.kind for item in session.query(Job)])
    assert queued.count("queue_evaluations") == 2, "every model of the task is evaluated on both"


@pytest.mark.slow
def test_a_public_row_does_not_name_an_origin_that_nobody_reads(world, settings, tmp_path):
    """Parts as no division makes them: an edit in train whose origin is kept from everybody."""
    author = world.person()
    for part in ("hidden", "withheld", "test"):
        origin = written(world, author, f"Origin for {part}.")
        written(world, author, f"Edit for {part}.", made_from=origin, start="perturb")
    uids = {text: uid for uid, text in texts(world).items()}
    edits = {part: (uids[f"Origin for {part}."], uids[f"Edit for {part}."]) for part in ("hidden", "withheld", "test")}
    subject = world.db.read(planning.load_subject, settings, world.task, 1)
    parts = dict.fromkeys(uids.values(), "train") | {origin: part for part, (origin, _) in edits.items()}
    report = planning.plan_release(world.db, settings, world.task, 1).report
    release_files.write_files(world.db, settings, subject, parts, Rules(), report, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "data" / "train.jsonl").read_text().splitlines()]
    begun = {row["uid"]: row["initial"] for row in rows}
    assert [begun[edits[part][1]] for part in edits] == [{}, {}, {"hypothesis": "Origin for test."}]
    origins = {row["uid"]: row["made_from"] for row in rows}
    assert {part: origins[edit] for part, (_, edit) in edits.items()} == {
        "hidden": None, "withheld": None, "test": edits["test"][0],
    }  # fmt: skip


@pytest.mark.slow
def test_a_later_release_says_nothing_of_the_hidden_part_of_an_earlier_one(world, settings):
    """The second round was written from seeds that were made before the first was released."""
    first, edits = texts(world), second_round(world)
    parts = world.db.read(service.part_by_uid, released(world, settings).round_id)
    created = released(world, settings, number=2)
    public, named = in_public(world, created, edits), set()
    everything = b"".join(files(service.release_folder(settings, created.id) / "data").values())
    for uid, part in parts.items():
        view = part not in ("hidden", "withheld") and uid in public
        assert (first[uid].encode() in everything) == view, part
        assert (uid.encode() in everything) == view, part
        named.add((part, view))
    assert named >= {("hidden", False), ("train", True)}


@pytest.mark.slow
def test_what_is_not_released_yet_is_in_no_release_of_a_later_round(world, settings):
    """It may be hidden when its own round is released."""
    first, edits = texts(world), second_round(world)
    created = released(world, settings, number=2)
    everything = b"".join(files(service.release_folder(settings, created.id)).values())
    named = in_public(world, created, edits)
    assert named
    public = export_of(world, settings, world.db.read(scopes.visitor_scope, world.task))
    owners = export_of(world, settings, world.db.read(scopes.export_scope, None, world.task, 2))
    for uid, text in first.items():
        for item in (uid.encode(), text.encode()):
            assert item not in everything
            assert item not in public
            assert (item in owners) == (uid in named), "who owns the task reads all of its rounds"


def in_public(world, release, edits):
    """The uids of the origins of those edits that a release does not keep hidden."""
    parts, names = world.db.read(service.part_by_uid, release.round_id), uids(world)
    origins = world.db.read(lambda session: {edit: session.get_one(Example, edit).made_from for edit in edits})
    return {names[origins[item]] for item in edits if parts[names[item]] not in ("hidden", "withheld")}


def export_of(world, settings, form):
    return b"".join(FORMATS["jsonl"].write(exports.read_records(world.db, settings, form), form))


@pytest.mark.slow
def test_seeds_of_the_hidden_part_are_handed_out_no_more(world, settings):
    """They were made of the round before it was released."""
    world.db.write(service.rounds.close_round, None, world.task, 1)
    verified = world.db.write(seeds.from_round, None, world.task, 1)
    created = released(world, settings)
    parts, names = world.db.read(service.part_by_uid, created.round_id), uids(world)

    def offered(session):
        picked = [seeds.pick(session, world.task, random.Random(draw)) for draw in range(300)]
        values = [session.scalar(seeds.seed_of_task(world.task, number)) for number in range(1, verified + 1)]
        return [{parts[names[item.made_from]] for item in result if item} for result in (picked, values)]

    origins = world.db.read(lambda session: session.scalars(select(seeds.Seed.made_from)).all())
    offerable = {parts[names[origin]] for origin in origins}  # which of the small parts verified examples are in varies
    assert offerable >= {"hidden", "train"}
    for outcome in world.db.read(offered):
        assert outcome == offerable - {"hidden", "withheld"}


def uids(world):
    return world.db.read(lambda session: dict(session.query(Example.id, Example.uid).all()))


@pytest.mark.slow
def test_a_released_round_changes_no_more(world, settings):
    created = released(world, settings)
    assert world.db.read(lambda session: session.get_one(Round, created.round_id).state) == "released"
    before = world.projections()
    assert world.rebuilt() == before, "what is withheld can be counted again from the ledger"
    with pytest.raises(service.errors.Conflict, match="released"):
        world.vote(world.owner, 3, "correct", owner=True)
    with pytest.raises(service.errors.Conflict, match="released"):
        released(world, settings)


@pytest.mark.slow
def test_warnings_are_to_be_accepted_and_a_vote_meanwhile_is_counted(world, settings):
    author = world.person()
    world.example(author, input={"hypothesis": "Nobody has looked at this one yet."})
    world.db.write(service.rounds.close_round, None, world.task, 1)
    with pytest.raises(service.errors.Conflict, match="waiting for votes"):
        released(world, settings, anyway=False)
    assert world.db.read(service.release_of_round, world.task, 1).state == "failed"

    plan = release_steps.planning.plan_release(world.db, settings, world.task, 1)
    id = world.db.read(service.release_of_round, world.task, 1).id
    world.db.write(lambda session: setattr(service.release_of_round(session, world.task, 1), "anyway", True))
    world.vote(world.person(), 41, "correct")
    assert world.db.write(service.freeze_round, id, plan) == "changed"
    assert released(world, settings).state == "ready"
