"""Hostile texts, and a count of all rows, for tests of bad input."""

import re

from sqlalchemy import func, select

from dynabench.operations.migrations import metadata

JSON = {"content-type": "application/json"}
EXAMPLES = "/api/v1/tasks/nli/examples"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> **bold** [a](javascript:b) {{ 7 * 7 }} ' OR 1=1"
NOT_COUNTED = {"sessions", "tokens", "handouts", "uploaded_bytes"}  # what reading a page, logging in or sending writes


def ledger(database):
    """Count the rows of each table."""
    tables = [table for table in metadata().sorted_tables if table.name not in NOT_COUNTED]
    return database.read(lambda s: {table.name: s.scalar(select(func.count()).select_from(table)) for table in tables})


TEXTS = {
    "empty": ("", "This field is required"),
    "blank": (" \t \u200b ", "This field is required"),
    "too long": ("x" * 501, "the maximum is 500"),
    "very long": ("x" * 100_000, "the maximum is 500"),
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
    matches = re.findall(r'<input type="hidden" name="(context_id|key|answer\.label)"[^>]*value="([^"]*)"', page)
    return dict(matches)


# What comes to datasets, submissions, evaluations and boards: `{n}` stands for a number, `{name}` for a name.
NUMBERS = ("0", "-1", "999999", "2147483648", "9" * 40, "1e3", "x", "%00", "%D9%A1", "1%2F..", "%20")
NAMES = ("nothing", "x" * 300, "%00", "a%00b", "%ED%A0%80", "%FF", "..%2F..", "%E2%80%AEevil", "%27%20OR%201=1", "%25")
_NUMBERED = ("evaluations/{n}", "tasks/nli/leaderboard/rows/{n}", "submissions/{n}")
_NAMED = ("tasks/nli/datasets/{name}", "tasks/nli/datasets/{name}/twins", "tasks/nli/datasets/{name}/best",
          "tasks/{name}/leaderboard", "tasks/{name}/datasets", "tasks/{name}/matrix", "tasks/{name}/ledger",
          "models/{name}/scores", "forks/{name}", "snapshots/{name}")  # fmt: skip
_PAGES = ("tasks/nli/leaderboard", "tasks/nli/compare?a=1&b=2", "tasks/nli/matrix", "tasks/nli/pareto", "datasets",
          "tasks/nli/transfer", "tasks/nli/ledger", "tasks/nli/datasets/small/twins", "tasks/nli/submissions",
          "tasks/nli/snapshots", "tasks/nli/reported")  # fmt: skip
_API_ALONE = ("tasks/nli/evaluations", "tasks/nli/leaderboard/ranks", "tasks/nli/leaderboard/file",
              "tasks/nli/compare/examples?a=1&b=2&dataset=first", "tasks/nli/datasets/films/rows",
              "evaluations/{n}/scores", "evaluations/{n}/record", "evaluations/{n}/card", "evaluations/{n}/examples",
              "tasks/nli/datasets/films/versions/{n}/refused", "tasks/nli/datasets/{name}/twins/{name}",
              "tasks/nli/datasets/{name}/rows", "mail/unsubscribe/{name}", "me/webhooks/{n}/deliveries",
              "tasks/nli/webhooks/{n}/deliveries")  # fmt: skip
ADDRESSES = (
    *(f"{root}{path}" for root in ("/", "/api/v1/") for path in (*_NUMBERED, *_NAMED, *_PAGES)),
    *(f"/api/v1/{path}" for path in _API_ALONE),
)
_HUGE = ("9" * 40, "NaN", "%00")
QUERIES = {
    "after": (*_HUGE, "%ED%A0%80", "x" * 2000, "2026-01-01T00:00:00%00|x", "|", "9999-99-99|a"),
    "m.accuracy": _HUGE, "d.first": _HUGE, "m.nothing": ("1",), "form": _HUGE, "fork": _HUGE, "sort": _HUGE,
    "size": _HUGE, "licence": _HUGE, "language": _HUGE, "since": (*_HUGE, "9999-99-99", "0000-00-00"),
    "a": _HUGE, "dataset": _HUGE, "metric": _HUGE, "discount": _HUGE, "x": _HUGE, "tag": _HUGE, "shown": _HUGE,
    "beside": (*_HUGE, "a/b", "/"), "transformation": _HUGE, "axis": _HUGE, "state": _HUGE, "submission": _HUGE,
    "q": (*_HUGE, "%25%5C_"),
    "limit": (*_HUGE, "0", "999999"), "format": _HUGE,
}  # fmt: skip
RAW = (b"{", b"\xff\xfe{}", b"[]", b"7", b"[" * 50_000, b'{"title": "' + b"x" * 1_500_000 + b'"}')
_WEIGHTS = (
    b'{"title": "a", "weights": {"metrics": {"accuracy": NaN}}}',
    b'{"title": "a", "weights": {"metrics": {"accuracy": 1e400}}}',
    b'{"title": "a", "weights": {"metrics": {"accuracy": -1}}}',
    b'{"title": "a", "weights": {"metrics": {"accuracy": "5"}}}',
    b'{"title": "a", "weights": {"datasets": {"a\\u0000b": 1}}}',
    b'{"title": "a", "weights": {"form": "none"}}',
    b'{"title": "a\\u0000b"}',
    b'{"title": "\\ud800"}',
    b'{"title": 7}',
    b'{"title": "' + b"x" * 201 + b'"}',
)
_FILE = (b'{"file": 7}', b'{"file": "a\\u0000b"}', b'{"file": "../../etc/passwd", "name": "another"}',
         b'{"name": "\\ud800", "file": "x"}')  # fmt: skip
_HOOK = (b'{"url": 7}', b'{"url": "a\\u0000b"}', b'{"url": "file:///etc/passwd"}', b'{"url": "https://[::1]/"}',
         b'{"url": "https://\\ud800.org"}', b'{"url": "https://example.org", "events": ["x"]}')  # fmt: skip
BODIES = {
    ("POST", "/api/v1/me/webhooks"): _HOOK,
    ("POST", "/api/v1/tasks/nli/webhooks"): (*_HOOK, b'{"url": "https://example.org", "events": "all"}'),
    ("POST", "/api/v1/me/notifications/address"): (
        b'{"address": 7}', b'{"address": "x"}', b'{"address": "a@b.org\\r\\nBcc: c@d.org"}',
        b'{"address": "a\\u0000@b.org"}'),
    ("PATCH", "/api/v1/me/notifications"): (
        b'{"channels": 7}', b'{"channels": {"evaluation": "mail"}}', b'{"channels": {"x": []}}',
        b'{"channels": {"evaluation": ["fax"]}}', b'{"channels": {"a\\u0000": []}}'),
    ("POST", "/api/v1/tasks/nli/snapshots"): _WEIGHTS,
    ("POST", "/api/v1/tasks/nli/forks"): _WEIGHTS,
    ("POST", "/api/v1/tasks/nli/reported"): (
        b'{"source": "https://example.org", "document": {}}', b'{"source": "javascript:a", "document": []}',
        b'{"source": "https://example.org", "document": "---\\na: &a [*a, *a]\\n---"}',
        b'{"source": 7, "document": []}',
        b'{"source": "https://example.org", "document": [{"dataset": "\\u0000", "sota": {"rows": [{"metrics": 7}]}}]}',
        b'{"source": "https://example.org", "document": ["\\ud800"]}'),
    ("POST", "/api/v1/tasks/nli/datasets"): _FILE,
    ("POST", "/api/v1/tasks/nli/datasets/preview"): _FILE,
    ("POST", "/api/v1/tasks/nli/datasets/films/versions"): _FILE,
    ("PATCH", "/api/v1/tasks/nli/datasets/films"): (
        b'{"weight": NaN}', b'{"weight": 1e400}', b'{"weight": 101}', b'{"visibility": "all"}', b'{"title": 7}',
        b'{"title": "a\\u0000b"}', b'{"languages": "en"}', b'{"card": "\\ud800"}'),
    ("POST", "/api/v1/tasks/nli/datasets/small/twins"): (
        b'{"axis": "none"}', b'{"axis": "fairness", "seed": 1e400}', b'{"axis": "fairness", "seed": -1}'),
    ("POST", "/api/v1/tasks/nli/submissions"): (
        b'{"kind": "none", "name": "a"}', b'{"kind": "hub", "name": "a\\u0000b"}', b'{"kind": "hub", "name": 7}',
        b'{"kind": "predictions", "name": "a", "files": {"first": 7}}', b'{"kind": "hub", "name": "\\ud800"}',
        b'{"kind": "endpoint", "name": "a", "url": "file:///etc/passwd"}',
        b'{"kind": "endpoint", "name": "a", "price_in": NaN}', b'{"kind": "endpoint", "name": "a", "price_in": -1}',
        b'{"kind": "endpoint", "name": "a", "spend_per_day": 1e400}',
        b'{"kind": "training_set", "name": "a", "file": "../../etc/passwd"}'),
}  # fmt: skip
