"""One class name has one meaning: what a sheet of one feature styles, no other feature's elements meet by accident."""

import re
from collections import defaultdict
from collections.abc import Iterator

from dynabench.web import static

SHARED = {"base", "tokens", "layout", "components", "forms"}
"""Sheets that every page uses; a feature's sheet may add to what they style, in a selector of its own."""
ADAPTED = {"print", "languages"}
"""Sheets that only adapt the others: to paper, and to right-to-left scripts."""
RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
BARE = re.compile(r"\.([\w-]+)(?:::?(?:hover|focus|focus-visible|active|before|after|first-child|last-child))*")


def rules(text: str) -> Iterator[tuple[str, str]]:
    """Selectors, one by one, with their declarations; those in media queries, which adapt a class, are left out."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"@[^{};]+\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    for head, body in RULE.findall(text):
        for selector in re.split(r",(?![^(]*\))", head):
            yield selector.strip(), body


def sheets() -> dict[str, list[tuple[str, str]]]:
    return {path.stem: list(rules(path.read_text())) for path in sorted((static.ROOT / "css").glob("*.css"))}


def styled(bodies: str) -> set[str]:
    return {declaration.partition(":")[0].strip() for declaration in bodies.split(";") if ":" in declaration}


def test_no_class_of_a_feature_is_styled_by_two_sheets():
    bare: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for sheet, found in sheets().items():
        for selector, body in found:
            if sheet not in ADAPTED and (match := BARE.fullmatch(selector)):
                bare[match[1]][sheet] |= styled(body)
    conflicts = [
        (name, one, other, sorted(by[one] & by[other]))
        for name, by in bare.items()
        for one in by
        for other in by
        if one < other and by[one] & by[other]
    ]
    assert conflicts == [], "rename the class in one of the sheets, or put the feature's own class before it"


def test_no_feature_styles_a_class_that_shared_sheets_use():
    shared = {
        name
        for sheet, found in sheets().items()
        if sheet in SHARED
        for selector, _ in found
        for name in re.findall(r"\.([A-Za-z][\w-]*)", selector)
    }
    taken = [
        (sheet, selector)
        for sheet, found in sheets().items()
        if sheet not in SHARED | ADAPTED
        for selector, _ in found
        if (match := BARE.fullmatch(selector)) and match[1] in shared
    ]
    assert taken == [], "a rule for the class alone also meets the shared component: name it for the feature"
