"""The console's page of signals: filters, a file, the check with its reason, and undo."""

import re

import pytest

from dynabench.quality.signals import computing
from tests.collection.conftest import draw, send, written

pytestmark = pytest.mark.slow

HERE = "/tasks/nli/manage/signals"
TEXT = "Three tired hikers finish their lunch at home long before the storm gathers over the hills."


def test_a_moderator_checks_a_signal_and_takes_the_check_back(owner, moderator, ada, bob, enter, database):
    page = enter(moderator)
    assert "No signals" in page.get(HERE).text
    for person in (ada, bob):
        assert send(person, written(draw(person), TEXT)).status_code == 201
    while database.write(computing.compute_some, "nli"):
        pass
    people = page.get(f"{HERE}?kind=copy").text
    assert people.count("person=") == 1
    link = re.search(r'href="[^"]*(/tasks/nli/manage/signals[^"]*person=\d+)"', people)[1].replace("&amp;", "&")
    html = page.get(link).text
    assert "Another person sent the same text before" in html
    assert "resembles example" in html
    assert html.count(TEXT) >= 2
    assert "False alarms" in html
    assert "No signals" in page.get(link.replace("kind=copy", "kind=device")).text
    assert "No signals" in page.get(f"{HERE}?kind=device").text
    items = owner.get("/api/v1/tasks/nli/signals?kind=copy").json()["items"]
    number = items[0]["id"]
    refused = page.submit(f"{HERE}/{number}?kind=copy", page="/settings", outcome="acted", reason="")
    assert refused.status_code == 422
    assert "Say what you did and why" in refused.text
    checked = page.submit(f"{HERE}/{number}?kind=copy", page="/settings", outcome="acted", reason="Asked the author.")
    assert checked.status_code == 303
    assert "Asked the author." in page.get(link.replace("state=open", "state=acted")).text
    lines = page.get(f"{HERE}.csv?state=acted").text.splitlines()
    assert (len(lines), lines[1].split(",")[1]) == (2, "copy")
    assert page.submit(f"{HERE}/{number}?state=acted", page="/settings", outcome="open").status_code == 303
    assert owner.get("/api/v1/tasks/nli/signals?state=open&kind=copy").json()["items"][0]["reason"] == ""
    assert page.submit(f"{HERE}/{number}", page="/settings", outcome="ban").status_code == 422
    assert enter(bob).get(HERE).status_code == 403
