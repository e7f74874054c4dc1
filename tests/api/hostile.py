"""Hostile texts, and a count of all rows, for tests of bad input."""

import re

from sqlalchemy import func, select

from dynabench.migrations import metadata

JSON = {"content-type": "application/json"}
EXAMPLES = "/api/v1/tasks/nli/examples"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> **bold** [a](javascript:b) {{ 7 * 7 }} ' OR 1=1"
NOT_COUNTED = {"sessions", "tokens", "handouts"}  # what reading a page or logging in writes


def ledger(database):
    """How many rows each table has."""
    tables = [table for table in metadata().sorted_tables if table.name not in NOT_COUNTED]
    return database.read(lambda s: {table.name: s.scalar(select(func.count()).select_from(table)) for table in tables})


TEXTS = {
    "empty": ("", "Fill this in"),
    "blank": (" \t \u200b ", "Fill this in"),
    "too long": ("x" * 501, "shorten it to 500"),
    "very long": ("x" * 100_000, "shorten it to 500"),
    "bell": ("a bell \x07", "U+0007"),
    "escape": ("\x1b[31m red", "U+001B"),
    "override": ("left \u202e right", "U+202E"),
    "stacked accents": ("e" + "\u0301" * 40, "accents"),
    "replacement character": ("caf\ufffd", "broken character"),
    "lines": ("two\nlines", "one line"),
}
GOOD = {
    "emoji": "🤹🏽‍♀️ juggles \u00e9clairs 👩‍👩‍👧‍👦",
    "right to left": "הם ישנים בבית، والمطر ينزل",
    "markup": HOSTILE,
}


def form_of(page):
    """The hidden fields of the create form."""
    found = re.findall(r'<input type="hidden" name="(context_id|key|answer\.label)"[^>]*value="([^"]*)"', page)
    return dict(found)
