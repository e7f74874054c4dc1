"""Webhooks, called for real."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Notice
from dynabench.people.notices import events, mailing, service, webhooks
from dynabench.people.notices.durable import requeue_lost_deliveries
from dynabench.people.notices.tables import Delivery, Hook, Try
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks

MINE, TASK = "/api/v1/me/webhooks", "/api/v1/tasks/nli/webhooks"


@pytest.fixture
def ada(person):
    return person("ada")


@pytest.fixture
def olga(person, database):
    """The owner of the task nli."""
    created = person("olga")
    [nli] = [shipped for shipped in shipped_tasks() if shipped.config.id == "nli"]
    database.write(rounds.save_task, None, nli.source)
    database.write(rounds.set_role, None, "nli", "olga", "owner")
    return created


def add(caller, where, url, **more):
    answer = caller.post(where, json={"url": url, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def sent(caller, where, hook):
    return caller.get(f"{where}/{hook}/deliveries").json()["items"]


def test_signatures_are_those_of_the_published_example():
    created = webhooks.signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
    )
    assert created == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_notice_is_posted_as_signed_json(ada, database, receiver, work):
    hook = add(ada, MINE, receiver.url)
    database.write(service.notify_person, ada.id, "evaluation", "It is done.", link="/evaluations/7")
    work()
    [(headers, body)] = receiver.got
    document = json.loads(body)
    assert document["type"] == "notice.created"
    assert document["data"] | {"notice": 0} == {
        "notice": 0, "kind": "evaluation", "text": "It is done.", "page": "/evaluations/7"
    }  # fmt: skip
    right = webhooks.signature(hook["secret"], headers["webhook-id"], int(headers["webhook-timestamp"]), body)
    assert headers["webhook-signature"] == right
    assert headers["content-type"] == "application/json"
    [delivery] = sent(ada, MINE, hook["id"])
    assert (delivery["state"], delivery["message"]) == ("done", headers["webhook-id"])
    assert [(item["status"], item["answer"]) for item in delivery["tries"]] == [(204, "")]


def test_the_secret_is_told_once_and_can_be_renewed(ada, receiver, work, database):
    hook = add(ada, MINE, receiver.url)
    assert len(hook["secret"]) == len("whsec_") + 44
    assert "secret" not in ada.get(MINE).json()["items"][0]
    fresh = ada.post(f"{MINE}/{hook['id']}/secret").json()["secret"]
    assert fresh != hook["secret"]
    ada.post(f"{MINE}/{hook['id']}/test")
    work()
    [(headers, body)] = receiver.got
    stamp = int(headers["webhook-timestamp"])
    assert headers["webhook-signature"] == webhooks.signature(fresh, headers["webhook-id"], stamp, body)
    stored = database.read(lambda session: session.scalar(select(Hook.salt)))
    assert stored not in (hook["secret"], fresh)


def test_a_call_that_failed_is_repeated_under_the_same_id_and_logged(ada, database, receiver, work):
    hook = add(ada, MINE, receiver.url)["id"]
    receiver.answers = [(500, b"<script>alert(1)</script>\x00\x1b" + b"x" * 5000), (429, b"slow down")]
    database.write(service.notify_person, ada.id, "evaluation", "It is done.")
    work()
    [delivery] = sent(ada, MINE, hook)
    job = database.read(lambda session: session.scalars(select(Job).order_by(Job.created_at.desc())).first())
    assert (delivery["state"], job.due_at > job.created_at) == ("waiting", True)
    work()
    work()
    [delivery] = sent(ada, MINE, hook)
    assert [item["status"] for item in delivery["tries"]] == [500, 429, 204]
    assert delivery["tries"][0]["answer"].startswith("<script>alert(1)</script> x")
    assert len(delivery["tries"][0]["answer"]) <= 200
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert database.read(lambda session: session.scalar(select(Hook.failing_since))) is None


def test_a_redirect_is_not_followed_and_counts_as_a_failure(ada, receiver, work):
    hook = add(ada, MINE, receiver.url)["id"]
    receiver.answers, receiver.location = [(302, b"")], "http://127.0.0.1:1/elsewhere"
    ada.post(f"{MINE}/{hook}/test")
    work()
    [delivery] = sent(ada, MINE, hook)
    assert delivery["state"] == "failed"
    assert "redirect" in delivery["tries"][0]["answer"]
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    "url",
    ["http://example.org/x", "https://10.0.0.1/x", "https://[::1]/", "https://169.254.169.254/latest",
     "ftp://example.org", "https://a:b@example.org/", "https://example.org/#x", "", "x" * 600, "https://exa mple.org",
     "javascript:alert(1)"],
)  # fmt: skip
def test_addresses_that_are_not_called_are_refused_with_the_reason(ada, url):
    answer = ada.post(MINE, json={"url": url})
    assert answer.status_code == 422
    assert [*answer.json()["fields"]] == ["url"]
    assert "DYNABENCH_PRIVATE_ENDPOINTS" not in answer.text


def test_a_name_that_leads_to_a_private_address_is_not_called(ada, settings, work):
    hook = add(ada, MINE, "https://localhost:1/x")["id"]  # a public name, as far as anybody can tell
    ada.post(f"{MINE}/{hook}/test")
    settings.webhook_hosts = ""
    work()
    [delivery] = sent(ada, MINE, hook)
    assert (delivery["state"], delivery["tries"][0]["status"]) == ("failed", None)
    assert "not a public address" in delivery["tries"][0]["answer"]


@pytest.mark.slow
def test_what_never_answers_is_turned_off_and_its_owner_told(ada, database, receiver, work):
    hook = add(ada, MINE, receiver.url)["id"]
    receiver.answers = [(503, b"")] * 50
    database.write(service.notify_person, ada.id, "evaluation", "It is done.")
    work()
    early = update(Hook).values(failing_since=now() - timedelta(hours=20))
    database.write(lambda session: session.execute(early))
    for _ in range(mailing.MOST):
        work()
    [view] = ada.get(MINE).json()["items"]
    assert (view["on"], "No message was delivered" in view["reason"]) == (False, True)
    notice = ada.get("/api/v1/me/notices").json()["items"][0]
    assert (notice["kind"], "turned off" in notice["text"]) == ("webhook", True)
    assert len(receiver.got) == mailing.MOST
    database.write(service.notify_person, ada.id, "evaluation", "Another.")
    assert work() == 0
    assert ada.post(f"{MINE}/{hook}/test").status_code == 409
    assert ada.patch(f"{MINE}/{hook}", json={"on": True}).json()["on"] is True
    receiver.answers = []
    delivery = sent(ada, MINE, hook)[0]
    assert ada.post(f"{MINE}/{hook}/deliveries/{delivery['id']}/again").status_code == 202
    work()
    assert sent(ada, MINE, hook)[0]["state"] == "done"


def test_a_receiver_that_says_gone_is_not_called_again(ada, database, receiver, work):
    add(ada, MINE, receiver.url)
    receiver.answers = [(410, b"")]
    database.write(service.notify_person, ada.id, "evaluation", "It is done.")
    work()
    assert work() == 0
    assert ada.get(MINE).json()["items"][0]["on"] is False


@pytest.mark.slow
def test_one_that_works_in_between_is_not_turned_off(ada, database, receiver, work):
    add(ada, MINE, receiver.url)
    receiver.answers = [(503, b"")] * mailing.MOST
    database.write(service.notify_person, ada.id, "evaluation", "It is done.")
    for _ in range(mailing.MOST):
        work()
    assert ada.get(MINE).json()["items"][0]["on"] is True


def test_there_are_only_so_many(ada, receiver):
    for _ in range(webhooks.MOST_OF_A_PERSON):
        add(ada, MINE, receiver.url)
    assert ada.post(MINE, json={"url": receiver.url}).status_code == 409


def test_one_cannot_reach_the_webhooks_of_others(ada, olga, person, receiver):
    mine = add(ada, MINE, receiver.url)["id"]
    tasks = add(olga, TASK, receiver.url, events=["round.opened"])["id"]
    eve = person("eve")
    for where, id in ((MINE, mine), (MINE, tasks), (TASK, tasks)):
        assert eve.get(f"{where}/{id}/deliveries").status_code in (403, 404)
        assert eve.post(f"{where}/{id}/secret").status_code in (403, 404)
        assert eve.delete(f"{where}/{id}").status_code in (403, 404)
    assert olga.get(f"{TASK}/{mine}/deliveries").status_code == 404
    other = add(olga, MINE, receiver.url)["id"]
    assert olga.delete(f"{TASK}/{other}").status_code == 404
    assert ada.delete(f"{MINE}/{mine}").status_code == 204


def test_a_task_sends_the_events_that_a_webhook_wants(olga, database, receiver, work):
    add(olga, TASK, receiver.url, events=["round.opened"])
    assert olga.post(TASK, json={"url": receiver.url, "events": ["all"]}).status_code == 422
    assert olga.post(TASK, json={"url": receiver.url}).status_code == 422
    for event in ("round.opened", "round.closed"):
        database.write(webhooks.emit_event, "nli", event, {"task": "nli", "round": 1})
    work()
    assert [json.loads(body)["type"] for _, body in receiver.got] == ["round.opened"]
    acts = olga.get("/api/v1/tasks/nli/acts").json()["items"]
    assert acts[0]["kind"] == "webhook.added"


def test_no_caller_lets_out_more_than_is_documented(olga, database):
    with pytest.raises(ValueError, match="rows"):
        database.write(webhooks.emit_event, "nli", "round.opened", {"task": "nli", "round": 1, "rows": ["secret"]})


def test_the_openapi_document_has_every_event_with_an_example(client):
    document = client.get("/api/openapi.json").json()
    assert set(document["webhooks"]) == set(events.EVENTS)
    for name in events.EVENTS:
        operation = document["webhooks"][name]["post"]
        headers = {parameter["name"] for parameter in operation["parameters"]}
        assert headers == {"webhook-id", "webhook-timestamp", "webhook-signature"}
        assert operation["requestBody"]["content"]["application/json"]["example"]["type"] == name


def test_what_was_sent_is_forgotten_after_a_month(ada, database, settings, receiver, work):
    hook = add(ada, MINE, receiver.url)["id"]
    ada.post(f"{MINE}/{hook}/test")
    work()
    ada.post(f"{MINE}/{hook}/test")
    database.write(lambda s: s.execute(update(Delivery).where(Delivery.state == "done").values(
        created_at=s.scalar(select(Hook.created_at)) - webhooks.LOG_RETENTION - timedelta(days=1))))  # fmt: skip
    requeue_lost_deliveries(database, settings)
    assert [item["state"] for item in sent(ada, MINE, hook)] == ["waiting"]
    assert database.read(lambda session: session.scalars(select(Try)).all()) == []


@pytest.mark.slow
def test_a_deleted_account_leaves_the_webhooks_of_its_tasks_and_none_of_its_own(olga, database, receiver):
    add(olga, TASK, receiver.url, events=["round.opened"])
    add(olga, MINE, receiver.url)
    database.write(service.forget_person, olga.id)
    content = database.read(lambda session: session.scalars(select(Hook)).all())
    assert [(item.task_id, item.person_id, item.created_by) for item in content] == [("nli", None, None)]
    assert database.read(lambda session: session.scalars(select(Notice)).all()) == []
