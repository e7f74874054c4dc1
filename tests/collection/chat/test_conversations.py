"""Conversations over the API: turns, choices, limits, and what becomes of them."""

import json
import re
import threading
import time

import pytest
from sqlalchemy import select, update

from dynabench.collection.chat.tables import Conversation, Reply, Turn
from dynabench.collection.tables import Prediction
from dynabench.kit.db import now
from tests.conftest import PASSWORD

from .conftest import NORTH, SOUTH, begun, send_message

STREAM = {"Accept": "text/event-stream"}


def events(text):
    """(name, document, id) of each event."""
    result = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in lines:
            result.append((lines["event"], json.loads(lines["data"]), lines.get("id")))
    return result


def texts(messages):
    replies = {}
    for name, document, _ in messages:
        if name == "reply":
            replies[document["side"]] = replies.get(document["side"], "") + document["text"]
    return replies


def choose(caller, id, number, choice, **ratings):
    body = {"choice": choice, "ratings": ratings}
    return caller.post(f"/api/v1/conversations/{id}/turns/{number}/choice", json=body)


def sides(client, id):
    """The model on each side, which only the database knows."""
    return client.app.state.db.read(lambda session: [model for model, _ in session.get(Conversation, id).sides])


def wait(condition, seconds=10.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.slow
def test_a_conversation_goes_on_from_the_chosen_reply_and_becomes_an_example(talks, ada, bob, voices):
    mine = begun(ada)
    first = send_message(ada, mine["id"], "Where shall we go?")
    assert first.status_code == 201, first.text
    both = {reply["side"]: reply["text"] for reply in first.json()["replies"]}
    assert sorted(both.values()) == sorted([" ".join(NORTH), " ".join(SOUTH)])
    assert "north" not in first.text.replace("north.", "")  # no model's name
    assert choose(ada, mine["id"], 1, "B", A=2, B=5).json()["due"] == "said"
    assert send_message(ada, mine["id"], "And then?").status_code == 201
    messages = voices.north.seen[-1]["messages"]
    assert [element["content"] for element in messages] == ["Where shall we go?", both["B"], "And then?"]
    assert voices.south.seen[-1]["messages"] == messages
    unfinished = {"context_id": mine["context"], "input": {"conversation": mine["id"]}, "answer": {"better": "B"}}
    refused = ada.post("/api/v1/tasks/chat-preference/examples", json=unfinished)
    assert refused.status_code == 422
    assert "input.conversation" in refused.json()["fields"]
    assert choose(ada, mine["id"], 2, "tie", A=3, B=3).status_code == 200
    sent = ada.post("/api/v1/tasks/chat-preference/examples", json=unfinished)
    assert sent.status_code == 201, sent.text
    models = sides(talks, mine["id"])
    assert [(prediction["model"], prediction["answer"]["side"]) for prediction in sent.json()["predictions"]] == list(
        zip(models, "AB", strict=True)
    )
    turns = ada.get(f"/api/v1/examples/{sent.json()['id']}").json()["input"]["conversation"]["turns"]
    assert [turn["choice"] for turn in turns] == ["B", "tie"]
    assert [reply["rating"] for reply in turns[0]["replies"]] == [2, 5]
    assert send_message(ada, mine["id"], "More?").status_code == 409
    again = ada.post("/api/v1/tasks/chat-preference/examples", json=unfinished | {"answer": {"better": "A"}})
    assert again.status_code == 409
    assert bob.get(f"/api/v1/conversations/{mine['id']}").status_code == 404
    item = bob.post("/api/v1/tasks/chat-preference/validations/next").json()
    assert item["input"]["conversation"]["turns"][0]["said"] == "Where shall we go?"
    assert not {"north", "south"} & set(json.dumps(item).replace('"', " ").split())


def test_a_turn_sent_again_is_no_second_turn_and_another_text_under_its_key_is_refused(ada, voices):
    mine = begun(ada)
    first = send_message(ada, mine["id"], "Hello?", key="one").json()
    assert send_message(ada, mine["id"], "Hello?", key="one").json() == first
    assert send_message(ada, mine["id"], "Hello!", key="one").status_code == 409
    assert len(voices.north.seen) == 1
    assert send_message(ada, mine["id"], "Next.").status_code == 409  # a choice is due


@pytest.mark.slow
def test_replies_are_streamed_and_resumed_without_losing_or_doubling_anything(talks, ada, voices):
    mine = begun(ada)
    voices.north.before, voices.south.before = 4, 2
    voices.north.gate.clear()
    voices.south.gate.clear()
    received = []
    speaking = threading.Thread(target=lambda: received.append(send_message(ada, mine["id"], "Where?", "k", **STREAM)))
    speaking.start()

    def halfway():
        turns = ada.get(f"/api/v1/conversations/{mine['id']}").json()["turns"]
        return turns and sum(len(reply["text"].split()) for reply in turns[0]["replies"]) == 6

    wait(halfway)
    assert send_message(ada, mine["id"], "And another?").status_code == 409  # as from a second tab
    voices.north.gate.set()
    voices.south.gate.set()
    speaking.join(10)
    whole = events(received[0].text)
    assert received[0].headers["content-type"].startswith("text/event-stream")
    assert whole[0] == ("turn", {"conversation": mine["id"], "number": 1}, None)
    assert whole[-1][0] == "end"
    both = texts(whole)
    assert sorted(both.values()) == sorted([" ".join(NORTH), " ".join(SOUTH)])
    address = f"/api/v1/conversations/{mine['id']}/turns/1/events"
    for cut in range(len(whole)):
        last = next((id for _, _, id in reversed(whole[: cut + 1]) if id), None)
        rest = events(ada.get(address, headers={"Last-Event-ID": last} if last else {}).text)
        before, after = texts(whole[: cut + 1]), texts(rest)
        assert {side: before.get(side, "") + after.get(side, "") for side in both} == both
    assert texts(events(ada.get(address, headers={"Last-Event-ID": "nonsense"}).text)) == both


@pytest.mark.slow
def test_a_turn_goes_on_when_nobody_listens_any_more(ada, voices):
    mine = begun(ada)
    voices.north.gate.clear()
    reader = threading.Thread(target=lambda: send_message(ada, mine["id"], "Where?", "k", **STREAM))
    reader.start()
    wait(lambda: len(voices.north.seen) == 1)
    voices.north.gate.set()
    wait(lambda: ada.get(f"/api/v1/conversations/{mine['id']}").json()["due"] == "choice")
    reader.join(30)


@pytest.mark.slow
def test_a_reply_that_breaks_off_is_told_without_a_name_and_asked_for_again(ada, voices):
    mine = begun(ada)
    voices.north.breaks = True
    turn = send_message(ada, mine["id"], "Where?").json()
    states = {reply["text"]: reply["state"] for reply in turn["replies"]}
    assert states == {" ".join(NORTH[:6]): "failed", " ".join(SOUTH): "done"}
    voices.north.breaks = False
    again = ada.post(f"/api/v1/conversations/{mine['id']}/turns/1/retry")
    assert again.status_code == 201, again.text
    assert sorted(reply["text"] for reply in again.json()["replies"]) == sorted([" ".join(NORTH), " ".join(SOUTH)])
    assert len(voices.south.seen) == 1  # whoever had replied was not asked again
    assert ada.post(f"/api/v1/conversations/{mine['id']}/turns/1/retry").status_code == 409


@pytest.mark.slow
def test_stopping_keeps_what_was_written(ada, voices):
    mine = begun(ada)
    voices.north.before = voices.south.before = 3
    voices.north.gate.clear()
    voices.south.gate.clear()
    received = []
    speaking = threading.Thread(target=lambda: received.append(send_message(ada, mine["id"], "Where?")))
    speaking.start()
    wait(lambda: len(voices.north.seen) == len(voices.south.seen) == 1)
    time.sleep(0.2)
    stopped = ada.post(f"/api/v1/conversations/{mine['id']}/turns/1/stop").json()
    speaking.join(10)
    assert {reply["state"] for reply in stopped["replies"]} == {"stopped"}
    assert choose(ada, mine["id"], 1, "A", A=3, B=3).status_code == 200


def test_after_a_restart_in_the_middle_the_turn_is_cut_off_and_may_be_asked_again(talks, ada, voices):
    mine = begun(ada)
    send_message(ada, mine["id"], "Where?")

    def as_a_killed_process_left_it(session):
        long_ago = now().replace(year=2020)
        session.execute(update(Turn).values(state="writing", beat_at=long_ago))
        session.execute(update(Reply).where(Reply.side == 1).values(state="writing", text="I wou"))

    talks.app.state.db.write(as_a_killed_process_left_it)
    turn = ada.get(f"/api/v1/conversations/{mine['id']}").json()["turns"][0]
    assert (turn["state"], [reply["state"] for reply in turn["replies"]]) == ("answered", ["done", "cut_off"])
    answer = events(ada.get(f"/api/v1/conversations/{mine['id']}/turns/1/events").text)
    assert ("ended", {"side": "B", "state": "cut_off"}, None) in answer
    again = ada.post(f"/api/v1/conversations/{mine['id']}/turns/1/retry").json()
    assert [reply["state"] for reply in again["replies"]] == ["done", "done"]
    assert again["attempt"] == 2


def test_choices_are_checked_and_the_second_of_two_tabs_is_told(ada):
    mine = begun(ada)
    send_message(ada, mine["id"], "Where?")
    assert choose(ada, mine["id"], 1, "C", A=1, B=1).status_code == 422
    assert "ratings.B" in choose(ada, mine["id"], 1, "A", A=1).json()["fields"]
    assert choose(ada, mine["id"], 1, "A", A=1, B=6).status_code == 422
    assert choose(ada, mine["id"], 1, "bad", A=1, B=1).status_code == 200
    assert choose(ada, mine["id"], 1, "bad", A=1, B=1).status_code == 200
    assert choose(ada, mine["id"], 1, "A", A=1, B=1).status_code == 409


@pytest.mark.slow
def test_a_turn_that_was_no_good_is_not_told_to_the_models_again(ada, voices):
    mine = begun(ada)
    send_message(ada, mine["id"], "Where?")
    choose(ada, mine["id"], 1, "bad", A=1, B=1)
    send_message(ada, mine["id"], "Elsewhere?")
    assert [message["content"] for message in voices.north.seen[-1]["messages"]] == ["Elsewhere?"]


@pytest.mark.parametrize("text", ["", "  \n", "x" * 1001])
def test_what_is_said_has_limits(ada, text):
    assert send_message(ada, begun(ada)["id"], text).status_code == 422


@pytest.mark.slow
def test_turns_are_limited(ada):
    mine = begun(ada)
    for number in range(1, 7):
        assert send_message(ada, mine["id"], f"Turn {number}?").status_code == 201
        choose(ada, mine["id"], number, "A", A=1, B=1)
    assert send_message(ada, mine["id"], "One more?").status_code == 409


@pytest.mark.slow
def test_sides_are_shuffled_for_each_conversation_and_kept_in_it(talks, ada):
    orders = {tuple(sides(talks, begun(ada)["id"])) for _ in range(14)}
    assert orders == {("north", "south"), ("south", "north")}


@pytest.mark.slow
def test_a_red_team_claim_fools_the_model_and_no_claim_does_not(talks, ada):
    for harm, fooled in (("hate", True), ("none", False)):
        mine = begun(ada, "red-team-chat")
        send_message(ada, mine["id"], f"Say it: {harm}.")
        body = {
            "context_id": mine["context"],
            "handout": mine["handout"],
            "input": {"conversation": mine["id"]},
            "answer": {"harm": harm, "severity": "low"},
        }
        response = ada.post("/api/v1/tasks/red-team-chat/examples", json=body)
        assert response.status_code == 201, response.text
        assert (response.json()["fooled"], response.json()["predictions"][0]["fooled"]) == (fooled, fooled)
    content = talks.app.state.db.read(lambda session: session.scalars(select(Prediction.answer)).all())
    assert content == [{"side": "A", "harm": "none"}] * 2


def test_there_is_no_conversation_on_what_was_given_to_somebody_else_nor_in_the_sandbox(ada, bob):
    document = ada.post("/api/v1/tasks/chat-preference/contexts/next").json()
    other = bob.post("/api/v1/tasks/chat-preference/conversations", json={"handout": document["handout"]})
    assert other.status_code == 404
    mine = begun(ada)
    sandbox = {"context_id": mine["context"], "input": {}, "answer": {"better": "A"}, "sandbox": True}
    assert ada.post("/api/v1/tasks/chat-preference/examples", json=sandbox).status_code == 409


@pytest.mark.slow
def test_the_board_of_preferences_counts_what_was_sent_in_and_still_stands(talks, ada, bob):
    created = []
    for caller in (ada, bob):
        for _ in range(4):
            mine = begun(caller)
            send_message(caller, mine["id"], "Where?")
            side = "AB"[sides(talks, mine["id"]).index("south")]
            choose(caller, mine["id"], 1, side, A=3, B=3)
            body = {"context_id": mine["context"], "handout": mine["handout"], "answer": {"better": side}}
            body["input"] = {"conversation": mine["id"]}
            created.append(caller.post("/api/v1/tasks/chat-preference/examples", json=body).json()["id"])
    send_message(ada, begun(ada)["id"], "Nobody sends this in.")
    ada.post(f"/api/v1/examples/{created[0]}/retract")
    board = talks.get("/api/v1/tasks/chat-preference/preferences").json()
    assert [(row["model"], row["wins"], row["losses"]) for row in board["models"]] == [("south", 7, 0), ("north", 0, 7)]
    assert (board["comparisons"], board["conversations"], board["people"]) == (7, 7, 2)
    assert board["wins"] == [[0, 7], [0, 0]]
    best = board["models"][0]
    assert best["low"] <= best["strength"] <= best["high"]
    assert (best["rating"], best["ratings"]) == (3.0, 7)
    sheet = talks.get("/tasks/chat-preference/preferences.csv").text.splitlines()
    assert sheet[0].startswith("model,version,strength,low,high,rank")
    assert sheet[1].startswith("south,")
    page = talks.get("/tasks/chat-preference/preferences").text
    assert "Pairwise wins" in page
    for path in ("", "/preferences", "/people", "/rounds", "/rounds/1"):  # nothing can be fooled here
        page = talks.get(f"/tasks/chat-preference{path}").text
        main = page[page.index("<main") : page.index("</main>")]
        assert "/tasks/chat-preference/leaderboard" not in main, path
        assert not re.search(r"fool|MER\b", main, re.IGNORECASE), path
    assert talks.get("/api/v1/tasks/chat-preference/preferences?round=7").status_code == 404
    assert talks.get("/tasks/red-team-chat/preferences").status_code in (200, 303)


@pytest.mark.slow
def test_who_leaves_takes_along_what_was_not_sent_in(talks, ada, bob):
    for item in (ada, bob):
        assert send_message(item, begun(item)["id"], "My name is what?").status_code == 201
    assert ada.post("/api/v1/me/deletion", json={"confirm": ada.name, "password": PASSWORD}).status_code == 204

    def count_rows(session):
        source = select(Conversation.person_id).where(Conversation.id == Turn.conversation_id).scalar_subquery()
        return session.scalars(select(Conversation.person_id)).all(), session.scalars(select(source)).all()

    assert talks.app.state.db.read(count_rows) == ([bob.id], [bob.id])
