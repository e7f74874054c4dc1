"""The pages' behaviour in a real Chromium, under the security policy, with sample values in place of features."""

import json

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.web.gallery import AXE, settle
from tests.web.pages import PAGES

pytestmark = pytest.mark.browser


RULES: dict[str, list[str] | None] = {
    "everything": None,
    "narrow and dark": [
        *("color-contrast", "link-in-text-block"),
        *("button-name", "label", "link-name", "scrollable-region-focusable", "select-name"),
    ],
}
"""What axe looks for: in the dark at what has colours, on a phone at what hides there or must be scrolled."""


def violations(page: Page, rules: str = "everything") -> list[str]:
    if not AXE.exists():
        pytest.fail("axe-core is missing: run `python hatch_build.py`.")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"]} | ({"runOnly": RULES[rules]} if RULES[rules] else {})
    report = page.evaluate("(options) => axe.run(options)", options)["violations"]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in report for node in rule["nodes"]]


BRIEFLY = {"home", "task", "create", "create-answered", "board", "validate", "qa-answered", "error", "warning"}
"""Pages that have all parts of pages between them."""


@pytest.mark.release
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in BRIEFLY else pytest.mark.slow) for name in PAGES]
)
def test_axe_finds_nothing_and_nothing_is_wider_than_a_small_phone(page: Page, name: str) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(f"/gallery/{name}")
    settle(page)
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280
    page.set_viewport_size({"width": 320, "height": 900})
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    settle(page)
    assert violations(page, "narrow and dark") == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320


@pytest.mark.release
@pytest.mark.parametrize("language", ["es", "ar"])
def test_in_longer_words_nothing_is_wider_than_a_phone(chromium: Browser, gallery_address: str, language: str) -> None:
    context = chromium.new_context(base_url=gallery_address, viewport={"width": 390, "height": 844}, locale=language)
    page = context.new_page()
    page.goto("/gallery/home")
    expect(page.locator("html")).to_have_attribute("lang", language)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    context.close()


def test_what_was_refused_is_not_said_any_more_once_it_is_taken(page: Page) -> None:
    page.goto("/gallery/create-refused")
    form = page.locator("#create-form")
    expect(form.get_by_text("the limit is 500")).to_be_visible()
    page.get_by_role("textbox", name="Hypothesis").fill("They finished eating at home.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="You fooled nli-minilm.")).to_be_focused()
    expect(form.get_by_text("the limit is 500")).to_have_count(0)
    expect(form.locator("[aria-invalid], .has-error")).to_have_count(0)


def test_the_strip_tells_each_word_by_keyboard(page: Page) -> None:
    page.goto("/gallery/create-answered")
    strip = page.locator("token-strip").first
    strip.get_by_role("listitem").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(strip.get_by_role("listitem").and_(page.locator(":focus"))).to_have_attribute(
        "aria-label", "home: −0.42, against entailment"
    )
    expect(strip.locator(".strip-readout")).to_have_text("home: −0.42, against entailment")


def test_a_strip_that_fails_can_be_asked_again(page: Page) -> None:
    broken = {"detail": "nli-minilm did not answer."}
    page.route("**/attributions*", lambda route: route.fulfill(status=503, json=broken), times=2)
    page.goto("/gallery/create-answered")
    strip = page.locator("token-strip").first
    expect(strip).to_contain_text("nli-minilm did not answer.")
    strip.get_by_role("button", name="Try again").click()
    expect(strip.get_by_role("listitem").first).to_be_visible()
    console_of(page).clear()


def test_a_strip_tries_again_by_itself_where_the_server_is_busy_and_not_where_it_refuses(page: Page) -> None:
    answers = iter([(503, {"Retry-After": "1"}), (403, {})])

    def refuse(route: Route) -> None:
        status, headers = next(answers)
        route.fulfill(status=status, headers=headers, json={"detail": f"Refused with {status}."})

    page.route("**/attributions*", refuse, times=2)
    page.clock.install()
    page.goto("/gallery/create-answered")
    strips = page.locator("token-strip")
    busy, refused = strips.filter(has_text="Refused with 503."), strips.filter(has_text="Refused with 403.")
    expect(busy).to_contain_text("Trying again in 2 s.")
    expect(refused).not_to_contain_text("Trying again")
    page.clock.fast_forward(1000)
    expect(busy).to_contain_text("Trying again in 1 s.")
    page.clock.fast_forward(1000)
    expect(busy).to_have_count(0)
    expect(strips.get_by_role("listitem").first).to_be_visible()
    page.clock.fast_forward(60_000)
    expect(refused).to_have_count(1)
    console_of(page).clear()


@pytest.mark.slow
def test_words_are_marked_by_keys_and_sent_as_one_span(page: Page) -> None:
    page.goto("/gallery/create-answered")
    page.get_by_text("Which words tricked it?").first.click()
    page.get_by_role("checkbox", name="finished").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert sent(page) == [{"start": 5, "end": 20}]
    page.keyboard.press("Space")
    assert sent(page) == [{"start": 5, "end": 13}]
    expect(
        page.locator("#explain-state").get_by_text("Saved. Thank you.")
    ).to_be_visible()  # without a press, and the focus stays
    expect(page.get_by_role("checkbox", name="eating")).to_be_focused()


def sent(page: Page) -> object:
    script = "() => new FormData(document.querySelector('#explain form')).get('ask.fooling_words')"
    return json.loads(page.evaluate(script))


@pytest.mark.slow
def test_a_draft_survives_a_reload(page: Page) -> None:
    page.goto("/gallery/create")
    page.get_by_role("textbox", name="Hypothesis").fill("Half a thought 🎈")
    expect(page.locator("[data-draft-status]")).to_have_text("saved")
    page.reload()
    expect(page.get_by_role("textbox", name="Hypothesis")).to_have_value("Half a thought 🎈")
    expect(page.locator("[data-draft-status]")).to_have_text("draft restored")
    expect(page.locator(".field-counter").first).to_have_text("16/500")


def test_a_lost_connection_keeps_the_text_and_offers_to_try_again(page: Page) -> None:
    page.route("**/tasks/nli/create", lambda route: route.abort(), times=1)
    page.goto("/gallery/create")
    page.get_by_role("textbox", name="Hypothesis").fill("Nobody eats.")
    page.keyboard.press("Control+Enter")
    failure = page.locator("[data-failure]")
    expect(failure).to_contain_text("The server cannot be reached.")
    expect(failure).to_contain_text("Trying again")
    expect(page.get_by_role("textbox", name="Hypothesis")).to_have_value("Nobody eats.")
    failure.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="You fooled nli-minilm.")).to_be_visible()
    console_of(page).clear()


def test_a_problem_document_is_told_in_its_own_words(page: Page) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=409, content_type="application/problem+json", body='{"detail": "Round 4 closed."}')

    page.route("**/tasks/nli/create", refuse)
    page.goto("/gallery/create")
    page.get_by_role("textbox", name="Hypothesis").fill("Nobody eats.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Round 4 closed.")
    console_of(page).clear()


def test_the_second_press_of_a_vote_sends_what_it_asks_for(page: Page) -> None:
    page.goto("/gallery/validate")
    expect(page.get_by_text("Which label is right?")).to_be_hidden()
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="entailment")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Flag").click()
    expect(page.get_by_text("Which label is right?")).to_be_hidden()
    expect(page.get_by_label("What is wrong with it?")).to_be_focused()
    with page.expect_request("**/validate/31") as request:
        page.keyboard.press("Control+Enter")
    assert "vote=flagged" in (request.value.post_data or "")
    expect(page.get_by_role("heading", name="Is this right?")).to_be_focused()


def test_the_theme_follows_a_system_that_changes_while_the_page_loads(page: Page) -> None:
    def change_then_answer(route: Route) -> None:
        page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
        page.emulate_media(color_scheme="light")
        route.continue_()

    page.route("**/js/site.js", change_then_answer)
    page.emulate_media(color_scheme="dark")
    with page.expect_request("**/js/site.js"):
        page.goto("/gallery/home")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_the_theme_is_chosen_once(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/gallery/home")
    page.get_by_role("button", name="Dark or light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/gallery/create")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.slow
def test_a_chart_over_time_is_also_a_table(page: Page) -> None:
    page.goto("/gallery/round")
    expect(page.locator(".plot-lines svg").first).to_be_visible()
    page.get_by_text("Show as table").first.click()
    expect(page.get_by_role("columnheader", name="MER: 95% interval", exact=True)).to_be_visible()
    assert violations(page) == []


def console_of(page: Page) -> list[str]:
    """Collect the messages of the page's console; a test that breaks something on purpose clears them."""
    return page.console_messages  # type: ignore[attr-defined]
