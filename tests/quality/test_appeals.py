"""Appeals: a person answers a decision about them, somebody else decides, and granting reverses it."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, select, update

from dynabench.collection import withdrawal
from dynabench.kit import errors
from dynabench.people.accounts.tables import Notice, Person
from dynabench.people.roles import Ban, Role
from dynabench.quality import appeals
from dynabench.quality.decisions import DecisionKind
from dynabench.quality.tables import Appeal, AppealState
from dynabench.rounds import people
from dynabench.validation import exclusion
from tests.validation.world import World


@pytest.fixture
def banned(database):
    """A world, a banned person, and the moderator who banned them."""
    world = World(database)
    person, moderator = world.person(), world.person("moderator")
    world.db.write(people.ban_person, moderator, world.task, person.id, "Random votes.")
    return world, person, moderator


def notices_of(world, person):
    rows = world.db.read(lambda session: session.scalars(select(Notice).where(Notice.person_id == person.id)).all())
    return [row.text for row in rows if row.kind == "appeal"]


def test_a_ban_is_appealed_against_and_somebody_else_lifts_it(banned):
    world, person, moderator = banned
    expert = world.person("expert")
    (row,) = world.db.read(appeals.list_own_decisions, person)
    assert (row.decision.kind, row.decision.reason, row.appeal) == (DecisionKind.BAN, "Random votes.", None)
    with pytest.raises(errors.Invalid):
        world.db.write(appeals.write_appeal, person, world.task, "ban", 0, " ")
    appeal = world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "I read every example.")
    with pytest.raises(errors.Conflict, match="already"):
        world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "Again.")
    assert notices_of(world, expert)
    assert not notices_of(world, moderator)  # who decided does not answer
    (case,) = world.db.read(appeals.list_appeals, moderator, world.task)
    assert not case.answerable
    with pytest.raises(errors.Forbidden, match="Who made a decision"):
        world.db.write(appeals.answer_appeal, moderator, world.task, appeal.id, False, "No.")
    with pytest.raises(errors.Forbidden):
        world.db.write(appeals.answer_appeal, world.person(), world.task, appeal.id, True, "Yes.")
    world.db.write(appeals.answer_appeal, expert, world.task, appeal.id, True, "The votes are careful.")
    assert world.db.read(lambda session: session.get(Ban, (world.task, person.id))) is None
    assert any("was granted" in text for text in notices_of(world, person))
    assert any("of yours" in text for text in notices_of(world, moderator))
    with pytest.raises(errors.Conflict, match="answered"):
        world.db.write(appeals.answer_appeal, world.owner, world.task, appeal.id, False, "No.")
    assert world.db.read(appeals.list_own_decisions, person) == []
    (history,) = world.db.read(appeals.list_own_appeals, person)
    assert (history.state, history.answer) == (AppealState.GRANTED, "The votes are careful.")


def test_votes_and_examples_come_back_and_a_refusal_leaves_them(banned):
    world, person, _moderator = banned
    example = world.example(person)
    world.db.write(withdrawal.hide, world.owner, example, "Insults.")
    world.db.write(exclusion.exclude_votes, world.owner, world.task, person.id)
    other = world.person("owner")
    for kind, subject in (("excluded_votes", 0), ("hidden_example", example)):
        appeal = world.db.write(appeals.write_appeal, person, world.task, kind, subject, "Please look again.")
        world.db.write(appeals.answer_appeal, other, world.task, appeal.id, True, "You are right.")
    assert not world.standing(example).hidden
    assert not world.db.read(exclusion.read_state, world.owner, world.task, person.id).excluded
    appeal = world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "Please.")
    world.db.write(appeals.answer_appeal, other, world.task, appeal.id, False, "The ban stays.")
    (row,) = world.db.read(appeals.list_own_decisions, person)
    assert (row.decision.kind, row.appeal.state) == (DecisionKind.BAN, AppealState.REFUSED)


def test_a_decision_made_anew_is_not_reversed_by_an_old_appeal(banned):
    world, person, moderator = banned
    appeal = world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "Why?")
    world.db.write(people.lift_ban, world.owner, world.task, person.id)
    world.db.write(people.ban_person, moderator, world.task, person.id, "Copied texts.")
    world.db.write(appeals.answer_appeal, world.owner, world.task, appeal.id, True, "The first ban was wrong.")
    assert world.db.read(lambda session: session.get(Ban, (world.task, person.id))) is not None
    (row,) = world.db.read(appeals.list_own_decisions, person)
    assert row.appeal is None  # the new one can be appealed against


@pytest.mark.slow
def test_decisions_of_higher_packages_are_known_wherever_decisions_are_read(banned):
    world, person, _moderator = banned
    code = (
        "from dynabench.quality import decisions\n"
        "decisions._load_higher()\n"
        "assert decisions.DecisionKind.REJECTED_SUBMISSION in decisions.grants\n"
        "assert len(decisions.decision_readers) == 5\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(world.db.read(appeals.list_own_decisions, person)) == 1


def test_two_appeals_or_answers_at_once_are_one(banned):
    world, person, _moderator = banned
    answerers = [world.person("expert") for _ in range(2)]
    barrier = threading.Barrier(2)

    def write(_number):
        barrier.wait()
        try:
            return world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "Why?").id
        except errors.Problem:
            return None

    def answer(number):
        barrier.wait()
        try:
            world.db.write(appeals.answer_appeal, answerers[number], world.task, appeal_id, number == 0, "So.")
        except errors.Conflict:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        appeal_id = next(number for number in list(pool.map(write, range(2))) if number)
        assert sorted(pool.map(answer, range(2))) == [False, True]
    assert len(world.db.read(lambda session: session.scalars(select(Appeal)).all())) == 1


def test_a_person_takes_an_appeal_back_and_leaves_no_text_behind(banned):
    world, person, _moderator = banned
    appeal = world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "My name is Ada.")
    with pytest.raises(errors.NotFound):
        world.db.write(appeals.withdraw_appeal, world.owner, appeal.id)
    world.db.write(appeals.forget_person, person.id)
    (emptied,) = world.db.read(appeals.list_own_appeals, person)
    assert (emptied.text, emptied.state) == ("", AppealState.WITHDRAWN)
    again = world.db.write(appeals.withdraw_appeal, person, appeal.id)
    assert again.answered_at == emptied.answered_at, "sent twice, it is taken back once"
    with pytest.raises(errors.Conflict):
        world.db.write(appeals.write_appeal, world.owner, world.task, "ban", 0, "Not mine.")


def test_an_appeal_or_an_answer_that_is_sent_twice_counts_once(banned):
    world, person, _moderator = banned
    first, again = (world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "I read all.") for _ in "12")
    assert first.id == again.id
    expert = world.person("expert")
    for _ in range(2):
        world.db.write(appeals.answer_appeal, expert, world.task, first.id, False, "It stays.")
    with pytest.raises(errors.Conflict):
        world.db.write(appeals.answer_appeal, expert, world.task, first.id, True, "It stays.")
    assert sum("refused" in text for text in notices_of(world, person)) == 1
    assert len(notices_of(world, expert)) == 0, "the expert had no role when the appeal came"


def administrator(world):
    def write(session):
        session.execute(update(Person).where(Person.id == person.id).values(admin=True))
        session.expire_all()
        return session.get_one(Person, person.id)

    person = world.person()
    return world.db.write(write)


def test_administrators_are_asked_where_nobody_else_can_answer(database):
    world = World(database)
    person, owner = world.person(), world.person("owner")
    for leaver in (world.owner, owner):
        world.db.write(lambda session, id=leaver.id: session.execute(delete(Role).where(Role.person_id == id)))
    admin, other = (administrator(world) for _ in "12")
    world.db.write(people.ban_person, admin, world.task, person.id, "Random votes.")
    world.db.write(appeals.write_appeal, person, world.task, "ban", 0, "Why?")
    assert notices_of(world, other)
    assert not notices_of(world, admin)
