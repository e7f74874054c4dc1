"""The part of the client that talks with language models, turn by turn."""

import json
import time
import uuid
from collections.abc import Iterable, Iterator
from typing import cast

import httpx2

from dynabench.client.connection import ApiConnection, Json

LOST = httpx2.TransportError
TRIES = 6
"""Times in a row that a lost connection is taken up again before it is given up."""
PATIENCE = 300.0
"""Seconds that replies may take: a model's own limit ends them earlier."""
STREAM = {"Accept": "text/event-stream"}


class Talking(ApiConnection):
    """The part of `client.Client` for conversations."""

    def suggestions(self, handout: int, input: Json | None = None) -> Json:
        """Help with writing, where the handout's `assistant` is true: `{items, problems}`.

        `input` is what you have written so far. Name the one that you use as `suggestion` of `create_example`.
        """
        return cast(Json, self.request("POST", f"/handouts/{handout}/suggestions", json={"input": input or {}}))

    def begin_conversation(self, task: str, handout: int) -> Json:
        """Talk with the round's models on a context that `next_context` gave, or go on: `{id, sides, turns, due}`.

        Send it in with `create_example`, its `id` as the value of the chat field, once enough was said.
        """
        return cast(Json, self.request("POST", f"/tasks/{task}/conversations", json={"handout": handout}))

    def conversation(self, id: int) -> Json:
        """A conversation of yours; `due` is what it waits for: `said`, `replies` or `choice`."""
        return cast(Json, self.request("GET", f"/conversations/{id}"))

    def say(self, conversation: int, text: str, *, key: str = "") -> Json:
        """Say something to all models, and wait for the whole turn: `{number, replies, state, ...}`.

        The same `key` again begins no second turn; without one each call has its own.
        """
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        how: Json = {"json": {"said": text}, "headers": headers, "timeout": PATIENCE}
        return cast(Json, self.request("POST", f"/conversations/{conversation}/turns", **how))

    def stream(self, conversation: int, text: str, *, key: str = "") -> Iterator[Json]:
        """Say something, and get the replies while they are written: the events `turn`, `reply`, `ended`, `end`.

        Each is `{"event": ..., ...}`; pieces of text have their `side`. A lost connection is taken up again behind the
        last event that came, so that nothing is missing and nothing comes twice; then there is no second `turn`.
        """
        headers = STREAM | {"Idempotency-Key": key or uuid.uuid4().hex}
        how: Json = {"method": "POST", "url": f"/api/v1/conversations/{conversation}/turns", "json": {"said": text}}
        begun, lost = False, 0
        while True:
            try:
                with self.http.stream(**how, headers=headers, timeout=PATIENCE) as response:
                    for event in _events(self.checked(response).iter_lines()):
                        if id := event.pop("id", ""):
                            headers, lost = headers | {"Last-Event-ID": id}, 0
                        if event["event"] == "turn":
                            address = f"/api/v1/conversations/{conversation}/turns/{event['number']}/events"
                            how = {"method": "GET", "url": address}
                        if event["event"] != "turn" or not begun:
                            begun = True
                            yield event
                        if event["event"] == "end":
                            return
            except LOST:
                if lost + 1 == TRIES:
                    raise
            lost += 1
            if lost == TRIES:
                raise httpx2.ReadError("The replies broke off, again and again.")
            time.sleep(min(0.1 * 2**lost, 3))

    def ask_again(self, conversation: int, number: int) -> Json:
        """Ask those models again whose replies to the last turn broke off, failed or were stopped; the whole turn."""
        path = f"/conversations/{conversation}/turns/{number}/retry"
        return cast(Json, self.request("POST", path, timeout=PATIENCE))

    def stop_replies(self, conversation: int, number: int) -> Json:
        """End the replies to a turn where they are."""
        return cast(Json, self.request("POST", f"/conversations/{conversation}/turns/{number}/stop"))

    def choose_reply(self, conversation: int, number: int, choice: str, ratings: Json | None = None) -> Json:
        """Prefer a side, or say `tie` or `bad`; `ratings` by side where the task asks for them. The conversation."""
        body = {"choice": choice, "ratings": ratings or {}}
        return cast(Json, self.request("POST", f"/conversations/{conversation}/turns/{number}/choice", json=body))

    def preferences(self, task: str, number: int | None = None) -> Json:
        """The models of a task of conversations by strength, of all its rounds or one."""
        params = {} if number is None else {"round": number}
        return cast(Json, self.request("GET", f"/tasks/{task}/preferences", params=params))


def _events(lines: Iterable[str]) -> Iterator[Json]:
    """Server-sent events as `{"event", "id", ...data}`; comments are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line == "" and fields:
            yield {"event": fields["event"], "id": fields.get("id", ""), **json.loads(fields["data"])}
            fields = {}
        elif name:
            fields[name] = value
