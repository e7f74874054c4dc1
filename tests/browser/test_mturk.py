"""A study in Mechanical Turk's frame, from another site: accepted, previewed, and with cookies refused there."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from dynabench.client import Client
from tests.browser.people import Guest
from tests.browser.test_looks import looks_well
from tests.crowd.mturk_server import ACCESS_KEY, SECRET_KEY, MechanicalTurk
from tests.web.gallery import FLAGS, PATIENCE, find

pytestmark = [pytest.mark.slow, pytest.mark.browser]
MANAGE = "/tasks/sentiment/manage"
PROBE = "() => { document.cookie = 'probe=1; SameSite=None; Secure'; return document.cookie }"
ADD_FRAME = """(address) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.onload = done;
  frame.src = address;
  document.body.append(frame);
})"""


@pytest.fixture(scope="module")
def study(site: SimpleNamespace, admin: Client, turk: MechanicalTurk, chromium: Browser) -> str:
    """Connect an account and publish a study of one example, on the pages of an admin; the HIT's id."""
    owner = Guest(chromium, site.base)
    owner.come_in("adele", site.cookies)
    page = owner.page
    page.goto(f"{MANAGE}/studies")
    text = page.get_by_label("Text that workers agree to")
    text.fill(text.input_value().replace("[CONTACT]", "crowd@example.org"))
    page.get_by_role("button", name="Save consent text").click()
    account = page.get_by_role("region", name="Mechanical Turk account")
    expect(account).to_contain_text("no new requesters")
    account.get_by_text("Connect account").first.click()
    account.get_by_label("Access key id").fill(ACCESS_KEY)
    account.get_by_label("Secret access key").fill(SECRET_KEY)
    looks_well(page)
    account.get_by_role("button", name="Connect account").click()
    expect(account).to_contain_text(f"Connected: {ACCESS_KEY}")
    page.goto(f"{MANAGE}/studies/new?provider=mturk")
    page.get_by_label("Name that workers see").fill("Fool a model in a frame")
    page.get_by_label("Examples to write").fill("1")
    looks_well(page)
    page.get_by_role("button", name="Save as draft").click()
    page.get_by_role("button", name="Publish study").click()
    expect(page.locator("main")).to_contain_text("workers can enter")
    looks_well(page)
    owner.context.close()
    assert owner.console_errors == []
    return next(hit for hit, row in turk.books.hits.items() if row["Title"] == "Fool a model in a frame")


@contextmanager
def browsing(chromium: Browser, folder: Path, cookies_in_frames: bool) -> Iterator[BrowserContext]:
    """Open a browser whose pages let frames of other sites have cookies, or not.

    A Chromium without windows ignores the setting of a profile, so each page is set over the protocol of the tools.
    """
    (folder / "Default").mkdir(parents=True)
    controls = {"profile": {"cookie_controls_mode": 0}}
    (folder / "Default" / "Preferences").write_text(json.dumps(controls))
    context = chromium.browser_type.launch_persistent_context(
        folder, executable_path=find(), args=FLAGS, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)
    if not cookies_in_frames:
        context.on("page", refuse_cookies_in_frames)
    yield context
    context.close()


def refuse_cookies_in_frames(page: Page) -> None:
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send(
        "Network.setCookieControls",
        {
            "enableThirdPartyCookieRestriction": True,
            "disableThirdPartyCookieMetadata": True,
            "disableThirdPartyCookieHeuristics": True,
        },
    )


def keeps_cookies_in_frames(page: Page, turk: MechanicalTurk) -> bool:
    """Tell whether this browser keeps a cookie that a frame of another site sets."""
    page.goto(turk.address.replace("localhost", "127.0.0.1"))
    page.evaluate(ADD_FRAME, turk.address)
    return "probe=1" in page.frames[1].evaluate(PROBE)


def open_hit(page: Page, turk: MechanicalTurk, parameters: dict[str, str]) -> FrameLocator:
    page.goto(f"{turk.address}/hit?{urlencode(parameters)}")
    return page.frame_locator("iframe")


def take_part(context: BrowserContext, frame: FrameLocator, statement: str) -> None:
    """Do the work of an accepted assignment in the window that the frame opens."""
    with context.expect_page() as opened:
        frame.get_by_role("link", name="Open the study").click()
    window = opened.value
    window.get_by_role("button", name="I agree, begin").click()
    window.get_by_role("link", name="Write examples").click()
    window.get_by_label("Statement").fill(statement)
    with context.expect_page() as opened:  # a second tab, which takes nothing from the first
        frame.get_by_role("link", name="Open the study").click()
    expect(opened.value.get_by_role("link", name="Write examples")).to_be_visible()
    opened.value.close()
    window.get_by_role("radio").first.check(force=True)
    window.get_by_role("button", name="Ask the model").click()
    expect(window.locator(".study-bar")).to_contain_text("1 of 1", timeout=PATIENCE)
    window.locator(".study-bar").get_by_role("link", name="Finish").click()
    window.get_by_role("button", name="Finish").click()
    expect(window.locator("main")).to_contain_text("Go back to the window of Mechanical Turk and submit there")
    looks_well(window)
    window.close()


@pytest.mark.parametrize("cookies_in_frames", [True, False])
def test_an_accepted_assignment_is_done_and_submitted(
    study: str, turk: MechanicalTurk, chromium: Browser, tmp_path: Path, cookies_in_frames: bool
):
    with browsing(chromium, tmp_path / "profile", cookies_in_frames) as context:
        page = context.new_page()
        assert keeps_cookies_in_frames(page, turk) is cookies_in_frames
        problems: list[str] = []
        context.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        parameters = turk.accept(study)
        frame = open_hit(page, turk, parameters)
        expect(frame.get_by_role("button")).to_have_count(0)
        take_part(context, frame, f"The queue was long, and I would stand in it again: {cookies_in_frames}.")
        submit = frame.get_by_role("button", name="Submit to Mechanical Turk")
        expect(submit).to_be_visible()
        submit.click()
        expect(frame.locator("body")).to_contain_text("Your results have been submitted")
        assert problems == []
    row = turk.books.assignments[parameters["assignmentId"]]
    assert row["AssignmentStatus"] == "Submitted"
    assert re.search(r"<FreeText>completed</FreeText>", row["Answer"])


def test_a_preview_takes_no_work(study: str, turk: MechanicalTurk, guest: Callable[..., Guest]):
    visitor = guest()
    frame = open_hit(visitor.page, turk, turk.preview(study))
    expect(frame.locator("main")).to_contain_text("This is a preview")
    expect(frame.locator("a, button, form, input")).to_have_count(0)
    assert visitor.context.cookies() == []


def test_no_other_site_frames_the_study(study: str, turk: MechanicalTurk, guest: Callable[..., Guest]):
    visitor = guest()
    source = turk.frame_address(turk.preview(study))
    visitor.page.goto(turk.address.replace("localhost", "127.0.0.1"))
    visitor.page.evaluate(ADD_FRAME, source)
    assert visitor.page.frames[1].url.startswith("chrome-error:")
    visitor.forgive("frame-ancestors|Failed to load resource")
