"""Files, tokens and texts of a submission; and the form and page that take and show them."""

import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations.tables import Evaluation
from dynabench.benchmark.registry.tables import Submission
from dynabench.client import ApiError, Client
from tests.api.hostile import HOSTILE
from tests.kept import dataset
from tests.registry.sending import SENT, empty_zip, packed, pairs, ready, send


def test_a_token_is_kept_for_one_host_in_a_file_and_shown_nowhere(ada, database, settings):
    secret = "sk-very-secret-1234"
    url = {"kind": "endpoint", "protocol": "openai", "url": "https://api.example.org/v1", "model": "m", "token": secret}
    response = ada.post(SENT, json={"name": "chat", **url})
    assert response.status_code == 201, response.text
    [stored] = (settings.folder / "tokens").iterdir()
    assert stored.read_text() == f"api.example.org {secret}"
    assert stored.stat().st_mode & 0o777 == 0o600
    assert secret not in response.text
    row = database.read(lambda s: s.get_one(Submission, response.json()["id"]))
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


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("m.zip", b"no zip file", "no zip file"),
        ("m.zip", b"PK\5\6" + bytes(6) + b"\xff\xff" + bytes(10), "more than 2000 files"),
        ("m.pkl", b"\x80\4", "Upload a file that ends in"),
        ("m.tar.gz", b"x", "Upload a file that ends in"),
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
    assert "Start with a lowercase letter" in bad.text
    assert 'value="owner/name"' in bad.text
    sent = eve.submit("/tasks/nli/submit", page="/settings", kind="hub", name="good", hub="owner/name")
    assert sent.status_code == 303, sent.text
    page = eve.get(sent.headers["location"])
    assert page.status_code == 200
    assert "waiting" in page.text
    assert "good" in eve.get("/tasks/nli/submissions").text
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
    created = mine.submit("nli", "adapter", "packed", file=str(packed(tmp_path)), visibility="private")
    assert mine.submission(created["id"])["state"] == "queued"
    assert [item["id"] for item in mine.submissions("nli")] == [created["id"]]
    assert mine.show_submission(created["id"], "public")["visibility"] == "public"
    assert mine.change_submission(created["id"], "withdraw")["state"] == "withdrawn"


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


def test_of_hidden_datasets_the_page_has_neither_reason_nor_log(ada, browser, database, settings):
    id = send(ada)["id"]
    ready(database, id)
    answer = {"state": "failed", "code": "out_of_memory", "reason": "row about whales", "log": "whales", "rows": 3}
    for name, visibility in (("dev", "public"), ("secret", "hidden")):
        version = database.write(dataset, settings, pairs(3), name, visibility)
        words = {} if visibility == "hidden" else {"reason": "about dogs", "log": "dogs"}
        evaluation = Evaluation(submission_id=id, version_id=version, **answer | words)
        database.write(lambda s, created=evaluation: s.add(created))
    eve = browser()
    eve.log_in("ada")
    page = eve.get(f"/submissions/{id}").text
    assert page.count("out_of_memory") == 2
    assert "about dogs" in page
    assert "whales" not in page
