"""New passwords by links in mails and from operators, and confirmed addresses, through a real mail server."""

import re

import pytest
from sqlalchemy import select, update

from dynabench.kit.errors import NotFound
from dynabench.people.accounts import recovery, service
from dynabench.people.accounts.tables import Act, Person, Session
from dynabench.people.mailings import Mailing
from tests.conftest import PASSWORD
from tests.notices import conftest as post

inbox, settings, work = post.inbox, post.settings, post.work
NEW = "four quite random words"


def subjects(inbox):
    return [mail["Subject"] for mail in inbox.mails]


def link_of(mail):
    """The path of the one link in a mail."""
    [link] = re.findall(r"https://bench\.example\.org(\S+)", mail.get_body(("plain",)).get_content())
    return link


@pytest.fixture
def ada(person, database):
    """Somebody whose address needs no confirmation any more."""
    account = person("ada")
    database.write(lambda session: session.execute(update(Person).values(email_confirmed_at=service.now())))
    return account


def reset_link(browser, inbox, work, name="ada"):
    assert browser.submit("/login/forgot", name=name).status_code == 200
    work()
    return link_of(inbox.mails[-1])


@pytest.mark.parametrize("name", ["ada", "ADA@example.org"])
def test_a_mailed_link_changes_the_password_once_and_ends_all_sessions(browser, ada, inbox, work, name):
    here, elsewhere = browser(), browser()
    assert elsewhere.log_in("ada").status_code == 303
    assert "/login/forgot" in here.get("/login").text
    link = reset_link(here, inbox, work, name)
    assert inbox.mails[0]["To"] == "ada@example.org"
    assert "ada" in here.get(link).text
    assert elsewhere.get("/settings").status_code == 200, "looking at the link changes nothing"

    answer = here.submit(link, page="/login", password=NEW)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?done=reset")
    assert elsewhere.get("/settings").status_code == 303, "every browser is logged out"
    assert here.log_in("ada").status_code == 401
    assert here.log_in("ada", NEW).status_code == 303
    assert here.get(link).status_code == 404, "it works once"
    assert browser().submit(link, page="/login", password="another good password").status_code == 404


def test_known_and_unknown_accounts_get_the_same_answer(browser, ada, inbox, work, database):
    answers = [browser().submit("/login/forgot", name=name) for name in ("ada", "bob")]
    plain = [re.sub(r'(name="csrf[^>]*|content="[0-9a-f]{16}\.[^"]*)"', "", answer.text) for answer in answers]
    assert answers[0].status_code == answers[1].status_code == 200
    assert plain[0].replace("ada", "bob") == plain[1]
    work()
    assert len(inbox.mails) == 1


def test_nobody_can_flood_a_mailbox(browser, ada, inbox, work, database):
    for _ in range(recovery.MAILS_PER_HOUR + 2):
        assert browser().submit("/login/forgot", name="ada").status_code == 200
    work()
    assert len(inbox.mails) == recovery.MAILS_PER_HOUR


def test_asking_is_limited_for_each_name_and_address(browser, ada, client, monkeypatch):
    monkeypatch.setattr(client.app.state.settings, "rate_limit", True)
    stranger = browser()
    statuses = [stranger.submit("/login/forgot", name=name).status_code for name in ["ada"] * 6 + ["bob"] * 6]
    assert statuses == ([200] * 5 + [429]) * 2


def test_a_link_is_refused_when_anything_about_it_is_wrong(database, person, settings, monkeypatch):
    ada, bob = person("ada"), person("bob")
    key, read = settings.key, database.read
    of_ada, of_bob = (read(lambda s, id=caller.id: s.get_one(Person, id)) for caller in (ada, bob))
    good = recovery.reset_token(key, of_ada)
    assert read(recovery.person_to_reset, key, good).username == "ada"
    person_id, until, signature = good.split(".")
    bad = [f"{bob.id}.{until}.{signature}",
           f"{person_id}.{int(until) + 1}.{signature}", f"{person_id}.0.{signature}",
           recovery.confirmation_token(key, of_ada), recovery.reset_token(b"another key", of_ada), "", "x", "1.1",
           f"{10**30}.{until}.{signature}", f"{person_id}.{until}.", f"999.{until}.{signature}", "\x00", "é.1.x",
           recovery.reset_token(key, of_bob).replace(str(bob.id), str(ada.id), 1)]  # fmt: skip
    for token in bad:
        with pytest.raises(NotFound):
            read(recovery.person_to_reset, key, token)
    monkeypatch.setattr("dynabench.people.link_tokens.time.time", lambda: int(until) + 1)
    with pytest.raises(NotFound):
        read(recovery.person_to_reset, key, good)


def test_a_link_dies_with_the_account_and_with_a_change_of_password(database, person, settings):
    ada, bob = person("ada"), person("bob")
    key = settings.key
    tokens = [
        recovery.reset_token(key, database.read(lambda s, id=caller.id: s.get_one(Person, id))) for caller in (ada, bob)
    ]
    database.write(service.delete_account, ada.id)
    database.write(service.change_password, bob.id, "another hash")
    for token in tokens:
        with pytest.raises(NotFound):
            database.write(recovery.reset_password, key, token, "hash")


def test_a_bad_new_password_is_refused_and_the_link_still_works(browser, ada, inbox, work):
    here = browser()
    link = reset_link(here, inbox, work)
    assert "characters" in here.submit(link, page="/login", password="short").text
    assert here.submit(link, page="/login", password="ada@example.org").status_code == 422
    assert here.submit(link, page="/login", password=NEW).status_code == 303


def test_no_secret_of_a_link_is_stored(browser, ada, inbox, work, database):
    link = reset_link(browser(), inbox, work)
    signature = link.rpartition(".")[2]
    rows = database.read(lambda s: [row.__dict__ for row in s.scalars(select(Mailing))])
    acts = database.read(lambda s: [row.__dict__ for row in s.scalars(select(Act))])
    assert signature not in repr(rows) + repr(acts)


def test_joining_asks_for_confirmation_of_the_address(browser, inbox, work, database):
    eve = browser()
    eve.join("eve")
    work()
    assert subjects(inbox) == ["Confirm your email address for Dynabench"]
    assert "not confirmed" in eve.get("/settings").text
    link = link_of(inbox.mails[0])
    assert "not confirmed" in eve.get("/settings").text
    assert "Is this the email address" in browser().get(link).text
    assert "is confirmed" in browser().submit(link, page="/login").text
    assert "not confirmed" not in eve.get("/settings").text
    answer = eve.submit("/settings/notifications/address", page="/settings", address="eve@example.org")
    assert answer.headers["location"].endswith("?done=mail"), "the account's own address needs no second link"
    assert work() == 0


def test_a_confirmation_can_be_asked_for_again(browser, inbox, work):
    eve = browser()
    eve.join("eve")
    for _ in range(4):
        assert eve.submit("/settings/email/confirm", page="/settings").status_code == 303
    work()
    assert len(inbox.mails) == recovery.MAILS_PER_HOUR


def test_a_refused_reset_mail_leaves_the_address_for_notices_alone(browser, ada, inbox, work, database):
    ada.post("/api/v1/me/notifications/address", json={"address": "ada@example.org"})
    inbox.refuses = ["550 no such user"]
    browser().submit("/login/forgot", name="ada")
    work()
    assert ada.get("/api/v1/me/notifications").json()["verified"] is True


class TestWithoutMail:
    """A site that sends no mail."""

    @pytest.fixture
    def settings(self, settings):
        return settings.model_copy(update={"smtp_host": ""})

    def test_no_link_is_offered_and_nobody_is_asked_to_confirm(self, browser, database):
        ada = browser()
        assert "/login/forgot" not in ada.get("/login").text
        assert ada.get("/login/forgot").status_code == 409
        ada.join("ada")
        assert database.read(lambda session: session.scalars(select(Mailing)).all()) == []
        assert "confirmed" not in ada.get("/settings").text

    def test_an_operator_makes_a_link(self, browser, database, settings):
        browser().join("ada")
        person_id = database.read(lambda session: session.scalar(select(Person.id)))
        _, token = database.write(recovery.make_reset_link, settings.key, None, person_id)
        assert browser().submit(f"/login/reset/{token}", password=NEW).status_code == 303
        assert browser().log_in("ada", NEW).status_code == 303
        acts = database.read(lambda session: session.scalars(select(Act.kind).order_by(Act.at)).all())
        assert acts == ["user.reset_link", "password.reset"]


def test_choices_of_mail_outlast_a_form_without_its_column(browser, settings, database, client, monkeypatch):
    eve = browser()
    eve.join("eve")
    eve.submit("/settings/notifications", page="/settings", mail=["evaluation"], page_=[])
    monkeypatch.setattr(client.app.state.settings, "smtp_host", "")
    assert ">Email<" not in eve.get("/settings/notifications").text
    eve.submit("/settings/notifications", page="/settings", page_=[])
    monkeypatch.setattr(client.app.state.settings, "smtp_host", "127.0.0.1")
    page = eve.get("/settings/notifications").text
    assert re.findall(r'name="mail" value="(\w+)" aria-label="[^"]*" checked', page) == ["evaluation"]


@pytest.mark.slow
def test_sessions_are_listed_and_ended(browser, database):
    ada, laptop, phone = browser(), browser(), browser()
    ada.join("ada")
    agents = {laptop: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
              phone: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"}  # fmt: skip
    for other, agent in agents.items():
        other.client.headers["User-Agent"] = agent
        other.log_in("ada")
    page = ada.get("/settings/security").text
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    assert page.count("this browser") == 1
    handles = re.findall(r"/settings/sessions/(\w+)/end", page)
    assert len(handles) == 2
    rows = database.read(lambda session: session.scalars(select(Session)).all())
    linux = next(row.digest[:16] for row in rows if "Linux" in row.user_agent)
    assert ada.submit(f"/settings/sessions/{linux}/end", page="/settings").status_code == 303
    assert (laptop.get("/settings").status_code, phone.get("/settings").status_code) == (303, 200)
    assert ada.submit("/settings/sessions/end", page="/settings").status_code == 303
    assert (ada.get("/settings").status_code, phone.get("/settings").status_code) == (200, 303)


def test_nobody_ends_another_persons_session(browser, database):
    ada, eve = browser(), browser()
    ada.join("ada")
    [of_ada] = database.read(lambda session: session.scalars(select(Session.digest)).all())
    eve.join("eve")
    assert eve.submit(f"/settings/sessions/{of_ada[:16]}/end", page="/settings").status_code == 404
    eve.submit("/settings/sessions/end", page="/settings")
    assert ada.get("/settings").status_code == 200


def test_a_user_agent_is_text(browser):
    ada = browser()
    ada.client.headers["User-Agent"] = "<script>alert(1)</script>" * 20
    ada.join("ada")
    assert "<script>alert" not in ada.get("/settings/security").text
    assert ada.log_in("ada", PASSWORD).status_code == 303


DEAD_LINKS = {
    "/login/reset/1.2.x": ("/login/forgot", "/login"),
    "/mail/confirm/1.2.x": ("/settings", "/"),
    "/mail/verify/1.2.x": ("/settings/notifications", "/"),
    "/mail/unsubscribe/none": ("/settings/notifications", "/"),
}


@pytest.mark.parametrize(("link", "buttons"), DEAD_LINKS.items())
def test_a_link_that_has_ended_says_what_to_do_next(browser, link, buttons):
    answer = browser().get(link)
    assert answer.status_code == 404
    main = answer.text.partition("<main")[2].partition("</main>")[0]
    assert "This link does not work" in main
    assert "<form" not in main, "a search helps nobody with a dead link"
    assert tuple(re.findall(r'class="button[^"]*" href="([^"]+)"', main)) == buttons


@pytest.mark.parametrize("step", ["/login/code", "/login/provider/join", "/login/provider/proof"])
def test_a_log_in_that_has_ended_leads_to_the_log_in_page(browser, step):
    answer = browser().get(step)
    assert answer.status_code == 409
    main = answer.text.partition("<main")[2].partition("</main>")[0]
    assert "This log-in has ended" in main
    assert re.findall(r'class="button[^"]*" href="([^"]+)"', main) == ["/login"]
