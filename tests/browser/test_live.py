"""An open page tells what happens meanwhile, keeps no connection while it is hidden, and never takes a count back."""

import pytest
from playwright.sync_api import expect

from tests.browser.people import ask_the_models, something_fooling

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SEEN = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
WATCHED = """() => {
    window.texts = [];
    const counter = document.querySelector('[data-live-value="examples"]');
    new MutationObserver(() => window.texts.push(counter.textContent)).observe(counter, { childList: true });
}"""


def count(page):
    return int(page.locator('[data-live-value="examples"]').first.inner_text().replace(",", ""))


@pytest.mark.release
def test_an_open_page_is_told_of_an_example_and_of_no_text(guest, visitor):
    reader, author = guest().page, guest("olive").page
    author.goto("/tasks/nli/create")
    draft = something_fooling(author, visitor, "nli")
    with reader.expect_request("**/live/events?task=nli**"):
        reader.goto("/tasks/nli")
    before = count(reader)
    ask_the_models(author, "nli", draft)
    expect(reader.locator("[data-live-activity]")).to_contain_text("An annotator fooled nli-")
    expect(reader.locator('[data-live-value="examples"]').first).to_have_text(str(before + 1), timeout=20_000)


def test_counts_do_not_fall_and_a_hidden_page_has_no_stream(guest):
    page = guest().page
    values, streams = iter([500_000, 499_000, 600_000]), []

    def answer(route):
        streams.append(route.request)
        value = next(values, 600_000)
        counters = f'{{"texts": {{"examples": "{value}"}}, "counts": {{"examples": {value}}}}}'
        body = f"retry: 100\n\nid: 7-3\nevent: counters\ndata: {counters}\n\n"
        route.fulfill(content_type="text/event-stream", body=body)

    page.route("**/live/events**", answer)
    page.goto("/")
    page.evaluate(WATCHED)
    expect(page.locator('[data-live-value="examples"]').first).to_have_text("600000", timeout=20_000)
    assert page.evaluate("window.texts") == ["500000", "600000"]
    page.evaluate(SEEN, True)
    page.wait_for_timeout(300)
    before = len(streams)
    page.wait_for_timeout(600)  # a stream that was open would have connected again
    assert len(streams) == before
    with page.expect_request("**/live/events**"):
        page.evaluate(SEEN, False)


def test_a_server_without_room_is_polled(guest):
    page = guest().page
    page.route("**/live/events**", lambda route: route.fulfill(status=204))
    with page.expect_response("**/live") as answer:
        page.goto("/")
    assert answer.value.ok
