"""The inbox: what is unread, filters, dismissing one and all, and what still stands on top of a page."""

import re

import pytest

from dynabench.people.accounts.service import NOTICE_KINDS
from dynabench.people.notices import service as notices


@pytest.fixture
def ada(person):
    return person("ada")


@pytest.fixture
def hers(ada, browser):
    mine = browser()
    mine.log_in("ada")
    return mine


@pytest.fixture
def notify(ada, database):
    return lambda kind, text, **more: database.write(
        lambda session: notices.notify_person(session, ada.id, kind, text, **more)
    )


def unread(browser, path="/settings"):
    """The number that the bell shows."""
    match = re.search(r'class="bell-count" aria-hidden="true">(\d+)', browser.get(path).text)
    return int(match[1]) if match else 0


@pytest.mark.slow
def test_an_empty_inbox_says_so(hers):
    assert "All caught up" in hers.get("/inbox").text
    assert unread(hers) == 0


def test_the_bell_counts_what_is_unread_and_no_page_has_a_band(hers, notify):
    for number in range(7):
        notify("evaluation", f"Evaluation {number} is <b>done</b>.")
    assert unread(hers, "/") == 7
    assert "Evaluation 6" not in hers.get("/").text
    page = hers.get("/inbox").text
    assert page.index("Evaluation 6 is &lt;b&gt;done") < page.index("Evaluation 0 is")


def test_every_kind_of_notice_has_its_line(hers, notify):
    for kind in NOTICE_KINDS:
        notify(kind, f"About {kind}.")
    page = hers.get("/inbox")
    assert page.status_code == 200
    assert [kind for kind in NOTICE_KINDS if f"About {kind}." not in page.text] == []


def test_a_moderator_s_words_stand_on_every_page_until_they_are_dismissed(hers, notify):
    notify("warning", "Be kind.")
    notify("evaluation", "It is done.")
    page = hers.get("/settings").text
    assert "Be kind." in page
    assert "It is done." not in page
    number = re.search(r"/settings/notices/(\d+)/seen", page)[1]
    assert hers.submit(f"/settings/notices/{number}/seen", page="/settings").status_code == 303
    assert "Be kind." not in hers.get("/settings").text
    assert "Be kind." in hers.get("/inbox").text


def test_the_inbox_is_filtered_by_kind_and_by_what_is_unread(hers, notify):
    notify("evaluation", "It is done.")
    notify("dataset", "It is read.")
    notice_id = re.search(r"/settings/notices/(\d+)/seen", hers.get("/inbox?kind=dataset").text)[1]
    hers.submit(f"/settings/notices/{notice_id}/seen", page="/inbox")
    assert "It is read." not in hers.get("/inbox?kind=evaluation").text
    assert "It is read." not in hers.get("/inbox?show=unread").text
    assert "It is done." in hers.get("/inbox?show=unread").text


def test_all_are_dismissed_but_those_that_came_after_the_page(hers, notify):
    notify("evaluation", "The first.")
    notify("evaluation", "The second.")
    newest = re.search(r'name="newest" value="(\d+)"', hers.get("/inbox").text)[1]
    notify("evaluation", "The third.")
    hers.submit("/inbox/seen", page="/inbox", newest=newest)
    assert unread(hers) == 1


def test_opening_one_leads_to_its_page_and_reads_it(hers, notify, person, browser):
    notify("evaluation", "It is done.", link="/evaluations/7")
    number = re.search(r'href="/inbox/(\d+)"', hers.get("/inbox").text)[1]
    bob = person("bob") and browser()
    bob.log_in("bob")
    assert bob.get(f"/inbox/{number}").status_code == 404
    assert unread(hers) == 1
    assert hers.get(f"/inbox/{number}").headers["location"] == "/evaluations/7"
    assert unread(hers) == 0


def test_notices_that_are_turned_off_come_read(hers, ada, notify):
    ada.patch("/api/v1/me/notifications", json={"channels": {"evaluation": []}})
    notify("evaluation", "It is done.")
    assert unread(hers) == 0
    assert "It is done." in hers.get("/inbox").text


def test_a_long_inbox_has_pages(hers, notify):
    for number in range(31):
        notify("archive", f"Archive {number:02} is ready.")
    page = hers.get("/inbox").text
    assert "Archive 00" not in page
    following = re.search(r'href="(/inbox\?before=\d+)"', page)[1]
    assert "Archive 00" in hers.get(following).text
