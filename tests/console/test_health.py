"""The console's first page: what it counts, what it warns of, and that it stays quick."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, update

from dynabench.collection.tables import Example, Tally
from dynabench.rounds import queries
from dynabench.rounds.tables import Round
from dynabench.validation.manage import health
from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/manage"


def read_health(database):
    current = database.read(lambda s: s.scalar(queries.open_round("nli")))
    return database.read(health.health, current)


def fool(caller):
    """An example that fools nli-a, which takes everything without a "not" for entailment."""
    drawn = draw(caller)
    reply = "It is so." if drawn["goal"]["label"] != "entailment" else "It is not so."
    answer = send(caller, written(drawn, reply))
    assert answer.status_code == 201, answer.text
    assert answer.json()["fooled"]
    return answer.json()["id"]


def vote(caller, example, choice):
    assert caller.post(f"/api/v1/examples/{example}/validations", json={"vote": choice}).status_code == 201


def test_examples_votes_disagreement_and_flags_are_counted(ada, bob, person, database):
    first, second, third = fool(ada), fool(ada), fool(bob)
    zoe = person("zoe")
    vote(bob, first, "correct")
    vote(zoe, first, "correct")
    vote(bob, second, "correct")
    vote(zoe, second, "incorrect")
    vote(zoe, third, "flagged")
    result = read_health(database)
    assert (result.today.examples, result.today.fooled, result.today.people) == (3, 3, 2)
    assert (result.rate.value, result.rate.n) == (1.0, 3)
    assert result.waiting == result.today.waiting == 2
    assert (result.today.checked, result.today.split, result.today.flagged) == (2, 1, 1)
    assert (result.disagreement.value, result.flagged) == (0.5, 1)


def test_what_was_taken_back_or_written_by_programs_is_not_counted(ada, bob, database):
    stored, gone = fool(ada), fool(ada)
    vote(bob, gone, "correct")
    assert ada.post(f"/api/v1/examples/{gone}/retract").status_code in (200, 204)
    assert read_health(database).today.examples == 1
    database.write(lambda s: s.execute(update(Tally).values(source="program")))
    assert read_health(database).today.examples == 0
    assert stored


def test_days_before_today_make_the_usual_number(ada, database):
    fool(ada)
    row = database.read(lambda s: s.execute(select(Tally.__table__)).mappings().one())
    for ago, examples in ((1, 7), (8, 7), (30, 100)):
        day = (datetime.now(UTC) - timedelta(days=ago)).date().isoformat()
        past = {**row, "day": day, "examples": examples, "fooled": 0}
        database.write(lambda s, past=past: s.execute(insert(Tally), [past]))
    result = read_health(database)
    assert [item.examples for item in result.days][-2:] == [7, 1]
    assert result.usual == 1.0
    assert len(result.days) == 14


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
class TestThePage:
    def test_it_says_what_stands_and_where_to_act(self, owner, ada, enter):
        fool(ada)
        view = enter(owner).get(HERE).text
        assert "Collection is healthy" in view
        assert "Examples today" in view
        assert 'aria-label="Examples by day"' in view
        assert 'href="/tasks/nli/validate"' in view

    def test_it_warns_that_nothing_is_open(self, owner, enter):
        owner.post("/api/v1/tasks/nli/rounds/1/close")
        view = enter(owner).get(HERE).text
        assert "One thing needs attention" in view
        assert "No round is open: nothing is being collected." in view

    def test_a_new_task_is_told_its_first_steps(self, admin, enter):
        config = "id: bare\nname: Bare\ncontext: [{name: c, type: text}]\ninput: [{name: t, type: text}]\n"
        config += "answer: {name: label, type: choice, options: [a, b], goal: chosen}\n"
        assert admin.post("/api/v1/tasks", json={"config": config}).status_code == 201
        view = enter(admin).get("/tasks/bare/manage").text
        assert "There are no contexts, so nothing can be written." in view
        assert "Nothing collected yet" in view

    def test_moderators_are_sent_to_their_own_sections(self, moderator, enter):
        answer = enter(moderator).get(HERE)
        assert answer.status_code == 303
        assert answer.headers["location"] != HERE


@pytest.mark.slow
def test_it_is_quick_with_many_people_and_days(owner, ada, database):
    """60 days of 300 people: what a million examples leave in the projection."""
    fool(ada)

    def fill(session):
        row = session.execute(select(Tally.__table__)).mappings().one()
        base = datetime.now(UTC).date()
        session.execute(
            insert(Tally),
            [
                {**row, "day": (base - timedelta(days=n)).isoformat(), "start": f"s{m}", "examples": 55}
                for n in range(60)
                for m in range(300)
            ],
        )
        assert session.scalar(select(Round.id).limit(1))
        assert session.scalar(select(Example.id).limit(1))

    database.write(fill)
    read_health(database)
    begun = time.perf_counter()
    result = read_health(database)
    assert time.perf_counter() - begun < 1.0  # some 20 ms on an idle core
    assert result.today.examples > 300 * 50
