"""Plans of rounds: changed, taken back, carried over; rounds that open and close by themselves."""

from datetime import timedelta

import pytest
from sqlalchemy import select, text, update

from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.rounds import jobs as round_jobs
from dynabench.rounds import jobs as schedule
from dynabench.rounds import plan as conditions
from dynabench.rounds import planning, service
from dynabench.rounds.plan import PlannedRound, parse_plan
from dynabench.rounds.tables import Context, Round
from tests.collection.conftest import draw, send, written
from tests.jobs.conftest import Worker, until

HERE = "/api/v1/tasks/nli/rounds"


@pytest.fixture
def worker(settings, tmp_path):
    created = Worker(settings, tmp_path / "worker.log")
    yield created
    if created.process is not None and created.process.poll() is None:
        created.end()


def later(**how):
    return (now() + timedelta(**how)).replace(microsecond=0)


def test_a_plan_reads_back_as_it_was_written():
    values = {
        "opens_at": "2030-01-01T10:00:00+02:00",
        "goals": {"verified": 10},
        "limits": {"per_day": 3},
        "audience": {"kind": "qualified", "verified": 2},
        "sampling": "unseen",
    }
    plan = parse_plan(values)
    assert plan.document() == values | {"opens_at": "2030-01-01T08:00:00Z"}
    assert parse_plan(plan.document()) == plan
    assert PlannedRound().document() == {}


def test_a_plan_is_changed_logged_and_taken_back(owner, ada):
    plan = {"goals": {"examples": 100}, "limits": {"per_day": 5}, "closes_at": later(days=3).isoformat()}
    assert ada.request("PUT", f"{HERE}/1/plan", json=plan).status_code == 403
    response = owner.request("PUT", f"{HERE}/1/plan", json=plan)
    assert response.status_code == 200, response.text
    assert response.json()["plan"]["limits"] == {"per_person": None, "per_day": 5}
    again = owner.request("PUT", f"{HERE}/1/plan", json=plan | {"goals": {}})
    assert again.json()["plan"]["goals"]["examples"] is None
    log = owner.get("/api/v1/tasks/nli/acts", params={"kind": "round.planned"}).json()["items"]
    assert [item["subject"]["changed"] for item in log] == ["goals", "closes_at, goals, limits"]
    assert owner.post(f"{HERE}/1/plan/undo").json()["plan"]["goals"]["examples"] == 100
    assert owner.post(f"{HERE}/1/plan/undo").json()["plan"]["goals"]["examples"] is None


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"sampling": "by_moonlight"}, "sampling"),
        ({"closes_at": "2020-01-01T00:00:00Z"}, "closes_at"),
        ({"opens_at": "2040-01-01T00:00:00Z"}, "opens_at"),
        ({"contexts": "chosen"}, "contexts"),
        ({"audience": {"kind": "qualified"}}, "audience"),
        ({"goals": {"examples": 0}}, "goals.examples"),
        ({"limits": {"per_week": 1}}, "limits.per_week"),
    ],
)
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_what_makes_no_sense_is_refused_by_field(owner, plan, field):
    response = owner.request("PUT", f"{HERE}/1/plan", json=plan)
    assert response.status_code == 422
    assert any(name.endswith(field) for name in response.json()["fields"]), response.text


def test_a_clone_takes_over_the_parts_that_are_asked_for(owner, ada, database):
    plan = {"goals": {"fooled": 7}, "limits": {"per_person": 9}, "sampling": "uniform", "audience": {"kind": "invited"}}
    owner.request("PUT", f"{HERE}/1/plan", json=plan)
    owner.request("PUT", f"{HERE}/1/people", json={"people": ["ada"]})
    ids = database.read(
        lambda session: list(session.scalars(select(Context.id).where(Context.task_id == "nli").limit(3)))
    )
    assert owner.request("PUT", f"{HERE}/1/contexts", json={"contexts": ids}).json() == {"contexts": ids}
    whole = owner.post(f"{HERE}/1/clone").json()
    assert (whole["number"], whole["state"], whole["plan"]["contexts"]) == (2, "draft", "chosen")
    assert whole["targets"] == owner.get(f"{HERE}/1").json()["targets"]
    assert whole["plan"]["goals"]["fooled"] == 7
    assert owner.get(f"{HERE}/2/people").json() == {"people": ["ada"]}
    assert owner.get(f"{HERE}/2/contexts").json() == {"contexts": ids}
    some = owner.post(f"{HERE}/1/clone", json={"parts": ["limits"]}).json()
    assert some["plan"] == PlannedRound(limits={"per_person": 9}).model_dump(mode="json")
    assert owner.get(f"{HERE}/3/contexts").json() == {"contexts": []}
    assert owner.delete(f"{HERE}/1").status_code == 409
    assert owner.delete(f"{HERE}/2").status_code == 204
    assert [item["number"] for item in owner.get(HERE).json()["items"]] == [3, 1]


def test_a_clone_keeps_the_judge_and_how_conditions_are_assigned(owner, database):
    judge = {"model": "llama-judge", "version": "3"}
    arms = [{"name": "with"}, {"name": "without"}]

    def give(session):
        session.get_one(Round, 1).arms = conditions.clean_arms(arms, service.newest_config(session, "nli"))
        session.get_one(Round, 1).assign, session.get_one(Round, 1).judge = "person", judge

    database.write(give)
    number = owner.post(f"{HERE}/1/clone").json()["number"]
    bare = owner.post(f"{HERE}/1/clone", json={"parts": ["limits"]}).json()["number"]

    def rounds(session):
        return [session.scalars(select(Round).filter_by(task_id="nli", number=item)).one() for item in (number, bare)]

    whole, part = database.read(rounds)
    assert (whole.assign, whole.judge, [arm["name"] for arm in whole.arms]) == ("person", judge, ["with", "without"])
    assert (part.assign, part.judge, part.arms) == ("item", judge, [])


@pytest.mark.slow
def test_a_round_works_on_the_few_contexts_that_were_chosen(owner, ada, database):
    ids = database.read(lambda session: list(session.scalars(select(Context.id).where(Context.task_id == "nli"))))
    foreign = database.read(lambda session: session.scalar(select(Context.id).where(Context.task_id == "sentiment")))
    refused = owner.request("PUT", f"{HERE}/1/contexts", json={"contexts": [foreign]})
    assert refused.status_code == 422
    few = ids[2:5]
    for sampling in ("least_used", "uniform", "weighted", "unseen", "most_uncertain"):
        owner.request("PUT", f"{HERE}/1/plan", json={"sampling": sampling})
        owner.request("PUT", f"{HERE}/1/contexts", json={"contexts": few})
        assert {draw(ada)["id"] for _ in range(8)} <= set(few)
    owner.post(f"{HERE}/1/clone", json={"parts": []})
    response = owner.request("PUT", f"{HERE}/2/contexts", json={"from_round": 1})
    assert response.json() == {"contexts": few}
    assert owner.get(f"{HERE}/2").json()["plan"]["contexts"] == "chosen"
    assert owner.request("PUT", f"{HERE}/2/contexts", json={"contexts": []}).json() == {"contexts": []}
    assert owner.get(f"{HERE}/2").json()["plan"]["contexts"] == "all"


def payloads(database):
    """Return the requested jobs of rounds, oldest first."""
    turns = select(Job).where(Job.kind == "turn_round").order_by(Job.created_at)
    return database.read(lambda session: [(row.payload, row.due_at) for row in session.scalars(turns)])


def at(database, number, event, moment):
    """Let a moment of a plan come, as time does."""

    def move(session):
        source = planning.locked_round(session, None, "nli", number)
        source.plan = source.plan | {event: moment.isoformat().replace("+00:00", "Z")}
        return {"round": source.id, "event": event, "at": moment.isoformat(), "person": None}

    return database.write(move)


def test_a_round_closes_and_the_next_opens_by_itself(owner, database):
    closes, opens = later(hours=1), later(minutes=50)
    owner.request("PUT", f"{HERE}/1/plan", json={"closes_at": closes.isoformat()})
    owner.post(f"{HERE}/1/clone")
    owner.request("PUT", f"{HERE}/2/plan", json={"opens_at": opens.isoformat()})
    question = payloads(database)
    assert [(item["event"], due) for item, due in question] == [("closes_at", closes), ("opens_at", opens)]
    early = at(database, 2, "opens_at", later(seconds=-5))
    assert database.write(schedule.turn_if_planned, question[1][0]) == "planned anew"
    assert database.write(schedule.turn_if_planned, early) == "waits"  # round 1 is still open
    assert database.write(schedule.turn_if_planned, question[0][0]) == "closed"
    assert database.write(schedule.turn_if_planned, question[0][0]) == "closed"
    retried = payloads(database)[2][0]
    assert database.write(schedule.turn_if_planned, retried) == "open"
    assert database.write(schedule.turn_if_planned, retried) == "open"
    states = {element["number"]: element["state"] for element in owner.get(HERE).json()["items"]}
    assert states == {1: "closed", 2: "open"}
    kinds = [this_item["kind"] for this_item in owner.get("/api/v1/tasks/nli/acts").json()["items"]]
    assert kinds[:3] == ["round.opened", "round.closed", "round.waits"]


def test_an_example_after_the_moment_of_closing_is_refused_before_the_job_has_come(owner, ada, database):
    drawn = draw(ada)
    at(database, 1, "closes_at", later(seconds=-1))
    response = send(ada, written(drawn, "It is not so."))
    assert response.status_code == 409
    assert database.read(lambda session: session.scalars(select(Round.state)).first()) == "open"


def test_a_link_lets_people_take_part_in_a_round_for_invited_people(owner, ada, bob):
    owner.request("PUT", f"{HERE}/1/plan", json={"audience": {"kind": "invited"}})
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 403
    link = owner.post("/api/v1/tasks/nli/invitations", json={"role": "annotator", "uses": 5, "round": 1}).json()
    for _ in range(2):  # accepting twice uses it once
        assert ada.post("/api/v1/invitations/accept", json={"secret": link["secret"]}).status_code == 200
    drawn = draw(ada)
    assert send(ada, written(drawn, "It is not so.")).status_code == 201
    assert bob.post("/api/v1/tasks/nli/contexts/next").status_code == 403
    assert owner.get(f"{HERE}/1/people").json() == {"people": ["ada"]}
    assert [item["uses"] for item in owner.get("/api/v1/tasks/nli/invitations").json()["items"]] == [1]
    assert owner.request("PUT", f"{HERE}/1/people", json={"people": ["bob", "nobody-x"]}).status_code == 422
    owner.request("PUT", f"{HERE}/1/people", json={"people": ["BOB"]})
    assert bob.post("/api/v1/tasks/nli/contexts/next").status_code == 200
    assert send(ada, written(drawn, "Not at all.")).status_code == 403


def test_rounds_for_experts_and_for_qualified_people_turn_others_away(owner, ada, client):
    owner.request("PUT", f"{HERE}/1/plan", json={"audience": {"kind": "experts"}})
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 403
    assert client.post("/api/v1/tasks/nli/contexts/next").status_code == 401
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "expert"})
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 200
    owner.request("PUT", f"{HERE}/1/plan", json={"audience": {"kind": "qualified", "verified": 1}})
    response = ada.post("/api/v1/tasks/nli/contexts/next")
    assert response.status_code == 403
    assert "You have 0." in response.json()["detail"]


FAILS = {
    "sqlite": ["CREATE TRIGGER fails BEFORE UPDATE ON rounds BEGIN SELECT RAISE(ABORT, 'no room'); END"],
    "postgres": [
        "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$no room$$; END'",
        "CREATE TRIGGER fails BEFORE UPDATE ON rounds FOR EACH ROW EXECUTE FUNCTION fails()",
    ],
}


def run(database, *statements):
    database.write(lambda session: [session.execute(text(statement)) for statement in statements])


@pytest.mark.release
def test_a_closing_that_failed_is_tried_again_ever_more_rarely(owner, database, settings, database_kind, worker):
    """Its three tries fell into a few seconds without room on the disk."""
    payload = at(database, 1, "closes_at", later(hours=-10))
    job = database.write(lambda session: jobs.enqueue(session, "turn_round", payload).id)
    run(database, *FAILS[database_kind])
    worker.start()
    until(lambda: jobs.given_up(database, settings, [job]))
    run(database, "DROP TRIGGER fails" + (" ON rounds" if database_kind == "postgres" else ""))
    round_jobs.reschedule_overdue_rounds(database, settings)
    assert len(payloads(database)) == 1, "after ten hours, a moment ago is too recent"
    database.write(lambda session: session.execute(update(Job).values(sent_at=later(minutes=-70))))
    worker.end()
    worker.start()  # it looks at what is overdue first
    until(lambda: owner.get(f"{HERE}/1").json()["state"] == "closed")
    round_jobs.reschedule_overdue_rounds(database, settings)
    assert len(payloads(database)) == 2


def test_what_is_due_is_asked_for_once_and_what_is_not_due_never(owner, database, settings):
    at(database, 1, "closes_at", later(hours=1))
    round_jobs.reschedule_overdue_rounds(database, settings)
    assert payloads(database) == []
    expected = at(database, 1, "closes_at", later(seconds=-5))
    round_jobs.reschedule_overdue_rounds(database, settings)
    round_jobs.reschedule_overdue_rounds(database, settings)
    assert [payload for payload, _ in payloads(database)] == [expected], "as after a restore without the job"
    assert database.write(schedule.turn_if_planned, expected) == "closed"
