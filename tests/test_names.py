"""The check of names: a planted example of each kind is refused, and no more, what was there before may stay."""

import json

import pytest

from scripts import names

CLEAN = '''
"""Reads rows."""

class Reader:
    """Reads one file."""

    @classmethod
    def of(cls, path):
        """Return the reader of a path."""
        rows = [row for row in path]
        return cls(rows)
'''


@pytest.mark.parametrize(
    ("planted", "rule"),
    [
        ("def told(): ...", "bare names"),
        ("def _said(): ...", "bare names"),
        ("async def found(): ...", "bare names"),
        ("def count(each): ...", "bare names"),
        ("def count(*, one): ...", "bare names"),
        ("kept = 1", "bare names"),
        ("for each in []: ...", "bare names"),
        ("rows = [each for each in []]", "bare names"),
        ("with open('x') as made: ...", "bare names"),
        ("class Found: ...", "bare names"),
        ("def load(self):\n    self.shown = 1", "bare names"),
        ("def of(rows): ...", "bare names"),
        ('"""What rows are."""', "docstrings"),
        ('def read():\n    """Whether it is read."""', "docstrings"),
        ('class Reader:\n    """Who reads."""', "docstrings"),
        ('async def read():\n    """\n    Where it is read.\n    """', "docstrings"),
    ],
)
def test_what_breaks_a_rule_is_told_by_its_kind(planted, rule):
    assert [broken for broken, *_ in names.breaches(planted)] == [rule]


def test_clean_code_breaks_none():
    assert list(names.breaches(CLEAN)) == []


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A repository with a package of two files, and counts of what was there before."""
    package = tmp_path / "src" / "dynabench"
    package.mkdir(parents=True)
    (package / "first.py").write_text("class Row: ...\nclass _Own: ...\ntold = 1\n")
    (package / "second.py").write_text(CLEAN + "class _Own: ...\n")
    (tmp_path / "scripts").mkdir()
    monkeypatch.setattr(names, "ROOT", tmp_path)
    monkeypatch.setattr(names, "COUNTS", tmp_path / "scripts" / "names.json")
    assert names.main(update=True) == 0
    return package


def test_what_was_there_before_may_stay_and_nothing_is_added(house, capsys):
    assert names.main(update=False) == 0
    (house / "first.py").write_text("class Row: ...\ntold = said = 1\n")
    assert names.main(update=False) == 1
    assert "src/dynabench/first.py:2: the variable `said`" in capsys.readouterr().err
    assert names.main(update=True) == 1, "counts never rise"


def test_a_class_name_is_used_once(house, capsys):
    (house / "second.py").write_text(CLEAN + "class Row: ...\n")
    assert names.main(update=False) == 1
    assert "src/dynabench/first.py:1: another class is called Row" in capsys.readouterr().err


def test_counts_fall_for_good(house):
    (house / "first.py").write_text("class Row: ...\n")
    assert names.main(update=True) == 0
    assert json.loads(names.COUNTS.read_text()).get("bare names") is None
    (house / "first.py").write_text("class Row: ...\ntold = 1\n")
    assert names.main(update=False) == 1
