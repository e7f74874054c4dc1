"""Extracted answers, hate speech with perturbations, and seeds, played with the real models."""

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from dynabench.client import Client
from tests.browser.people import PHONE, draw_over, example_on, find_in_queue, models_answers, strip, unfold

pytestmark = [pytest.mark.browser, pytest.mark.release]

PLAIN = "They serve soup on Sundays and noodles on every other day."
TURNED = "They serve soup on Sundays and good advice on every other day."
QUESTION = "Which words does the passage begin with?"


def words(page: Page) -> list[str]:
    """The passage word by word, as it can be marked."""
    return page.locator(".span-passage .span-word").all_inner_texts()


def what_it_says(page: Page, visitor: Client) -> list[dict[str, Any]]:
    """Return the target's answer to the question on the passage that the page shows, asked in the sandbox."""
    context = int(page.locator("#create-form [name=context_id]").input_value())
    first = page.locator(".span-passage .span-check").first.get_attribute("value") or ""
    start, end = map(int, first.split(":"))
    claim = {"answer": [{"start": start, "end": end}]}
    answer = visitor.create_example("qa", context, {"question": QUESTION}, claim, sandbox=True)
    reply: list[dict[str, Any]] = answer["predictions"][0]["answer"]["answer"]
    return reply


def away_from(page: Page, answers: list[dict[str, Any]]) -> int:
    """The index of a word with its next one that share nothing with what the model says."""
    lowers = {word.lower() for span in answers for word in re.findall(r"\w+", span["text"])}
    result = words(page)
    return next(
        index
        for index, (first, other) in enumerate(pairwise(result))
        if first.isalpha() and other.isalpha() and not {first.lower(), other.lower()} & ({"the", "a", "an"} | lowers)
    )


def mark_by_keys(page: Page, index: int) -> str:
    """From the keyboard alone: into the passage, to the word, its start and its end; the marked text."""
    page.locator("body").press("a")
    page.keyboard.press("Home")
    for _ in range(index):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    result = words(page)
    return f"{result[index]} {result[index + 1]}"


def test_an_answer_is_marked_by_keyboard_alone_and_fools_the_model(guest, visitor):
    ada, bela = guest("ada").page, guest("bela").page
    ada.goto("/tasks/qa/create")
    marked = mark_by_keys(ada, away_from(ada, what_it_says(ada, visitor)))
    expect(ada.locator(".picked-text")).to_have_text(marked)
    expect(ada.locator("#announcer")).to_have_text(f"Answer: {marked}")
    ada.keyboard.press("Escape")
    expect(ada.locator(".picked-text")).to_have_count(0)
    mark_by_keys(ada, away_from(ada, what_it_says(ada, visitor)))
    ada.get_by_role("textbox", name="Question").fill(QUESTION)
    ada.keyboard.press("Control+Enter")
    expect(ada.get_by_role("heading", name="You fooled qa-minilm")).to_be_focused()
    expect(ada.locator(".answer-head")).to_contain_text(marked)
    passage = ada.locator(".span-passage")
    expect(passage).to_have_count(1)  # one text, with layers on it
    expect(passage.locator(".layer-marked").first).to_be_visible()
    expect(ada.locator("#result .bar-row")).to_have_count(3)
    strip(ada)
    ada.get_by_role("button", name="end").click()
    expect(ada.get_by_role("button", name="end")).to_be_focused()
    expect(ada.locator(".strip-key").first).to_contain_text("end")
    example = example_on(ada)
    unfold(ada)
    ada.get_by_label("Why is your answer right?").fill("It stands there.")
    ada.keyboard.press("Tab")
    expect(ada.locator("#explain-state")).to_contain_text("Saved. Thank you.")

    find_in_queue(bela, "qa", example)
    expect(bela.locator(".item-passage .span-word.layer-claimed")).to_have_text(marked.split())
    expect(bela.locator("main")).not_to_contain_text("qa-minilm")
    bela.keyboard.press("2")
    correct = bela.get_by_role("group", name="What is the answer?")
    expect(correct.locator(".span-check").first).to_be_focused()
    bela.keyboard.press("Enter")
    expect(bela.locator("picked-answer .picked-text")).to_have_text(words(bela)[0])
    bela.keyboard.press("Control+Enter")
    expect(bela.locator(".last")).to_contain_text("incorrect")
    expect(models_answers(bela).locator(".by-models").first).to_be_visible()
    bela.locator(".last token-strip").scroll_into_view_if_needed()
    strip(bela)


def test_an_answer_is_drawn_with_the_mouse_and_agrees_with_the_model(guest, visitor):
    page = guest("chen").page
    page.goto("/tasks/qa/create")
    it_say = what_it_says(page, visitor)[0]
    values = page.locator(".span-passage .span-check").evaluate_all("boxes => boxes.map((box) => box.value)")
    spans = [tuple(map(int, value.split(":"))) for value in values]
    inside = [index for index, (start, end) in enumerate(spans) if start < it_say["end"] and it_say["start"] < end]
    labels = page.locator(".span-passage .span-word")
    draw_over(page, labels.nth(inside[0]), labels.nth(inside[-1]))
    expect(page.locator(".picked-text")).to_have_text(it_say["text"])
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", name="Not fooled: qa-minilm got it right.")).to_be_focused()
    page.reload()
    expect(page.locator(".picked-text")).to_have_text(it_say["text"])  # the draft keeps it


def test_an_answer_without_scripts(guest):
    page = guest("hugo", java_script_enabled=False).page
    page.goto("/tasks/qa/create")
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    result = words(page)
    for index in (0, 2):
        page.locator(".span-passage .span-word").nth(index).click()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator(".answer-head")).to_contain_text(" ".join(result[:3]))


def accept_warning(page: Page) -> None:
    expect(page.get_by_role("heading", name="Before you continue")).to_be_visible()
    page.get_by_role("button", name="I have read this, continue").click()
    expect(page.get_by_role("heading", name="Before you continue")).to_have_count(0)


def test_a_form_that_is_sent_before_the_scripts_arrive_shows_its_result_in_focus(guest):
    page = guest("gil").page
    page.goto("/tasks/hate/create")
    accept_warning(page)
    late: list[Route] = []
    page.route("**/js/site.js", lambda route: route.continue_() if late else late.append(route))
    page.goto("/tasks/hate/create", wait_until="commit")
    page.get_by_role("textbox", name="Statement").fill(PLAIN)
    page.locator("#create-form").get_by_label("not hateful").check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", name=re.compile("got it|You fooled"))).to_be_focused()


def test_hate_speech_from_the_warning_over_a_perturbation_to_the_vote(guest):
    author = guest("ada")
    ada = author.page
    ada.goto("/tasks/hate/create")
    accept_warning(ada)
    expect(ada).to_have_url(re.compile(r"/tasks/hate/create$"))
    statement = ada.get_by_role("textbox", name="Statement")
    statement.fill(PLAIN)
    ada.locator("#create-form").get_by_label("not hateful").check()
    ada.get_by_role("button", name="Ask the models").click()
    expect(ada.get_by_role("heading", name=re.compile("got it|You fooled"))).to_be_focused()
    expect(ada.get_by_label("Whom does it attack?")).to_have_count(0)  # asked of hateful ones alone
    origin = example_on(ada)

    ada.locator(".answer-foot").get_by_role("button", name="Perturb").click()
    expect(ada.locator(".start")).to_contain_text(PLAIN)
    expect(ada.locator(".goal")).to_contain_text("hateful")
    expect(statement).to_be_focused()
    expect(statement).to_have_value(PLAIN)
    ada.keyboard.press("Control+Enter")
    expect(ada.locator("#create-form .field-error")).to_contain_text("Change the text")
    author.forgive("422")
    author.forgive("Response Status Error Code 422")
    statement.fill(TURNED)
    ada.keyboard.press("Control+Enter")
    expect(ada.locator(".change del")).to_contain_text("noodles")
    expect(ada.locator(".change ins")).to_contain_text("good advice")
    expect(ada.locator(".change")).to_contain_text("characters")
    expect(ada.locator(".change")).to_contain_text(f"from your example {origin}")
    expect(ada.locator(".try").first).to_contain_text("perturbed")
    strip(ada)
    unfold(ada)
    ada.get_by_label("Whom does it attack?").select_option("several of these")
    unfold(ada)
    ada.get_by_label("Which groups?").fill("Cooks and guests")
    ada.get_by_label("animosity").check()
    expect(ada.locator("#explain-state")).to_contain_text("Saved. Thank you.")
    example = example_on(ada)

    bela = guest("bela", viewport=PHONE).page
    bela.goto("/tasks/hate/validate")
    accept_warning(bela)
    find_in_queue(bela, "hate", example)
    if bela.get_by_text("Is this right?").count():
        bela.get_by_role("button", name="Correct", exact=False).first.click()
    else:
        bela.locator("form.vote").get_by_role("button", name=re.compile("not hateful")).click()
    expect(bela.locator(".last")).to_contain_text("hate-minilm")
    expect(models_answers(bela).locator(".bar-row").first).to_be_visible()


def test_nothing_of_a_task_with_a_warning_is_shown_in_public(guest):
    page = guest().page
    page.goto("/tasks")
    expect(page.locator(".task-line").filter(has_text="Hate speech").first).to_contain_text("Content warning")
    page.goto("/")
    expect(page.locator(".example-card").filter(has_text="Hate speech")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Task to try").get_by_role("link", name="Hate")).to_have_count(0)
    page.goto("/tasks/hate")
    expect(page.locator(".example-card")).to_have_count(0)
    page.goto("/tasks/hate/create")
    page.get_by_role("link", name="Go back").click()
    expect(page).to_have_url(re.compile(r"/tasks/hate$"))


def test_the_warning_is_accepted_without_scripts_and_remembered(guest):
    page = guest("ines", java_script_enabled=False).page
    page.goto("/tasks/hate/validate")
    accept_warning(page)
    expect(page).to_have_url(re.compile(r"/tasks/hate/validate$"))
    page.goto("/tasks/hate/create?sandbox=1")
    expect(page.get_by_role("textbox", name="Statement")).to_be_visible()


def test_a_seed_is_shown_with_what_the_models_say_and_then_what_was_changed(guest):
    page = guest("dora").page
    page.goto("/tasks/sentiment/create")
    for _ in range(30):
        if page.locator(".start .model-reading").count():
            break
        context = page.locator("#create-form [name=handout]").input_value()
        page.get_by_role("button", name="Another").click()
        expect(page.locator("#create-form [name=handout]")).not_to_have_value(context)
    expect(page.locator(".model-reading").first).to_contain_text(re.compile(r"predicts .* \d+%", re.DOTALL))
    seed = page.locator(".start-text").inner_text()
    expect(page.get_by_role("textbox", name="Statement")).to_have_value(seed)
    first, rest = seed.split(" ", 1)
    page.get_by_role("textbox", name="Statement").fill(f"Almost {rest}")
    page.locator("#create-form").get_by_label("negative").check()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".change del")).to_contain_text(first)
    expect(page.locator(".change ins")).to_contain_text("Almost")
    expect(page.locator(".change .badge").first).to_contain_text("character")
