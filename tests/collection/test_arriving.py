"""People who come by a study's link join first, and what the link says of them is not lost on the way."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.collection.test_links import feel, links
from tests.conftest import PASSWORD

__all__ = ["feel"]
LINK = "/tasks/feel/create?PROLIFIC_PID=beef&batch=b1"


def hidden(page, name):
    return unescape(re.search(rf'name="{name}"[^>]* value="([^"]*)"', page.text)[1])


def test_joining_on_the_way_keeps_what_the_link_says(feel, browser):
    visitor = browser()
    page = visitor.client.get(LINK)
    ways = {unescape(match) for match in re.findall(r'href="(/(?:register|login)[^"]*)"', page.text)}
    assert {urlsplit(way).path for way in ways} == {"/register", "/login"}
    assert {parse_qs(urlsplit(item).query)["next"][0] for item in ways} == {LINK}
    form = visitor.client.get(next(element for element in ways if element.startswith("/register")))
    fields = {"username": "newcomer", "email": "new@example.org", "password": PASSWORD, "agree": "yes"}
    joined = visitor.submit("/register", "/register", next=hidden(form, "next"), **fields)
    assert (joined.status_code, joined.headers["location"]) == (303, LINK)
    page = visitor.client.get(LINK)
    values = {name: hidden(page, name) for name in ("context_id", "handout", "key")}
    answer = {"input.statement": "It was good.", "answer.label": "negative"}
    assert visitor.submit("/tasks/feel/create", LINK, htmx=True, **values, **answer).status_code == 200
    assert [this_item["link"] for this_item in links(feel).json()["items"]] == [{"worker": "beef", "batch": "b1"}]


@pytest.mark.slow
def test_a_part_of_a_page_leads_back_to_the_page_that_is_seen(feel, browser):
    visitor = browser()
    page = visitor.client.get(LINK)
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{LINK}", "X-CSRF-Token": visitor.token(LINK)}
    part = visitor.client.post("/tasks/feel/context", data={"but": hidden(page, "context_id")}, headers=headers)
    assert part.status_code == 200
    result = re.search(r'href="(/register[^"]*)"', part.text)[1]
    assert parse_qs(urlsplit(unescape(result)).query)["next"] == [LINK]
