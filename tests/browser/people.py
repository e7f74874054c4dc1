"""Acts of people at the pages, and texts that they write to fool the shipped models."""

import re
import time
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.running import wait_for
from dynabench.client import ApiError, Client
from tests.web.gallery import PATIENCE

PASSWORD = "correct horse battery"
ABORTED = ("htmx:afterRequest", "htmx:sendAbort")  # a request that fails is told by another word besides
FASTER = "Autofocus processing was blocked"  # somebody was in a field before a loaded machine came to the page's own
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

# Sentences whose label holds whatever the premise is, so that any handout can be answered in good faith.
HYPOTHESES = {
    "entailment": ["It is not the case that nothing ever happens.", "Not everything is made of cheese."],
    "neutral": ["Somebody far away is thinking of a purple umbrella.", "The neighbours own a parrot that whistles."],
    "contradiction": [
        "There are no people, no animals and no things.",
        "Nothing has ever happened to anybody or anything.",
        "This world is empty and always was.",
    ],
}
STATEMENTS = [
    ("If you enjoy queueing, you will love this museum.", "negative"),
    ("A great gift for somebody you do not like.", "negative"),
    ("Nothing about this terrible, horrible monster movie disappointed me.", "positive"),
    ("I could not put it down, and neither could my mother.", "positive"),
    ("The best thing about the hotel is the train that leaves it every hour.", "negative"),
]


@dataclass
class Draft:
    """A text that a person is about to send."""

    text: str
    label: str


class Guest:
    """Somebody's browser, and a note of everything that its console said."""

    def __init__(self, chromium: Browser, base: str, **options: Any) -> None:
        options = {"viewport": WIDE, "reduced_motion": "reduce", **options}
        self.context = chromium.new_context(base_url=base, **options)
        self.context.set_default_timeout(PATIENCE)
        self.base, self.name = base, ""
        self.console_errors: list[str] = []
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.hear(message.text))
        self.page.on("pageerror", lambda error: self.console_errors.append(f"{self.page.url}: {error}"))

    def hear(self, text: str) -> None:
        """Note what the console says. A preview that a newer one replaces is aborted, which htmx calls an error."""
        if not text.startswith((*ABORTED, FASTER)):
            self.console_errors.append(f"{self.page.url}: {text}")

    def come_in(self, name: str, saved: dict[str, Any] | None = None) -> None:
        """An account made by the API, and the log-in form; who came before has their cookies `kept`."""
        self.name = name
        if saved and name in saved:
            self.context.add_cookies(saved[name])
            return
        with Client(self.base) as program:
            try:
                program.register(name, f"{name}@example.org", PASSWORD)
            except ApiError as problem:
                if problem.status != 409 and "username" not in problem.fields:
                    raise
        self.page.goto("/login")
        self.page.get_by_label("Username or email").fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Log in").click()
        expect(self.page.get_by_role("link", name="Join")).to_have_count(0)
        if saved is not None:
            saved[name] = self.context.cookies()

    def forgive(self, pattern: str) -> None:
        """Forget what the console said about a failure that the test caused; anything else still fails it."""
        self.console_errors[:] = [line for line in self.console_errors if not re.search(pattern, line)]


def arrived(element: Locator) -> None:
    """Wait for something on the page that a click led to, and until that page's scripts listen."""
    expect(element).to_be_visible()
    element.page.wait_for_load_state()


def follow(link: Locator, address: str) -> None:
    """Press a link or a button that leads to `address`, a pattern, and wait until that page's scripts listen."""
    page = link.page
    link.click()
    page.wait_for_url(address)  # and for the page's load event, after all its scripts


def draw_over(page: Page, first: Locator, last: Locator) -> None:
    """Draw from one word to another with the mouse, once they stand still."""
    first.hover()
    page.mouse.down()
    last.hover()
    page.mouse.up()


def models_answer(base: str, seconds: float = 120) -> None:
    """Wait until the platform at `base` has loaded its models, and those that are asked answer."""
    wait_for(f"{base}/readyz", text='"host":"ok"')
    begun = time.monotonic()
    with Client(base) as program:
        context = program.next_context("nli")
        answer = context["goal"]
        while True:
            try:
                program.create_example("nli", context["id"], {"hypothesis": "Is it on?"}, answer, sandbox=True)
                return
            except ApiError as problem:
                if problem.status != 503 or time.monotonic() - begun > seconds:
                    raise
            time.sleep(0.1)


def writing(page: Page, task: str) -> Locator:
    """The field that the task's examples are written in."""
    return page.get_by_role("textbox", name="Hypothesis" if task == "nli" else "Statement").first


def something_fooling(page: Page, visitor: Client, task: str) -> Draft:
    """A draft that fools the round's models on the context that the create page shows; asks for another if need be.

    Found by asking the real models in the sandbox, as an annotator with patience would.
    """
    for _ in range(12):
        context = page.locator("#create-form [name=context_id]").input_value()
        if task == "nli":
            goal = page.locator('#create-form [name="answer.label"]').input_value()
            drafts = [Draft(text, goal) for text in HYPOTHESES[goal]]
        else:
            drafts = [Draft(text, label) for text, label in STATEMENTS]
        field = "hypothesis" if task == "nli" else "statement"
        tried = [text.strip() for text in page.locator(".try-text").all_text_contents()]  # folded, so not seen
        for draft in drafts:
            if draft.text in tried:
                continue
            answer = {"label": draft.label}
            if visitor.create_example(task, int(context), {field: draft.text}, answer, sandbox=True)["fooled"]:
                return draft
        page.get_by_role("button", name="Another").click()
        expect(page.locator("#create-form [name=context_id]")).not_to_have_value(context)
    raise AssertionError("None of the drafts fools the shipped models any more: write harder ones.")


def ask_the_models(page: Page, task: str, draft: Draft) -> None:
    """Write the draft and send it by Ctrl+Enter."""
    if task == "sentiment":
        page.locator("#create-form").get_by_label(draft.label).check()
    writing(page, task).fill(draft.text)
    writing(page, task).press("Control+Enter")


def strip(page: Page) -> Locator:
    """The first strip of words, once it is drawn."""
    result = page.locator("token-strip").first
    expect(result.locator("ol.strip li").first).to_be_visible()
    return result


def unfold(page: Page) -> None:
    """Open all that the author may add to an example as it stands."""
    closed = page.locator("#explain details.chip-more:not([open]) > summary:visible")
    while closed.count():
        closed.first.click()


def models_answers(page: Page) -> Locator:
    """Open the models' answers to the last example that was checked."""
    page.locator(".last-more > summary").click()
    return page.locator(".last-more")


def example_on(page: Page) -> str:
    """The number of the example that the page has just told the outcome of."""
    action = page.locator("#explain form").first.get_attribute("action") or ""
    return action.split("/")[2]


def find_in_queue(page: Page, task: str, example: str) -> None:
    """Go to the validate page and skip what is not the example."""
    page.goto(f"/tasks/{task}/validate")
    for _ in range(30):
        form = page.locator("form.vote").get_attribute("action") or ""
        if form.endswith(f"/{example}"):
            return
        page.get_by_role("button", name="Skip").click()
        expect(page.locator(f'form.vote[action="{form}"]')).to_have_count(0)
    raise AssertionError(f"Example {example} is not in the queue")
