"""A Chromium and the gallery of all templates, started once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.web import gallery


@pytest.fixture(scope="session")
def gallery_address() -> Iterator[str]:
    with gallery.served() as address:
        yield address


@pytest.fixture(scope="package")  # Playwright's event loop must be gone before other folders' tests
def chromium() -> Iterator[Browser]:
    with gallery.chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser, gallery_address: str) -> Iterator[Page]:
    """A page under the gallery's address; anything on its console fails the test."""
    context = chromium.new_context(base_url=gallery_address, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(gallery.PATIENCE)
    opened = context.new_page()
    answer: list[str] = []
    opened.console_messages = answer
    opened.on("console", lambda message: answer.append(message.text))
    opened.on("pageerror", lambda error: answer.append(str(error)))
    yield opened
    context.close()
    assert answer == []
