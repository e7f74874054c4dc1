"""Bodies of requests: how much is read of whom, in which form, and for how long."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from starlette.exceptions import HTTPException

from dynabench.kit import security
from dynabench.site import request_bodies
from dynabench.site.request_bodies import BodyLimit
from tests.api.sending import FORM, JSON, MIB, CountedBody


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
    body = CountedBody(size, head=b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n')
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
    body = CountedBody(60 * MIB)
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
    """Members are counted: commas and brackets within texts are none."""
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
    body = json.dumps({"inputs": {"text": "\u00e9" + "x" * 6_000_000}})  # escaped, so that its bytes alone do not tell

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
    body = CountedBody(3 * MIB, head=b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n')

    async def story():
        transport = httpx2.ASGITransport(client.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=60) as http:
            headers = FORM | {"Authorization": ada.headers["Authorization"]}
            path = "/api/v1/tasks/nli/contexts/files?name=a.csv"
            return await http.post(path, content=body, headers=headers)

    answer = client.portal.call(story)
    assert (answer.status_code, body.read) == (404, 0)


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.1)

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
    monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.5)

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


@pytest.mark.slow
def test_a_large_body_that_keeps_coming_has_the_time_it_needs(monkeypatch):
    monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.5)

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
    monkeypatch.setattr(request_bodies, "UNREAD", 3000)

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
