"""Two models stream their replies, the connection is lost in the middle, one of them is preferred."""

import re
import time
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from dynabench.client import Client
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from tests.browser.people import PASSWORD, Guest
from tests.browser.test_first_screen import SIZES, result_and_next_are_seen
from tests.browser.test_looks import looks_well
from tests.browser.wire import Wire
from tests.collection.against import opened
from tests.collection.chat.conftest import NORTH, SOUTH

pytestmark = [pytest.mark.release, pytest.mark.browser]


@pytest.fixture(scope="module")
def talks(site, talker):
    """A round of chat preference against two voices, and the wire that leads to it."""
    db = Database(Settings(home=site.home).url)
    db.write(opened, "chat-preference", site.home / "models", "north", "south")
    db.close()
    wire = Wire(int(site.base.rsplit(":", 1)[1]))
    yield SimpleNamespace(base=site.base, wire=wire, **talker.voices)
    wire.close()


@pytest.fixture
def guests(chromium, talks):
    """Let people in through the wire."""
    inside = []

    def let_in(name, **options):
        inside.append(Guest(chromium, talks.wire.base, **options))
        inside[-1].come_in(name)
        return inside[-1]

    yield let_in
    lines = [line for first in inside for line in first.console_errors]
    for single in inside:
        single.context.close()
    assert lines == []


def says_both(page):
    """The last turn has the whole reply of each."""
    replies = page.locator(".chat-turn:last-child .chat-text")
    expect(replies).to_have_count(2)
    for words in (NORTH, SOUTH):
        expect(replies.filter(has_text=re.compile(rf"^\s*{re.escape(' '.join(words))}\s*$"))).to_have_count(1)


def prefer_north(ada):
    """Choose the north's reply, once it is rated as well, go on, and call the next turn a tie; the side it was on."""
    page = ada.page
    side = page.locator(".chat-reply", has_text=NORTH[-1]).get_attribute("data-side")
    page.locator(f'button[value="choose:{side}"]').click()
    expect(page.get_by_role("alert").filter(has_text="Rate this reply")).to_be_visible()
    ada.forgive("422")
    for item in "AB":
        page.locator(f'input[name="rating.{item}"][value="{5 if item == side else 2}"]').check()
    page.locator(f'button[value="choose:{side}"]').click()
    expect(page.get_by_text(f"You chose {side}.")).to_be_visible()
    page.get_by_label("Continue, or submit").fill("And how long does that take?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Which reply is better?")).to_be_visible()
    for item in "AB":
        page.locator(f'input[name="rating.{item}"][value="3"]').check()
    page.keyboard.press("t")
    expect(page.get_by_text("Tie; the conversation continued")).to_be_visible()
    return side


def test_streamed_cut_resumed_chosen_checked_and_on_the_board(guests, talks):
    ada = guests("ada")
    page = ada.page
    talks.north.gate.clear()
    talks.south.gate.clear()
    page.goto("/tasks/chat-preference/create")
    expect(page.get_by_role("heading", name="Talk with 2 models")).to_be_visible()
    page.get_by_label("Message").fill("Where shall we go tomorrow?")
    page.get_by_label("Message").press("Control+Enter")
    for words in (NORTH, SOUTH):
        expect(page.get_by_text(" ".join(words[:4]), exact=True)).to_be_visible()
    talks.wire.cut()
    talks.north.gate.set()
    talks.south.gate.set()
    expect(page.get_by_text("Which reply is better?")).to_be_visible()
    says_both(page)
    expect(page.locator(".chat-turn")).to_have_count(1)
    assert (len(talks.north.seen), len(talks.south.seen)) == (1, 1)
    ada.forgive("ERR_")
    looks_well(page)
    side = prefer_north(ada)
    page.locator(f'input[name="answer.better"][value="{side}"]').check()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Conversation submitted.")).to_be_visible()
    expect(page.get_by_role("article", name="north")).to_contain_text(f"It was {side}")
    expect(page.locator("chat-field .chat-turn")).to_have_count(0)  # the next one begins anew

    bob = guests("bob").page
    bob.goto("/tasks/chat-preference/validate")
    expect(bob.get_by_text("And how long does that take?")).to_be_visible()
    assert not {"north", "south"} & set(bob.locator("main").inner_text().split())
    looks_well(bob)
    bob.locator(f'button[value="{side}"]').click()
    expect(bob.get_by_text("All caught up", exact=True)).to_be_visible()

    bob.goto("/tasks/chat-preference/preferences")
    rows = bob.get_by_role("region", name="No clear preference yet").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("north")
    expect(rows.nth(1)).to_contain_text("4.00")
    looks_well(bob)


def test_without_scripts_the_page_comes_back_with_the_whole_replies(guests, talks):
    page = guests("eve", java_script_enabled=False).page
    page.goto("/tasks/chat-preference/create")
    page.get_by_label("Message").fill("Hello?")
    page.get_by_role("button", name="Send").click()
    says_both(page)
    page.get_by_role("radio", name="4").first.check()
    page.get_by_role("radio", name="3").last.check()
    page.get_by_role("button", name="Tie").click()
    expect(page.get_by_text("Tie; the conversation continued")).to_be_visible()


def test_however_often_and_early_the_connection_is_lost_a_turn_is_asked_once(guests, talks):
    """Cut before the first word, in the middle, and by a reload: the same replies, once each, and one turn."""
    gia = guests("gia")
    page = gia.page
    seen = hold(talks, 0)
    page.goto("/tasks/chat-preference/create")
    page.get_by_label("Message").fill("And the day after?")
    page.get_by_role("button", name="Send").click()
    until(lambda: count_requests(talks) == seen + 2)
    talks.wire.cut()
    talks.north.gate.set()
    expect(page.get_by_text(" ".join(NORTH), exact=True)).to_be_visible()
    talks.wire.cut()
    page.reload()
    expect(page.get_by_text(" ".join(NORTH), exact=True)).to_be_visible()
    talks.south.gate.set()
    expect(page.get_by_text("Which reply is better?")).to_be_visible()
    says_both(page)
    expect(page.locator(".chat-turn")).to_have_count(1)
    assert count_requests(talks) == seen + 2
    gia.forgive("ERR_")


def hold(talks, words):
    """Have both voices wait after so many words; how often they were asked by now."""
    for voice in (talks.north, talks.south):
        voice.before = words
        voice.gate.clear()
    return count_requests(talks)


def count_requests(talks):
    return len(talks.north.seen) + len(talks.south.seen)


def until(condition, seconds=15.0):
    """Wait for something that happens beside the page."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_program_streams_through_lost_connections(talks):
    with Client(talks.wire.base) as program:
        program.register("rob", "rob@example.org", PASSWORD)
        program.log_in("rob", PASSWORD)
        context = program.next_context("chat-preference")
        mine = program.begin_conversation("chat-preference", context["handout"])
        seen = hold(talks, 3)
        received, answer = {"A": "", "B": ""}, []
        for event in program.stream(mine["id"], "Where shall we go?"):
            answer.append(event["event"])
            if event["event"] == "reply":
                received[event["side"]] += event["text"]
            if sum(len(text.split()) for text in received.values()) == 6 and not talks.north.gate.is_set():
                talks.north.gate.set()
                talks.south.gate.set()
                talks.wire.cut()
        assert sorted(received.values()) == sorted([" ".join(NORTH), " ".join(SOUTH)])
        assert (answer.count("turn"), answer.count("ended"), answer[-1]) == (1, 2, "end")
        assert count_requests(talks) == seen + 2
        chosen = program.choose_reply(mine["id"], 1, "A", {"A": 4, "B": 2})
        assert chosen["due"] == "said"
        turn = program.say(mine["id"], "And then?", key="once")
        assert program.say(mine["id"], "And then?", key="once") == turn
        assert [reply["state"] for reply in turn["replies"]] == ["done", "done"]
        program.choose_reply(mine["id"], 2, "tie", {"A": 3, "B": 3})
        claim = {"better": "A"}
        example = program.create_example("chat-preference", context["id"], {"conversation": mine["id"]}, claim)
        assert {prediction["model"] for prediction in example["predictions"]} == {"north", "south"}
        assert {model["model"] for model in program.preferences("chat-preference")["models"]} == {"north", "south"}


def test_the_result_and_next_are_seen_without_scrolling(guests, talks):
    for size in SIZES:
        page = guests(f"ola{size['width']}", viewport=size).page
        page.goto("/tasks/chat-preference/create")
        page.get_by_label("Message").fill("Where shall we go tomorrow?")
        page.get_by_label("Message").press("Control+Enter")
        expect(page.get_by_text("Which reply is better?")).to_be_visible()
        for name in "AB":
            page.locator(f'input[name="rating.{name}"][value="3"]').check()
        page.get_by_role("button", name="Tie").click()
        expect(page.get_by_text("Tie; the conversation continued")).to_be_visible()
        page.locator('input[name="answer.better"]').first.check()
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("heading", name="Conversation submitted.")).to_be_visible()
        result_and_next_are_seen(page, size["width"])
