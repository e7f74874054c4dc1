"""The story of the live loop, played by four accounts on both tasks with the real models."""

import re

import pytest
from playwright.sync_api import Page, expect

from dynabench.client import Client
from dynabench.site.home.pages import FRESH
from tests.browser.people import (
    PASSWORD,
    PHONE,
    Draft,
    Guest,
    ask_the_models,
    draw_over,
    example_on,
    find_in_queue,
    follow,
    models_answers,
    something_fooling,
    strip,
    unfold,
)

pytestmark = pytest.mark.browser


def join(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Email", exact=True).fill(f"{name}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Join").click()


def look_closer(person: Guest) -> None:
    """Ask for layer integrated gradients; where a busy machine was late, the strip tries again by itself. It says how
    exact they are."""
    target = person.page.get_by_role("article", name=re.compile("minilm"))
    target.locator(".strip-more > summary").click()
    target.get_by_role("button", name="more precise").click()
    answer = target.locator(".strip-method", has_text="layer integrated gradients")
    expect(answer).to_be_visible(timeout=240_000)
    person.forgive("503")
    expect(answer).to_have_text(re.compile(r"layer integrated gradients · the weights miss [\d.]+ %"))
    missed = re.search(r"miss ([\d.]+) %", answer.inner_text())
    assert missed
    assert float(missed[1]) < 5


def mark_words(page: Page, first: int, last: int) -> None:
    """Draw over words with the mouse."""
    words = page.locator("#explain .span-word")
    draw_over(page, words.nth(first), words.nth(last))


def explain(page: Page) -> None:
    """Say why it is right and what tricked the model, and mark two words."""
    unfold(page)
    page.get_by_label("negation").check()
    page.get_by_label("Why is your label right?").fill("Whatever the premise says, this holds.")
    page.get_by_label("What tricked the model?").fill("It weighs words and does not read.")
    mark_words(page, 1, 2)
    expect(page.locator("#explain").get_by_text("Saved. Thank you.")).to_be_visible()
    expect(page.get_by_label("What tricked the model?")).to_have_value("It weighs words and does not read.")
    expect(page.locator("#explain .span-check:checked")).to_have_count(2)


def fool(page: Page, visitor: Client, task: str) -> tuple[Draft, str]:
    """Write what fools the models; the draft and the example's number."""
    page.goto(f"/tasks/{task}/create")
    draft = something_fooling(page, visitor, task)
    ask_the_models(page, task, draft)
    expect(page.get_by_role("heading", name="You fooled")).to_be_focused()
    expect(page.locator("#result .bar-row")).to_have_count(3)
    strip(page)
    return draft, example_on(page)


@pytest.mark.slow
def test_a_visitor_tries_it_on_the_first_page_and_joins(guest):
    eve = guest()
    page = eve.page
    page.goto("/")
    page.get_by_label("Your sentence").fill("If you enjoy queueing, you will love this museum.")
    page.get_by_label("negative").check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.get_by_role("heading", name="You fooled it.")).to_be_focused()
    expect(page.locator("#try-result .bar-row")).to_have_count(3)
    expect(strip(page).locator("ol.strip")).to_have_text("If you enjoy queueing, you will love this museum.")
    eve.forgive("503")  # a machine at its limit: the page waited by itself
    follow(page.get_by_role("link", name="Make it count"), "**/register?**")
    join(page, "eve")
    expect(page.get_by_role("button", name="Ask the models")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/tasks/sentiment/create$"))
    expect(page.locator("#standing")).to_contain_text("0 today")


def test_inference_from_the_draft_to_the_verdict(guest, visitor, site):
    author, bela, chen = guest("ada"), guest("bela").page, guest("chen").page
    ada = author.page
    before = visitor.statistics("nli", 1)
    draft, example = fool(ada, visitor, "nli")
    expect(ada.locator("#mine")).to_contain_text("fooled")
    look_closer(author)
    explain(ada)

    find_in_queue(bela, "nli", example)
    expect(bela.locator(".claim")).to_contain_text(draft.label)
    expect(bela.locator("main")).not_to_contain_text("nli-minilm")  # the vote comes first
    bela.get_by_role("button", name="Correct", exact=False).first.click()
    expect(bela.locator(".last")).to_contain_text("waiting for votes")
    expect(bela.locator(".last")).to_contain_text("nli-minilm")

    find_in_queue(chen, "nli", example)
    chen.keyboard.press("1")
    expect(chen.locator(".last")).to_contain_text("verified")
    expect(chen.locator(".last")).to_contain_text("2 votes")

    after = visitor.statistics("nli", 1)
    assert after["validated_fooled"] == before["validated_fooled"] + 1
    assert after["vmer"]["value"] != before["vmer"]["value"]
    ada.goto("/tasks/nli/rounds/1")
    view = f"{100 * after['vmer']['value']:.1f}%"
    ada.locator("summary").filter(has_text="Model error rates").click()
    expect(ada.get_by_role("row", name=re.compile("^vMER share of examples"))).to_contain_text(view)
    ada.goto("/tasks/nli/people")
    expect(ada.locator("tr.mine")).to_contain_text("ada")
    expect(ada.locator(".own-line")).to_contain_text("1 verified")
    specimen = ada.locator(".example-card").filter(has_text=draft.text).first
    for _ in range(30):  # the first page keeps its figures for a while
        ada.goto("/")
        if specimen.count():
            break
        ada.wait_for_timeout(1000 * FRESH / 10)
    expect(specimen).to_contain_text(draft.label)


@pytest.mark.slow
def test_sentiment_is_checked_blind_on_a_phone_in_the_dark(guest, visitor):
    author = guest("chen", viewport=PHONE, color_scheme="dark", has_touch=True, is_mobile=True)
    chen = author.page
    draft, example = fool(chen, visitor, "sentiment")
    expect(chen.locator("html")).to_have_attribute("data-theme", "dark")
    assert chen.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    look_closer(author)
    for name in ("dora", "ada"):
        other = guest(name, viewport=PHONE, color_scheme="dark", has_touch=True, is_mobile=True).page
        find_in_queue(other, "sentiment", example)
        expect(other.get_by_text("The author says")).to_have_count(0)  # blind: the claim is not shown
        other.get_by_role("button", name=re.compile(f"^(.? )?{draft.label}")).tap()
        expect(other.locator(".last")).to_contain_text(draft.label)
        assert other.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    expect(other.locator(".last")).to_contain_text("verified")
    other.goto("/tasks/sentiment/rounds/1")
    expect(other.get_by_text("blind answers that agree with the author")).to_be_visible()
    figures = visitor.statistics("sentiment", 1)
    assert figures["human_accuracy"]["value"] == 1
    assert figures["vmer"]["value"] > 0


@pytest.mark.slow
def test_a_disagreement_is_settled_by_more_votes_and_the_last_vote_can_be_undone(guest, visitor):
    dora, ada, bela = (guest(name).page for name in ("dora", "ada", "bela"))
    _, example = fool(dora, visitor, "nli")
    find_in_queue(ada, "nli", example)
    ada.keyboard.press("1")
    expect(ada.locator(".last")).to_contain_text("correct")
    models_answers(ada)
    strip(ada)  # without the vote it is refused, even to who asked before taking it back
    ada.keyboard.press("u")
    expect(ada.locator(".last")).to_have_count(0)
    find_in_queue(ada, "nli", example)
    ada.keyboard.press("2")
    expect(ada.get_by_role("group", name="Which label is right?").get_by_role("radio").first).to_be_focused()
    ada.keyboard.press("Space")
    ada.get_by_label("What is wrong with it?").fill("One cannot tell.")
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(".last")).to_contain_text("incorrect")
    find_in_queue(bela, "nli", example)
    bela.keyboard.press("1")
    expect(bela.locator(".last")).to_contain_text("waiting for votes")


@pytest.mark.slow
def test_an_example_can_be_taken_back(guest, visitor):
    bela = guest("bela").page
    before = visitor.statistics("sentiment", 1)["examples"]
    fool(bela, visitor, "sentiment")
    bela.locator(".retract > summary").click()
    bela.get_by_role("button", name="Withdraw").click()
    expect(bela.get_by_text("Withdrawn.")).to_be_visible()
    assert visitor.statistics("sentiment", 1)["examples"] == before
    bela.reload()
    expect(bela.locator("#tries")).to_contain_text("withdrawn")
