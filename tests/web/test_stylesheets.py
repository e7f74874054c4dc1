"""One class name has one meaning: it is styled in one sheet, elsewhere only inside elements of that sheet's own."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tinycss2

from dynabench.web import static

PACKAGE = Path(static.__file__).parents[1]
CLASS = re.compile(r"\.([A-Za-z][\w-]*)")
ARGUMENTS = re.compile(r":(?:has|not)\((?:[^()]|\([^()]*\))*\)")
"""Conditions on other elements, or on the absence of a class: they do not style it."""
ADAPTED = {"print", "languages"}
"""Sheets that adapt all others, to paper and to right-to-left scripts."""


def rules(nodes: list[Any]) -> Iterator[str]:
    """The selectors of all rules, those inside of at-rules too."""
    for node in nodes:
        if node.type == "qualified-rule":
            yield tinycss2.serialize(node.prelude)
        elif node.type == "at-rule" and node.content is not None and node.lower_at_keyword in ("media", "supports"):
            yield from rules(tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True))


def simple_selectors(prelude: str) -> Iterator[str]:
    for selector in re.split(r",(?![^(]*\))", prelude):
        yield selector.strip()


def subject(selector: str) -> str:
    """The part of a selector that says which element is styled: what follows its last combinator."""
    return re.split(r"[\s>+~]+(?![^(\[]*[)\]])", ARGUMENTS.sub("", selector).strip())[-1]


@cache
def selectors() -> dict[str, list[str]]:
    """The selectors of each sheet; a rule for several is taken apart."""
    sheets = {}
    for path in sorted((static.ROOT / "css").glob("*.css")):
        nodes = tinycss2.parse_stylesheet(path.read_text(), skip_comments=True, skip_whitespace=True)
        assert not [node.message for node in nodes if node.type == "error"], path
        sheets[path.stem] = [selector for prelude in rules(nodes) for selector in simple_selectors(prelude)]
    return sheets


def owners() -> dict[str, set[str]]:
    """The sheets that style a class as such, without naming another class."""
    by_class: dict[str, set[str]] = defaultdict(set)
    for sheet, texts in selectors().items():
        for text in texts:
            names = set(CLASS.findall(ARGUMENTS.sub("", text)))
            if sheet not in ADAPTED and len(names) == 1 and CLASS.search(subject(text)):
                by_class[names.pop()].add(sheet)
    return by_class


@pytest.mark.slow
def test_each_class_is_styled_in_one_sheet():
    shared = {name: sorted(sheets) for name, sheets in owners().items() if len(sheets) > 1}
    assert shared == {}, "rename the class in one of the sheets, or name an element of the sheet's own before it"


def test_a_sheet_styles_another_sheet_s_class_only_inside_its_own_elements():
    owner = {name: min(sheets) for name, sheets in owners().items()}
    claimed = []
    for sheet, texts in selectors().items():
        for text in texts:
            styled = CLASS.findall(subject(text))
            foreign = [name for name in styled if owner.get(name, sheet) != sheet]
            own = [name for name in CLASS.findall(text) if owner.get(name, sheet) == sheet]
            if foreign and not own and sheet not in ADAPTED and not re.match(r"[a-z]+-[a-z-]+\b", text):
                claimed.append((sheet, text))
    assert claimed == []


@pytest.mark.slow
def test_every_class_of_a_sheet_occurs_on_a_page():
    """Class names stand in templates and scripts as words; of computed ones the beginning or the end does."""
    sources = [*PACKAGE.rglob("templates/**/*.html"), *(static.ROOT / "js").glob("*.js"), *PACKAGE.rglob("*.py")]
    text = "\n".join(path.read_text() for path in sources if path.is_file())
    words = set(re.findall(r"[A-Za-z][\w-]*", text))
    beginnings = set(re.findall(r"([A-Za-z][\w-]*-\w*)(?:\{\{|\{|\$\{|[\"']\s*~)", text))
    styled = {name for texts in selectors().values() for selector in texts for name in CLASS.findall(selector)}
    endings = tuple(re.findall(r"\}\}(-[a-z]+)", text))
    unused = {
        name for name in styled - words if not name.startswith((*beginnings, "htmx-")) and not name.endswith(endings)
    }
    assert unused == set(), "no page has these classes: delete their rules"
