"""The tutorials that make a task, followed to the letter: what their steps name in bold is found and used."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.people import Guest, arrived
from tests.browser.test_looks import looks_well
from tests.browser.test_owner import owner

pytestmark = [pytest.mark.release, pytest.mark.browser]

WORKER_PATIENCE = 90_000  # milliseconds: the worker starts after the pages and the models, and yields to both
TUTORIALS = Path(__file__).parent.parent.parent / "docs/tutorial"
STEP = re.compile(r"^(\d+)\. (.*(?:\n +.*)*)", re.MULTILINE)
TOKEN = re.compile(r"\*\*(?P<name>[^*]+)\*\*|\*(?P<seen>[^*]+)\*|`(?P<given>[^`]+)`|(?P<link>opens the link)")
FILE = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def steps(page: str) -> list[str]:
    """The numbered steps of a tutorial, in order."""
    matches = STEP.findall(page)
    assert [int(number) for number, _ in matches] == list(range(1, len(matches) + 1))
    return [" ".join(text.split()) for _, text in matches]


def named(page: Page, name: str, menu: bool, to_press: bool) -> Locator:
    """The one thing on the page that a reader would take for what the tutorial names."""
    place = page.get_by_role("banner") if menu else page.get_by_role("main")
    whole = re.compile(rf"^(?:[A-Z0-9]\s*)?{re.escape(name)}(?!\w)")  # some buttons show their key first
    roles = ("button", "link", "checkbox", "radio")
    label = place.get_by_label(name, exact=True)
    for role in roles:
        label = label.or_(place.get_by_role(role, name=whole))
    labelled = place.get_by_label(whole).and_(place.locator("input, select, textarea"))
    if to_press:
        label = label.or_(place.locator("summary").filter(has_text=whole))
    return label.or_(labelled).and_(page.locator(":visible")).first


class Reader:
    """Somebody who follows a tutorial, with the files that it gives."""

    def __init__(self, owner: Guest, annotator: Guest, tutorial: str) -> None:
        self.page, self.other = owner.page, annotator.page
        self.files = {name: text.encode() for name, text in FILE.findall(tutorial)}
        self.files |= {path.name: path.read_bytes() for path in TUTORIALS.glob("pictures/*") if path.name in tutorial}

    def follow(self, step: str) -> None:
        """Do what a step says, in its order."""
        if menu := "menu under your name" in step:
            self.page.locator(".menu:not(.burger) > summary").click()
        tokens = [(match.lastgroup, match.group(match.lastgroup or 0)) for match in TOKEN.finditer(step)]
        while tokens:
            kind, text = tokens.pop(0)
            if kind == "seen":
                expect(self.page.get_by_role("main").get_by_text(text).first).to_be_visible(timeout=WORKER_PATIENCE)
            elif kind == "link":
                link = self.page.locator(".callout code").inner_text()
                self.page = self.other
                self.page.goto(link)
            else:
                assert kind == "name", f"nothing takes {text!r}"
                arguments = []
                while tokens and tokens[0][0] == "given":
                    arguments.append(tokens.pop(0)[1])
                self.use(named(self.page, text, menu, not arguments), arguments)

    def use(self, element: Locator, values: list[str]) -> None:
        """Press it, or give it what it takes."""
        arrived(element)
        if not values:
            element.click()
        elif element.evaluate("each => each.type") == "file":
            files = [{"name": name, "mimeType": "", "buffer": self.files[name]} for name in values]
            element.set_input_files(files)
        elif element.evaluate("each => each.tagName") == "SELECT":
            element.select_option(values[0])
        else:
            element.fill(values[0])
            element.blur()


@pytest.mark.parametrize("name", ["text-task", "image-task"])
def test_from_template_to_first_fooled_model_as_the_tutorial_says(guest, site, name):
    tutorial = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
    todo = steps(tutorial)
    assert 8 < len(todo) < 15
    come = owner(guest, site, "olga")
    reader = Reader(come, guest(), tutorial)
    for step in todo:
        reader.follow(step)
        if "**Begin with it**" in step or "**Preview**" in step:
            looks_well(reader.page)
    expect(reader.other.locator("#answer-title")).to_contain_text("You fooled")
