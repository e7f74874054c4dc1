"""Filters of templates for numbers, times and texts."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

import nh3
from babel import dates
from markdown_it import MarkdownIt
from markupsafe import Markup

from dynabench.kit.language import _, current, decimal, translate

NONE = "–"
STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"), (7 * 86400, 86400, "d"))
UNITS = {"s": "second", "min": "minute", "h": "hour", "d": "day"}
TAGS = {
    *("a", "b", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "hr", "i", "li", "ol", "p", "pre", "strong"),
    *("dd", "dl", "dt", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}


def number(value: float | None, digits: int = 0) -> str:
    """Return `12345` as `12,345`; a dash for None."""
    if value is None or not math.isfinite(value):
        return NONE
    if current.get() != "en":
        return decimal(value, digits)
    return f"{Decimal(str(value)):,.{digits}f}"  # ties to even, as other languages' numbers and the pages' scripts


def percent(value: float | None, digits: int = 0) -> str:
    """A share from 0 to 1 as `71%`; a dash where it cannot be computed."""
    if value is None or not math.isfinite(value):
        return NONE
    if current.get() != "en":
        return decimal(value, digits, share=True)
    return f"{100 * value:.{digits}f}%"


def points(value: float | None, digits: int = 0) -> str:
    """A difference of two shares with its sign, in percentage points: `+12`."""
    if value is None or not math.isfinite(value):
        return NONE
    sign = "\N{MINUS SIGN}" if value < 0 else "+"
    return sign + number(abs(100 * value), digits)


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign: `+1.25`."""
    if current.get() != "en":
        return ("\N{MINUS SIGN}" if value < 0 else "+") + decimal(abs(value), digits)
    return f"{value:+.{digits}f}"


def seconds(value: float | None) -> str:
    """A duration: `0.4 s`, `42 s`, `3 min 5 s`."""
    if value is None:
        return NONE
    if value < 10:
        return translate(_("%(n)s s", n=number(value, 1)))
    minutes, rest = divmod(round(value), 60)
    return translate(_("%(n)s min %(rest)s s", n=minutes, rest=rest) if minutes else _("%(n)s s", n=rest))


def ago(when: datetime | None, now: datetime | None = None) -> Markup | str:
    """Return a `<time>` with the age of `when`, and the exact time as its title. Naive times are UTC."""
    if when is None:
        return NONE
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    age = ((now or datetime.now(UTC)) - when).total_seconds()
    text = _age(age) or date(when)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        when.isoformat(timespec="seconds"), moment(when), text
    )


def _age(seconds: float) -> str:
    """An age in words; "" for more than a week."""
    step = next(((int(seconds // unit), name) for limit, unit, name in STEPS if seconds < limit), None)
    if step is None:
        return ""
    if seconds < 5:
        return translate(_("just now"))
    count, name = step
    if current.get() == "en":
        return f"{count} {name} ago"
    unit: Any = UNITS[name]
    past = timedelta(seconds=-int(seconds))
    return dates.format_timedelta(past, unit, threshold=1e9, add_direction=True, locale=current.get())


def date(when: datetime) -> str:
    """`21 Nov 2026`."""
    if current.get() != "en":
        return dates.format_skeleton("yMMMd", when, locale=current.get())
    return f"{when:%-d %b %Y}"


def moment(value: datetime) -> str:
    """`2026-11-21 09:05 UTC`; naive times are UTC."""
    value = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return f"{value:%Y-%m-%d %H:%M} UTC"


def day(value: str) -> str:
    """`2026-11-21` as `21 Nov`."""
    if current.get() != "en":
        return dates.format_skeleton("MMMd", datetime.fromisoformat(value), locale=current.get())
    return f"{datetime.fromisoformat(value):%-d %b}"


@lru_cache(maxsize=512)
def markdown(text: str) -> Markup:
    """Instructions of a task's owner as sanitised HTML; what annotators write is never passed through here."""
    html = MarkdownIt("js-default", {"linkify": False}).render(text)
    html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")  # the page has its own first heading
    clean = nh3.clean(html, tags=TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"})
    return Markup(clean)  # noqa: S704 - sanitised just now


def markdown_line(text: str) -> Markup:
    """One line of an owner's markdown as sanitised HTML without paragraphs, for legends and labels."""
    html = MarkdownIt("js-default", {"linkify": False}).renderInline(text)
    clean = nh3.clean(html, tags={"em", "strong", "code"}, attributes={})
    return Markup(clean)  # noqa: S704 - sanitised just now


def summary(text: str) -> str:
    """The first sentence of a description in markdown, without its marks."""
    plain = " ".join(re.sub(r"[*_`#>]|\[([^\]]*)\]\([^)]*\)", r"\1", text).split())
    return re.split(r"(?<=[.!?。؟])\s", plain, maxsplit=1)[0]


def ticks(text: str) -> Markup:
    """A line of text in which `names` between backticks are code."""
    parts = translate(text).split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


def size(value: float) -> str:
    """Bytes as people read them: `45 MB`, `1.2 GB`."""
    for unit in (_("bytes"), "kB", "MB"):
        if value < 1000:
            return f"{number(value, 0 if value >= 10 or unit == 'bytes' else 1)} {translate(unit)}"
        value /= 1000
    return f"{number(value, 1)} GB"


def initials(name: str) -> str:
    """Return one or two letters for a name: `ada.lovelace` gives `AL`."""
    words = "".join(c if c.isalnum() else " " for c in name).split()
    return "".join(word[0] for word in words[:2]).upper() or "?"


def bucket(value: float, steps: int = 20) -> int:
    """The nearest of `steps` + 1 marks between 0 and 1, for classes that stand in for inline styles."""
    return round(max(0.0, min(1.0, value)) * steps)


def highlight(text: str, words: Iterable[str]) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is one of the words, whatever their case."""
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    if not alternatives:
        return [(text, False)]
    pieces = re.split(f"({alternatives})", text, flags=re.IGNORECASE)
    return [(piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece]


@dataclass(frozen=True)
class MarkedPiece:
    """A piece of the text and those who marked it; `begins` names those whose mark begins here."""

    text: str
    by: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


def mark_text(text: str, by: Iterable[tuple[str, Any]]) -> list[MarkedPiece]:
    """Return `text` cut wherever a mark begins or ends.

    `by` pairs a name with its spans, a list of `{start, end}` in code points; spans outside of the text, and
    values of another form, mark nothing.
    """
    spans = [(marker, start, end) for marker, value in by for start, end in _spans(value, len(text))]
    cuts = sorted({0, len(text), *(at for _, start, end in spans for at in (start, end))})
    return [
        MarkedPiece(
            text[start:end],
            tuple(dict.fromkeys(marker for marker, first, last in spans if first <= start and end <= last)),
            tuple(dict.fromkeys(marker for marker, first, _ in spans if first == start)),
        )
        for start, end in pairwise(cuts)
    ]


def _spans(value: Any, length: int) -> list[tuple[int, int]]:
    valid_spans = []
    for span in value if isinstance(value, list) else []:
        start, end = (span.get("start"), span.get("end")) if isinstance(span, Mapping) else (None, None)
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length:
            valid_spans.append((start, end))
    return valid_spans
