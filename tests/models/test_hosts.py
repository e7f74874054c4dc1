"""One client, several hosts: who is asked, what happens when one dies, hangs, is busy or lacks the model."""

import asyncio
import json
import time

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dynabench.kit.errors import Unavailable
from dynabench.models.client import Host, ModelState
from dynabench.models.host import wire
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.models.host_connection import AT_ONCE, SLOW, TRIPS
from dynabench.models.protocol import ModelCard, ModelOutput

from .conftest import served

INPUTS = {"statement": "A good film, on the whole."}


class Stand:
    """A host of one model, as slow, busy and unready as it is told to be."""

    def __init__(self, seconds=None, **entry):
        labels = ("positive", "negative")
        self.card = ModelCard("m", "1", "sentiment", "oip", ("statement",), "label", labels, seconds=seconds)
        self.entry = {"state": "READY", "reason": ""} | entry
        self.delay, self.refusal, self.calls, self.deadlines = 0.0, None, 0, []
        index = Route("/v2/repository/index", self.index, methods=["POST"])
        infer = Route("/v2/models/{path:path}", self.infer, methods=["POST"])
        self.app = Starlette(routes=[index, infer])

    async def index(self, request):
        return JSONResponse([{"name": "m", "version": "1", "card": wire.card_json(self.card)} | self.entry])

    async def infer(self, request):
        self.calls += 1
        self.deadlines.append(request.headers.get("answer-within"))
        await asyncio.sleep(self.delay)
        if self.refusal:
            return JSONResponse(*self.refusal)
        return JSONResponse(wire.response(self.card, [ModelOutput({"label": "positive"}, None, {"by": "m"})]))


def story(run, *apps, timeout=1.0, more=""):
    """Run with a client of all the hosts."""

    def within(rest, urls):
        if rest:
            with served(rest[0], "http://127.0.0.1:0") as url:
                return within(rest[1:], [*urls, url])

        async def run_story():
            host = Host(",".join(urls) + more, timeout)
            try:
                return await run(host)
            finally:
                await host.close()

        return asyncio.run(run_story())

    return within(list(apps), [])


def test_calls_go_to_the_host_that_has_the_model_and_then_to_the_one_with_less_to_do():
    ready, also, absent = Stand(), Stand(), Stand(state="UNAVAILABLE", reason="unloaded: loads on demand")
    ready.delay = also.delay = 0.05

    async def run(host):
        await host.states()
        await asyncio.gather(*(host.answer("m", "1", INPUTS) for _ in range(20)))

    story(run, absent.app, ready.app, also.app)
    assert (absent.calls, ready.calls, also.calls) == (0, 10, 10)


def test_what_the_hosts_say_is_merged_and_where_a_model_runs_is_told():
    here = Stand(since="2026-01-01T00:00:00+00:00", memory_bytes=5)
    stand = Stand(state="UNAVAILABLE", reason="unloaded: loads on demand", on_demand=True)

    async def run(host):
        (state,) = await host.states()
        assert (state.state, state.memory_bytes, state.since) == ("READY", 5, "2026-01-01T00:00:00+00:00")
        assert state.where == host.url.split(",")[1]
        here.entry = stand.entry
        (state,) = await host.states()
        assert (state.state, state.where, state.available) == ("UNAVAILABLE", host.url, True)
        assert await host.index() == [here.card]
        here.entry = stand.entry = {"state": "UNAVAILABLE", "reason": "the weights cannot be loaded"}
        assert await host.index() == []

    story(run, stand.app, here.app)


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        (({"error": "busy", "position": 3, "seconds": 4.0}, 503), "position 3"),
        (({"error": "this host does not serve m"}, 404), "does not serve"),
    ],
)
def test_a_host_that_is_busy_or_lacks_the_model_is_passed_over_once(refusal, message):
    full, free = Stand(), Stand()
    full.refusal = refusal

    async def run(host):
        for _ in range(4):
            assert (await host.answer("m", "1", INPUTS)).extras == {"by": "m"}
        free.refusal = refusal
        with pytest.raises(Unavailable, match=message) as refused:
            await host.answer("m", "1", INPUTS)
        if len(refusal[0]) == 3:
            assert (refused.value.extra["position"], refused.value.extra["seconds"]) == (3, 4.0)
            assert refused.value.extra["retry_after"] >= 4

    story(run, full.app, free.app)
    assert free.calls == 5


def test_a_host_that_is_not_there_is_left_alone_and_nobody_notices(tmp_path):
    here = Stand()

    async def run(host):
        for _ in range(10):
            assert (await host.answer("m", "1", INPUTS)).version == "1"
        assert [state.name for state in await host.states()] == ["m"]
        assert await host.readme("m", "1") == ""  # it hands none out
        assert not await host.ready()  # this one has no route for it, the other is not there

    story(run, here.app, more=f",unix:{tmp_path / 'nobody.sock'}")
    assert here.calls == 10


async def hang(request):
    await asyncio.sleep(30)


@pytest.mark.release
def test_a_host_that_hangs_is_passed_over_until_it_is_back():
    hanging, well = Stand(), Stand()
    stuck = Route("/v2/{path:path}", hang, methods=["GET", "POST"])

    async def run(host):
        await host.states()
        hanging.app.routes.insert(0, stuck)
        for _ in range(4):
            assert (await host.answer("m", "1", INPUTS)).version == "1"
        assert (hanging.calls, well.calls) == (0, 4)
        hanging.app.routes.remove(stuck)
        async with asyncio.timeout(60):
            while not hanging.calls:
                await host.answer("m", "1", INPUTS)

    story(run, hanging.app, well.app, timeout=20.0)


@pytest.mark.release
def test_a_host_that_is_slow_to_answer_but_lives_is_waited_for():
    slow, other = Stand(), Stand(state="UNAVAILABLE")
    slow.delay = 3 * SLOW

    async def run(host):
        await host.states()
        await host.answer("m", "1", INPUTS)

    story(run, slow.app, other.app, timeout=20.0)
    assert (slow.calls, other.calls) == (1, 0)


def test_hosts_that_are_equally_good_take_turns():
    first, second = Stand(), Stand()

    async def run(host):
        await host.states()
        for _ in range(6):
            await host.answer("m", "1", INPUTS)

    story(run, first.app, second.app)
    assert (first.calls, second.calls) == (3, 3)


def test_a_host_that_fails_to_say_what_it_has_takes_nothing_from_what_the_others_say():
    well, failing = Stand(), Stand()
    failing.entry = {"card": "no card"}

    async def run(host):
        assert [(state.name, state.where) for state in await host.states()] == [("m", host.url.split(",")[0])]
        well.entry = failing.entry
        with pytest.raises(Unavailable, match="does not say which models"):
            await host.states()

    story(run, well.app, failing.app)


def test_where_the_only_host_with_the_model_is_gone_no_other_is_blamed(tmp_path):
    other = Stand()
    other.entry = {"name": "other"}

    async def run(host):
        gone, _ = reversed(host._connections)
        gone.states = {("m", "1"): ModelState("m", "1", "READY", "", other.card)}
        for _ in range(2):
            with pytest.raises(Unavailable, match="cannot be reached"):
                await host.answer("m", "1", INPUTS)

    story(run, other.app, more=f",unix:{tmp_path / 'nobody.sock'}")
    assert other.calls == 0


@pytest.mark.release
def test_while_one_of_two_real_hosts_dies_under_load_everybody_is_answered(copied, tmp_path):
    copied("sentiment-ngram")
    first, second = (create_app(Repository([tmp_path / "models"])) for _ in range(2))
    reply = []

    async def run(host):
        async def person():
            while len(reply) < 400:
                reply.append((await host.answer("sentiment-ngram", None, INPUTS)).answer["label"])

        while [(state.state, "," in state.where) for state in await host.states()] != [("READY", True)]:
            await asyncio.sleep(0.02)
        people = asyncio.gather(*(person() for _ in range(4)))
        while len(reply) < 100:
            await asyncio.sleep(0.001)
        await asyncio.to_thread(dying.__exit__, None, None, None)
        await people
        (state,) = await host.states()
        assert state.where == f"unix:{tmp_path / 'second.sock'}"

    dying = served(first, f"unix:{tmp_path / 'first.sock'}")
    address = dying.__enter__()
    with served(second, f"unix:{tmp_path / 'second.sock'}") as other:

        async def both():
            host = Host(f"{address},{other}", 10.0)
            try:
                await run(host)
            finally:
                await host.close()

        asyncio.run(both())
    assert set(reply) == {"positive"}


@pytest.mark.release
def test_a_model_whose_card_says_that_it_takes_long_is_waited_for():
    slow = Stand(seconds=5.0)
    slow.delay = 0.6

    async def run(host):
        assert (await host.answer("m", "1", INPUTS)).latency_ms > 500
        assert (await host.answer("m", None, INPUTS)).version == "1"

    story(run, slow.app, timeout=0.3)
    assert all(4 < float(received) < 5 for received in slow.deadlines)


@pytest.mark.release
def test_a_host_that_does_not_say_what_it_has_costs_no_more_than_the_time_limit():
    stuck = Stand()
    stuck.delay = 30

    stuck.app.routes[0].endpoint = hang
    stuck.app.routes.insert(0, Route("/v2/repository/index", hang, methods=["POST"]))

    async def run(host):
        begun = time.monotonic()
        with pytest.raises(Unavailable, match="not answered for"):
            await host.answer("m", "1", INPUTS)
        assert time.monotonic() - begun < 10  # it would take 30 s

    story(run, stuck.app, timeout=0.5)


def test_answers_and_failures_are_counted_by_version():
    stand = Stand()

    async def run(host):
        for _ in range(20):
            await host.answer("m", "1", INPUTS)
        stand.refusal = ({"error": "out of memory"}, 500)
        for _ in range(2):
            with pytest.raises(Unavailable):
                await host.answer("m", "1", INPUTS)
        result = host.health()["m", "1"]
        assert (result.answers, result.failures) == (20, 2)
        assert 0 < result.p50_ms <= result.p95_ms
        assert result.last_failure == "m gave no answer: out of memory"

    story(run, stand.app)


def test_no_host_at_all_is_told():
    async def run():
        host = Host(" , ")
        with pytest.raises(Unavailable, match="DYNABENCH_HOST_URL"):
            await host.answer("m", "1", INPUTS)
        await host.close()

    asyncio.run(run())


class Talker(Stand):
    """A host of one language model, which streams a word."""

    async def infer(self, request):
        self.calls += 1
        if self.refusal:
            return JSONResponse(*self.refusal)
        events = [{"text": "Good"}, {"text": " day."}, {"end": True}]
        return Response("".join(f"data: {json.dumps(event)}\n\n" for event in events), media_type="text/event-stream")


@pytest.mark.parametrize("away", [False, True])
def test_a_reply_comes_from_another_host_where_the_first_is_busy_or_gone(away, tmp_path):
    busy, free = Talker(), Talker()
    busy.refusal = {"error": "busy", "position": 3, "seconds": 4.0}, 503
    apps = [free.app] if away else [busy.app, free.app]

    async def run(host):
        for _ in range(4):
            pieces = [piece async for piece in host.converse("m", "1", [{"role": "user", "content": "Hello"}], 9)]
            assert "".join(pieces) == "Good day."
        free.refusal = busy.refusal
        if not away:
            with pytest.raises(Unavailable, match="position 3"):
                [piece async for piece in host.converse("m", "1", [{"role": "user", "content": "Hello"}], 9)]

    story(run, *apps, more=f",unix:{tmp_path / 'nobody.sock'}" if away else "")


@pytest.mark.release
def test_calls_that_wait_for_their_turn_do_not_count_against_the_host():
    slow = Stand()
    slow.delay = 1.0

    async def run(host):
        [connection] = host._connections
        loop = asyncio.get_running_loop()
        body = wire.request([INPUTS], ["statement"])

        async def call(seconds):
            return await connection.call("m", "/v2/models/m/versions/1/infer", body, seconds, loop.time() + seconds)

        first = [asyncio.create_task(call(30)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0.1)
        for _ in range(TRIPS + 1):
            with pytest.raises(Unavailable, match="calls under way"):
                await call(0.05)
        assert (await call(30))["model_name"] == "m"
        await asyncio.gather(*first)

    story(run, slow.app)
