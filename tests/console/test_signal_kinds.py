"""Signals: known copies, pastes and fast texts get one; hostile claims and repeated jobs change nothing more."""

import itertools
import json
import os
import random
import signal
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from dynabench.collection import writing_facts
from dynabench.collection.near_duplicates import NearBand
from dynabench.collection.tables import Example, Standing
from dynabench.collection.writing_facts import WritingFacts
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Person
from dynabench.quality.signals import computing, detector, jobs, measuring, service
from dynabench.quality.signals.error_rates import read_error_rates
from dynabench.quality.signals.service import SignalFilters
from dynabench.quality.signals.tables import Signal, SignalKind, SignalState
from dynabench.rounds.tables import Round
from dynabench.stats.minhash import shingle_hashes
from tests.collection.conftest import draw, send, written
from tests.forked import Forked

TEXT = "Three tired hikers finish their lunch at home long before the storm gathers over the hills."
ALL = SignalFilters(state=None)


def play(caller, text, **writing):
    answer = send(caller, written(draw(caller), text) | ({"writing": writing} if writing else {}))
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def compute(database, task="nli"):
    while database.write(computing.compute_some, task):
        pass
    return {
        (row.kind, row.example_id, row.other_id)
        for row in database.read(lambda session: session.scalars(select(Signal)).all())
    }


def slow_down(database, seconds=600.0):
    database.write(lambda session: session.execute(update(Example).values(seconds=seconds)))


@pytest.mark.slow
def test_a_copy_is_a_signal_about_the_later_person_and_only_once(database, owner, ada, bob):
    first, second = play(ada, TEXT), play(bob, TEXT.upper().replace(".", "!"))
    own = play(ada, TEXT.replace("Three", "Four"))
    slow_down(database)
    signals = compute(database)
    assert ("copy", second, first) in signals
    assert {kind for kind, *_rest in signals} == {"copy", "near_duplicate"}
    assert ("near_duplicate", own, second) in signals
    assert not any(example == first for _kind, example, _other in signals)
    database.write(lambda session: session.execute(update(WritingFacts).values(checked_at=None)))
    assert compute(database) == signals  # computed again, nothing is doubled
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(NearBand)))


def test_the_later_one_is_marked_in_whatever_order_they_are_computed(database, owner, ada, bob):
    first, second = play(ada, TEXT), play(bob, TEXT)
    slow_down(database)
    mark = update(WritingFacts).where(WritingFacts.example_id == first)
    database.write(lambda session: session.execute(mark.values(checked_at=now())))
    assert compute(database) == set()
    database.write(lambda session: session.execute(mark.values(checked_at=None)))
    assert compute(database) == {("copy", second, first)}


def test_speed_is_by_the_servers_clock_and_paste_by_the_claims(database, owner, ada, bob):
    fast = play(ada, TEXT)
    pasted = play(bob, TEXT.replace("hikers", "sailors and two of their dogs"), typed=3, pasted=120)
    signals = compute(database)
    assert ("speed", fast, None) in signals
    assert ("paste", pasted, None) in signals
    assert ("paste", fast, None) not in signals  # nothing was claimed
    answer = database.read(lambda session: session.scalars(select(Signal).where(Signal.kind == "speed")).first())
    assert answer.facts["characters"] == len(TEXT)


@pytest.mark.parametrize(
    "claims",
    [{"typed": -1}, {"typed": 10**9}, {"pasted": "many"}, {"typed": 1.5}, {"text": "x"}, {"model_written": "maybe"}],
)
def test_hostile_claims_are_refused_by_the_api(owner, ada, claims):
    assert send(ada, written(draw(ada), TEXT) | {"writing": claims}).status_code == 422


@pytest.mark.slow
def test_hostile_claims_of_a_form_count_as_unknown(database, owner, ada, enter):
    page, handout = enter(ada), draw(ada)
    fields = {"context_id": handout["id"], "handout": handout["handout"], "key": "k", "input.hypothesis": TEXT}
    fields |= {f"answer.{name}": value for name, value in handout["goal"].items()}
    html = page.get("/tasks/nli/create").text
    assert "This form counts how many characters you type and paste" in html
    assert "dynabench_device" in page.client.cookies
    sent = page.submit("/tasks/nli/create", page="/settings", typed="-5", pasted="9" * 40, **fields)
    assert sent.status_code == 200, sent.text
    facts = database.read(lambda session: session.scalars(select(WritingFacts)).one())
    assert (facts.typed, facts.pasted, facts.model_written) == (None, None, None)
    assert facts.device
    assert page.client.cookies["dynabench_device"] not in facts.device
    (own,) = ada.get("/api/v1/me/writing").json()["items"]
    assert (own["typed"], own["device"]) == (None, True)
    assert len(page.get("/me/writing.csv").text.splitlines()) == 2
    assert enter(owner).get("/me/writing.csv").text.count("\n") == 1
    database.write(writing_facts.forget_person, facts.person_id)
    assert database.read(lambda session: session.scalars(select(WritingFacts.device)).one()) is None


@pytest.mark.slow
def test_the_rule_on_model_text_is_shown_declared_stored_and_kept(database, owner, ada, enter):
    def plan(rule):
        assert owner.request("PUT", "/api/v1/tasks/nli/rounds/1/plan", json={"model_text": rule}).status_code == 200

    plan("declared")
    page = enter(ada)
    assert 'name="model_written"' in page.get("/tasks/nli/create").text
    example = play(ada, TEXT, model_written=True)
    assert database.read(lambda session: session.get(WritingFacts, example)).model_written is True
    exported = owner.get("/api/v1/tasks/nli/export?format=jsonl").text.splitlines()
    assert [json.loads(line)["condition"]["model_written"] for line in exported] == [True]
    plan("forbidden")
    assert "does not accept text" in page.get("/tasks/nli/create").text
    assert send(ada, written(draw(ada), "Another one.") | {"writing": {"model_written": True}}).status_code == 403
    assert play(ada, "It is another one.")


def test_the_detector_is_asked_only_where_the_round_has_a_rule(database, owner, ada, monkeypatch):
    class Sure:
        threshold, languages = 0.5, frozenset({"en"})

        def score(self, text):
            return 0.9

    monkeypatch.setattr(computing, "load_detector", lambda: ("sure", Sure()))
    allowed = play(ada, TEXT)
    compute(database)
    database.write(lambda session: session.execute(update(Round).values(plan={"model_text": "declared"})))
    undeclared = play(ada, "A man walks along the river with his old dog.")
    declared = play(ada, "A woman reads a book under the large tree.", model_written=True)
    kinds = {example: kind for kind, example, _other in compute(database) if kind == "model_text"}
    assert kinds == {undeclared: "model_text"}
    assert allowed not in kinds
    assert declared not in kinds


@pytest.mark.slow
def test_three_people_on_one_device_are_one_signal_for_the_third(database, owner, person):
    for name in ("pia", "quin", "rosa", "sven"):
        example = play(person(name), f"{name} sees a different thing in the garden of the house.")
        mark = update(WritingFacts).where(WritingFacts.example_id == example).values(device="d" * 32)
        database.write(lambda session, mark=mark: session.execute(mark))
        signals = {entry for entry in compute(database) if entry[0] == "device"}
        assert len(signals) == {"pia": 0, "quin": 0, "rosa": 1, "sven": 2}[name]
    old = update(WritingFacts).values(at=now() - timedelta(days=writing_facts.DAYS + 1))
    database.write(lambda session: session.execute(old))
    database.write(jobs._forget_devices)
    assert set(database.read(lambda session: session.scalars(select(WritingFacts.device)).all())) == {None}


def test_a_check_is_logged_undone_and_changes_nothing_else(database, owner, ada, bob):
    play(ada, TEXT)
    second = play(bob, TEXT)
    slow_down(database)
    compute(database)
    before = database.read(lambda session: session.get_one(Standing, second).__dict__.copy())
    moderator = database.read(lambda session: session.get_one(Person, owner.id))
    (row,) = database.read(service.list_signals, moderator, "nli", SignalFilters())
    number = row.signal.id
    with pytest.raises(errors.Invalid):
        database.write(service.check_signal, moderator, "nli", number, SignalState.ACTED, " ")
    database.write(service.check_signal, moderator, "nli", number, SignalState.ACTED, "Warned bob.")
    database.write(service.check_signal, moderator, "nli", number, SignalState.ACTED, "Warned bob.")
    with pytest.raises(errors.Conflict):
        database.write(service.check_signal, moderator, "nli", number, SignalState.FINE, "")
    database.write(service.check_signal, moderator, "nli", number, SignalState.OPEN, "")
    with pytest.raises(errors.NotFound):
        database.write(service.check_signal, moderator, "sentiment", number, SignalState.FINE, "")
    acts = owner.get("/api/v1/tasks/nli/acts").json()["items"]
    assert [act["kind"] for act in acts if act["kind"].startswith("signal.")] == ["signal.open", "signal.acted"]
    after = database.read(lambda session: session.get_one(Standing, second).__dict__.copy())
    assert {k: v for k, v in after.items() if k[0] != "_"} == {k: v for k, v in before.items() if k[0] != "_"}
    stranger = database.read(lambda session: session.get_one(Person, bob.id))
    with pytest.raises(errors.Forbidden):
        database.read(service.list_signals, stranger, "nli", ALL)


def test_signals_about_a_person_leave_with_the_account(database, owner, ada, bob):
    play(ada, TEXT)
    second = play(bob, TEXT)
    slow_down(database)
    assert compute(database)
    database.write(lambda session: session.execute(update(WritingFacts).values(device="d" * 32)))
    database.write(service.forget_person, bob.id)
    assert database.read(lambda session: session.scalars(select(Signal)).all()) == []
    facts = database.read(lambda session: session.get_one(WritingFacts, second))
    assert (facts.device, facts.person_id) == (None, bob.id)


def test_earlier_examples_are_included_on_request_and_one_job_runs_at_a_time(database, owner, ada, bob):
    play(ada, TEXT)
    second = play(bob, TEXT)
    slow_down(database)
    database.write(lambda session: session.execute(WritingFacts.__table__.delete()))
    assert compute(database) == set()
    assert owner.post("/api/v1/tasks/nli/signals").json()["running"] is True
    assert owner.post("/api/v1/tasks/nli/signals").status_code == 202
    ids = database.read(lambda session: session.scalars(select(Job.id).where(Job.kind == service.KIND)).all())
    assert len(ids) == 1
    assert {(kind, example) for kind, example, _other in compute(database)} == {("copy", second)}
    database.write(service.release_job, "nli", ids[0])
    page = owner.get("/api/v1/tasks/nli/signals?kind=copy").json()
    assert page["running"] is False
    assert [item["example"] for item in page["items"]] == [second]
    assert {row["kind"] for row in page["error_rates"]} == set(SignalKind) - {"device"}


def test_values_are_above_their_thresholds_and_never_raise():
    rng = random.Random(7)
    counts = [0, 1, 19, 20, 39, 40, 10**6, None]
    for typed, pasted, characters in itertools.product(counts, counts, counts[:-1]):
        signal = measuring.measure_paste(characters, typed, pasted)
        assert signal is None or signal.threshold <= signal.value <= 1
        speed = measuring.measure_speed(characters, rng.choice([0.0, -3.0, 0.5, 900.0]))
        assert speed is None or speed.value >= speed.threshold
    hashes = shingle_hashes(TEXT)
    assert measuring.measure_copy("Yes it is", shingle_hashes("Yes it is"), "Yes it is", hashes) is None


def test_the_shipped_detector_judges_english_sentences_and_error_rates_are_complete():
    name, judge = detector.load_detector()
    assert name == "shipped"
    assert judge.score("Too short.") is None
    assert 0 < judge.score(TEXT) < 1
    assert judge.score(TEXT) == judge.score(TEXT.upper() + " ")
    for kind, rows in read_error_rates().items():
        assert bool(rows) == (kind != SignalKind.DEVICE)
        assert all(row.false_alarms.n and row.missed.n for row in rows)


KILLED = """
import json, os, signal, sys
from sqlalchemy import event
from sqlalchemy.orm import Session
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.quality.signals import computing

event.listen(Session, sys.argv[1], lambda _session: os.kill(os.getpid(), signal.SIGKILL))
Database(Settings(**json.loads(sys.argv[2])).url).write(computing.compute_some, "nli")
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
def test_a_worker_that_is_killed_loses_and_doubles_no_signal(client, ada, bob, database, settings, moment, tmp_path):
    for person in (ada, bob):
        play(person, TEXT)
    values = json.dumps(settings.model_dump(mode="json", exclude_defaults=True))
    killed = Forked([moment, values], os.environ, tmp_path / "killed.log", KILLED)
    assert killed.wait(60) == -signal.SIGKILL
    stored = database.read(lambda session: session.scalar(select(func.count()).select_from(Signal)))
    unchecked = database.read(lambda session: session.query(WritingFacts).filter_by(checked_at=None).count())
    assert (stored == 0, unchecked) == ((True, 2) if moment == "before_commit" else (False, 0))
    compute(database)
    compute(database)
    kinds = database.read(lambda session: session.execute(select(Signal.example_id, Signal.kind)).all())
    assert len(kinds) == len(set(kinds))
    assert [kind for _example, kind in kinds].count(SignalKind.COPY) == 1
    assert not database.read(lambda session: session.query(WritingFacts).filter_by(checked_at=None).count())
