"""Badges: awarded once, within a fold, for what people verified."""

import threading
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from dynabench.collection import folding
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Notice
from dynabench.people.contributions import Contribution
from dynabench.recognition.badges import events, jobs, progress, service
from dynabench.recognition.badges.definitions import BADGES
from dynabench.recognition.badges.tables import BadgeAward
from dynabench.site.community.service import delete_own_account
from tests.validation.world import World


@pytest.fixture
def played(database):
    return World(database, votes=1, cap=1)


def fold(db):
    folding.fold_all(db)
    while service.fold_contributions(db):
        pass


def badges(db, person):
    statement = select(BadgeAward.badge).where(BadgeAward.person_id == person.id)
    return sorted(db.read(lambda session: list(session.scalars(statement))))


def verify(played, author, voter, number=1, **columns):
    ids = [played.example(author, **columns) for _ in range(number)]
    for example in ids:
        played.vote(voter, example, "correct")
    return ids


@pytest.mark.slow
def test_verified_examples_earn_badges_once_with_one_notice(played):
    ada, bob = played.person(), played.person()
    verify(played, ada, bob, 10)
    fold(played.db)
    earned = badges(played.db, ada)
    assert earned == sorted(
        ["first_example", "first_to_fool", "first_verified", "run_10", "run_5", "ten_verified", "welcome"]
    )
    assert badges(played.db, bob) == ["first_check", "welcome"]
    notices = select(Notice.text).where(Notice.person_id == ada.id, Notice.kind == "badge")
    assert [str(text) for text in played.db.read(lambda s: list(s.scalars(notices)))] == ["You earned 6 badges."]
    fold(played.db)
    assert badges(played.db, ada) == earned
    assert service.rebuild_badges(played.db) == 1, "the owner's account, made without the form"
    assert service.rebuild_badges(played.db) == 0
    assert badges(played.db, ada) == earned, "a rebuild finds what the folds found"
    assert played.db.read(lambda s: list(s.scalars(select(Contribution)))) == []


def test_an_overturned_example_keeps_its_badge_and_a_withdrawn_one_loses_it(played):
    ada, bob = played.person(), played.person()
    [overturned] = verify(played, ada, bob)
    fold(played.db)
    assert "first_verified" in badges(played.db, ada)
    played.vote(played.owner, overturned, "incorrect", owner=True)
    fold(played.db)
    assert "first_verified" in badges(played.db, ada)
    played.retract(overturned)
    fold(played.db)
    assert badges(played.db, ada) == ["welcome"]


def test_the_first_to_fool_is_one_person_also_where_workers_fold_at_once(played):
    people = [played.person() for _ in range(3)]
    voter = played.person()
    for author in people:
        verify(played, author, voter)
    folding.fold_all(played.db)
    read = [played.db.read(service.read_contributions) for _ in range(3)]
    threads = [threading.Thread(target=played.db.write, args=(service._record, folded)) for folded in read]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    firsts = [person for person in people if "first_to_fool" in badges(played.db, person)]
    assert firsts == people[:1]
    assert all(badges(played.db, person).count("first_verified") == 1 for person in people)


@pytest.mark.slow
def test_an_error_that_others_tried_in_vain_is_found_by_nobody_else(played):
    voter, ada, late = (played.person() for _ in range(3))
    verify(played, ada, voter)
    fold(played.db)
    assert "found_by_nobody_else" not in badges(played.db, ada), "nobody tried"
    for _ in range(3):
        played.example(played.person(), fooled=False, tag="rain", context_id=played.tagged["rain"])
    verify(played, late, voter, tag="rain")
    fold(played.db)
    assert "found_by_nobody_else" in badges(played.db, late)


@pytest.mark.slow
def test_programs_earn_nothing(played):
    ada, bob = played.person(), played.person()
    verify(played, ada, bob, source="program")
    fold(played.db)
    assert badges(played.db, ada) == []


@pytest.mark.release
def test_careful_checking_is_measured_against_the_verdict(played):
    ada, careful, careless = (played.person() for _ in range(3))
    for number in range(60):
        example = played.example(ada)
        played.vote(careful if number < 50 else careless, example, "correct")
        if number >= 55:
            played.vote(played.owner, example, "incorrect", owner=True)
    fold(played.db)
    assert "careful_validator" in badges(played.db, careful)
    read = played.db.read(progress.read_progress, careless.id)
    assert (read.measures["checked"], read.measures["agreed"]) == (10, 5)


@pytest.mark.slow
def test_the_winner_of_a_week_is_decided_once(played, settings, monkeypatch):
    ada, eve, bob = (played.person() for _ in range(3))
    monday = now().date() - timedelta(days=now().date().weekday() + 14)
    for author, number in ((ada, 3), (eve, 2)):
        verify(played, author, bob, number, at=now() - timedelta(days=now().date().weekday() + 12))
    monkeypatch.setattr(jobs._DecidedWeeks, "last", None)
    jobs.award_weeks_and_boards(played.db, settings)
    assert "weekly_winner" in badges(played.db, ada)
    assert "weekly_winner" not in badges(played.db, eve)
    verify(played, eve, bob, 4, at=now() - timedelta(days=now().date().weekday() + 12))
    monkeypatch.setattr(jobs._DecidedWeeks, "last", None)
    jobs.award_weeks_and_boards(played.db, settings)
    assert "weekly_winner" not in badges(played.db, eve)
    assert played.db.read(events.week_badges, monday) == []


@given(st.dates(date(2020, 1, 1), date(2040, 1, 1)))
def test_weeks_are_decided_a_day_after_they_end(today):
    monday = events.last_decided_week(today)
    assert monday.weekday() == 0
    assert timedelta(days=8) <= today - monday < timedelta(days=15)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["correct", "incorrect", "pending"]))))
def test_waiting_examples_neither_end_nor_lengthen_a_run(outcomes):
    decided = [(fooled, verdict) for fooled, verdict in outcomes if not (fooled and verdict == "pending")]
    runs = "".join("x" if outcome == (True, "correct") else " " for outcome in decided).split()
    assert progress.longest_run(outcomes) == max(map(len, runs), default=0)


def test_no_badge_is_for_volume_alone():
    for badge in BADGES.values():
        if badge.needs.keys() <= {"written", "checked"}:
            assert set(badge.needs.values()) <= {1}, badge.key


def test_whoever_leaves_leaves_no_badge_and_the_first_to_fool_stays_taken(played, settings):
    ada, eve, bob = (played.person() for _ in range(3))
    verify(played, ada, bob)
    fold(played.db)
    played.db.write(delete_own_account, settings, ada.id, withdraw_examples=False)
    fold(played.db)
    assert badges(played.db, ada) == []
    verify(played, eve, bob)
    fold(played.db)
    assert "first_to_fool" not in badges(played.db, eve)
