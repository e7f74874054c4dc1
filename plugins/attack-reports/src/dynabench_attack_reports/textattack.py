"""TextAttack's log as CSV (`--log-to-csv`), as its `CSVLogger` writes it.

Words that were changed stand in `[[ ]]`, or in `<font>` elements. Texts of several inputs are joined by `<SPLIT>`, each
after its name, which is marked twice: `[[[[Premise]]]]: ...`. A line break within a text is a `<SPLIT>` too.
"""

import csv
import re
from pathlib import Path

from dynabench.adversaries.reports import AttackFinding, AttackReport, SkippedEntry
from dynabench.kit.errors import Invalid

COLUMNS = ("original_text", "perturbed_text", "original_output", "perturbed_output", "ground_truth_output",
           "num_queries", "result_type")  # fmt: skip
SUCCEEDED = ("Successful", "Maximized")
WHY = {"Failed": "The attack found nothing.", "Skipped": "The model was wrong before the attack began."}
SPLIT = "<SPLIT>"
_NAMED = re.compile(r"(?:\[\[\[\[)?([A-Z][\w ]*)(?:\]\]\]\])?: (.*)", re.DOTALL)
_MARK = re.compile(r"\[\[(.*?)\]\]|<font color = \w+>(.*?)</font>", re.DOTALL)


def read(path: Path) -> AttackReport:
    """The attacks that a log holds, those that succeeded as proposals. Raises `Invalid` for another file."""
    result: list[AttackFinding] = []
    remaining: list[SkippedEntry] = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
            raise Invalid({"file": f"{path.name} is no log of TextAttack: the column {missing[0]} is missing."})
        for row in reader:
            at = f"line {reader.line_num}"
            if row["result_type"] in SUCCEEDED:
                result.append(_read_finding(at, row))
            else:
                remaining.append(
                    SkippedEntry(at, WHY.get(row["result_type"], f"The result is {row['result_type']!r}."))
                )
    return AttackReport("textattack", "unknown", result, remaining)


def _read_finding(at: str, row: dict[str, str]) -> AttackFinding:
    changed = [first or second for first, second in _MARK.findall(_bodies(row["perturbed_text"]))]
    facts = {"predicted": row["perturbed_output"], "predicted_before": row["original_output"], "changed": len(changed)}
    return AttackFinding(
        at=at,
        texts=texts(row["perturbed_text"]),
        label=number(row["ground_truth_output"]),
        queries=int(number(row["num_queries"]) or 0),
        facts=facts | {"words": changed[:20]},
    )


def texts(written: str) -> dict[str, str]:
    """The inputs that a cell holds, by name in small letters, without marks; one text is called "" alone."""
    parts = [_NAMED.fullmatch(part) for part in written.split(SPLIT)]
    if len(parts) > 1 and all(parts):
        return {part[1].lower(): plain(part[2]) for part in parts if part}
    return {"": plain(written.replace(SPLIT, "\n"))}


def plain(text: str) -> str:
    """A text without the marks of what was changed."""
    return _MARK.sub(lambda mark: mark[1] if mark[1] is not None else mark[2], text)


def _bodies(written: str) -> str:
    parts = [_NAMED.fullmatch(part) for part in written.split(SPLIT)]
    return "\n".join(part[2] for part in parts if part) if len(parts) > 1 and all(parts) else written


def number(cell: str) -> str | None:
    """A label or a count as it is written in full: `1.0` is 1."""
    try:
        return str(int(float(cell)))
    except (ValueError, OverflowError):
        return cell.strip() or None
