"""After any history: counters equal a recount, verdicts are what the votes say, no vote is one too many."""

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select, update

from dynabench.collection import withdrawal
from dynabench.collection.tables import VerdictEvent
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.stats.verdict import verdict
from dynabench.validation import places
from dynabench.validation.tables import Reservation, Validation
from tests.validation.world import World

pytestmark = pytest.mark.release

PEOPLE = 5
LABELS = st.sampled_from(["correct", "correct", "incorrect", "flagged"])
person = st.integers(0, PEOPLE - 1)
which = st.integers(0, 30)


class Histories(RuleBasedStateMachine):
    """A round in a SQLite file of its own, five people and two owners."""

    template: Path

    @initialize(
        mode=st.sampled_from(["judge", "answer", "mixed"]),
        quota=st.sampled_from([(1, 1), (2, 2), (2, 5), (3, 4)]),
        also=st.booleans(),
    )
    def begin(self, mode, quota, also):
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "history.sqlite"
        shutil.copy(self.template, path)
        self.world = World(Database(f"sqlite:///{path}"), mode=mode, votes=quota[0], cap=quota[1], also=also)
        self.people = [self.world.person() for _ in range(PEOPLE)]
        self.owners = [self.world.owner, self.world.person(role="owner")]
        self.examples: list[int] = []
        self.released = False

    def teardown(self):
        if hasattr(self, "world"):
            self.world.db.close()
            self.folder.cleanup()

    @precondition(lambda self: not self.released)
    @rule(
        author=person,
        fooled=st.booleans(),
        source=st.sampled_from(["person", "expert", "program"]),
        start=st.sampled_from(["blank", "seed", "perturb"]),
        arm=st.sampled_from(["", "seeds", "control"]),
        tag=st.sampled_from(["", "rain"]),
    )
    def write(self, author, fooled, source, start, arm, tag):
        request = arm != "control"
        how = {"source": source, "start": start, "arm": arm, "tag": tag, "models": request}
        self.examples.append(self.world.example(self.people[author], fooled=fooled if request else None, **how))

    @precondition(lambda self: self.examples)
    @rule(example=which)
    def retract(self, example):
        self.world.retract(self._pick(example))

    @precondition(lambda self: self.examples)
    @rule(example=which, hidden=st.booleans(), owner=st.integers(0, 1))
    def hide_or_restore(self, example, hidden, owner):
        act = withdrawal.hide if hidden else withdrawal.restore
        self.world.db.write(act, self.owners[owner], self._pick(example), "because")

    @invariant()
    def what_is_hidden_or_taken_back_waits_for_no_votes_and_controls_do(self):
        for example in self.examples:
            standing = self.world.standing(example)
            if standing.hidden or standing.retracted:
                assert not standing.open
            elif not standing.targets:
                assert standing.open == (standing.verdict == "pending")

    @rule(caller=person)
    def ask(self, caller):
        item = self.world.next(self.people[caller])
        assert item is None or self.world.standing(item.example_id).author_id != self.people[caller].id

    @precondition(lambda self: self.examples)
    @rule(caller=person, label=LABELS)
    def ask_and_vote(self, caller, label):
        if item := self.world.next(self.people[caller]):
            self._cast(self.people[caller], item.example_id, item.mode, label)
            votes = [cast.person_id for cast in self.world.counted(item.example_id)]
            assert self.people[caller].id in votes, "who holds a place may vote"

    @precondition(lambda self: self.examples)
    @rule(caller=person, example=which, label=LABELS, mode=st.sampled_from(["judge", "answer"]))
    def vote_unasked(self, caller, example, label, mode):
        self._quietly(self._cast, self.people[caller], self._pick(example), mode, label)

    @precondition(lambda self: self.examples)
    @rule(owner=st.integers(0, 1), example=which, label=LABELS)
    def decide(self, owner, example, label):
        self._quietly(self.world.vote, self.owners[owner], self._pick(example), label, owner=True)

    @precondition(lambda self: self.examples)
    @rule(caller=st.integers(0, PEOPLE + 1), last=st.booleans(), example=which)
    def undo(self, caller, last, example):
        entry = [*self.people, *self.owners][caller]
        mine = select(Validation.example_id).where(Validation.person_id == entry.id).order_by(Validation.id.desc())
        newest = self.world.db.read(lambda session: session.scalars(mine.limit(1)).first())
        self._quietly(self.world.undo, entry, newest if last and newest else self._pick(example))

    @precondition(lambda self: self.examples)
    @rule(caller=person, example=which)
    def skip(self, caller, example):
        self._quietly(self.world.skip, self.people[caller], self._pick(example))

    @rule()
    def places_run_out(self):
        past = now() - timedelta(seconds=1)
        self.world.db.write(lambda session: session.execute(update(Reservation).values(expires_at=past)))

    @rule(state=st.sampled_from(["closed", "open"]))
    def close_or_reopen(self, state):
        self.world.state(state)

    @invariant()
    def verdicts_are_what_the_votes_say(self):
        quota = self.world.config.validation
        for example in self.examples:
            votes = places.ballots(self.world.counted(example))
            standing = self.world.standing(example)
            decided = verdict(votes, quota.votes, quota.adjudicate_up_to)
            assert (standing.verdict, standing.votes) == (decided, len(votes))
            assert self._last_event(example) == decided

    @invariant()
    def no_vote_is_one_too_many(self):
        quota = self.world.config.validation
        for example in self.examples:
            votes = places.ballots(self.world.counted(example))
            for before, vote in enumerate(votes):
                decided = verdict(votes[:before], quota.votes, quota.adjudicate_up_to).final
                assert vote.by_owner or not decided

    @invariant()
    def counters_equal_a_recount(self):
        if self.examples:
            assert self.world.projections() == self.world.rebuilt()

    def _pick(self, number):
        return self.examples[number % len(self.examples)]

    def _cast(self, caller, example, mode, label):
        if mode == "answer" and label != "flagged":
            self.world.answer(caller, example, "contradiction" if label == "correct" else "neutral")
        else:
            self.world.vote(caller, example, label)

    def _quietly(self, act, *args, **how):
        """Refused acts change nothing; the invariants check that."""
        try:
            act(*args, **how)
        except (errors.Conflict, errors.Forbidden, errors.Invalid):
            return

    def _last_event(self, example):
        events = select(VerdictEvent.verdict).where(VerdictEvent.example_id == example).order_by(VerdictEvent.id.desc())
        return self.world.db.read(lambda session: session.scalars(events.limit(1)).first()) or "pending"


@pytest.mark.timeout(300)
def test_counters_equal_a_recount_and_votes_stay_within_bounds_after_any_history(sqlite_template):
    Histories.template = sqlite_template
    how = settings(
        max_examples=10,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    run_state_machine_as_test(Histories, settings=how)
