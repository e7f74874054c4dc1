"""Settings of a task as a form: each save is a version of the config, whose comments stay."""

import html
import re

import pytest

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
HERE = "/tasks/nli/manage/settings"


def form(page):
    """The fields of the form as a browser would send them."""
    view = page.get(HERE).text
    matches = dict(re.findall(r'<input id="[^"]+" name="([^"]+)" type="(?:text|number)" value="([^"]*)"', view))
    matches |= dict(re.findall(r'<textarea id="[^"]+" name="([^"]+)"[^>]*>(.*?)</textarea>', view, re.DOTALL))
    matches |= {name: re.search(f'<select id="f-{name}".*?value="(\\w+)" selected', view, re.DOTALL)[1]
              for name in ("mode", "annotators")}  # fmt: skip
    matches["base"] = re.search(r'name="base" value="(\d+)"', view)[1]
    return {name: html.unescape(value) for name, value in matches.items()}


def newest(owner):
    number = owner.get("/api/v1/tasks/nli/versions").json()["items"][0]["number"]
    return owner.get(f"/api/v1/tasks/nli/versions/{number}").json()


def test_sent_as_it_is_nothing_is_saved(owner, enter):
    page = enter(owner)
    assert page.submit(HERE, page="/settings", **form(page)).headers["location"] == f"{HERE}?saved=1"
    assert newest(owner)["number"] == 1


def test_what_saving_does_is_said_first_and_only_that_changes(owner, enter):
    page = enter(owner)
    before = newest(owner)["config"]
    fields = form(page) | {"votes": "3", "language.context.0": "de"}
    here = page.submit(HERE, page="/settings", **fields)
    assert "The checking rules change for later rounds" in here.text
    assert newest(owner)["number"] == 1
    assert page.submit(HERE, page="/settings", sure="yes", **fields).headers["location"] == f"{HERE}?saved=2"
    after = newest(owner)["config"]
    assert after == before.replace("votes: 2", "votes: 3").replace("language: en}", "language: de}", 1)


def test_what_cannot_be_is_said_beside_the_field(owner, enter):
    page = enter(owner)
    fields = form(page)
    assert "Give a number." in page.submit(HERE, page="/settings", **fields | {"votes": "many"}).text
    refused = page.submit(HERE, page="/settings", **fields | {"votes": "9"})
    assert refused.status_code == 422
    assert "below votes" in refused.text
    late = page.submit(HERE, page="/settings", **fields | {"base": "7"})
    assert late.status_code == 409
