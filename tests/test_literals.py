"""The check of literals: planted roles, states, reviews, sources and `.admin` are refused, members of enums are not."""

import pytest

from dynabench.web.environment import STATES
from scripts import literals

WORDS = {
    "role": frozenset({"owner", "moderator"}),
    "state": frozenset({"open", "draft"}),
    "review": frozenset({"waiting", "none"}),
    "source": frozenset({"program"}),
}
ENUMS = '''
from enum import StrEnum

class TaskRole(StrEnum):
    """Roles such as "nobody"."""
    OWNER = "owner"

class RoundState(StrEnum):
    OPEN = "open"

class FlagReview(StrEnum):
    WAITING = "waiting"

class ExampleSource(StrEnum):
    PROGRAM = "program"

class Colour(StrEnum):
    RED = "red"
'''


@pytest.mark.parametrize(
    "planted",
    [
        'found.role == "owner"',
        '"owner" != role',
        'role in ("owner", "other")',
        'role(session, person, task) == "owner"',
        'each["role"] not in {"moderator"}',
        'NAMES = ("owner", "moderator")\nmay = role in NAMES',
        'select(Round).where(Round.state == "open")',
        'Round.state.in_(("draft", "open"))',
        'query.filter_by(state="open")',
        'round.state = "open" if begun else later',
        'match round.state:\n    case "draft" | "other": ...',
        'review(session, example, votes) == "waiting"',
        'flagged = review != "none"',
        'query.where(Example.source != "program")',
    ],
)
def test_a_literal_is_refused(planted):
    assert list(literals.literal_faults(planted, WORDS))


@pytest.mark.parametrize(
    "clean",
    [
        "found.role == TaskRole.OWNER",
        "Round.state.in_((RoundState.DRAFT, RoundState.OPEN))",
        'dataset.source == "https://example.org"',
        "row.source == ExampleSource.PROGRAM",
        'message["role"] == "system"',
        'title == "open"',
        'Round(task_id="open")',
        'document = {"state": "open"}',
        "match round.state:\n    case RoundState.OPEN: ...",
    ],
)
def test_a_member_of_an_enum_and_another_word_are_not(clean):
    assert list(literals.literal_faults(clean, WORDS)) == []


@pytest.mark.parametrize(
    "planted",
    [
        '{% if request.state.role == "owner" %}',
        "{% if role|default(none) in ('owner', 'moderator') %}",
        '{{ "x" if each.role != "moderator" }}',
        "{% if viewer.admin %}",
        '{% if round.state == "open" %}',
        "{% if shown.state|default('') in ('draft', 'open') %}",
        '{{ "x" if each["state"] not in ["open"] }}',
        '{% if case.review == "waiting" %}',
        '{% if each.example.source != "program" %}',
    ],
)
def test_a_template_decides_by_no_literal(planted):
    assert len(list(literals.template_faults(planted, WORDS, admin=False))) == 1


@pytest.mark.parametrize(
    "clean",
    [
        "{% if round is open %}",
        '{{ {"open": _("open")}[round.state] }}',
        '{% if message.source == "elsewhere" %}',
    ],
)
def test_a_template_may_use_tests_and_tables_of_words(clean):
    assert list(literals.template_faults(clean, WORDS, admin=False)) == []


@pytest.mark.release
def test_every_state_that_templates_can_ask_for_is_a_member_of_an_enum():
    assert set(STATES) <= literals.enum_words(literals.ROOT)["state"]


@pytest.fixture
def house(tmp_path):
    """Return a package with enums, which begins without faults."""
    package = tmp_path / "src" / "dynabench"
    for folder in ("people", "rounds", "accounts"):
        (package / folder).mkdir(parents=True)
    (package / "people" / "may.py").write_text(ENUMS + "allowed = person.admin\n")
    (package / "accounts" / "auth.py").write_text("allowed = member.admin\n")
    (package / "rounds" / "page.html").write_text('{% if "close_round" in request.state.actions %}')
    assert literals.examine(tmp_path) == []
    return package


def test_the_words_are_those_of_the_enums(house):
    words = literals.enum_words(house.parent.parent)
    assert words == {
        "role": frozenset({"owner"}),
        "state": frozenset({"open"}),
        "review": frozenset({"waiting"}),
        "source": frozenset({"program"}),
    }


def test_faults_are_found_in_the_package_file_by_file(house, monkeypatch, capsys):
    (house / "rounds" / "service.py").write_text('may = role == "owner" or person.admin\n')
    (house / "rounds" / "page.html").write_text("{{ viewer.admin }}")
    monkeypatch.setattr(literals, "ROOT", house.parent.parent)
    assert literals.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[0].split(" ")[0] for line in lines] == [
        "src/dynabench/rounds/service.py:1:",
        "src/dynabench/rounds/service.py:1:",
        "src/dynabench/rounds/page.html:1:",
    ]
