"""Notices by mail, through a real server."""

import random
import re
import socket
import threading
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.kit.errors import NotFound
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Notice
from dynabench.people.link_tokens import make_link_token
from dynabench.people.mailings import Mailing
from dynabench.people.notices import mailing, service
from dynabench.people.notices.mailing import one_line
from dynabench.people.notices.tables import Wish

ADDRESS = "ada@example.org"


@pytest.fixture
def ada(person, database):
    """Somebody whose address is verified."""
    created = person("ada")
    database.write(verified, created.id)
    return created


def verified(session: Session, person_id: int, address: str = ADDRESS) -> None:
    service.choose_address(session, person_id, address)
    wish = session.get_one(Wish, person_id)
    wish.verified_at = wish.verified_at or session.scalar(select(Mailing.created_at))
    for row in session.scalars(select(Mailing)):
        session.delete(row)


def tell(database, person, text="The evaluation of tiny on dev is done.", kind="evaluation", **more):
    database.write(service.notify_person, person.id, kind, text, **more)


def mailings(database):
    return database.read(lambda session: session.scalars(select(Mailing).order_by(Mailing.id)).all())


def links_in(mail):
    return re.findall(r"https://\S+", mail.get_body(("plain",)).get_content())


def test_no_mail_goes_to_an_address_that_nobody_confirmed(person, database, inbox, work):
    bob = person("bob")
    tell(database, bob)
    assert bob.post("/api/v1/me/notifications/address", json={"address": "bob@example.org"}).json()["verified"] is False
    tell(database, bob)
    work()
    [request] = inbox.mails
    assert (request["To"], request["Subject"]) == ("bob@example.org", "Confirm your email address for Dynabench")
    assert "List-Unsubscribe" not in request


def test_the_link_in_the_first_mail_confirms_the_address(person, browser, database, inbox, work):
    bob = person("bob")
    bob.post("/api/v1/me/notifications/address", json={"address": "bob@example.org"})
    work()
    path = links_in(inbox.mails[0])[0].removeprefix("https://bench.example.org")
    visitor = browser()
    assert "b…@example.org" in visitor.get(path).text
    assert bob.get("/api/v1/me/notifications").json()["verified"] is False  # looking at the link is not confirming
    assert visitor.submit(path).status_code == 200
    assert bob.get("/api/v1/me/notifications").json()["verified"] is True
    tell(database, bob)
    work()
    assert len(inbox.mails) == 2


def test_a_link_holds_for_one_address_one_purpose_and_two_days(person, database, settings, monkeypatch):
    bob = person("bob")
    database.write(service.choose_address, bob.id, "bob@example.org")
    good = make_link_token(settings.key, mailing.VERIFY, bob.id, "bob@example.org", mailing.VERIFY_SECONDS)
    number, until, signature = good.split(".")
    for bad in (f"{number}.{int(until) + 1}.{signature}", f"{number}.0.{signature}", f"2.{until}.{signature}", "", "x",
                f"{number}.{until}.", f"{number}.{until}.é", "9" * 30 + f".{until}.{signature}", f"²{number}.0.x",
                make_link_token(settings.key, mailing.UNSUBSCRIBE, bob.id, "bob@example.org"),
                make_link_token(settings.key, mailing.VERIFY, bob.id, "eve@example.org", 60)):  # fmt: skip
        with pytest.raises(NotFound):
            database.write(service.confirm_address, settings.key, bad)
    later = int(until) + 1
    monkeypatch.setattr("dynabench.people.link_tokens.time.time", lambda: later)
    with pytest.raises(NotFound):
        database.write(service.confirm_address, settings.key, good)


def test_what_is_told_within_a_minute_comes_in_one_mail(ada, database, inbox, work):
    tell(database, ada)
    tell(database, ada, "Line one\r\nBcc: eve@example.org", kind="warning", link="/tasks/nli")
    [mail] = mailings(database)
    job = database.read(lambda session: session.get_one(Job, mail.job_id))
    assert 50 < (job.due_at - job.created_at).total_seconds() <= 60
    work()
    [mail] = inbox.mails
    assert (mail["To"], mail["Subject"], mail["Bcc"]) == (ADDRESS, "2 notices from Dynabench", None)
    assert str(mail["From"]) == "The Bench <bench@example.org>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    text = mail.get_body(("plain",)).get_content()
    assert "https://bench.example.org/tasks/nli" in text
    tell(database, ada, "More <b>later</b>")
    work()
    assert inbox.mails[1]["Subject"] == "More <b>later</b>"
    assert "More &lt;b&gt;later" in inbox.mails[1].get_body(("html",)).get_content()
    assert [item.state for item in mailings(database)] == ["sent", "sent"]


def test_no_header_can_be_injected(ada, database, inbox, work):
    tell(database, ada, "Done\r\nBcc: eve@example.org\r\n\r\nBody\u2028X-Evil: 1\x1f" + "long " * 100)
    work()
    [mail] = inbox.mails
    assert mail["Bcc"] is None
    assert mail["X-Evil"] is None
    assert mail["Subject"].startswith("Done Bcc: eve@example.org Body X-Evil")
    assert len(mail["Subject"]) <= 120
    assert one_line(" \r\n\t ", 10) == ""


def test_one_click_ends_all_mail_without_a_log_in(ada, client, database, inbox, work):
    tell(database, ada)
    work()
    address = inbox.mails[0]["List-Unsubscribe"].strip("<>").removeprefix("https://bench.example.org")
    assert client.get(address, follow_redirects=True).status_code == 200
    assert "mail" in ada.get("/api/v1/me/notifications").json()["channels"]["evaluation"]
    form = {"List-Unsubscribe": "One-Click"}
    tell(database, ada, "While it was gathered.")
    assert client.post(address, data=form).status_code == 204
    assert client.post(address, data=form).status_code == 204
    tell(database, ada)
    work()
    assert len(inbox.mails) == 1
    assert [item.state for item in mailings(database)] == ["sent", "dropped"]
    assert client.post(address[:-2], data=form).status_code == 404


def test_each_kind_takes_the_ways_that_the_person_chose(ada, database, inbox, work):
    chosen = {"evaluation": ["page"], "submission": ["mail"], "warning": ["mail"]}
    channels = ada.patch("/api/v1/me/notifications", json={"channels": chosen}).json()["channels"]
    assert (channels["evaluation"], channels["submission"], channels["dataset"]) == (
        ["page"],
        ["mail"],
        ["page", "mail", "webhook"],
    )
    assert channels["warning"] == ["page", "mail"]  # a warning is always on the page
    for kind in ("evaluation", "submission", "warning"):
        tell(database, ada, f"About {kind}.", kind=kind)
    work()
    text = inbox.mails[0].get_body(("plain",)).get_content()
    assert ("About evaluation" in text, "About submission" in text, "About warning" in text) == (False, True, True)
    seen = database.read(lambda s: {n.kind: n.seen_at is not None for n in s.scalars(select(Notice))})
    assert seen == {"evaluation": False, "submission": True, "warning": False}
    wrong = ada.patch("/api/v1/me/notifications", json={"channels": {"everything": []}})
    assert (wrong.status_code, [*wrong.json()["fields"]]) == (422, ["channels.everything"])


def test_what_may_quote_rows_stays_on_the_page(ada, database, inbox, work):
    tell(database, ada, "It failed: row 7 says SECRET", outside="It failed (wrong_rows).")
    work()
    assert "SECRET" not in inbox.mails[0].as_string()
    assert "It failed (wrong_rows)." in inbox.mails[0].as_string()


@pytest.mark.parametrize("trouble", ["greylisted", "full", "dropped", "gone"])
def test_a_mail_that_did_not_get_through_is_sent_again_under_the_same_id(
    ada, database, inbox, work, trouble, settings, monkeypatch
):
    inbox.refuses = ["451 4.7.1 Greylisted, come back"] if trouble == "greylisted" else []
    inbox.answers = ["452 Mailbox full"] if trouble == "full" else []
    inbox.drops = trouble == "dropped"
    port = inbox.port
    if trouble == "gone":
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            settings.smtp_port = closed.getsockname()[1]
    tell(database, ada)
    work()
    assert inbox.mails == []
    [waiting] = mailings(database)
    assert (waiting.state, waiting.tries) == ("sending", 1)
    job = database.read(lambda session: session.get_one(Job, waiting.job_id))
    assert job.due_at > job.created_at
    inbox.drops, settings.smtp_port = False, port
    work()
    assert len(inbox.mails) == 1
    assert [item.state for item in mailings(database)] == ["sent"]


def test_a_mail_is_given_up_after_a_day_of_tries_with_a_line_in_the_log(ada, database, inbox, work, caplog):
    inbox.refuses = ["451 Not now"] * 20
    tell(database, ada)
    for _ in range(mailing.MOST + 2):
        work()
    [given_up] = mailings(database)
    assert (given_up.state, given_up.tries) == ("failed", mailing.MOST)
    assert "given up after 8 tries: 451 Not now" in caplog.text
    assert len(inbox.refuses) == 20 - mailing.MOST
    assert ada.get("/api/v1/me/notifications").json()["problem"] == "451 Not now"


def test_an_address_that_the_server_does_not_know_gets_nothing_more(ada, database, inbox, work):
    inbox.refuses = ["550 5.1.1 No such user"]
    tell(database, ada)
    work()
    document = ada.get("/api/v1/me/notifications").json()
    assert (document["verified"], document["problem"]) == (False, "550 5.1.1 No such user")
    tell(database, ada)
    assert work() == 0


def test_tries_are_spread_over_about_a_day():
    assert 20 * 3600 < sum(mailing.WAITS) < 28 * 3600
    assert mailing.next_try(mailing.MOST) is None
    assert len({mailing.next_try(3) for _ in range(5)}) == 5


@pytest.mark.parametrize(
    ("tries", "seconds"),
    [(1, 5), (2, 5 * 60), (3, 30 * 60), (4, 2 * 3600), (5, 5 * 3600), (6, 8 * 3600), (7, 8 * 3600), (8, None)],
)
@pytest.mark.parametrize(("drawn", "share"), [(0.0, 0.8), (0.5, 1.0), (1.0, 1.2)])
def test_each_try_waits_for_its_time_give_or_take_a_fifth(monkeypatch, tries, seconds, drawn, share):
    moment = datetime(2030, 1, 1, 12, tzinfo=UTC)

    class Drawn(random.Random):
        def random(self):
            return drawn

    monkeypatch.setattr(mailing, "now", lambda: moment)
    monkeypatch.setattr(mailing, "_random", Drawn())
    due = mailing.next_try(tries)
    assert (due and (due - moment).total_seconds()) == (seconds and pytest.approx(seconds * share))


def test_mails_at_once_from_several_transactions_lose_no_notice(ada, database, inbox, work):
    threads = [threading.Thread(target=tell, args=(database, ada, f"Number {n}.")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    text = "".join(mail.get_body(("plain",)).get_content() for mail in inbox.mails)
    assert sorted(set(re.findall(r"Number \d", text))) == [f"Number {n}" for n in range(8)]


def test_an_unencrypted_server_is_never_fallen_back_to(settings, inbox):
    from email.message import EmailMessage

    message = EmailMessage()
    message["From"], message["To"] = "bench@example.org", ADDRESS
    with pytest.raises(mailing.Later, match="STARTTLS"):
        mailing.send_letter(settings.model_copy(update={"smtp_security": "starttls"}), message)
    with pytest.raises(mailing.Later, match="SSL"):
        mailing.send_letter(settings.model_copy(update={"smtp_security": "tls"}), message)
    assert inbox.mails == []


def test_a_deleted_account_gets_no_mail_and_leaves_no_address(ada, database, inbox, work):
    tell(database, ada)
    answer = ada.post("/api/v1/me/deletion", json={"confirm": "ada", "password": "correct horse battery"})
    assert answer.status_code in (200, 204), answer.text
    work()
    assert inbox.mails == []
    assert database.read(lambda session: session.scalars(select(Wish)).all()) == []


def test_a_site_without_a_mail_server_says_so(person, client):
    bob = person("bob")
    client.app.state.settings.smtp_host = ""
    assert bob.get("/api/v1/me/notifications").json()["mail"] is False
    assert bob.post("/api/v1/me/notifications/address", json={"address": "b@example.org"}).status_code == 409
