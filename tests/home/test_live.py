"""Live counters and activity: what is told, to whom, by how many reads, and how streams end."""

import asyncio
import json
import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import httpx2
import pytest
from sqlalchemy import update

from dynabench.benchmark.registry.tables import ModelListing
from dynabench.cli import processes
from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from dynabench.site.home.totals import Totals
from dynabench.site.live import feed as feeds
from dynabench.site.live.activity import Position, read_changes
from dynabench.site.live.feed import Feed, WebServer
from tests.collection import conftest as world
from tests.collection.conftest import draw, send

host, rules, client, admin, owner, furnish = (
    world.host, world.rules, world.client, world.admin, world.owner, world.furnish
)  # fmt: skip
FOOLED = "An annotator fooled %s"


@pytest.fixture
def ada(owner, person, database):
    """An author whose profile is public."""
    caller = person("ada")
    change(database, Person, public_profile=True)
    return caller


def write(caller, text="So good.", label="negative"):
    """An example of sentiment that fools sentiment-a, or with another label does not."""
    body = {"context_id": draw(caller, "sentiment")["id"], "input": {"statement": text}, "answer": {"label": label}}
    answer = send(caller, body, task="sentiment")
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def sentences(database, position=None):
    return [activity.sentence for activity in database.read(read_changes, position).activities]


def change(database, table, **values):
    database.write(lambda session: session.execute(update(table).values(**values)))


def test_sentences_name_people_and_models_and_nothing_that_was_written(ada, database):
    first = write(ada, "A secretly good film.")
    write(ada, "So good.", "positive")
    assert sentences(database) == ["ada fooled sentiment-a", "ada tried to fool sentiment-a"]
    assert sentences(database, Position(first, 0))[-1:] == ["ada tried to fool sentiment-a"]
    for hidden in ({"public_profile": False}, {"public_profile": True, "deleted_at": now()}):
        change(database, Person, **hidden)
        assert sentences(database) == ["An annotator fooled sentiment-a", "An annotator tried to fool sentiment-a"]


@pytest.mark.parametrize(
    ("table", "values"),
    [
        (Standing, {"hidden": True}),
        (Standing, {"withheld": True}),
        (Standing, {"retracted": True}),
        (Example, {"source": "program"}),
        (Round, {"plan": {"audience": {"kind": "invited"}}}),
        (Round, {"state": "closed"}),
        (Person, {"imported_as": "person-x"}),
    ],
)
def test_what_is_not_shown_has_no_sentence(ada, database, table, values):
    write(ada)
    assert len(sentences(database)) == 1
    rows = update(table).values(**values)
    database.write(lambda session: session.execute(rows.where(Person.username == "ada") if table is Person else rows))
    assert sentences(database) == []


def test_a_model_that_few_may_see_is_not_named(ada, database):
    write(ada)
    database.write(lambda session: session.merge(ModelListing(name="sentiment-a", visibility="private")))
    assert sentences(database) == ["ada fooled the model"]


def test_ids_of_events_are_read_or_refused():
    assert Position.parse(str(Position(7, 3))) == (7, 3)
    for text in (None, "", "7", "-", "7-", "x-1", "7-²", "-1-2", "9" * 99):
        assert Position.parse(text) is None


def totals(examples):
    numbers = dict.fromkeys(Totals.__dataclass_fields__, 0)
    return Totals(**(numbers | {"last_at": None, "examples": examples}))


@pytest.fixture
def quick(monkeypatch):
    """A feed that looks all the time."""
    monkeypatch.setattr(feeds, "PAUSE", 0.01)
    monkeypatch.setattr(feeds, "BUSY_COUNTERS", 0.0)
    monkeypatch.setattr(feeds, "IDLE_COUNTERS", 0.02)


class Reads:
    """A database whose reads are counted; it can be away."""

    def __init__(self, database):
        self.database, self.count, self.away = database, 0, False

    async def aread(self, function, *args):
        self.count += 1
        if self.away:
            raise OSError("away")
        return await self.database.aread(function, *args)


def feed_of(database, **limits):
    return Feed(SimpleNamespace(db=Reads(database)), **limits)


async def next_event(stream, name):
    """The next event of this name, with its id."""
    async with asyncio.timeout(20):
        async for text in stream:
            fields = dict(line.split(": ", 1) for line in text.strip().splitlines() if not line.startswith(":"))
            if fields.get("event") == name:
                return fields.get("id"), json.loads(fields["data"])
    raise AssertionError("the stream has ended")


def test_many_streams_cost_the_reads_of_one_and_all_are_told(ada, database, quick):
    topic = ("sentiment", 1)

    async def story():
        feed = feed_of(database)
        streams = [feed.stream("a", topic) for _ in range(40)]
        events = await asyncio.gather(*(next_event(stream, "counters") for stream in streams))
        assert {event["counts"]["examples"] for _id, event in events} == {0}
        assert feed._state.db.count <= 2 * feed.looks
        waiting = [asyncio.create_task(next_event(stream, "activity")) for stream in streams]
        await asyncio.to_thread(write, ada)
        answers = await asyncio.gather(*waiting)
        assert {event["text"] for _id, event in answers} == {"ada fooled sentiment-a"}
        late = feed.stream("a", topic)  # the counters may have come before the sentence
        _id, event = await next_event(late, "counters")
        await late.aclose()
        assert event["counts"] == {"examples": 1, "fooled": 1, "resolved": 0, "verified": 0, "people": 1}
        reader = feed._reader
        for stream in streams:
            await stream.aclose()
        await asyncio.wait_for(reader, 5)
        assert feed.places.held == 0

        # A client that comes back to another process goes on behind what it was told of.
        await asyncio.to_thread(write, ada, "So good.", "positive")
        other = feed_of(database)
        stream = other.stream("a", topic, Position.parse(answers[0][0]))
        _id, event = await next_event(stream, "activity")
        assert event["text"] == "ada tried to fool sentiment-a"
        await stream.aclose()
        await other.close()

    asyncio.run(story())


def test_a_feed_has_room_for_so_many_and_survives_a_database_that_is_away(owner, database, quick, caplog):
    async def story():
        feed = feed_of(database, most=3, of_address=2)
        feed._state.db.away = True
        streams = [feed.stream("a", ("sentiment", 1)) for _ in range(2)]
        for stream in streams:
            assert (await anext(stream)).startswith("retry: ")
        assert not feed.has_room("a")
        assert feed.has_room("b")
        waiting = asyncio.create_task(next_event(streams[0], "counters"))
        await asyncio.sleep(0.05)
        feed._state.db.away = False
        await waiting
        ending = asyncio.create_task(next_event(streams[1], "never"))
        await asyncio.sleep(0.05)
        await feed.close()
        with pytest.raises(AssertionError, match="ended"):
            await asyncio.wait_for(ending, 1)
        assert not feed.has_room("b")

    asyncio.run(story())
    assert "live pages failed" in caplog.text


def test_the_page_the_counters_and_the_stream_agree(ada, client):
    write(ada)
    page = client.get("/tasks/sentiment/rounds/1").text
    assert 'data-live-events="/live/events?task=sentiment&amp;round=1"' in page
    answer = client.get("/live?task=sentiment&round=1").json()
    assert answer["counts"] == {"examples": 1, "fooled": 1, "resolved": 0, "verified": 0, "people": 1}
    assert f'data-live-value="examples" data-live-count="1">{answer["texts"]["examples"]}<' in page
    assert f'data-live-count="1">{answer["texts"]["people"]}<' in page
    assert client.get("/live").json()["counts"]["examples"] == 1
    assert client.get("/live?task=gone&round=1").json() == {"texts": {}, "counts": {}}
    client.app.state.live.places.most = 0
    assert client.get("/live/events").status_code == 204


@contextmanager
def serving(app):
    """Serve an application as `dynabench web` does; yields its address and the function that stops it."""
    config = processes.server_config(app.state.settings)
    config.app, config.port = app, 0
    server = WebServer(config)
    bound = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()

    def stop():
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()

    yield f"http://127.0.0.1:{bound.getsockname()[1]}", stop
    stop()


def test_an_open_stream_holds_no_place_of_requests_and_ends_at_once_at_a_shutdown(app):
    with serving(app) as (address, stop), httpx2.Client(base_url=address, timeout=20) as visitor:
        with visitor.stream("GET", "/live/events", headers={"Accept-Encoding": "gzip"}) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["x-accel-buffering"] == "no"
            assert "content-encoding" not in answer.headers
            lines = answer.iter_lines()
            assert next(lines).startswith("retry: ")
            assert app.state.live.places.held == 1
            admission = next(layer for layer in _layers(app) if type(layer).__name__ == "Admission")
            assert (admission.working.held, admission.answering.held) == (0, 0)
            began = time.monotonic()
            stop()
            list(lines)
            assert time.monotonic() - began < 3
        assert app.state.live.places.held == 0


def _layers(app):
    layer = app.middleware_stack
    while layer is not None:
        yield layer
        layer = getattr(layer, "app", None)
