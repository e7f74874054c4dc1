"""Places for requests: strangers hold few of them, and others are answered meanwhile."""

import asyncio
import time
from collections import Counter

import httpx2

from dynabench.kit.settings import Settings
from dynabench.site import admission
from dynabench.site.admission import Admission
from dynabench.site.app import create_app


def test_the_description_is_made_once_however_many_ask(client, monkeypatch):
    from dynabench.site.process_routes import Description

    counter = Counter()
    monkeypatch.setattr(Description, "_sent_bytes", None)
    document = client.app.state.description._document

    def counted():
        counter["document"] += 1
        return document()

    client.app.state.description._document = counted

    async def story():
        transport = httpx2.ASGITransport(client.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as http:
            return await asyncio.gather(*(http.get("/api/openapi.json") for _ in range(80)))

    answers = client.portal.call(story)
    assert {answer.status_code for answer in answers} == {200}
    assert counter == {"document": 1}
    assert answers[0].json()["openapi"].startswith("3.")
    mark = answers[0].headers["etag"]
    assert client.get("/api/openapi.json", headers={"If-None-Match": mark}).status_code == 304
    raw = client.get("/api/openapi.json", headers={"Accept-Encoding": "identity"})
    assert raw.json() == answers[0].json()


def test_more_requests_than_can_be_answered_are_refused_at_once_and_health_is_not():
    async def story():
        going, entered = asyncio.Event(), asyncio.Semaphore(0)

        async def slow(scope, receive, send):
            entered.release()
            await going.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"done"})

        app = create_app(Settings(secret="a secret for tests, long enough to be one"))
        limited = Admission(slow, 8, 4)

        async def with_app(scope, receive, send):
            await limited(scope | {"app": app}, receive, send)

        def caller(address):
            return httpx2.AsyncClient(
                transport=httpx2.ASGITransport(with_app, client=(address, 1)), base_url="http://testserver", timeout=60
            )

        async with caller("192.0.2.1") as many, caller("192.0.2.2") as other, caller("192.0.2.3") as third:
            held = [asyncio.create_task(many.get("/")) for _ in range(4)]
            for _ in range(4):
                await entered.acquire()
            page, program = await many.get("/"), await many.get("/api/v1/tasks")
            assert (page.status_code, program.status_code) == (503, 503)
            assert page.headers["retry-after"] == page.headers["refresh"] == "2"
            assert program.json()["retry_after"] == 2
            for number in range(4):
                caller_of_one = caller(f"192.0.2.{100 + number}")
                held.append(asyncio.create_task(caller_of_one.get("/")))
                await entered.acquire()
            assert (await third.get("/")).status_code == 503, "in all there is no room"
            healthy = asyncio.create_task(third.get("/healthz"))
            await entered.acquire()
            assert (await third.post("/healthz")).status_code == 503
            assert (await third.get("/healthzX")).status_code == 503
            going.set()
            assert {answer.status_code for answer in await asyncio.gather(*held, healthy)} == {200}
            assert (await many.get("/")).status_code == (await other.get("/")).status_code == 200, "it heals by itself"
            assert _places(limited) == [0, {}, 0, {}, {}]

    asyncio.run(story())


def _places(limited):
    """Return what a process holds of open requests; nothing once all are answered."""
    of_address = [dict(places.of_address) for places in (limited.working, limited.answering)]
    return [limited.working.held, of_address[0], limited.answering.held, of_address[1], limited.turns]


def test_a_few_addresses_never_hold_all_places():
    async def story():
        going, entered = asyncio.Event(), Counter()

        async def slow(scope, receive, send):
            entered[scope["client"][0]] += 1
            await going.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"done"})

        app = create_app(Settings(secret="a secret for tests, long enough to be one"))
        limited = Admission(slow, 256, 96)

        async def ask(address):
            scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": (address, 1), "app": app}
            answer = []

            async def send(message):
                answer.append(message)

            await limited(scope | {"query_string": b""}, None, send)
            return answer[0]["status"]

        flood = [asyncio.create_task(ask(f"192.0.2.{number}")) for _ in range(100) for number in range(3)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert limited.working.held < 256
        others = [asyncio.create_task(ask(f"198.51.100.{number}")) for number in range(20)]
        for _ in range(5):
            await asyncio.sleep(0)
        going.set()
        assert {await task for task in others} == {200}
        assert Counter([await task for task in flood])[503] > 0

    asyncio.run(story())


def test_answers_that_nobody_reads_keep_no_place_of_those_who_ask():
    async def story():
        reading, started = asyncio.Event(), asyncio.Semaphore(0)

        async def page(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"done"})

        app = create_app(Settings(secret="a secret for tests, long enough to be one"))
        limited = Admission(page, 6, 4)

        async def ask(address, unread):
            scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": (address, 1), "app": app}
            answer = []

            async def send(message):
                answer.append(message)
                if unread and message["type"] == "http.response.body":
                    started.release()
                    await reading.wait()

            await limited(scope | {"query_string": b""}, None, send)
            return answer[0]["status"]

        unread = []
        for number in range(12):
            unread.append(asyncio.create_task(ask(f"192.0.2.{number % 3}", unread=True)))
            await started.acquire()
        assert await ask("192.0.2.1", unread=False) == 200
        assert await ask("198.51.100.1", unread=False) == 200
        reading.set()
        assert {await task for task in unread} == {200}
        assert _places(limited) == [0, {}, 0, {}, {}]

    asyncio.run(story())


def test_a_made_up_token_or_cookie_makes_no_sender_of_its_own(client, person, ask, monkeypatch):
    monkeypatch.setattr(admission, "CHANGES_OF_VISITORS", 5)
    monkeypatch.setattr(client.app.state.settings, "rate_limit", True)

    def change(headers):
        return ask("POST", "/api/v1/accounts", json={}, headers=headers).status_code

    ada = person("ada")
    assert ask("GET", "/api/v1/me", headers=ada.headers).status_code == 200
    made_up = [{"Authorization": f"Bearer made-up-{number}"} for number in range(4)]
    made_up += [{"Cookie": f"dynabench_session=made-up-{number}"} for number in range(4)]
    assert [change(headers) == 429 for headers in made_up] == [False] * 5 + [True] * 3
    assert [change(ada.headers) for _ in range(8)] == [422] * 8, "a person of the same address goes on"


def test_who_is_refused_reads_what_is_true(monkeypatch):
    """Only a page that was asked for comes again by itself; a form that htmx sent is sent again by its countdown."""
    app = create_app(Settings(secret="a secret for tests, long enough to be one"))
    limited = Admission(None, 0, 0)

    async def story():
        async def with_app(scope, receive, send):
            await limited(scope | {"app": app}, receive, send)

        transport = httpx2.ASGITransport(with_app, client=("192.0.2.1", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as http:
            page, form = await http.get("/"), await http.post("/tasks/nli/create")
            part = await http.post("/tasks/nli/create", headers={"HX-Request": "true"})
        assert {page.status_code, form.status_code, part.status_code} == {503}
        assert ("refresh" in page.headers, "tries again" in page.text) == (True, True)
        assert ("refresh" in form.headers, "tries again" in form.text) == (False, False)
        assert "doctype" not in part.text.lower()
        assert 'data-again="2"' in part.text
        assert "data-countdown" in part.text

    asyncio.run(story())


def test_static_files_that_are_not_there_cost_no_page(client):
    answer = client.get("/static/nothing.js")
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, "text/plain")


def test_a_sender_of_many_requests_waits_and_others_do_not(monkeypatch):
    monkeypatch.setattr(admission, "WORKED_ON", 2)
    monkeypatch.setattr(admission, "PATIENCE", 0.2)

    async def story():
        going, working = asyncio.Event(), Counter()

        async def slow(scope, receive, send):
            person = scope["client"][0]
            working[person] += 1
            await going.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            working[person] -= 1
            await send({"type": "http.response.body", "body": b"done"})

        app = create_app(Settings(secret="a secret for tests, long enough to be one"))
        limited = Admission(slow)

        async def with_app(scope, receive, send):
            await limited(scope | {"app": app}, receive, send)

        def get(address):
            transport = httpx2.ASGITransport(with_app, client=(address, 1))
            http = httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60)
            return asyncio.create_task(http.get("/"))

        many = [get("192.0.2.1") for _ in range(5)]
        other = get("192.0.2.2")
        await asyncio.wait(many[2:])
        assert (working["192.0.2.1"], working["192.0.2.2"]) == (2, 1)
        going.set()
        assert [(await task).status_code for task in many] == [200, 200, 503, 503, 503]
        assert (await other).status_code == 200
        assert (await get("192.0.2.1")).status_code == 200
        assert limited.turns == {}

    asyncio.run(story())


def test_an_address_may_change_so_much_a_minute(client, ask, monkeypatch):
    monkeypatch.setattr(admission, "CHANGES_OF_VISITORS", 5)
    monkeypatch.setattr(client.app.state.settings, "rate_limit", True)
    status_codes = [ask("POST", "/api/v1/accounts", json={}).status_code for _ in range(6)]
    assert status_codes == [422] * 5 + [429]
    assert ask("GET", "/api/v1/tasks").status_code == 200
    assert ask("POST", "/api/v1/accounts", address="192.0.2.9", json={}).status_code == 422


def test_a_hostile_regular_expression_ends_in_a_second(client):
    address = "/api/v1/evaluate/metric/exact_match"
    columns = {"predictions": ["a" * 40 + "!"], "references": ["a"]}
    assert client.post(address, json={"columns": columns, "options": {"regexes_to_ignore": ["!"]}}).status_code == 200
    began = time.monotonic()
    answer = client.post(address, json={"columns": columns, "options": {"regexes_to_ignore": ["(a+)+$"]}})
    assert answer.status_code == 422
    assert "more than 1 s" in answer.text
    assert time.monotonic() - began < 8, "other requests get 8 s"
