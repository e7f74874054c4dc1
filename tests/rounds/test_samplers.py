"""Samplers: each walks an index, and draws what it says it draws."""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from sqlalchemy import event, insert, select, text, update
from sqlalchemy.orm import Session

from dynabench.collection.handout_tables import Handout
from dynabench.kit.db import Database, now
from dynabench.people.accounts.tables import Person
from dynabench.rounds import contexts, samplers, service
from dynabench.rounds.samplers import all_samplers
from dynabench.rounds.tables import Context, Round
from dynabench.tasks import shipped_tasks
from dynabench.tasks.sections import ContextSettings

NLI = next(shipped for shipped in shipped_tasks() if shipped.config.id == "nli")
NAMES = list(all_samplers())
quick = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def task(database: Database) -> str:
    """The NLI task without contexts."""
    database.write(service.save_task, None, NLI.source)
    return "nli"


def fill(session: Session, count: int, seed: int = 7, **given: Callable[[random.Random, int], object]) -> None:
    """Contexts 1 to `count` whose columns are drawn by `given`, others as of new ones."""
    rng = random.Random(seed)
    columns = {"draw": lambda rng, n: rng.randint(0, 2**31 - 1), "clock": lambda rng, n: rng.expovariate(1)} | given
    rows = [
        {"task_id": "nli", "values": {"premise": str(n)}, "digest": f"{n:064d}", "id": n}
        | {name: column(rng, n) for name, column in columns.items()}
        for n in range(1, count + 1)
    ]
    session.execute(insert(Context), rows)


def in_turn(database: Database, work: Callable[[Session], object]) -> object:
    """Return the result of `work` in a transaction that is rolled back, so that hypothesis may come again."""

    class Over(Exception):
        pass

    result: list[object] = []

    def run(session: Session) -> None:
        result.append(work(session))
        raise Over

    with pytest.raises(Over):
        database.write(run)
    return result[0]


def test_configs_may_name_every_sampler_that_is_built_in():
    schema = ContextSettings.model_json_schema()["properties"]["sampling"]
    assert schema["enum"] == NAMES
    assert all(sampler.label and sampler.help.endswith(".") for sampler in all_samplers().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_walks_an_index_and_never_sorts(database: Database, task, name):
    some = {"used": lambda rng, n: n % 3, "fooled": lambda rng, n: n % 2, "doubt": lambda rng, n: rng.randint(0, 1000)}
    late = {"failed": lambda rng, n: 1, "good": lambda rng, n: n % 100 > 0}
    database.write(lambda session: fill(session, 3000, **some, **late))
    request = []

    def note(connection, cursor, statement, parameters, *_):
        request.append((statement, parameters))

    def plans(session):
        session.execute(text("ANALYZE"))
        if not database.is_sqlite:
            session.execute(text("SET LOCAL enable_seqscan = off"))
        event.listen(database.engine, "before_cursor_execute", note)
        contexts.pick_context(session, "nli", name, random.Random(1), but=9, person_id=1)
        event.remove(database.engine, "before_cursor_execute", note)
        explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
        for statement, parameters in request:
            result = session.connection().exec_driver_sql(explain + statement, parameters).all()
            yield statement, "\n".join(str(row[-1]) for row in result)

    for statement, plan in database.read(lambda session: list(plans(session))):
        expected = "ix_contexts_failed" if "contexts.failed" in statement.partition("WHERE")[2] else "ix_contexts_"
        assert expected in plan, (statement, plan)
        assert "TEMP B-TREE" not in plan, (statement, plan)
        assert "Sort" not in plan, (statement, plan)


@pytest.mark.parametrize("name", NAMES)
@given(data=strategies.data())
@quick
def test_only_live_contexts_of_the_pool_are_drawn_and_not_the_last_one(database: Database, task, name, data):
    count = data.draw(strategies.integers(2, 12))
    retired = data.draw(strategies.sets(strategies.integers(1, count), max_size=count - 2))
    pool = data.draw(strategies.none() | strategies.sets(strategies.integers(1, count), min_size=1))
    live = set(range(1, count + 1)) - retired
    may = live if pool is None else live & pool
    but = data.draw(strategies.sampled_from(sorted(live)))

    def drawn(session):
        fill(session, count, used=lambda rng, n: rng.randint(0, 2), doubt=lambda rng, n: rng.randint(0, 9))
        session.execute(update(Context).where(Context.id.in_(retired)).values(retired_at=text("CURRENT_TIMESTAMP")))
        rng = random.Random(3)
        few = None if pool is None else sorted(pool)
        return {contexts.pick_context(session, "nli", name, rng, but, 1, few).id for _ in range(12)} if may else set()

    turn = in_turn(database, drawn)
    assert turn <= may
    assert but not in turn or may == {but}


@pytest.mark.release
@given(weights=strategies.lists(strategies.integers(0, 5), min_size=2, max_size=5).filter(any))
@quick
def test_contexts_come_in_proportion_to_their_weights(database: Database, task, weights):
    rng, rounds = random.Random(5), 400

    def drawn(session):
        item = {
            "weight": lambda _, n: weights[n - 1],
            "clock": lambda _, n: samplers.wind_clock(0, weights[n - 1], rng),
        }
        fill(session, len(weights), **item)
        seen = Counter()
        for _ in range(rounds):
            context = contexts.pick_context(session, "nli", "weighted", rng, person_id=1)
            contexts.renew_keys(context, "weighted", rng)
            session.flush()
            seen[context.id] += 1
        return seen

    seen, total = in_turn(database, drawn), sum(weights)
    for n, weight in enumerate(weights, start=1):
        share = weight / total
        error = (share * (1 - share) / rounds) ** 0.5
        assert abs(seen[n] / rounds - share) <= 5 * error + 1e-9, (weights, seen)


@pytest.mark.slow
def test_a_new_context_waits_for_its_turn_among_old_ones_by_weight(database: Database, task):
    """Clocks of contexts that were drawn for long have gone far: a new one must not ring until it has caught up."""
    rng = random.Random(8)

    def drawn(session):
        fill(session, 20, clock=lambda rng, n: 100 + rng.expovariate(1), id=lambda rng, n: 100 + n)
        contexts.add_contexts(session, "nli", NLI.config, [contexts.ContextRow(1, {"premise": "A new one."})])
        newest = session.scalars(select(Context.id).order_by(Context.id.desc())).first()
        seen = Counter()
        for _ in range(420):
            context = contexts.pick_context(session, "nli", "weighted", rng, person_id=1)
            contexts.renew_keys(context, "weighted", rng)
            session.flush()
            seen[context.id] += 1
        return seen[newest]

    assert 5 <= database.write(drawn) <= 45


def test_unseen_passes_over_what_the_person_was_given_in_any_round(database: Database, task):
    def drawn(session):
        fill(session, 6)
        session.add(Person(id=1, username="ada", email="a@example.org", password_hash="-", terms="1", agreed_at=now()))
        version = service.get_task(session, "nli").version_id
        session.add_all(Round(id=n, task_id="nli", number=n, version_id=version) for n in (1, 2))
        session.flush()
        handouts = [
            Handout(round_id=1 + n % 2, context_id=n, person_id=1, start="blank", initial={}) for n in range(1, 6)
        ]
        session.add_all(handouts)
        session.flush()
        rng = random.Random(2)
        mine = {contexts.pick_context(session, "nli", "unseen", rng, person_id=1).id for _ in range(20)}
        others = {contexts.pick_context(session, "nli", "unseen", rng, person_id=7).id for _ in range(60)}
        session.add(Handout(round_id=1, context_id=6, person_id=1, start="blank", initial={}))
        session.flush()
        return mine, others, contexts.pick_context(session, "nli", "unseen", rng, person_id=1).id

    mine, others, again = database.write(drawn)
    assert mine == {6}
    assert others == {1, 2, 3, 4, 5, 6}
    assert again in range(1, 7)


def test_failed_validation_and_most_uncertain_draw_what_they_say(database: Database, task):
    def drawn(session):
        item = {"failed": lambda rng, n: n in (4, 5), "good": lambda rng, n: n == 5, "doubt": lambda rng, n: n}
        fill(session, 60, **item)
        rng = random.Random(4)
        failed = {contexts.pick_context(session, "nli", "failed_validation", rng).id for _ in range(10)}
        doubted = {contexts.pick_context(session, "nli", "most_uncertain", rng).id for _ in range(200)}
        session.execute(update(Context).values(failed=0))
        return failed, doubted, contexts.pick_context(session, "nli", "failed_validation", rng).used

    failed, doubted, used = database.write(drawn)
    assert failed == {4}
    assert doubted == set(range(41, 61))
    assert used == 0
