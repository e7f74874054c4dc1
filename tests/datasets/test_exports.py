"""Contents of exports, and data that exports never contain."""

import csv
import io
import json
import zipfile

import pyarrow.parquet as pq
import pytest
from sqlalchemy import update

from dynabench.collection import withdrawal
from dynabench.collection.assisting.service import Assistance
from dynabench.collection.tables import Example, Prediction, Standing
from dynabench.datasets import exports, scopes
from dynabench.datasets.formats import FORMATS, compress_parts
from dynabench.datasets.imports import formats
from dynabench.datasets.rows import COLUMNS, ExampleRow
from dynabench.kit import errors
from dynabench.kit.security import pseudonym
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from tests.datasets import world as made
from tests.datasets.world import explain, export, looked_at, proposed, rows, written
from tests.validation.world import World


def test_a_row_tells_how_an_example_came_about_and_what_came_of_it(world, settings):
    author, judge = world.person(), world.person()
    origin = written(world, author, "It is dry.", fooled=False)
    key = written(world, author, "It is very dry.", made_from=origin, edit_distance=5, start="perturb", attempt=3)
    world.vote(world.owner, key, "correct", owner=True)
    explain(world, key, {})
    [first, row] = rows(world.db, settings)
    assert tuple(row) == (*COLUMNS, "attributions")
    assert ExampleRow.model_validate(row).uid == row["uid"]
    assert (row["task"], row["task_version"], row["round"]) == ("checks", 1, 1)
    assert row["context"] == {"values": {"premise": "It rains."}, "tag": ""}
    assert (row["input"], row["answer"]) == ({"hypothesis": "It is very dry."}, {"label": "contradiction"})
    assert (row["fooled"], row["made_from"], row["edit_distance"], row["attempt"]) == (True, first["uid"], 5, 3)
    assert row["condition"]["targets"] == [{"model": "m", "version": "1"}]
    assert row["predictions"][0]["answer"] == {"label": "neutral"}
    assert row["predictions"][0]["fooled"] is True
    [vote] = row["validations"]
    assert (vote["vote"], vote["by_owner"], row["verdict"]) == ("correct", True, "correct")
    assert (
        row["author"]
        == pseudonym(settings.key, "person", author.id)
        != vote["validator"]
        == pseudonym(settings.key, "person", world.owner.id)
    )
    assert row["explanation"]["values"] == {}
    assert judge.username not in json.dumps([first, row])


def test_only_the_first_answer_of_a_validator_counts_as_blind(database, settings):
    world = World(database, mode="answer")
    key = written(world, world.person(), "It is very dry.")
    hasty, slow, owner = world.person(), world.person(), world.owner
    world.answer(hasty, key, "neutral")
    world.undo(hasty, key)
    world.answer(hasty, key, "contradiction")
    world.answer(slow, key, "contradiction")
    world.vote(owner, key, "correct", owner=True)
    [row] = rows(world.db, settings)
    facts = {vote["validator"]: (vote["blind_answer"], vote["blind"]) for vote in row["validations"]}
    answer = {"label": "contradiction"}
    expected = {hasty: (answer, False), slow: (answer, True), owner: (None, False)}
    assert facts == {pseudonym(settings.key, "person", person.id): value for person, value in expected.items()}


@pytest.mark.parametrize("form", FORMATS)
def test_what_became_of_suggestions_goes_out_and_comes_back(world, settings, form):
    key = written(world, world.person(), "It is dry.")
    values = {"shown": 3, "outcome": "edited", "distance": 2, "provider": "model", "model": "m", "version": "1"}
    values["text"] = 'It is "dry",\nthey say.'
    world.db.write(lambda session: session.add(Assistance(example_id=key, **values)))
    assert read_back(world, settings, form).assistance.model_dump() == values


@pytest.mark.parametrize("form", FORMATS)
def test_which_program_wrote_goes_out_and_comes_back(world, settings, form):
    key = written(world, world.person(), "It is dry.", source="program")
    proposed(world, key)
    result = read_back(world, settings, form).program
    assert result.model_dump() == {"name": 'Swap, "words"', "version": "2.1", "queries": 40, "cost": 0.1}


def read_back(world, settings, form):
    """The first row of an export, as an import reads it."""
    content = export(world.db, settings, form, attributions=False)
    if form == "zip":
        content = zipfile.ZipFile(io.BytesIO(content)).read("rows.jsonl")
    if form == "csv":
        document = next(iter(csv.DictReader(io.StringIO(content.decode("utf-8-sig")))))
    elif form == "parquet":
        document = pq.read_table(io.BytesIO(content)).to_pylist()[0]
    else:
        document = json.loads(content.splitlines()[0])
    return formats.read_own_row(document)


@pytest.mark.slow
def test_retracted_and_hidden_examples_and_undone_votes_stay_out(world, settings):
    author, judge = world.person(), world.person()
    gone, hidden, stored = (written(world, author, f"It is dry, {n}.") for n in range(3))
    child = written(world, author, "It is dry, child.", made_from=gone)
    world.retract(gone)
    world.db.write(withdrawal.hide, world.owner, hidden, "rude")
    world.vote(world.owner, stored, "incorrect", owner=True)
    world.undo(world.owner, stored)
    result = {row["input"]["hypothesis"]: row for row in rows(world.db, settings)}
    assert set(result) == {"It is dry, 2.", "It is dry, child."}
    assert result["It is dry, 2."]["validations"] == []
    assert result["It is dry, child."]["made_from"] is None, "a retracted example is not even named"
    assert child
    assert judge


def test_names_mails_and_numbers_of_people_are_nowhere(world, settings):
    author = world.person()
    world.db.write(
        lambda session: session.execute(
            update(Person).where(Person.id == author.id).values(username="zelda-quux", email="zelda@quux.example")
        )
    )
    written(world, author, "It is dry.")
    for form in FORMATS:
        content = export(world.db, settings, form)
        if form == "zip":
            content = zipfile.ZipFile(io.BytesIO(content)).read("rows.jsonl")
        assert b"zelda" not in content
        assert b"author_id" not in content


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_without_examples_has_its_columns(world, settings, form):
    content = export(world.db, settings, form, attributions=False)
    if form == "csv":
        assert next(csv.reader(io.StringIO(content.decode("utf-8-sig"))))[:2] == ["uid", "task"]
    elif form == "parquet":
        assert pq.read_schema(io.BytesIO(content)).names == [*COLUMNS, "exact"]
    elif form == "zip":
        packed = zipfile.ZipFile(io.BytesIO(content))
        assert [(item.filename, item.file_size) for item in packed.infolist()] == [("rows.jsonl", 0)]
    else:
        assert content == b""


def test_attributions_come_when_asked_for(world, settings):
    key = written(world, world.person(), "It is dry.")
    looked_at(world, key)
    row = json.loads(export(world.db, settings, "jsonl"))
    assert row["attributions"][0]["fields"]["hypothesis"][0]["weight"] == -0.123456789012345678
    assert "attributions" not in json.loads(export(world.db, settings, "jsonl", attributions=False))


def test_parquet_has_nested_columns(world, settings):
    written(world, world.person(), "It is dry.")
    table = pq.read_table(io.BytesIO(export(world.db, settings, "parquet")))
    [row] = table.to_pylist()
    assert row["input"]["hypothesis"] == "It is dry."
    assert row["predictions"][0]["answer"]["label"] == "neutral"
    assert row["exact"] is None
    assert str(table.schema.field("at").type) == "timestamp[us, tz=UTC]"


def test_a_value_that_no_column_holds_is_kept_whole(world, settings):
    key = written(world, world.person(), "It is dry.")
    more = {"answer": {"label": "neutral", "because": [1, {"a": None}]}}
    world.db.write(lambda session: session.execute(update(Prediction).values(**more)))
    [row] = pq.read_table(io.BytesIO(export(world.db, settings, "parquet"))).to_pylist()
    assert row["predictions"][0]["answer"] == {"label": "neutral"}
    assert json.loads(row["exact"])["predictions"][0] | more == json.loads(row["exact"])["predictions"][0]
    assert key


@pytest.mark.slow
def test_pages_of_any_size_tell_the_same(world, settings, monkeypatch):
    people = [world.person() for _ in range(3)]
    for number in range(11):
        written(world, people[number % 3], f"It is dry, {number}.", fooled=number % 2 == 0)
    whole = export(world.db, settings, "jsonl")
    for size in (1, 3, 11):
        monkeypatch.setattr(exports, "PAGE_EXAMPLES", size)
        assert export(world.db, settings, "jsonl") == whole
    assert len(whole.splitlines()) == 11


def test_an_export_sees_one_moment(world, settings, monkeypatch):
    monkeypatch.setattr(exports, "PAGE_EXAMPLES", 2)
    author = world.person()
    for number in range(5):
        written(world, author, f"It is dry, {number}.")
    scope = world.db.read(scopes.export_scope, None, "checks")
    pages = exports.read_records(world.db, settings, scope)
    first = next(pages)
    written(world, author, "It came later.")
    world.vote(world.owner, 5, "correct", owner=True)
    later = [record for page in pages for record in page]
    assert len(first) + len(later) == 5
    assert all('"validations":[]' in exports.json_line(record) for record in later)


def test_an_export_that_is_given_up_ends_its_transaction(world, settings):
    for number in range(3):
        written(world, world.person(), f"It is dry, {number}.")
    pages = exports.read_records(world.db, settings, world.db.read(scopes.export_scope, None, "checks"))
    next(pages)
    pages.close()
    assert world.db.engine.pool.checkedout() == 0


@pytest.mark.slow
def test_examples_of_other_rounds_between_ours_change_nothing(world, settings, monkeypatch):
    author = world.person()

    def second(session):
        other = Round(task_id="checks", number=2, version_id=world.version_id, state="closed")
        session.add(other)
        session.flush()
        return other.id

    other = world.db.write(second)
    for number in range(60):
        written(world, author, f"It is dry, {number}.", round_id=world.round_id if number % 12 == 0 else other)
    scope = world.db.read(scopes.export_scope, None, "checks", 1)
    records = [record for page in exports.read_records(world.db, settings, scope) for record in page]
    assert [json.loads(exports.json_line(record))["input"]["hypothesis"] for record in records] == [
        f"It is dry, {number}." for number in range(0, 60, 12)
    ]
    assert all(json.loads(exports.json_line(record))["predictions"] for record in records)


def test_only_released_rounds_are_for_everybody(world):
    member, read = world.person(), world.db.read
    with pytest.raises(errors.Forbidden):
        read(scopes.export_scope, member, "checks")
    with pytest.raises(errors.Unauthenticated):
        read(scopes.visitor_scope, "checks")
    assert read(scopes.export_scope, world.owner, "checks").rounds
    world.state("released")
    assert read(scopes.export_scope, member, "checks", 1).rounds
    assert read(scopes.visitor_scope, "checks").rounds
    with pytest.raises(errors.NotFound):
        read(scopes.export_scope, world.owner, "checks", 7)


def test_gzip_holds_the_same(world, settings):
    import gzip

    written(world, world.person(), "It is dry.")
    plain = made.export(world.db, settings, "csv")
    assert gzip.decompress(b"".join(compress_parts([plain[:100], plain[100:]]))) == plain


MARKS = ("withheld", "hidden", "retracted")


def concealed(world):
    """Edits of four examples, of which the first stands, and one each is withheld, hidden and taken back."""
    author, other = world.person(), world.person()
    origins = [written(world, author, f"Origin {number}.") for number in range(4)]
    for number, origin in enumerate(origins):
        written(world, other, f"Edit of {number}.", made_from=origin, start="perturb")

    def conceal(session):
        for origin, mark in zip(origins[1:], MARKS, strict=True):
            setattr(session.get_one(Standing, origin), mark, True)

    world.db.write(conceal)
    return origins


def test_an_export_does_not_name_an_origin_that_is_withheld_hidden_or_taken_back(world, settings):
    """The uid of a withheld example would tell which texts of the open part it resembles."""
    concealed(world)
    result = {row["input"]["hypothesis"]: row for row in rows(world.db, settings)}
    assert set(result) == {"Origin 0.", *(f"Edit of {number}." for number in range(4))}
    assert result["Edit of 0."]["made_from"] == result["Origin 0."]["uid"]
    assert result["Edit of 0."]["initial"] == {"hypothesis": "Origin 0."}
    assert [result[f"Edit of {number}."]["made_from"] for number in (1, 2, 3)] == [None] * 3


@pytest.mark.parametrize("form", FORMATS)
def test_the_text_of_an_origin_that_is_withheld_hidden_or_taken_back_is_in_no_export(world, settings, form):
    """An edit begins with its origin's text, which goes as the origin itself goes."""
    concealed(world)
    content = plain(export(world.db, settings, form), form)
    for text in ("Origin 0.", *(f"Edit of {number}." for number in range(4))):
        assert text in content
    for number, mark in enumerate(MARKS, start=1):
        assert f"Origin {number}." not in content, mark


def test_the_text_that_an_example_began_with_goes_with_the_example_that_it_came_from(world, settings):
    """An author may name another origin than the one whose text they were handed."""
    first, *_, retracted = concealed(world)
    key = written(world, world.person(), "From two.", made_from=retracted, start="seed")

    def name_another(session):
        session.get_one(Example, key).made_from = first

    world.db.write(name_another)
    [row] = [row for row in rows(world.db, settings) if row["input"]["hypothesis"] == "From two."]
    assert row["made_from"] is not None
    assert row["initial"] == {}


def plain(content, form):
    """All that an export says, uncompressed."""
    if form == "zip":
        packed = zipfile.ZipFile(io.BytesIO(content))
        return "".join(packed.read(item).decode(errors="replace") for item in packed.namelist())
    if form == "parquet":
        return json.dumps(pq.read_table(io.BytesIO(content)).to_pylist(), default=str)
    return content.decode()
