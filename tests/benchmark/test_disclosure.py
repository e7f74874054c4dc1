"""Rules on what each viewer may see of datasets and submissions, and lists that agree with pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace

import pytest
from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from dynabench.benchmark.registry.tables import Submission
from dynabench.collection.tables import Standing
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks

ADA, BOB, ROOT = Person(id=1, admin=False), Person(id=2, admin=False), Person(id=3, admin=True)
VIEWERS = {"visitor": None, "submitter": ADA, "member": BOB, "admin": ROOT}
DATASETS = ("hidden", "scoring", "public", "")
SUBMISSIONS = ("private", "anonymous", "public", "")


@dataclass(frozen=True)
class Facts:
    """A dataset or a submission of ADA's as far as the rules read it."""

    visibility: str
    person_id: int | None = 1
    version_id: int | None = 1


def fields(viewer: str, dataset: str, submission: str = "public", *, owner: bool = False) -> set[str]:
    """Return the fields that are open to a viewer."""
    decided = Disclosure.of(VIEWERS[viewer], Facts(dataset), Facts(submission), owner=owner)
    return {name for name, value in vars(decided).items() if value}


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize(
    ("dataset", "everybody", "submitter"),
    [
        ("hidden", set(), set()),
        ("scoring", {"counts", "tags"}, {"marks", "log"}),
        ("public", {"counts", "tags", "marks", "rows"}, {"log"}),
        ("unheard-of", set(), set()),
    ],
)
def test_a_dataset_opens_by_its_visibility_and_to_its_submitter(viewer, dataset, everybody, submitter):
    own = viewer in ("submitter", "admin")
    about_submission = {"scores", "name"} | ({"own"} if own else set())
    assert fields(viewer, dataset) == everybody | about_submission | (submitter if own else set())


@pytest.mark.parametrize(
    ("submission", "others"),
    [("private", set()), ("anonymous", {"scores"}), ("public", {"scores", "name"}), ("unheard-of", set())],
)
def test_a_submission_opens_by_its_visibility(submission, others):
    for viewer in ("visitor", "member"):
        assert fields(viewer, "hidden", submission) == others
    for viewer in ("submitter", "admin"):
        assert fields(viewer, "hidden", submission) == {"scores", "name", "own"}


def test_a_submission_whose_submitter_left_is_nobodys_own():
    assert not Disclosure.of(None, Facts("public"), Facts("private", person_id=None)).own


def test_an_owner_learns_how_many_hidden_rows_have_a_tag_and_no_score_of_a_small_slice():
    allowed = Disclosure.of(BOB, Facts("hidden"), owner=True)
    assert allowed.shows_tag(3, 100)
    assert not allowed.shows_slice(3, 100)
    assert fields("member", "hidden", "", owner=True) == {"tags"}


@pytest.mark.parametrize(
    ("rows", "total", "allowed"), [(30, 100, True), (29, 100, False), (71, 100, False), (100, 100, True)]
)
def test_of_a_hidden_dataset_neither_small_slices_are_shown_nor_what_leaves_few_rows_out(rows, total, allowed):
    assert Disclosure.at_most("hidden").shows_slice(rows, total) is allowed
    assert Disclosure.at_most("scoring").shows_slice(rows, total)


@pytest.mark.parametrize("dataset", DATASETS)
def test_nobody_sees_more_than_may_be_kept(dataset):
    for viewer, submission in product(VIEWERS, SUBMISSIONS):
        most = {name for name, value in vars(Disclosure.at_most(dataset)).items() if value}
        assert fields(viewer, dataset, submission) <= most


def test_the_digest_of_hidden_rows_is_a_commitment():
    version = DatasetVersion(digest="0" * 64, salt="salt")
    assert Disclosure.at_most("hidden").digest(version) == version.commitment != version.digest
    assert Disclosure.at_most("scoring").digest(version) == version.digest


@pytest.mark.parametrize(
    ("dataset", "refused"), [("hidden", {"rows", "counts", "marks"}), ("scoring", {"rows", "marks"}), ("public", set())]
)
def test_a_refusal_has_a_reason(dataset, refused):
    allowed = Disclosure.of(BOB, Facts(dataset), Facts("public"))
    assert bool(allowed.reason) is bool(refused)
    for name in ("rows", "counts", "marks"):
        require = getattr(allowed, f"require_{name}")
        if name in refused:
            with pytest.raises(errors.Forbidden, match=allowed.reason):
                require()
        else:
            require()


def test_labels_of_submissions_without_a_name():
    assert disclosure.label_without_name(7, "anonymous") == "Anonymous 7"
    assert disclosure.label_without_name(7, "private") == "Private 7"


@pytest.mark.parametrize(
    ("submission", "listing"), [("public", "public"), ("anonymous", "private"), ("private", "private")]
)
def test_the_model_of_a_submission_is_listed_for_those_who_may_know_its_submitter(submission, listing):
    assert disclosure.model_visibility(Facts(submission)) == listing


@pytest.mark.parametrize(
    ("visibility", "keeps", "has_role", "allowed"),
    [
        ("public", False, False, True), ("task", False, True, True), ("task", False, False, False),
        ("private", False, True, False), ("private", True, False, True), ("unheard-of", False, True, False),
    ],
)  # fmt: skip
def test_a_model_is_shown_as_its_listing_says(visibility, keeps, has_role, allowed):
    assert disclosure.shows_model(visibility, keeps, has_role) is allowed


@pytest.fixture
def stored(database: Database) -> Iterator[Session]:
    """A session with datasets and submissions of every kind that the rules tell apart."""
    with Session(database.engine) as session:
        rounds.save_task(session, None, next(iter(shipped_tasks())).source)
        task = next(iter(shipped_tasks())).config.id
        values = {"password_hash": "", "terms": "1", "agreed_at": now()}
        people = [Person(username=name, email=f"{name}@example.org", **values) for name in ("ada", "bob")]
        session.add_all(people)
        session.flush()
        for number, (visibility, version) in enumerate(product(DATASETS, (None, 1))):
            session.add(Dataset(task_id=task, name=f"data-{number}", visibility=visibility, version_id=version))
        for visibility, person, kind, inside in product(
            SUBMISSIONS, (*people, None), ("hub", "predictions"), (True, False)
        ):
            person_id = person.id if person else None
            session.add(
                Submission(
                    task_id=task, kind=kind, name=kind, visibility=visibility, inside=inside, person_id=person_id
                )
            )
        session.flush()
        yield session
        session.rollback()


@pytest.mark.parametrize("number", [0, 7])
def test_the_list_of_datasets_has_those_with_a_page(stored, number):
    every = stored.scalars(select(Dataset)).all()
    clause = disclosure.listed_datasets(Dataset, Dataset.name == f"data-{number}")
    owned = {row.id for row in every if row.name == f"data-{number}"}
    listed = set(stored.scalars(select(Dataset.id).where(clause)))
    assert listed == {row.id for row in every if disclosure.lists_dataset(row, row.id in owned)}
    assert 0 < len(listed) < len(every)


def test_where_clauses_of_datasets_say_what_the_rules_say(stored):
    every = stored.scalars(select(Dataset)).all()
    for clause, field in ((disclosure.datasets_with_rows, "rows"), (disclosure.datasets_with_counts, "counts")):
        expected = {row.id for row in every if getattr(Disclosure.of(None, row), field)}
        assert set(stored.scalars(select(Dataset.id).where(clause(Dataset)))) == expected
        assert 0 < len(expected) < len(every)


def test_where_clauses_of_submissions_say_what_the_rules_say(stored):
    every = stored.scalars(select(Submission)).all()
    ada = stored.scalars(select(Person).where(Person.username == "ada")).one()
    for viewer in (None, ada):
        clause = disclosure.named_submissions(Submission, viewer.id if viewer else None)
        named = {row.id for row in every if Disclosure.of(viewer, None, row).name}
        assert set(stored.scalars(select(Submission.id).where(clause))) == named
        assert set(stored.scalars(select(Submission.id).where(~clause))) == {row.id for row in every} - named
    counted = {row.id for row in every if disclosure.counts_as_try(row)}
    assert set(stored.scalars(select(Submission.id).where(disclosure.counted_tries(Submission)))) == counted


def test_a_submission_is_queued_on_the_datasets_that_it_may_answer(stored):
    query = select(Submission, Dataset).join(Dataset, Dataset.task_id == Submission.task_id)
    query = query.where(disclosure.answerable(Dataset, Submission))
    queued = {(submission.id, dataset.id) for submission, dataset in stored.execute(query)}
    pairs = list(product(stored.scalars(select(Submission)), stored.scalars(select(Dataset))))
    assert queued == {(row.id, data.id) for row, data in pairs if disclosure.may_answer(data, row)}
    assert 0 < len(queued) < len(pairs)


@pytest.mark.parametrize("flags", list(product((False, True), repeat=3)))
def test_others_see_an_example_that_is_neither_taken_back_nor_hidden_nor_withheld(database, flags):
    standing = Standing(**dict(zip(("retracted", "hidden", "withheld"), flags, strict=True)))
    assert disclosure.shows_example(standing) is not any(flags)
    columns = SimpleNamespace(
        **{name: literal(getattr(standing, name)) for name in ("retracted", "hidden", "withheld")}
    )
    clause = select(literal(1)).where(disclosure.shown_examples(columns))
    assert database.read(lambda session: session.scalar(clause) == 1) is disclosure.shows_example(standing)
