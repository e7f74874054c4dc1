"""What strangers may make the web process do: little, whatever they send, and others are answered meanwhile."""

import asyncio
import json
import shutil
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx2
import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from dynabench import admission, bodies, security
from dynabench.admission import Admission
from dynabench.app import create_app
from dynabench.bodies import BodyLimit
from dynabench.db import now
from dynabench.settings import Settings

MIB = 2**20


class Sent:
    """A body that counts how much of it was read."""

    def __init__(self, size, part=64 * 1024, head=b""):
        self.size, self.part, self.head = size, part, head
        self.read = 0

    async def __aiter__(self):
        if self.head:
            yield self.head
        while self.read < self.size:
            self.read += self.part
            yield b"x" * self.part


@pytest.fixture
def ask(client):
    """Send a request to the application of `client` from an address; answers as they come."""

    def run(method, path, address="192.0.2.1", **how):
        async def story():
            transport = httpx2.ASGITransport(client.app, client=(address, 1))
            async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as http:
                return await http.request(method, path, **how)

        return client.portal.call(story)

    return run


JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "multipart/form-data; boundary=b"}


@pytest.mark.parametrize(
    ("path", "headers", "size"),
    [
        ("/api/v1/models/nli-a/ask", JSON, 6 * MIB),
        ("/api/v1/archives", {"Content-Type": "application/octet-stream"}, 60 * MIB),
        ("/archives", FORM, 300 * MIB),
        ("/tasks/nli/submit", FORM, 300 * MIB),
        ("/tasks/nli/create", FORM, 60 * MIB),
        ("/api/v1/tasks/nli/media", {"Content-Type": "image/png"}, 60 * MIB),
        ("/api/v1/evaluate/metric/accuracy", JSON, MIB),
        ("/api/v1/tasks/nli/contexts", JSON, 5 * MIB),
    ],
)
@pytest.mark.parametrize("announced", [True, False])
def test_strangers_make_nobody_read_more_than_an_ordinary_form(ask, path, headers, size, announced):
    body = Sent(size, head=b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n')
    more = {"Content-Length": str(size)} if announced else {}
    answer = ask("POST", path, content=body, headers=headers | more)
    assert answer.status_code in (303, 401, 403, 413), answer.text
    assert body.read <= (0 if announced else 512 * 1024)


def test_a_person_may_send_what_the_route_takes(client, person, ask):
    ada = person("ada")
    body = {"rows": 1, "text": "x" * (2 * MIB)}
    answer = ada.post("/api/v1/models/nli-a/ask", json=body)
    assert answer.status_code in (404, 422), "it was read: the route itself refuses it"
    assert ada.post("/api/v1/me", json=body).status_code == 413


def test_an_unknown_token_is_refused_before_the_body_is_read(ask):
    body = Sent(60 * MIB)
    headers = {"Authorization": "Bearer nonsense", "Content-Length": str(60 * MIB)}
    assert ask("POST", "/api/v1/archives", content=body, headers=headers).status_code == 401
    assert body.read == 0


def test_very_many_unknown_members_cost_a_short_answer(ask):
    few = {f"m{n}": 1 for n in range(3000)}
    answer = ask("POST", "/api/v1/accounts", json=few)
    assert answer.status_code == 422
    assert len(answer.json()["fields"]) == 20
    assert len(answer.content) < 8 * 1024
    many = json.dumps({f"m{n}": 1 for n in range(20_000)}, separators=(",", ":"))
    assert len(many) < 256 * 1024
    answer = ask("POST", "/api/v1/accounts", content=many, headers=JSON)
    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["body"])
    assert len(answer.content) < 1024


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 40_000, "[" + "0," * 120_000 + "0]", '{"a":"\\u0000"}'])
def test_json_that_is_deep_long_or_not_storable_is_refused(ask, text):
    answer = ask("POST", "/api/v1/accounts", content=text, headers=JSON)
    assert answer.status_code in (400, 422)
    assert len(answer.content) < 8 * 1024


def test_json_of_another_name_is_checked_as_json(ask):
    """FastAPI parses every `application/*+json`, so each is held to the same limits."""
    for kind in ("application/vnd.api+json", "application/JSON; charset=utf-8", "application/problem+json"):
        for text in ("[" + "0," * 20_000 + "0]", '{"username":"\\u0000"}', '{"a":' * 40 + "1" + "}" * 40):
            answer = ask("POST", "/api/v1/accounts", content=text, headers={"Content-Type": kind})
            assert answer.status_code == 422, (kind, text[:20])
            assert ("members" in answer.text) == text.startswith("["), (kind, text[:20])
            assert ("cannot be stored" in answer.text) != text.startswith("["), (kind, text[:20])


LARGE = {
    "empty lists": ("[" + "[]," * 600_000 + "[]]", True),
    "names": (json.dumps({f"m{number}": 1 for number in range(90_000)}), True),
    "numbers": (json.dumps({"inputs": list(range(100_000))}), False),
    "text with commas": (json.dumps({"inputs": ["a, [b], {c: d}, \\", '"'] * 30_000}), False),
}


@pytest.mark.parametrize("kind", LARGE)
def test_large_json_of_a_person_has_a_bounded_number_of_members(person, kind):
    """What counts are members: commas and brackets within texts are none."""
    text, too_many = LARGE[kind]
    answer = person("ada").post("/api/v1/models/no-such-model/ask", content=text, headers=JSON)
    assert answer.status_code in (404, 422)
    assert ("members" in answer.text) == too_many, answer.text[:200]


def test_others_are_answered_while_large_json_is_looked_through(client, person, monkeypatch):
    """The bystander asks once the look has begun, and the look ends only after the bystander has an answer."""
    ada, began, answered, seen = person("ada"), threading.Event(), threading.Event(), []
    look = security.unstorable

    def patient(value):
        began.set()
        seen.append(answered.wait(10))
        return look(value)

    monkeypatch.setattr(security, "unstorable", patient)
    body = json.dumps({"inputs": {"text": "x" * 6_000_000}})

    def bystand():
        assert began.wait(30)
        assert client.get("/healthz").status_code == 200
        answered.set()

    with ThreadPoolExecutor(1) as pool:
        bystander = pool.submit(bystand)
        ada.post("/api/v1/models/nli-a/ask", content=body, headers=JSON)
        bystander.result()
    assert seen == [True]


def _form(parts):
    """A form of several parts, as a browser sends it."""
    head = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
    return b"".join(head.format(name).encode() + text + b"\r\n" for name, text in parts) + b"--b--\r\n"


@pytest.mark.parametrize("parts", [[("note", 600_000)], [(f"n{number}", 1000) for number in range(600)]])
def test_the_text_of_forms_with_files_is_bounded(browser, parts):
    """Files go to the disk, but all text of a form is held in memory, also where gigabytes may be sent."""
    ada = browser()
    ada.join("ada")
    form = _form([(name, b"x" * size) for name, size in parts])
    answer = ada.client.post("/archives", content=form, headers=FORM | {"X-CSRF-Token": ada.token()})
    assert answer.status_code == 400, answer.text[:200]


@pytest.mark.parametrize("path", ["/archives", "/tasks/nli/submit", "/models/nli-a", "/evaluate/metric/accuracy"])
def test_forms_in_one_part_are_short_everywhere(browser, path):
    """Only forms of several parts bring files along."""
    ada = browser()
    ada.join("ada")
    headers = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRF-Token": ada.token()}
    assert ada.client.post(path, content=b"a=" + b"x" * 300_000, headers=headers).status_code == 413


def test_a_form_is_not_read_where_the_api_takes_a_file_as_it_is(client, person):
    """Nothing is put on the disk before the person's right is known."""
    ada = person("ada")
    body = Sent(3 * MIB, head=b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n')

    async def story():
        transport = httpx2.ASGITransport(client.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as http:
            headers = FORM | {"Authorization": ada.headers["Authorization"]}
            path = "/api/v1/tasks/nli/contexts/files?name=a.csv"
            return await http.post(path, content=body, headers=headers)

    answer = client.portal.call(story)
    assert (answer.status_code, body.read) == (404, 0)


def test_the_description_is_made_once_however_many_ask(client, monkeypatch):
    from dynabench.description import Description

    made = Counter()
    monkeypatch.setattr(Description, "_made", None)
    document = client.app.state.description._document

    def counted():
        made["document"] += 1
        return document()

    client.app.state.description._document = counted

    async def story():
        transport = httpx2.ASGITransport(client.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as http:
            return await asyncio.gather(*(http.get("/api/openapi.json") for _ in range(80)))

    answers = client.portal.call(story)
    assert {answer.status_code for answer in answers} == {200}
    assert made == {"document": 1}
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
    """What a process holds of those who ask; nothing once all are answered."""
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
            who = scope["client"][0]
            working[who] += 1
            await going.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            working[who] -= 1
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
    told = [ask("POST", "/api/v1/accounts", json={}).status_code for _ in range(6)]
    assert told == [422] * 5 + [429]
    assert ask("GET", "/api/v1/tasks").status_code == 200
    assert ask("POST", "/api/v1/accounts", address="192.0.2.9", json={}).status_code == 422


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.1)

    async def story():
        seen = []

        async def reader(scope, receive, send):
            try:
                while (await receive()).get("more_body"):
                    pass
            except HTTPException as problem:
                seen.append(problem.status_code)

        async def body():
            yield b"{"
            await asyncio.sleep(60)

        limit = BodyLimit(reader, 1000)
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
        parts = body()

        async def receive():
            return {"type": "http.request", "body": await anext(parts), "more_body": True}

        async with asyncio.timeout(20):
            await limit(scope, receive, None)
        assert seen == [408]
        assert limit.unread == 0

    asyncio.run(story())


def test_a_body_that_trickles_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.5)

    async def story():
        seen = []

        async def reader(scope, receive, send):
            try:
                while (await receive()).get("more_body"):
                    pass
            except HTTPException as problem:
                seen.append(problem.status_code)

        async def receive():
            await asyncio.sleep(0.05)
            return {"type": "http.request", "body": b"x", "more_body": True}

        limit = BodyLimit(reader, 100_000)
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
        async with asyncio.timeout(10):
            await limit(scope, receive, None)
        assert seen == [408]
        assert limit.unread == 0

    asyncio.run(story())


def test_a_large_body_that_keeps_coming_has_the_time_it_needs(monkeypatch):
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.5)

    async def story():
        parts = 40

        async def reader(scope, receive, send):
            while (await receive()).get("more_body"):
                pass

        async def receive():
            nonlocal parts
            parts -= 1
            await asyncio.sleep(0.05)
            return {"type": "http.request", "body": b"x" * 8192, "more_body": parts > 0}

        limit = BodyLimit(reader, 1_000_000)
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
        async with asyncio.timeout(20):
            await limit(scope, receive, None)
        assert parts == 0

    asyncio.run(story())


def test_bodies_of_strangers_share_a_bounded_memory(monkeypatch):
    monkeypatch.setattr(bodies, "UNREAD", 3000)

    async def story():
        refused, going = [], asyncio.Event()

        async def reader(scope, receive, send):
            try:
                await receive()
                await going.wait()
            except HTTPException as problem:
                refused.append(problem.status_code)

        async def receive():
            return {"type": "http.request", "body": b"x" * 900, "more_body": True}

        limit = BodyLimit(reader, 1000)
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
        tasks = [asyncio.create_task(limit(dict(scope), receive, None)) for _ in range(10)]
        await asyncio.sleep(0.1)
        assert refused == [503] * 7
        going.set()
        await asyncio.gather(*tasks)
        assert limit.unread == 0

    asyncio.run(story())


def test_a_hostile_regular_expression_ends_in_a_second(client):
    address = "/api/v1/evaluate/metric/exact_match"
    columns = {"predictions": ["a" * 40 + "!"], "references": ["a"]}
    assert client.post(address, json={"columns": columns, "options": {"regexes_to_ignore": ["!"]}}).status_code == 200
    began = time.monotonic()
    answer = client.post(address, json={"columns": columns, "options": {"regexes_to_ignore": ["(a+)+$"]}})
    assert answer.status_code == 422
    assert "more than 1 s" in answer.text
    assert time.monotonic() - began < 8, "other requests get 8 s"


def test_one_person_sends_so_many_bytes_a_day_and_may_go_on_later(client, person, monkeypatch):
    ada, bob = person("ada"), person("bob")
    settings, late = client.app.state.settings, [timedelta()]
    monkeypatch.setattr(bodies, "now", lambda: now() + late[0])
    monkeypatch.setattr(settings, "upload_mb_per_day", 3)
    body = {"rows": 1, "text": "x" * (2 * MIB)}
    path = "/api/v1/models/nli-a/ask"
    assert ada.post(path, json=body).status_code != 429
    refused = ada.post(path, json=body)
    assert refused.status_code == 429
    after = int(refused.headers["retry-after"])
    assert 6 * 3600 < after < 10 * 3600, "a third of a day's bytes are too many"
    assert bob.post(path, json=body).status_code != 429, "others are not held to it"
    late[0] += timedelta(seconds=after)
    assert ada.post(path, json=body).status_code != 429


def test_bytes_of_a_day_count_in_every_web_process_and_after_a_restart(client, person, monkeypatch):
    ada, settings = person("ada"), client.app.state.settings
    monkeypatch.setattr(settings, "upload_mb_per_day", 3)
    body = {"rows": 1, "text": "x" * (2 * MIB)}
    path = "/api/v1/models/nli-a/ask"
    assert ada.post(path, json=body).status_code != 429
    with TestClient(create_app(settings, host=client.app.state.host)) as other:
        assert other.post(path, json=body, headers=ada.headers).status_code == 429


@pytest.mark.parametrize(("setting", "status"), [("upload_mb_per_day", 429), ("disk_reserve_mb", 507)])
def test_a_body_of_unknown_length_is_refused_as_soon_as_it_is_too_much(
    client, person, ask, monkeypatch, setting, status
):
    ada, settings = person("ada"), client.app.state.settings
    body = Sent(5 * MIB, head=b'{"text": "')
    value = 3 if setting == "upload_mb_per_day" else shutil.disk_usage(settings.folder).free // MIB + 1000
    monkeypatch.setattr(settings, setting, value)
    answer = ask("POST", "/api/v1/models/nli-a/ask", content=body, headers=JSON | ada.headers)
    assert answer.status_code == status, answer.text
    assert ("retry-after" in answer.headers) == (status == 429)
    assert body.read < 5 * MIB, "the rest was not waited for"


def test_all_that_came_of_a_body_counts_though_it_was_refused(client, person, ask, monkeypatch):
    ada, path = person("ada"), "/api/v1/models/nli-a/ask"
    monkeypatch.setattr(client.app.state.settings, "upload_mb_per_day", 7)
    too_large = Sent(9 * MIB, head=b'{"text": "')
    assert ask("POST", path, content=too_large, headers=JSON | ada.headers).status_code == 413
    assert ada.post(path, json={"text": "x" * (2 * MIB)}).status_code == 429


def test_uploads_leave_a_reserve_of_the_disk_and_are_taken_again_once_there_is_room(client, person, monkeypatch):
    ada, settings = person("ada"), client.app.state.settings
    body, path = {"rows": 1, "text": "x" * MIB}, "/api/v1/models/nli-a/ask"
    free = shutil.disk_usage(settings.folder).free // MIB
    monkeypatch.setattr(settings, "disk_reserve_mb", free + 1000)
    refused = ada.post(path, json=body)
    assert refused.status_code == 507
    assert "nearly full" in refused.json()["detail"]
    assert ada.get("/api/v1/tasks").status_code == 200, "reading goes on"
    monkeypatch.setattr(settings, "disk_reserve_mb", 0)
    assert ada.post(path, json=body).status_code in (404, 422)
