"""The page of figures: what ran is replaced, what did not run and what people wrote stays."""

import pytest

from benchmarks.__main__ import PAGE
from benchmarks.page import FIRST, MARKS, SUMMARY, merged
from benchmarks.row import Row

BEFORE = f"# Performance\n\nProse.\n\n{MARKS[0]}\n{MARKS[1]}\n\n## Why\n\n| a | table |\n"


def lines(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("|")]


def test_a_part_that_runs_replaces_its_rows_alone():
    both = merged(BEFORE, {"loop": [Row("old", 1, "ms")], "models": [Row("pass", 2, "ms")]}, "a machine", "2026-01-01")
    after = merged(both, {"loop": [Row("new", 3, "ms"), Row("more", 4, "ms")]}, "a machine", "2026-02-02")
    assert [line.split(" | ")[0] for line in lines(after)[2:]] == ["| new", "| more", "| pass", "| a"]
    assert lines(after)[2].endswith("2026-02-02 loop |")
    assert "2026-01-01 models |" in lines(after)[4]
    assert after.startswith("# Performance\n\nProse.\n\n")
    assert after.endswith("\n\n## Why\n\n| a | table |\n")


def test_rows_of_another_machine_stay_beside_those_that_name_theirs():
    old = merged(BEFORE, {"models": [Row("pass", 2, "ms")]}, "a machine", "2026-01-01")
    both = merged(old, {"loop": [Row("new", 3, "ms")]}, "machine B, 2 cores", "2026-02-02")
    assert "2026-02-02 (machine B, 2 cores) loop |" in both
    assert "| pass | 2 ms |  |  |  |  |  | 2026-01-01 models |" in both
    assert "On a machine; rows from elsewhere" in both
    again = merged(both, {"loop": [Row("new", 4, "ms")]}, "machine B, 2 cores", "2026-03-03")
    assert [line.split(" | ")[0] for line in lines(again)[2:]] == ["| new", "| pass", "| a"]
    every = {"loop": [Row("new", 4, "ms")], "models": [Row("pass", 2, "ms")]}
    assert "On machine B, 2 cores; rows" in merged(again, every, "machine B, 2 cores", "2026-04-04")


def test_the_page_has_its_marks_and_one_without_them_is_refused():
    assert merged(PAGE.read_text(), {"nothing": []}, "no machine", "2026-01-01")
    with pytest.raises(ValueError, match="marks"):
        merged("# Performance", {}, "", "")


def test_the_page_begins_with_ten_figures_and_all_that_is_not_kept():
    page = f"# Performance\n\n{SUMMARY[0]}\nstale\n{SUMMARY[1]}\n\n{MARKS[0]}\n{MARKS[1]}\n"
    loop = [Row(name, 1, "ms") for name in reversed(FIRST)]
    slow = [Row("slow", 9, "ms", budget="5 ms", holds=False), Row("quick", 1, "ms", budget="5 ms", holds=True)]
    created = merged(page, {"loop": loop, "more": slow}, "a machine", "2026-01-01")
    short = created[: created.index(MARKS[0])]
    assert [line.split(" | ")[0][2:] for line in lines(short)[2:12]] == list(FIRST)
    assert "stale" not in created
    assert ("| slow |" in short, "| quick |" in short) == (True, False)
    stored = merged(created, {"more": [Row("slow", 3, "ms", budget="5 ms", holds=True)]}, "a machine", "2026-02-02")
    assert "Every budget is met." in stored[: stored.index(MARKS[0])]


def test_the_committed_page_names_the_figures_that_come_first():
    page = PAGE.read_text()
    short = page[page.index(SUMMARY[0]) : page.index(SUMMARY[1])]
    assert all(f"| {name} |" in short for name in FIRST)
    broken = [line for line in lines(page[page.index(MARKS[0]) :]) if "| **no** |" in line]
    assert broken == [line for line in lines(short.partition("Budgets missed:")[2]) if "| **no** |" in line]
