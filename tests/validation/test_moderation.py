"""Flags before the moderators, and example search over what the services write."""

from datetime import timedelta

import pytest

from dynabench.collection import search, withdrawal
from dynabench.collection.search import Filters
from dynabench.collection.tables import Explanation
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Act
from dynabench.validation import moderation
from dynabench.validation.rebuild import rebuild_all
from tests.validation.world import World


@pytest.fixture
def world(database):
    return World(database)


def ids(world, **filters):
    return [item.example.id for item in world.db.read(search.find, world.owner, world.task, Filters(**filters)).items]


def waiting(world, which="waiting", person=None):
    cases, _ = world.db.read(moderation.queue, person or world.owner, world.task, which)
    return [case.seen.example.id for case in cases]


def test_a_flag_brings_an_example_before_the_moderators_until_they_dismiss_it(world):
    author, voter, other = world.person(), world.person(), world.person()
    first, two = world.example(author), world.example(author)
    world.vote(voter, first, "flagged")
    assert waiting(world) == [first]
    world.db.write(moderation.dismiss, world.owner, first, "harmless")
    assert (waiting(world), waiting(world, "dismissed")) == ([], [first])
    world.db.write(moderation.reopen, world.owner, first)
    assert waiting(world) == [first]
    world.db.write(moderation.dismiss, world.owner, first, "harmless still")
    world.vote(other, first, "flagged")
    assert waiting(world) == [first], "a new flag asks again"
    assert world.db.read(moderation.case, world.owner, world.task, first).flags[0].by == voter.public_name
    with pytest.raises(errors.Conflict):
        world.db.write(moderation.dismiss, world.owner, two, "nobody asked")


def test_an_undone_flag_waits_for_nobody(world):
    first, voter = world.example(world.person()), world.person()
    world.vote(voter, first, "flagged")
    world.undo(voter, first)
    assert waiting(world) == []
    assert ids(world, flagged=True) == []


def test_hidden_examples_are_in_the_moderators_queue_alone_and_come_back(world):
    first, voter = world.example(world.person()), world.person()
    world.vote(voter, first, "flagged")
    world.db.write(withdrawal.hide, world.owner, first, "a name in it")
    assert (waiting(world), waiting(world, "hidden"), ids(world)) == ([], [first], [])
    assert ids(world, hidden=None) == ids(world, hidden=True) == [first]
    world.db.write(withdrawal.restore, world.owner, first, "the name is made up")
    assert (waiting(world), waiting(world, "hidden"), ids(world)) == ([first], [], [first])
    steps = world.db.read(moderation.case, world.owner, world.task, first).steps
    assert [(step.kind, step.reason) for step in steps] == [
        ("hidden", "a name in it"),
        ("restored", "the name is made up"),
    ]


def test_each_act_has_a_reason_and_a_line_in_the_log(world):
    first, voter = world.example(world.person()), world.person()
    world.vote(voter, first, "flagged")
    with pytest.raises(errors.Invalid):
        world.db.write(moderation.dismiss, world.owner, first, "  ")
    world.db.write(moderation.dismiss, world.owner, first, "harmless")
    acts = world.db.read(lambda s: [(act.kind, act.subject["reason"]) for act in s.query(Act) if "flags" in act.kind])
    assert acts == [("flags.dismissed", "harmless")]


@pytest.mark.parametrize("role", [None, "annotator", "expert"])
def test_only_owners_and_moderators_search_and_moderate(world, role):
    first, voter = world.example(world.person()), world.person(role=role)
    world.vote(world.person(), first, "flagged")
    for act, args in (
        (search.find, (world.task, Filters())),
        (moderation.queue, (world.task,)),
        (moderation.case, (world.task, first)),
    ):
        with pytest.raises(errors.Forbidden):
            world.db.read(act, voter, *args)
    with pytest.raises((errors.Forbidden, errors.NotFound)):
        world.db.write(moderation.dismiss, voter, first, "no reason")
    moderator = world.person(role="moderator")
    assert waiting(world, person=moderator) == [first]


def test_examples_are_found_by_words_of_input_context_answer_and_explanation(world):
    first = world.example(world.person(), input={"hypothesis": "Über den Dächern, 42 Katzen!"})
    two = world.example(world.person(), input={"hypothesis": "猫は屋根の上にいる。"})
    explanation = Explanation(example_id=first, values={"why_correct": "a kitten knows"})

    def explain(session):
        session.add(explanation)
        session.flush()
        search.say(session, explanation)

    world.db.write(explain)
    for _ in range(2):  # as written, and made anew from the ledger
        assert ids(world, q="katzen DÄCHERN") == ids(world, q='"42" kitten') == [first]
        assert ids(world, q="dachern") == [], "accents count"
        assert ids(world, q="屋根") == ids(world, q="猫") == [two]
        assert ids(world, q="根屋") == []
        assert ids(world, q="rains contradiction") == [two, first]
        rebuild_all(world.db)


@pytest.mark.slow
def test_filters_hold_together_and_pages_go_on_where_the_last_ended(world):
    ada, bob = world.person(), world.person()
    examples = [
        world.example(ada if n % 2 else bob, fooled=n % 3 == 0, source="expert" if n % 2 else "person")
        for n in range(9)
    ]
    world.vote(bob, examples[3], "correct")
    world.vote(world.person(), examples[3], "correct")
    world.retract(examples[5])
    child = world.example(bob, made_from=examples[0], arm="a b", start="seed")
    for _ in range(2):
        assert ids(world, author=ada.username.upper()) == [examples[n] for n in (7, 5, 3, 1)]
        assert ids(world, verdict="correct", fooled=True, source="expert") == [examples[3]]
        assert ids(world, retracted=True) == [examples[5]]
        assert (ids(world, made_from=True), ids(world, perturbed=True)) == ([child], [examples[0]])
        assert ids(world, arm="a b", start="seed", round=1, tag="") == [child]
        assert ids(world, round=2) == ids(world, author="nobody") == ids(world, tag="none") == []
        today = now().date()
        assert len(ids(world, since=today - timedelta(days=400), until=today)) == 10
        assert ids(world, until=today - timedelta(days=2)) == []
        rebuild_all(world.db)
    page = world.db.read(search.find, world.owner, world.task, Filters(), limit=4)
    rest = world.db.read(search.find, world.owner, world.task, Filters(), before=page.next, limit=50)
    assert [item.example.id for item in (*page.items, *rest.items)] == [child, *reversed(examples)]
    assert rest.next is None


@pytest.mark.parametrize(
    "hostile",
    ['"', "' OR 1=1 --", "a AND NOT b*", "\x00%_\\", "𝕊𝕠 ﬁne", "\ud800 lone", "NEAR(", "_verdict_correct", "a" * 900],
)
def test_hostile_questions_find_nothing_or_are_refused(world, hostile):
    world.example(world.person())
    if any(character.isalnum() for character in hostile):
        assert ids(world, q=hostile) == []
    else:
        with pytest.raises(errors.Invalid, match="q"):
            ids(world, q=hostile)


@pytest.mark.parametrize("much", ["x" * 10_000, " ".join(f"word{n}" for n in range(100)), "!?"])
def test_questions_that_are_too_long_or_without_words_are_refused(world, much):
    with pytest.raises(errors.Invalid, match="q"):
        ids(world, q=much)
