"""The file of a person's own data: complete, the person's alone, silent about controls, and empty after deletion."""

import json
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Table, delete, select
from sqlalchemy.sql import visitors

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example
from dynabench.communities.classes.tables import ClassStudent, SchoolClass
from dynabench.communities.credits.tables import Credit
from dynabench.communities.inspiration.tables import Inspiration
from dynabench.kit.db import Base, now
from dynabench.onboarding.tables import OnboardingProgress, Qualification, QuizAnswer, QuizAttempt
from dynabench.pay.tables import Payment, PaymentKind
from dynabench.quality.signals.tables import Signal, SignalKind
from dynabench.rounds.tables import Round
from dynabench.site.community.own_sections import PAGED_SECTIONS, SECTIONS
from dynabench.validation.controls.tables import ControlAnswer, ControlDecision, ControlItem, ControlPlace
from dynabench.validation.tables import Undo, Validation, VoteExclusion
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.community.test_leaving import identified
from tests.conftest import PASSWORD
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob

ELSEWHERE = {
    "acts": "the audit log of a task, which its owners read",
    "announcements_seen": "a mark that a notice was read",
    "mailings": "mails under way",
    "task_versions": "on the pages of tasks",
    "assignments": "an arm that a round drew, which would tell the condition of a running experiment",
    "contributions": "counts that badges follow from",
    "control_places": "would tell which items are controls",
    "conversations": "on the pages of chats until they are sent, then part of an example",
    "hub_uploads": "files on their way into a repository",
    "jobs": "work of the platform",
    "notice_wishes": "the settings of notifications",
    "pending_logins": "a log-in under way",
    "proposals": "on the page of proposals",
    "reservations": "a place held for some minutes",
    "second_factors": "a secret",
    "sheets": "drawings before they are sent",
    "suggestions": "parts of examples",
    "tallies": "counts of examples",
    "uploaded_bytes": "counts of uploads for a limit",
    "webhooks": "the settings of webhooks",
}
"""Tables with a person's number that the file leaves out, and why."""
DECISIONS = {"SET NULL"}
STAY = {
    *("account", "examples", "inspirations", "votes", "skips", "excluded_votes", "control_answers"),
    *("payments", "payouts", "competitions", "teams"),
}
"""Sections that stay under a number without a name, since the work and the figures of others rest on them."""


def statements(person=1):
    chosen = {name: section(person) for name, section in SECTIONS.items()}
    return chosen | {name: section(person, 0, 100) for name, section in PAGED_SECTIONS.items()}


def test_every_table_with_a_persons_number_is_in_the_file_or_says_why_not():
    exported = {
        item.name
        for statement in statements().values()
        for item in visitors.iterate(statement)
        if isinstance(item, Table)
    }
    linked = {
        table.name
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table.name == "people" and key.ondelete not in DECISIONS
    }
    assert linked - exported == ELSEWHERE.keys(), "add them to `own_sections`, or say why not"


@pytest.fixture
def busy(owner, ada, bob, database):
    """ada with something in every section, beside bob with the same."""
    for caller in (ada, bob):
        send(caller, written(draw(caller), f"{caller.name} says that nobody is there."))
        team = caller.post("/api/v1/teams", json={"name": f"Team of {caller.name}"})
        assert team.status_code == 201, team.text
    [a, b] = database.read(lambda session: session.scalars(select(Example).order_by(Example.id)).all())

    def furnish_person(session, person, own, other, name):
        round_ = session.get_one(Round, own.round_id)
        key = {"task_id": "nli", "person_id": person}
        school = SchoolClass(task_id="nli", name=f"Class {name}", teacher_id=person, join_code=name * 3, places=3)
        item = ControlItem(task_id="nli", kind="gold", context={}, input={}, answer={}, predictions=[],
                           right_vote="incorrect", source="f", digest=name, added_by=person)  # fmt: skip
        attempt = QuizAttempt(**key, activity="check", number=1, version=1, version_id=round_.version_id, drawn=[])
        vote, usual = (
            Validation(example_id=example.id, person_id=person, vote="correct", by_owner=False, values={})
            for example in (own, other)
        )
        session.add_all([school, item, attempt, vote, usual])
        session.flush()
        handout = session.scalars(select(Handout).where(Handout.id == own.handout_id)).one()
        session.add_all([
            ClassStudent(class_id=school.id, person_id=person, name=f"Student {name}"),
            Credit(person_id=person, mode="name", name=f"Doctor {name}"),
            Inspiration(handout_id=handout.id, example_id=other.id, round_id=round_.id),
            OnboardingProgress(**key, activity="check", version=1, done="quiz"),
            QuizAnswer(attempt_id=attempt.id, position=0, question="q1", option=f"Option {name}", right=True),
            Qualification(**key, activity="check", version=1, granted_by=person),
            ControlPlace(example_id=own.id, person_id=person, kind="gold", item_id=item.id, done_at=now()),
            Undo(validation_id=vote.id),
            ControlAnswer(validation_id=vote.id, **key, kind="gold", item_id=item.id, expected="incorrect",
                          is_right=False),
            ControlDecision(**key, consequence="warn", answers=9, right=1, threshold=0.7, last_answer=vote.id),
            Signal(task_id="nli", round_id=round_.id, example_id=own.id, person_id=person, kind=SignalKind.COPY,
                   value=0.9, threshold=0.5, other_id=other.id),
            Payment(round_id=round_.id, person_id=person, kind=PaymentKind.BONUS, amount=5, currency="EUR", key=name),
            VoteExclusion(**key, excluded=False),
        ])  # fmt: skip

    def write(session):
        furnish_person(session, ada.id, a, b, "ada")
        furnish_person(session, bob.id, b, a, "bob")

    database.write(write)
    return a, b


@pytest.mark.slow
def test_the_file_has_ones_own_and_nothing_of_others_and_deletion_empties_it(busy, owner, ada, bob, database):
    answer = ada.get("/api/v1/me/data")
    assert answer.status_code == 200, answer.text
    file = answer.json()
    empty = {name for name in statements() if not file[name]}
    assert empty == {
        *("identities", "roles", "invited_to", "bans", "appeals", "badges", "competitions", "studies", "payouts"),
        *("skips", "control_answers", "logins", "notices", "hub_names", "repositories", "discussions", "comments"),
        *("dataset_files", "open_evaluations", "open_evaluation_cards", "flags_of_repositories"),
    }
    [attempt], [qualification] = file["quiz_answers"], file["qualifications"]
    assert (attempt["answer"], qualification["activity"]) == ("Option ada", "check")
    assert [vote["vote"] for vote in file["votes"]] == ["correct", "correct"]
    content = json.dumps({name: rows for name, rows in file.items() if name != "inspirations"})
    for hidden in ("bob", "incorrect", "right_vote", "gold", busy[1].uid):
        assert hidden not in content.replace("_bob", ""), hidden
    before = bob.get("/api/v1/me/data").json()
    body = {"confirm": "ada", "password": PASSWORD}
    assert ada.post("/api/v1/me/deletion", json=body).status_code == 204
    remaining = {
        name
        for name, statement in statements(ada.id).items()
        if database.read(lambda session, statement=statement: session.execute(statement).first())
    }
    assert remaining <= STAY
    staying = {"vote_exclusions.person_id", "team_members.person_id"}
    assert set(database.read(identified, ada.id)) == staying, "votes stay excluded, and a team's figures as they are"
    after = bob.get("/api/v1/me/data").json()
    assert {**after, "made_at": "", "logins": ""} == {**before, "made_at": "", "logins": ""}


KINDS = st.sampled_from(["vote", "taken back", "control", "control taken back"])


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(history=st.lists(st.tuples(st.integers(0, 2), KINDS, st.sampled_from(["correct", "incorrect"])), max_size=7))
def test_the_list_of_votes_does_not_tell_controls_from_examples(votes_world, history):
    played, person, examples = votes_world

    def act(session):
        for table in (ControlAnswer, Undo, Validation):
            session.execute(delete(table))
        expected, moment = {}, now() - timedelta(days=1)
        for number, (place, kind, vote) in enumerate(history):
            row = Validation(example_id=examples[place], person_id=person.id, vote=vote, by_owner=False, values={},
                             at=moment + timedelta(minutes=number))  # fmt: skip
            session.add(row)
            session.flush()
            if kind != "vote":
                session.add(Undo(validation_id=row.id))
            if kind.startswith("control"):
                session.add(ControlAnswer(validation_id=row.id, task_id=played.task, person_id=person.id, kind="gold",
                                          expected="correct", is_right=vote == "correct",
                                          taken_back=kind.endswith("back")))  # fmt: skip
            if not kind.endswith("back"):
                expected[examples[place]] = vote
        session.flush()
        rows = session.execute(PAGED_SECTIONS["votes"](person.id, 0, 100)).mappings().all()
        assert {row["example_id"]: row["vote"] for row in rows} == expected
        assert len(rows) == len(expected)
        assert session.execute(SECTIONS["control_answers"](person.id)).all() == []

    played.db.write(act)


@pytest.fixture
def votes_world(database):
    played = World(database)
    author, person = played.person(), played.person()
    return played, person, [played.example(author) for _ in range(3)]
