"""The table of actions: each has a rule, and each relation gets what its rule says and no more."""

import pytest

from dynabench.kit import errors
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import RULES, Action
from dynabench.people.roles import TaskRole

PERSON = Person(id=1, admin=False)
ADMIN = Person(id=2, admin=True)


def roles_that_may(action: Action) -> set[str]:
    return {role for role in TaskRole if may.may(PERSON, action, role=role)}


def test_every_action_has_a_rule_and_an_administrator_may_do_all_but_what_is_the_authors_alone():
    assert set(RULES) == set(Action)
    assert {action for action in Action if not may.may(ADMIN, action)} == {Action.WITHDRAW_PROPOSAL}


def test_a_visitor_writes_into_the_sandbox_and_does_nothing_else():
    assert {action for action in Action if may.may(None, action)} == {Action.WRITE_EXAMPLE}


@pytest.mark.parametrize(
    ("action", "roles"),
    [
        (Action.CLOSE_ROUND, {"owner"}),
        (Action.HIDE_EXAMPLE, {"owner", "moderator"}),
        (Action.JOIN_EXPERT_ROUND, {"owner", "moderator", "expert"}),
        (Action.WRITE_EXAMPLE, {"owner", "moderator", "expert", "annotator"}),
        (Action.CHECK_EXAMPLE, set(TaskRole)),
        (Action.DECIDE_PROPOSAL, set()),
        (Action.CHANGE_SUBMISSION, set()),
    ],
)
def test_roles_get_what_the_table_says(action, roles):
    assert roles_that_may(action) == roles


def test_an_author_changes_their_own_things_and_nobody_elses():
    assert may.may(PERSON, Action.CHANGE_BOARD, author=1)
    assert not may.may(PERSON, Action.CHANGE_BOARD, author=3)
    assert not may.may(None, Action.CHANGE_BOARD, author=None)


def test_a_ban_ends_writing_and_checking_but_for_administrators():
    for action in (Action.WRITE_EXAMPLE, Action.CHECK_EXAMPLE):
        assert not may.may(PERSON, action, role="expert", banned=True)
        assert may.may(ADMIN, action, banned=True)


def test_a_refusal_says_why():
    with pytest.raises(errors.Forbidden, match="Only owners of this task can do this"):
        may.refuse_unless(may.may(PERSON, Action.CLOSE_ROUND, role="moderator"))


def test_actions_of_a_page_follow_the_role():
    assert Action.OPEN_CONSOLE in may.actions_of(PERSON, "moderator")
    assert Action.MANAGE_TASK not in may.actions_of(PERSON, "moderator")
    assert may.actions_of(ADMIN, None) >= may.actions_of(PERSON, "owner")
