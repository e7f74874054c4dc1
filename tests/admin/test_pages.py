"""The administrators' pages: health, people, jobs and settings as they are."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from dynabench.kit import job_control, jobs
from dynabench.kit.db import now
from dynabench.kit.jobs import Job, WorkerBeat
from dynabench.kit.settings import OidcProvider
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.mailings import Mailing
from dynabench.rounds import service as rounds
from dynabench.site.admin import health, setting_rows
from dynabench.tasks import shipped_tasks
from tests.conftest import PASSWORD


@pytest.fixture
def root(browser, person, database):
    """An administrator's browser."""
    admin = person("root")
    database.write(accounts.make_administrator, admin.id)
    here = browser()
    here.log_in("root")
    return here


@pytest.fixture
def nli(database):
    [task] = [shipped for shipped in shipped_tasks() if shipped.config.id == "nli"]
    database.write(rounds.save_task, None, task.source)


def part_states(client, person, database):
    token = person("olaf")
    database.write(accounts.make_administrator, token.id)
    return {part["name"]: part for part in token.get("/api/v1/admin/health").json()["parts"]}


def test_health_says_what_is_not_there_and_what_to_do(root, client, person, database):
    parts = part_states(client, person, database)
    assert {name: part["state"] for name, part in parts.items()} == {
        "web": "good", "database": "good", "host": "bad", "worker": "bad", "queue": "good", "mail": "off",
        "disk": parts["disk"]["state"],
    }  # fmt: skip
    assert parts["worker"]["figure"] == "never seen"
    assert "dynabench worker" in parts["worker"]["advice"]
    page = root.get("/admin").text
    assert "Something does not work." in page
    assert "dynabench host" in page


def test_a_worker_that_beats_is_well_until_it_falls_silent(database):
    started = now()
    database.write(jobs.note_worker, started)
    beats = database.read(job_control.list_workers)
    assert health.worker_part(beats, now()).state == "good"
    later = health.worker_part(beats, now() + health.SILENT + timedelta(seconds=1))
    assert later.state == "bad"
    assert "last seen" in later.figure


def test_a_worker_that_is_long_gone_is_forgotten(database):
    old = now() - timedelta(days=2)
    database.write(lambda s: s.add(WorkerBeat(name="old", version="0", started_at=old, seen_at=old)))
    database.write(jobs.note_worker, now())
    assert "old" not in [beat.name for beat in database.read(job_control.list_workers)]


@pytest.mark.parametrize(("free", "state"), [(100, "bad"), (3000, "warn"), (90_000, "good")])
def test_the_disk_is_judged_by_what_uploads_leave_free(free, state):
    assert health.disk_part(free * 2**20, 100_000 * 2**20, 1000 * 2**20).state == state


def test_waiting_jobs_and_failed_mail_need_attention(root, client, person, database, settings, monkeypatch):
    mails = {"smtp_host": "127.0.0.1", "smtp_sender": "a@example.org", "public_url": "https://bench.example.org"}
    for name, value in mails.items():
        monkeypatch.setattr(client.app.state.settings, name, value)

    def make(session):
        job = jobs.enqueue(session, "queue_evaluations", {"task": "nli"})
        job.created_at = now() - timedelta(hours=1)
        session.add(Mailing(person_id=1, kind="reset", state="failed", reason="550 no such user"))

    database.write(make)
    parts = part_states(client, person, database)
    assert (parts["queue"]["state"], parts["mail"]["state"]) == ("warn", "bad")
    assert "550 no such user" in parts["mail"]["advice"]
    assert parts["queue"]["figure"].startswith("1 waiting")


def test_people_are_found_by_parts_of_names_and_addresses(root, person, database):
    for name in ("anna", "annabel", "bo_b"):
        person(name)

    def search(query):
        return re.findall(r'href="/admin/people/\d+">([^<]+)<', root.get(f"/admin/people?{query}").text)

    assert search("q=ANNA") == ["annabel", "anna"]
    assert search("q=bo_b%40example") == ["bo_b"]
    assert search("q=n_a") == [], "a wildcard is a letter"
    assert search("kind=admins") == ["root"]
    assert search("q=%27%3B+drop") == []
    assert "annabel@example.org" in root.get("/admin/people.csv?q=annabel").text
    assert "annabel@example.org" in root.get("/admin/people?q=annabel").text
    anonymous = update(Person).where(Person.username == "annabel").values(email="student-1@class.invalid")
    database.write(lambda session: session.execute(anonymous))
    assert "class.invalid" not in root.get("/admin/people").text, "an address that takes no mail"


def test_rights_are_given_and_taken_and_written_down(root, person, database, nli):
    bob = person("bob")
    page = f"/admin/people/{bob.id}"

    def act(**fields):
        return root.submit(page, page="/settings", **fields).status_code

    assert act(act="promote") == 303
    assert database.read(lambda session: session.get_one(Person, bob.id).admin)
    assert act(act="demote") == 303
    assert act(act="role", task="nli", role="moderator") == 303
    assert "moderator" in root.get(page).text
    assert act(act="ban", task="nli", reason="") == 422
    assert act(act="ban", task="nli", reason="Spam.") == 303
    assert "Spam." in root.get(page).text
    assert act(act="lift", task="nli") == 303
    assert act(act="nonsense") == 422
    acts = database.read(lambda session: session.scalars(select(Act.kind).where(Act.person_id == 1)).all())
    assert {"user.promote", "task.ban", "task.lift"} <= set(acts)


def test_no_administrator_removes_the_own_right(root, database):
    assert root.submit("/admin/people/1", page="/settings", act="demote").status_code == 409
    assert root.get("/admin").status_code == 200


def test_a_reset_link_is_shown_once_and_works(root, browser, person, database):
    bob = person("bob")
    here = browser()
    here.log_in("bob")
    page = root.submit(f"/admin/people/{bob.id}/reset-link", page="/settings").text
    path = re.search(r"http://testserver(/login/reset/[^<\"]+)", page)[1]
    assert "/login/reset/" not in root.get(f"/admin/people/{bob.id}").text
    assert browser().submit(path, password="four quite random words").status_code == 303
    assert here.get("/settings").status_code == 303
    assert browser().log_in("bob", PASSWORD).status_code == 401
    assert "user.reset_link" in database.read(lambda session: session.scalars(select(Act.kind)).all())


def test_an_administrator_logs_somebody_out(root, browser, person):
    bob = person("bob")
    here = browser()
    here.log_in("bob")
    assert root.submit(f"/admin/people/{bob.id}", page="/settings", act="log-out").status_code == 303
    assert here.get("/settings").status_code == 303


def test_a_job_that_waits_is_cancelled_and_runs_again(root, database, settings):
    job = database.write(lambda session: jobs.enqueue(session, "queue_evaluations", {"task": "nli"}).id)
    assert "/cancel" in root.get("/admin/jobs").text
    assert root.submit(f"/admin/jobs/{job}/cancel", page="/settings").status_code == 303
    assert job_control.job_status(database, settings, job).state == "cancelled"
    assert database.read(jobs._unsent) == [], "no worker takes it"
    assert root.submit(f"/admin/jobs/{job}/cancel", page="/settings").status_code == 409
    assert [row.job.id for row in job_control.list_jobs(database, settings, jobs.JobState.CANCELLED)] == [job]
    assert root.submit(f"/admin/jobs/{job}/retry", page="/settings").status_code == 303
    assert [row.id for row in database.read(jobs._unsent)] == [job]
    assert job_control.job_status(database, settings, job).state == "queued"


def test_jobs_that_come_back_by_themselves_are_not_cancelled(root, database):
    job = database.write(lambda session: jobs.enqueue(session, "send_mail", {"mailing": 1}).id)
    assert "/cancel" not in root.get("/admin/jobs").text
    assert root.submit(f"/admin/jobs/{job}/cancel", page="/settings").status_code == 409
    assert root.submit("/admin/jobs/nonsense/cancel", page="/settings").status_code == 404


def test_jobs_are_listed_in_pages_by_state_and_kind(root, database, settings):
    def make(session):
        for number in range(55):
            job = jobs.enqueue(session, "queue_evaluations", {"task": f"task-{number}"})
            job.created_at = now() - timedelta(minutes=number)

    database.write(make)
    first = root.get("/admin/jobs").text
    assert first.count("<summary>queue evaluations <") == 25
    assert "task task-0<" in first, "what the job is about"
    following = re.search(r'rel="next" href="([^"]+)"', first)[1].replace("&amp;", "&")
    assert root.get(following).text.count("<summary>queue evaluations <") == 25
    assert root.get("/admin/jobs?kind=evaluate").text.count("<summary>evaluate <") == 0
    assert root.get("/admin/jobs?state=failed").status_code == 200
    assert len(root.get("/admin/jobs.csv").text.splitlines()) == 56


def test_settings_show_their_source_and_no_secret(settings, root, client, monkeypatch):
    provider = OidcProvider(
        name="u", label="Uni", issuer="https://id.example.org", client_id="x", client_secret="hush-1"
    )
    filled = settings.model_copy(
        update={
            "secret": "hush-2", "smtp_password": "hush-3", "host_token": "hush-4", "oidc": [provider],
            "database_url": "postgresql://user:hush-5@db/bench", "hub_url": "https://me:hush-6@hub",
        }
    )  # fmt: skip
    rows = {row.variable: row for row in setting_rows.setting_rows(filled, {"DYNABENCH_SMTP_PASSWORD": "hush-3"})}
    assert not any("hush" in row.value for row in rows.values())
    assert rows["DYNABENCH_SMTP_PASSWORD"].source == "environment"
    assert rows["DYNABENCH_PORT"].source == "default"
    assert rows["DYNABENCH_DATABASE_URL"].value == "postgresql://user:***@db/bench"
    page = root.get("/admin/settings").text
    assert page.index("<details") < page.index("DYNABENCH_SMTP_PASSWORD"), "what nobody set is folded"


def test_every_setting_with_a_telling_name_is_treated_as_a_secret():
    from dynabench.kit.settings import Settings

    telling = {name for name in Settings.model_fields if re.search("secret|password|token|key", name)}
    assert telling - {"password_cost"} == setting_rows.SECRETS


def test_members_see_none_of_it(browser, person, database):
    person("eve")
    eve = browser()
    eve.log_in("eve")
    database.write(lambda session: session.execute(update(Job).values(sent_at=now())))
    for path in ("/admin", "/admin/people", "/admin/jobs", "/admin/settings", "/admin/people.csv"):
        assert eve.get(path).status_code == 403
