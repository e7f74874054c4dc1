"""Formulas of cards as MathML, which browsers draw by themselves."""

import re
from functools import cache

import nh3
from latex2mathml.converter import convert
from markupsafe import Markup

SIGNS = re.compile(r"[\\_^=]")  # without any of them a formula is a sentence
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "mpadded", "mphantom"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd"),
}
ATTRIBUTES = {
    "math": {"display", "xmlns"},
    "mo": {"stretchy", "fence", "form", "largeop", "lspace", "rspace", "minsize", "maxsize", "separator"},
    "mi": {"mathvariant"},
    "mspace": {"width", "height"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mfrac": {"linethickness"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtd": {"columnalign"},
}


@cache
def formula_as_mathml(formula: str) -> Markup:
    """Return a formula in TeX as sanitised MathML; plain text, and TeX that cannot be converted, as `<code>`."""
    if SIGNS.search(formula):
        try:
            html = "".join(nh3.clean(convert(part, display="block"), tags=TAGS, attributes=ATTRIBUTES)
                           for part in _parts(formula))  # fmt: skip
        except Exception:  # the converter's errors have no common class; a card is shown all the same
            html = ""
        if "<math" in html and "\\" not in html:
            return Markup(html)  # noqa: S704 - sanitised just now
    return Markup('<code class="formula-text">{}</code>').format(formula)


def _parts(formula: str) -> list[str]:
    """Equations that stand beside each other, `a = b,\\quad c = d`, one by one; the whole where one would be torn."""
    parts = re.split(r"[,;]?\s*\\q?quad\s*", formula)
    whole = all(part.count("{") == part.count("}") and part.count(r"\left") == part.count(r"\right") for part in parts)
    return [part for part in parts if part.strip()] if whole else [formula]
