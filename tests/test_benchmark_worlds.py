"""The worlds that figures are measured in: small, they still fit the tables of today, on both databases."""

import pytest
from sqlalchemy import func, select

from benchmarks import context_items, lists, million, validation_items, world
from dynabench.collection.tables import Example, Explanation, Prediction, SearchPosting, Standing
from dynabench.people.accounts.tables import Act, Person
from dynabench.rounds.tables import Context, Round
from dynabench.validation.tables import Validation


@pytest.fixture
def count(database):
    def count_rows(table):
        return database.read(lambda session: session.scalar(select(func.count()).select_from(table)))

    return count_rows


def test_the_export_has_examples_with_all_that_hangs_on_them(database, count, monkeypatch):
    monkeypatch.setattr(world, "CONTEXTS", 20)
    world.fill(database, 50)
    assert [count(table) for table in (Context, Round, Example, Prediction, Standing)] == [20, 1, 50, 100, 50]
    assert count(Explanation) == 10
    assert count(Validation) % 2 == 0
    assert count(Validation) > 0


def test_examples_are_searched_in_an_index_of_their_own(database, count, monkeypatch):
    for name, small in {"N": 60, "PEOPLE": 30, "CONTEXTS": 40, "VOCABULARY": 20}.items():
        monkeypatch.setattr(million, name, small)
    million.fill(database, million.draw())
    assert [count(table) for table in (Example, Standing, Person)] == [60, 60, 31]
    assert count(SearchPosting) > 20


def test_examples_wait_for_votes_among_many(database, count, monkeypatch):
    monkeypatch.setattr(validation_items, "ITEMS", 40)
    monkeypatch.setattr(validation_items, "PAGE", 20)
    database.write(validation_items.fill)
    assert [count(table) for table in (Example, Standing)] == [40, 40]
    assert 20 < count(Validation) < 40


def test_contexts_are_drawn_from_many(database, count, monkeypatch):
    monkeypatch.setattr(context_items, "ITEMS", 40)
    monkeypatch.setattr(context_items, "PAGE", 20)
    database.write(context_items.fill)
    assert count(Context) == 40


def test_the_log_and_the_people_of_a_task_are_many(database, count, monkeypatch):
    for name, small in {"ACTS": 40, "PEOPLE": 10, "BANS": 5}.items():
        monkeypatch.setattr(lists, name, small)
    lists.fill(database)
    assert (count(Act), count(Person)) == (40, 10)
