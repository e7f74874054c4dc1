"""The weight of public pages, and the bar of shortcuts on phones. `test_layout.py` looks at each of them."""

import pytest

from tests.browser.test_layout import VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MOST_REQUESTS, MOST_BYTES = 8, 104 * 1024
"""Of a page without charts that need Vega, until it is loaded; its own parts and typefaces are among them."""


def test_a_page_asks_for_few_files_and_weighs_little(guest):
    visitor = guest()
    wire = visitor.context.new_cdp_session(visitor.page)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses: dict[str, str] = {}
    sizes: dict[str, float] = {}
    wire.on("Network.requestWillBeSent", lambda event: addresses.update({event["requestId"]: event["request"]["url"]}))
    wire.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    for path in ("/", "/tasks", "/leaderboards", "/models", "/tasks/nli"):
        sizes.clear()
        # What a page asks for after it was loaded, such as the live feed and what is polled, is no part of it.
        visitor.page.goto(path, wait_until="load")
        visitor.page.evaluate("() => document.fonts.ready.then(() => true)")
        parts = {addresses[request]: round(size / 1024, 1) for request, size in sizes.items()}
        assert len(parts) <= MOST_REQUESTS, (path, parts)
        assert 20_000 < sum(sizes.values()) <= MOST_BYTES, (path, parts)


def test_the_leaderboards_are_one_tap_away_on_a_phone_and_the_bar_covers_nothing(guest):
    page = guest(**VIEWS["phone and dark"]).page
    for path in ("/", "/tasks/nli/create", "/models", "/login"):
        page.goto(path)
        bar = page.get_by_role("navigation", name="Shortcuts")
        assert all(box["height"] >= 44 for box in (link.bounding_box() for link in bar.get_by_role("link").all()))
        page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
        last = page.locator("footer").bounding_box()
        assert last["y"] + last["height"] <= bar.bounding_box()["y"] + 1, path
        bar.get_by_role("link", name="Boards").tap()
        page.wait_for_url("**/leaderboards")
