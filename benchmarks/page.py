"""The page of the documentation that shows the figures: a table between marks, and prose that people write."""

import re

from benchmarks.row import Row

HEAD = ("figure", "value", "anchor", "ratio", "budget", "kept", "note", "measured")
MARKS = ("<!-- figures: `make bench` writes what is between these marks -->", "<!-- end of figures -->")
TABLE = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", re.DOTALL)


def cells(row: Row) -> tuple[str, ...]:
    """The row as text, but for when it was measured."""
    kept = {True: "yes", False: "**no**", None: ""}[row.kept]
    anchor = f"{row.anchor:.4g} {row.unit} ({row.anchor_name})" if row.anchor is not None else row.anchor_name
    ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
    return (row.what, f"{row.value:.4g} {row.unit}", anchor, ratio, row.budget, kept, row.note)


def merged(page: str, found: dict[str, list[Row]], machine: str, day: str) -> str:
    """`page` with the rows of the benchmarks that ran, by name, in place of their old ones; all else stays as it was.

    Rows of other benchmarks go too where they were measured on another machine. Raises ValueError without the marks.
    """
    table = TABLE.search(page)
    if table is None:
        raise ValueError("the page lacks the marks between which the figures stand")
    lines = [line for line in table[0].splitlines() if line.startswith("|")][2:]
    rows = {line: line.rstrip("| ").rsplit(" ", 1)[1] for line in lines} if machine in table[0] else {}
    kept = [(part, line) for line, part in rows.items() if part not in found]
    fresh = [
        (name, "| " + " | ".join((*cells(row), f"{day} {name}")) + " |") for name, some in found.items() for row in some
    ]
    body = [line for _, line in sorted([*kept, *fresh], key=lambda row: row[0])]
    head = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    text = "\n".join([MARKS[0], f"On {machine}.", "", *head, *body, MARKS[1]])
    return page[: table.start()] + text + page[table.end() :]
