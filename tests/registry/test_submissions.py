"""Entering models: what is refused at once, how often one may, who sees what, and what may become of a submission."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from dynabench import jobs
from dynabench.accounts.tables import Person
from dynabench.client import ApiError, Client
from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.db import now
from dynabench.models import catalog
from dynabench.registry import submissions
from dynabench.registry.tables import ModelListing, Submission
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.scoring.tables import Evaluation
from dynabench.tasks import builtin
from tests.api.hostile import HOSTILE

SENT = "/api/v1/tasks/nli/submissions"
HUB = {"kind": "hub", "name": "mine", "hub": "owner/name"}


@pytest.fixture
def ada(person, owner):
    return person("ada")


@pytest.fixture
def bob(person, owner):
    return person("bob")


def send(caller, **said):
    answer = caller.post(SENT, json=HUB | said)
    assert answer.status_code == 201, answer.text
    return answer.json()


def ready(database, id, **more):
    """Let a submission have passed its check."""
    values = {"state": "ready", "ready_at": now(), "model": "mine", "version": f"{id:016x}"} | more
    database.write(lambda s: s.execute(update(Submission).where(Submission.id == id).values(**values)))


def test_a_submission_waits_for_its_check_which_is_asked_for_in_the_same_transaction(ada, database):
    made = send(ada, licence="MIT", languages="en, de-CH", parameters="22,000,000", readme="# Mine")
    assert (made["state"], made["by"], made["name"], made["attempt"]) == ("queued", "ada", "mine", 1)
    assert made["card"] == {"licence": "MIT", "languages": ["en", "de-CH"], "parameters": 22_000_000}
    [job] = database.read(lambda s: s.scalars(select(jobs.Job).where(jobs.Job.kind == "check_submission")).all())
    assert job.payload == {"submission": made["id"], "attempt": 1}
    assert [each["id"] for each in ada.get(SENT).json()["items"]] == [made["id"]]


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"name": "Mine"}, "name"),
        ({"name": "../mine"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "nli-minilm"}, "name"),
        ({"hub": "../etc"}, "hub"),
        ({"hub": "/etc/passwd"}, "hub"),
        ({"hub": "owner/.."}, "hub"),
        ({"revision": "../../x"}, "revision"),
        ({"languages": "<b>"}, "languages"),
        ({"parameters": "many"}, "parameters"),
        ({"paper": "javascript:alert(1)"}, "paper"),
        ({"kind": "archive"}, "file"),
        ({"kind": "adapter", "file": "../../secret"}, "file"),
        ({"kind": "endpoint", "protocol": "smtp", "url": "https://a.org", "model": "m"}, "protocol"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://127.0.0.1", "model": "m"}, "url"),
        ({"kind": "endpoint", "protocol": "oip", "url": "http://example.org", "model": "m"}, "url"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://169.254.169.254/x", "model": "m"}, "url"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://example.org"}, "model"),
        ({"kind": "endpoint", "protocol": "oip", "url": "https://a.org", "model": "m", "token": "a b"}, "token"),
        ({"kind": "predictions"}, "files"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_kept(ada, database, said, field):
    answer = ada.post(SENT, json=HUB | said)
    assert answer.status_code == 422, answer.text
    assert list(answer.json()["fields"]) == [field]
    assert database.read(lambda s: s.scalars(select(Submission)).all()) == []


def test_a_name_belongs_to_whoever_used_it_first(ada, bob):
    send(ada)
    assert list(bob.post(SENT, json=HUB).json()["fields"]) == ["name"]
    assert send(ada)["id"] > 1, "a further version"


def test_only_what_passes_counts_and_the_answer_says_when_to_come_back(ada, bob, database):
    first = [send(ada)["id"] for _ in range(3)]
    refused = ada.post(SENT, json=HUB)
    assert refused.status_code == 429
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_401
    assert "Try again after" in refused.json()["detail"]
    assert bob.post(SENT, json=HUB | {"name": "other"}).status_code == 201, "each person has their own number"
    assert ada.post(f"/api/v1/submissions/{first[0]}/cancel").json()["code"] == "cancelled"
    send(ada)
    for id in first[1:]:
        ready(database, id)
    assert ada.post(SENT, json=HUB).status_code == 429
    assert ada.post(f"/api/v1/submissions/{first[1]}/withdraw").status_code == 200
    assert ada.post(SENT, json=HUB).status_code == 429, "withdrawing makes no room"
    before = now() - timedelta(days=1, minutes=1)
    database.write(lambda s: s.execute(update(Submission).values(created_at=before)))
    send(ada)


def test_tries_are_capped_too(ada, owner, database):
    source = next(each.source for each in builtin() if each.config.id == "nli")
    changed = source.replace("submissions:", "unused:") + "\nsubmissions: {per_day: 2, attempts: 3}\n"
    assert owner.post("/api/v1/tasks", json={"config": changed}).status_code in (200, 201)
    id = send(ada)["id"]
    for _ in range(2):
        assert ada.post(f"/api/v1/submissions/{id}/cancel").status_code == 200
        assert ada.post(f"/api/v1/submissions/{id}/retry").json()["state"] == "queued"
    assert ada.post(f"/api/v1/submissions/{id}/cancel").status_code == 200
    assert ada.post(f"/api/v1/submissions/{id}/retry").status_code == 429
    assert ada.post(SENT, json=HUB).status_code == 429


def test_who_sees_a_submission(ada, bob, owner, database, person):
    olga = person("olga")
    database.write(rounds.set_role, None, "nli", "olga", "owner")
    ids = {}
    for name in submissions.VISIBILITIES:
        ids[name] = send(ada, name=name, visibility=name)["id"]

    def seen(caller):
        return {each["name"]: each["by"] for each in caller.get(SENT).json()["items"]}

    assert seen(ada) == {"public": "ada", "anonymous": "ada", "private": "ada"}
    assert seen(bob) == {}
    assert seen(olga) == {"public": "ada", f"#{ids['anonymous']}": ""}
    statuses = [olga.get(f"/api/v1/submissions/{id}").status_code for id in ids.values()]
    assert statuses == [200, 404, 404]
    assert olga.post(f"/api/v1/submissions/{ids['public']}/withdraw").status_code == 403
    assert bob.get(f"/api/v1/submissions/{ids['public']}").status_code == 404
    listings = database.read(lambda s: dict(s.execute(select(ModelListing.name, ModelListing.visibility)).all()))
    assert listings == {"public": "public", "anonymous": "private", "private": "private"}
    assert ada.patch(f"/api/v1/submissions/{ids['private']}", json={"visibility": "public"}).status_code == 200
    assert "private" in seen(olga)


def test_a_withdrawn_submission_stays_in_the_ledger_with_its_date(ada, database):
    id = send(ada)["id"]
    ready(database, id)
    gone = ada.post(f"/api/v1/submissions/{id}/withdraw").json()
    assert gone["state"] == "withdrawn"
    assert gone["withdrawn_at"] is not None
    assert gone["model"] == "mine"
    assert ada.post(f"/api/v1/submissions/{id}/withdraw").status_code == 409
    assert ada.post(f"/api/v1/submissions/{id}/retry").status_code == 409
    assert ada.patch(f"/api/v1/submissions/{id}", json={"visibility": "private"}).status_code == 409
    assert database.read(lambda s: s.get_one(ModelListing, "mine").visibility) == "private"


def test_a_token_is_kept_for_one_host_in_a_file_and_shown_nowhere(ada, database, settings):
    secret = "sk-very-secret-1234"
    url = {"kind": "endpoint", "protocol": "openai", "url": "https://api.example.org/v1", "model": "m", "token": secret}
    made = ada.post(SENT, json={"name": "chat", **url})
    assert made.status_code == 201, made.text
    [kept] = (settings.folder / "tokens").iterdir()
    assert kept.read_text() == f"api.example.org {secret}"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert secret not in made.text
    row = database.read(lambda s: s.get_one(Submission, made.json()["id"]))
    assert secret not in str(vars(row))
    assert secret not in ada.get(f"/submissions/{row.id}").text
    ada.post(f"/api/v1/submissions/{row.id}/withdraw")
    assert list((settings.folder / "tokens").iterdir()) == []


def test_a_file_is_found_by_whoever_sent_it_alone(ada, bob):
    sent = ada.post(f"{SENT}/files", params={"name": "m.zip"}, content=empty_zip())
    assert sent.status_code == 201, sent.text
    body = {"kind": "adapter", "name": "m", "file": sent.json()["file"]}
    assert list(bob.post(SENT, json=body).json()["fields"]) == ["file"]
    assert ada.post(SENT, json=body).status_code == 201
    assert list(ada.post(SENT, json=body).json()["fields"]) == ["file"], "it was taken"


def empty_zip():
    return b"PK\5\6" + bytes(18)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("m.zip", b"no zip file", "no zip file"),
        ("m.zip", b"PK\5\6" + bytes(6) + b"\xff\xff" + bytes(10), "more than 2000 files"),
        ("m.pkl", b"\x80\4", "Give a file that ends in"),
        ("m.tar.gz", b"x", "Give a file that ends in"),
    ],
)
def test_other_kinds_of_file_are_refused_when_they_are_sent(ada, name, content, says, settings):
    answer = ada.post(f"{SENT}/files", params={"name": name}, content=content)
    assert answer.status_code == 422
    assert says in answer.json()["fields"]["file"]
    place = settings.folder / "uploads" / ".submissions"
    assert not place.exists() or not [path for path in place.rglob("*") if path.is_file()]


def test_more_than_two_gigabytes_are_refused_before_they_are_read(ada):
    answer = ada.post(
        f"{SENT}/files", params={"name": "m.zip"}, content=b"PK", headers={"Content-Length": str(2 * 2**30 + 1)}
    )
    assert answer.status_code == 413


def test_banned_people_submit_nothing(ada, owner, database):
    id = database.read(lambda s: s.scalar(select(Person.id).where(Person.username == "ada")))
    database.write(people.ban, None, "nli", id, "Spam.")
    assert ada.post(SENT, json=HUB).status_code == 403


def test_whoever_leaves_stands_beside_no_submission(ada, database):
    from dynabench.community import service as community

    id = send(ada)["id"]
    database.write(lambda s: community.leave(s, ada.id, withdraw_examples=False))
    assert database.read(lambda s: s.get_one(Submission, id).person_id) is None


def test_an_installed_model_is_entered_once_and_is_ready_at_once(database, owner):
    card = catalog.entry("nli-ngram").card
    id = database.write(lambda s: submissions.enter(s, None, "nli", card).id)
    made = database.read(lambda s: s.get_one(Submission, id))
    assert (made.state, made.kind, made.model, made.version) == ("ready", "installed", "nli-ngram", card.version)
    assert made.inside
    assert made.card["licence"] == card.licence
    with pytest.raises(Exception, match="entered for this task already"):
        database.write(submissions.enter, None, "nli", card)
    with pytest.raises(Exception, match="needs the fields"):
        database.write(submissions.enter, None, "sentiment", card)


def test_the_page_has_only_what_the_kind_needs_and_keeps_what_was_written(client, browser, owner):
    eve = browser()
    eve.join("eve")
    first = eve.get("/tasks/nli/submit").text
    assert 'name="hub"' not in first
    assert 'href="/tasks/nli/submit?kind=predictions"' in first
    hub = eve.get("/tasks/nli/submit?kind=hub").text
    assert 'name="hub"' in hub
    assert 'name="url"' not in hub
    bad = eve.submit("/tasks/nli/submit", page="/settings", kind="hub", name="Bad Name", hub="owner/name", readme="hey")
    assert bad.status_code == 422
    assert "Begin with a small letter" in bad.text
    assert 'value="owner/name"' in bad.text
    sent = eve.submit("/tasks/nli/submit", page="/settings", kind="hub", name="good", hub="owner/name")
    assert sent.status_code == 303, sent.text
    page = eve.get(sent.headers["location"])
    assert page.status_code == 200
    assert "waits" in page.text
    assert "good" in eve.get("/tasks/nli/submissions").text
    assert ",nli,hub,good," in eve.get("/api/v1/tasks/nli/submissions?format=csv").text
    gone = eve.submit(f"{sent.headers['location']}/withdraw", page="/settings")
    assert gone.status_code == 303
    assert "Withdrawn on" in eve.get(gone.headers["location"]).text


def test_the_client_speaks_of_submissions(ada, tmp_path, client):
    mine = Client("http://test", ada.token)
    mine.http = client
    client.headers.update(ada.headers)
    with pytest.raises(ApiError) as refused:
        mine.submit("nli", "adapter", "packed", file=str(packed(tmp_path)), visibility="everywhere")
    assert refused.value.status == 422
    made = mine.submit("nli", "adapter", "packed", file=str(packed(tmp_path)), visibility="private")
    assert mine.submission(made["id"])["state"] == "queued"
    assert [each["id"] for each in mine.submissions("nli")] == [made["id"]]
    assert mine.show_submission(made["id"], "public")["visibility"] == "public"
    assert mine.change_submission(made["id"], "withdraw")["state"] == "withdrawn"


def packed(tmp_path):
    path = tmp_path / "m.zip"
    path.write_bytes(empty_zip())
    return path


def dataset(session, settings, rows, name="dev", visibility="public", task="nli"):
    """A dataset of these rows; its version's id."""
    written = stored.write(settings, rows)
    made = Dataset(task_id=task, name=name, title=name, visibility=visibility)
    session.add(made)
    session.flush()
    version = DatasetVersion(dataset_id=made.id, number=1, state="ready", digest=written.digest, rows=written.rows)
    session.add(version)
    session.flush()
    made.version_id = version.id
    return version.id


def pairs(count):
    labels = ("entailment", "neutral", "contradiction")
    made = ({"premise": f"It rains {n}.", "hypothesis": "It is dry."} for n in range(count))
    return [Stored(f"r{n}", inputs, ({"label": labels[n % 3]},)) for n, inputs in enumerate(made)]


def test_every_dataset_that_may_be_seen_needs_its_file_and_hidden_ones_none(ada, database, settings):
    database.write(dataset, settings, pairs(3), "dev")
    database.write(dataset, settings, pairs(4), "more", "scoring")
    database.write(dataset, settings, pairs(5), "secret", "hidden")
    file = ada.post(f"{SENT}/files", params={"name": "p.jsonl"}, content=b"{}\n").json()["file"]
    body = {"kind": "predictions", "name": "p", "files": {"dev": file}}
    assert list(ada.post(SENT, json=body).json()["fields"]) == ["files.more"]
    body["files"] = {"dev": file, "more": file, "secret": file}
    assert list(ada.post(SENT, json=body).json()["fields"]) == ["files.secret"]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", ["hub", "endpoint", "archive", "adapter", "predictions", "installed", HOSTILE])
def test_markup_in_any_field_is_refused_or_shown_as_text(browser, owner, database, kind):
    eve = browser()
    eve.join("eve")
    fields = dict.fromkeys(("readme", "licence", "hub", "url", "model", "protocol", "kept.file", "link"), HOSTILE)
    answer = eve.submit("/tasks/nli/submit", page="/settings", kind=kind, name=HOSTILE, **fields)
    assert answer.status_code == 422
    assert "<script>alert(1)" not in answer.text
    assert "<img src=x" not in answer.text
    assert database.read(lambda s: s.scalars(select(Submission)).all()) == []


def test_a_card_s_markup_is_text_on_the_page(ada, browser, database):
    id = send(ada, readme=HOSTILE, visibility="public")["id"]
    eve = browser()
    eve.log_in("ada")
    page = eve.get(f"/submissions/{id}").text
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert 'href="javascript:' not in page


@pytest.mark.parametrize("id", [0, -1, 2**63, 2**62])
def test_ids_that_no_submission_has(ada, id):
    assert ada.get(f"/api/v1/submissions/{id}").status_code in (404, 422)
    assert ada.post(f"/api/v1/submissions/{id}/withdraw").status_code in (404, 422)


def test_of_hidden_datasets_the_page_has_neither_reason_nor_log(ada, browser, database, settings):
    id = send(ada)["id"]
    ready(database, id)
    said = {"state": "failed", "code": "out_of_memory", "reason": "row about whales", "log": "whales", "rows": 3}
    for name, visibility in (("dev", "public"), ("secret", "hidden")):
        version = database.write(dataset, settings, pairs(3), name, visibility)
        words = {} if visibility == "hidden" else {"reason": "about dogs", "log": "dogs"}
        made = Evaluation(submission_id=id, version_id=version, **said | words)
        database.write(lambda s, made=made: s.add(made))
    eve = browser()
    eve.log_in("ada")
    page = eve.get(f"/submissions/{id}").text
    assert page.count("out_of_memory") == 2
    assert "about dogs" in page
    assert "whales" not in page
