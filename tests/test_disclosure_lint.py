"""The check of decisions on what is shown: a planted example of each kind is refused, and the package has none."""

from pathlib import Path

import pytest

from scripts import disclosure_lint


@pytest.mark.parametrize(
    "planted",
    [
        'shown = dataset.visibility == "public"',
        'shown = "hidden" != found.visibility',
        'shown = dataset.visibility in ("public", "scoring")',
        "shown = submission.visibility not in OPEN",
        'visibility = "public"\nif visibility == "private": ...',
        'shown = document["dataset"]["visibility"] != "hidden"',
        'shown = changed.get("visibility") == "hidden"',
        'shown = getattr(made, "visibility") == "anonymous"',
        'query.where(Submission.visibility != "anonymous")',
        'query.where(Dataset.visibility.in_(["public"]))',
        'query.where(Dataset.visibility.is_("public"))',
        'shows = {"public": "rows"}.get(dataset.visibility, "")',
        'shows = {"public": "rows", "hidden": ""}[dataset.visibility]',
        'match dataset.visibility:\n    case "public": ...',
        "text(\"SELECT id FROM datasets WHERE visibility = 'public'\")",
        "text(\"SELECT id FROM datasets WHERE visibility IN ('public')\")",
        "if standing.withheld: ...",
        "query.where(Standing.hidden | Standing.withheld)",
        'text("SELECT 1 FROM standings s WHERE NOT s.withheld")',
        'if dataset.kind == "secret": ...',
        'if dataset.kind not in ("round", "secret"): ...',
    ],
)
def test_a_decision_outside_the_one_place_is_refused(planted: str):
    assert len(list(disclosure_lint.breaches(planted))) == 1


@pytest.mark.parametrize(
    "allowed",
    [
        "if visibility not in VISIBILITIES: ...",
        "if visibility != submission.visibility: ...",
        'if "visibility" in changed: ...',
        "if change.visibility is None: ...",
        'submission.visibility = "private"',
        'made = Dataset(name=name, visibility="public")',
        'found = {"visibility": dataset.visibility}',
        '"""The visibility is one of three."""',
        "update(Standing).values(withheld=True)",
        "standing.withheld = True",
        'if dataset.kind == "round": ...',
        'made = Dataset(kind="secret")',
        'secret = "secret"',
    ],
)
def test_what_decides_nothing_is_allowed(allowed: str):
    assert list(disclosure_lint.breaches(allowed)) == []


@pytest.mark.parametrize(
    ("template", "lines"),
    [
        ('{% if dataset.visibility == "public" %}', 1),
        ("{% if 'hidden' != dataset.visibility %}", 1),
        ('{% if dataset["visibility"] in ("public", "scoring") %}', 1),
        ('{% for each in data|selectattr("visibility", "equalto", "public") %}', 1),
        ('{{ {"public": _("public"), "private": _("private")}[made.visibility] }}', 0),
        ('{{ forms.choice("visibility", _("Who sees it"), options, dataset.visibility) }}', 0),
        ("{{ parts.visibility(dataset.visibility) }}", 0),
        ("{% if standing.withheld %}", 1),
        ('{% if dataset.kind not in ("round", "secret") %}', 1),
        ('{{ {"secret": _("hidden for good")}[dataset.kind] }}', 0),
    ],
)
def test_a_template_decides_nothing(template: str, lines: int):
    assert len(list(disclosure_lint.template_breaches(template))) == lines


@pytest.mark.release  # `make check` reads the package, too
def test_the_package_decides_in_one_place():
    assert disclosure_lint.examine(disclosure_lint.ROOT) == []


def test_a_planted_line_is_listed_with_its_file_and_the_check_fails(tmp_path: Path, monkeypatch, capsys):
    for name, text in {
        "src/dynabench/boards.py": '\nshown = dataset.visibility == "public"\n',
        "src/dynabench/templates/board.html": '{% if dataset.visibility == "public" %}\n',
        disclosure_lint.DECIDES: 'shown = dataset.visibility == "public"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(disclosure_lint, "ROOT", tmp_path)
    assert disclosure_lint.main() == 1
    listed = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in listed] == [
        "src/dynabench/boards.py:2",
        "src/dynabench/templates/board.html:1",
    ]
