"""The pages in each of their languages: nothing is left in English, and what is bracketed shows what was forgotten."""

import re
from collections.abc import Mapping
from gettext import NullTranslations
from html.parser import HTMLParser

import pytest
from pydantic import BaseModel

from dynabench import language
from tests.web.pages import PAGES
from tests.web.test_templates import draw

HOLLOW = {"script", "style", "code", "pre", "svg", "textarea", "option", "kbd", "bdi"}
"""Elements whose text is no word of the pages'."""
THEIRS = re.compile(r"user-text|card-text|avatar|models|mono|tag|wordmark|badge-name|marked|strip|instructions|prose")
"""Classes of what people and owners wrote, and of names."""

NAMES = re.compile(r"[\W\d]*(Dynabench|v?MER|n|CC[ -]BY[-\w. ]*|hace .*|[\d.]+% to [\d.]+%)[\W\d]*")
"""Names and abbreviations that every language has."""


class Bracketed(NullTranslations):
    """Puts every text into brackets."""

    def gettext(self, message):
        return f"⟦{message}⟧"

    def ngettext(self, msgid1, msgid2, n):
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


class Seen(HTMLParser):
    """The visible text of a page outside of what is not the pages' own."""

    VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            given = dict(attrs)
            theirs = given.get("dir") == "auto" or "lang" in given and tag != "html"
            self.open.append((tag, theirs or tag in HOLLOW or bool(THEIRS.search(given.get("class") or ""))))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not any(hollow for _, hollow in self.open):
            self.text.append(data)


def fragments(html):
    """The visible stretches of a page outside of brackets that have a word in them."""
    seen = Seen()
    seen.feed(html)
    for text in seen.text:
        while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "\n", text)) != text:
            text = shorter
        for line in text.split("\n"):
            if re.search(r"[A-Za-z]{2,}", line):
                yield " ".join(line.split())


def contents(value):
    """All texts within sample values: what people, owners and models wrote."""
    if isinstance(value, str):
        yield " ".join(value.split())
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for each in pair for text in contents(each))
    elif isinstance(value, list | tuple | set):
        yield from (text for each in value for text in contents(each))
    elif isinstance(value, BaseModel):
        yield from contents(dict(value))
    elif hasattr(value, "__dict__"):
        yield from contents(vars(value))


def forgotten(name):
    """What a sample page shows that is neither bracketed nor a content of its values, a name or a unit."""
    _, values, viewer = PAGES[name]
    known = {each.casefold() for each in contents([values, viewer])}
    whole = "\n".join(known)
    for fragment in fragments(draw(name)):
        bare = fragment.removesuffix("· Dynabench").strip(" ·.,:;()%+−0123456789").casefold()
        if bare not in known and not (" " in bare and bare in whole) and not NAMES.fullmatch(fragment):
            yield fragment


@pytest.mark.parametrize("name", PAGES)
def test_every_text_of_a_page_is_in_the_catalogues(name, monkeypatch):
    for place in ("dynabench.language", "dynabench.web.languages"):
        monkeypatch.setattr(f"{place}.catalogue", lambda _: Bracketed())
    with language.speaking("es"):
        assert sorted(set(forgotten(name))) == []
