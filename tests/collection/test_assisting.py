"""Help with writing: offered where an arm says so, never from what is hidden, and what became of it is recorded."""

import pytest
from sqlalchemy import select, update

from dynabench.collection.assisting.providers import lines
from dynabench.collection.assisting.service import Assistance, Suggestion
from dynabench.collection.tables import Example, Standing
from dynabench.rounds import service
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.shipped import shipped_tasks
from tests.collection.conftest import draw, send, written

ARMS = [{"name": "alone"}, {"name": "helped", "assistant": True, "share": 3}]
SOURCE = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
PAST = "They did not eat lunch at all before the storm."


def suggest(caller, handout, **input):
    return caller.post(f"/api/v1/handouts/{handout['handout']}/suggestions", json={"input": input})


def drawn(caller, arm):
    """A context in this arm."""
    return next(values for values in (draw(caller) for _ in range(20)) if values["arm"] == arm)


@pytest.fixture
def trial(database, owner, ada):
    """A released first round, in which ada fooled a model, and a second one that helps in one of two arms."""
    past = [send(ada, written(draw(ada), text)).json()["id"] for text in (PAST, PAST[5:], PAST[10:])]
    owner.post("/api/v1/tasks/nli/rounds/1/close")
    verified = update(Standing).values(fooled=True, verdict="correct").where(Standing.example_id.in_(past))
    database.write(lambda session: session.execute(verified))
    withheld = update(Standing).values(withheld=True).where(Standing.example_id == past[1])
    database.write(lambda session: session.execute(withheld))
    database.write(
        lambda session: session.execute(update(Standing).values(hidden=True).where(Standing.example_id == past[2]))
    )
    database.write(lambda session: session.execute(update(Round).values(state="released")))
    database.write(service.save_task, None, f"{SOURCE}\nassistant: {{times: 2}}\n")
    opened = owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"], "arms": ARMS})
    assert opened.status_code == 201, opened.text
    return past


def first_goal(database, past, handout):
    """Make the goal of a handout that of the past example, which is what patterns are chosen by."""
    from dynabench.collection.handout_tables import Handout

    answer = database.read(lambda session: session.get_one(Example, past).answer)
    goal = update(Handout).values(goal=answer).where(Handout.id == handout["handout"])
    database.write(lambda session: session.execute(goal))
    return {**handout, "goal": answer}


def test_only_what_is_released_and_open_to_all_is_suggested(database, owner, trial, bob):
    inputs = first_goal(database, trial[0], drawn(bob, "helped"))
    assert inputs["assistant"] is True
    answer = suggest(bob, inputs)
    assert answer.status_code == 201, answer.text
    [pattern] = answer.json()["items"]
    assert (pattern["provider"], pattern["text"], pattern["field"]) == ("neighbours", PAST, "hypothesis")
    assert pattern["about"]["context"]
    database.write(lambda session: session.execute(update(Round).where(Round.number == 1).values(state="closed")))
    assert suggest(bob, inputs).json() == {"items": [], "problems": []}, "what is not released may be hidden yet"


@pytest.mark.slow
def test_what_became_of_suggestions_is_told_by_the_server(database, owner, trial, bob):
    values = first_goal(database, trial[0], drawn(bob, "helped"))
    text = "The children don't play because it is raining."
    items = {item["provider"]: item for item in suggest(bob, values, hypothesis=text).json()["items"]}
    assert items["edits"]["text"] != text
    assert items["edits"]["about"]["edit"]
    first = items["neighbours"]["id"]

    def sent(text, **more):
        response = send(bob, written(values, text, **more))
        assert response.status_code == 201, response.text
        return database.read(lambda session: session.get_one(Assistance, response.json()["id"]))

    alone = sent("Somebody wrote this alone.")
    assert (alone.outcome, alone.provider, alone.distance) == ("ignored", "", None)
    edited = sent(f"{PAST}!", suggestion=first)
    assert (edited.outcome, edited.distance, edited.text) == ("edited", 1, PAST)
    same = sent(items["edits"]["text"], suggestion=first)
    assert (same.outcome, same.provider, same.distance) == ("accepted", "edits", 0)
    assert same.shown == len(items) or same.shown == 3
    assistance = owner.get("/api/v1/tasks/nli/rounds/2/arms").json()["assistance"]
    [line] = assistance["items"]
    assert [line[name] for name in ("arm", "accepted", "edited", "ignored", "unasked")] == ["helped", 1, 1, 1, 0]
    assert assistance["with_help"]["value"] is not None
    assert assistance["without"]["value"] is assistance["difference"]["value"] is None
    page = owner.get("/tasks/nli/manage/figures?view=arms")
    assert "Effect of the assistant" in page.text or page.status_code == 303
    forged = send(bob, written(values, "Something else.", suggestion=10**6))
    assert forged.status_code == 422
    assert "suggestion" in forged.json()["fields"]


def test_nobody_is_helped_elsewhere_or_too_often(database, owner, trial, ada, bob):
    alone = drawn(bob, "alone")
    assert alone["assistant"] is False
    assert suggest(bob, alone).status_code == 409
    helped = drawn(bob, "helped")
    assert suggest(ada, helped).status_code == 404
    answer = [suggest(bob, helped, hypothesis=f"It isn't {word} today.") for word in ("cold", "warm", "dry")]
    assert [item.status_code for item in answer] == [201, 201, 409]
    owner.post("/api/v1/tasks/nli/rounds/2/close")
    assert suggest(bob, helped).status_code == 409


def test_an_account_that_goes_takes_what_was_suggested_to_it(database, owner, trial, bob):
    values = drawn(bob, "helped")
    assert suggest(bob, values, hypothesis="It isn't cold.").json()["items"]
    from dynabench.collection.assisting.service import forget

    database.write(forget, bob.id)
    assert database.read(lambda session: session.scalar(select(Suggestion.id))) is None


def test_the_lines_of_a_reply_are_texts():
    text = '1. "One text."\n\n- Another text, "quoted"\n  3) A third\n2 people met.'
    assert lines(text) == ["One text.", 'Another text, "quoted"', "A third", "2 people met."]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("{field: premise}", "assistant.field"),
        ("{providers: [model]}", "assistant"),
        ("{providers: [model], model: {name: m, prompt: '{premisse}'}}", "assistant.model.prompt"),
        ("{most: 9}", "assistant.most"),
    ],
)
def test_a_config_that_refers_to_nothing_is_refused(part, path):
    from dynabench.kit.errors import Invalid

    with pytest.raises(Invalid) as refused:
        TaskConfig.parse(f"{SOURCE}\nassistant: {part}\n")
    assert any(key.startswith(path) for key in refused.value.fields)
