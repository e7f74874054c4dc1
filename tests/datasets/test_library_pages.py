"""Datasets as pages: an owner's way from a file to a dataset, and what others see."""

from urllib.parse import urlencode

import pytest

from tests.conftest import Browser
from tests.datasets.library import API, GOOD, added, lines, olga, work  # noqa: F401

TAB = "/tasks/sentiment/datasets"


@pytest.mark.slow
def test_an_owner_sends_a_file_looks_at_it_and_reads_it(olga, work, client):  # noqa: F811
    browser = Browser(client)
    browser.log_in("olga")
    headers = {"X-CSRF-Token": browser.token(TAB)}
    sent = browser.client.post(f"{TAB}/files", files={"file": ("my films.jsonl", lines(GOOD))}, headers=headers)
    assert sent.status_code == 303, sent.text
    page = browser.get(sent.headers["location"])
    assert page.status_code == 200
    assert "A fine film, number 0." in page.text
    fields = {"form": "columns", "field.statement": "statement", "field.label": "label", "uid": "id", "tags": "tags",
              "name": "my-films", "visibility": "public", "tolerance": "few", "then": "start"}  # fmt: skip
    wrong = browser.submit(sent.headers["location"], page=TAB, **(fields | {"field.label": ""}))
    assert wrong.status_code == 422
    assert "Choose the column." in wrong.text
    assert browser.submit(sent.headers["location"], page=TAB, **fields).status_code == 303
    assert "is being read" in browser.get(f"{TAB}/my-films").text
    work()
    for person in (browser, client):
        view = person.get(f"{TAB}/my-films").text
        assert "A fine film, number 3." in view
        assert "@misc{sentiment-my-films-v1" in view
    assert "my-films" in client.get("/datasets?q=films").text
    hidden = browser.submit(f"{TAB}/my-films", page=TAB, visibility="hidden")
    assert "was public" in hidden.text


def test_refused_rows_are_shown_and_downloaded_without_formulas(olga, work, client):  # noqa: F811
    rows = [GOOD[0], {"statement": "=HYPERLINK(1)", "label": "=cmd", "id": "x"}]
    assert added(olga, work, rows)["versions"][0]["state"] == "failed"
    browser = Browser(client)
    browser.log_in("olga")
    page = browser.get(f"{TAB}/films/versions/1/refused")
    assert "1 row was refused" in page.text
    cells = browser.get(f"{TAB}/films/versions/1/refused.csv").text
    assert "'=HYPERLINK(1)" in cells
    assert ",=" not in cells


def test_no_row_of_a_file_is_red_before_its_columns_are_chosen(olga, client):  # noqa: F811
    browser = Browser(client)
    browser.log_in("olga")
    headers = {"X-CSRF-Token": browser.token(TAB)}
    sheet = b"c1,c2\nA fine film.,positive\nA dull film.,bad\n"

    def send(page):
        answer = browser.client.post(f"{page}/files", files={"file": ("films.csv", sheet)}, headers=headers)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    rows = send(TAB)
    page = browser.get(rows).text
    assert "Shown once you have chosen the column of “Statement" in page
    assert "bad-row" not in page
    assert "would be refused" not in page
    chosen = {"form": "columns", "field.statement": "c1", "field.label": ""}
    assert "bad-row" not in browser.get(f"{rows}?{urlencode(chosen)}").text, "the other column is still to be chosen"
    assert "1 row would be refused" in browser.get(f"{rows}?{urlencode(chosen | {'field.label': 'c2'})}").text
    examples = send("/tasks/sentiment/manage/data")
    hint = "Map its columns to fields"
    page = browser.get(examples).text
    assert hint in page
    assert "Cannot be read yet" not in page
    assert "Cannot be read yet" in browser.get(f"{examples}?format=auto").text
