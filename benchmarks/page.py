"""The page of the documentation that shows the figures: a table between marks, and prose that people write."""

import re

from benchmarks.row import Row

HEAD = ("figure", "value", "anchor", "ratio", "budget", "kept", "note", "measured")
MARKS = ("<!-- figures: `make bench` writes what is between these marks -->", "<!-- end of figures -->")
TABLE = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", re.DOTALL)
SUMMARY = ("<!-- summary: `make bench` writes what is between these marks -->", "<!-- end of summary -->")
SHORT = re.compile(f"{re.escape(SUMMARY[0])}.*?{re.escape(SUMMARY[1])}", re.DOTALL)
FIRST = (
    "post an example, one annotator, p50",
    "32 annotators, examples/s",
    "first page after `serve`",
    "bare model, one call",
    "token strip",
    "one call through the host",
    "evaluator, sentiment target",
    "board of 100 models x 5 metrics x 10 datasets with rank intervals, SQLite",
    "macro F1, 1e6 rows",
    "export of 1e6 examples, SQLite, jsonl",
)
"""The figures that a reader meets first, in this order."""
BROKEN = "**no**"
MACHINE = re.compile(r"^On (.+?)(?:; rows from elsewhere name their machine)?\.$", re.MULTILINE)
ELSEWHERE = "; rows from elsewhere name their machine."


def cells(row: Row) -> tuple[str, ...]:
    """The row as text, but for when it was measured."""
    rest = {True: "yes", False: BROKEN, None: ""}[row.holds]
    anchor = f"{row.anchor:.4g} {row.unit} ({row.anchor_name})" if row.anchor is not None else row.anchor_name
    ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
    return (row.subject, f"{row.value:.4g} {row.unit}", anchor, ratio, row.budget, rest, row.note)


def merged(page: str, rows_by_benchmark: dict[str, list[Row]], machine: str, day: str) -> str:
    """`page` with the rows of the benchmarks that ran, by name, in place of their old ones; all else stays as it was.

    Rows of a run on another machine than that of the page name it. Raises ValueError without the marks.
    """
    table = TABLE.search(page)
    if table is None:
        raise ValueError("the page lacks the marks between which the figures stand")
    lines = [line for line in table[0].splitlines() if line.startswith("|")][2:]
    rows = {line: line.rstrip("| ").rsplit(" ", 1)[1] for line in lines}
    rest = [(part, line) for line, part in rows.items() if part not in rows_by_benchmark]
    place = MACHINE.search(table[0])
    usual = place[1] if place and rest else machine
    moment = day if machine == usual else f"{day} ({machine})"
    fresh = [
        (name, "| " + " | ".join((*cells(row), f"{moment} {name}")) + " |")
        for name, some in rows_by_benchmark.items()
        for row in some
    ]
    body = [line for _, line in sorted([*rest, *fresh], key=lambda row: row[0])]
    head = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    text = "\n".join([MARKS[0], f"On {usual}{ELSEWHERE}", "", *head, *body, MARKS[1]])
    page = page[: table.start()] + text + page[table.end() :]
    return SHORT.sub(lambda _: summary(head, body), page)


def summary(head: list[str], body: list[str]) -> str:
    """Return the beginning of the page: ten figures, one row each, then every row whose budget is not kept."""
    rows = {}
    for line in body:
        rows.setdefault(_figure(line), line)
    first = [rows[name] for name in FIRST if name in rows]
    broken = [line for line in body if f"| {BROKEN} |" in line]
    answer = ["Every budget is met."] if not broken else ["Budgets missed:", "", *head, *broken]
    return "\n".join([SUMMARY[0], *head, *first, "", *answer, SUMMARY[1]])


def _figure(line: str) -> str:
    return line.removeprefix("| ").partition(" | ")[0]
