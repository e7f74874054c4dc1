"""A platform that is backed up and restored elsewhere answers as before, page by page, on both databases."""

import random

import pytest

from dynabench.kit.security import pseudonym
from dynabench.operations.backups.backup import make_backup
from dynabench.operations.backups.file_check import check_files
from dynabench.operations.backups.restore import restore_backup
from dynabench.operations.key_check import check_keys
from tests.backups.filled import Seeded, addresses, differences, filled, opened, reached
from tests.collection import conftest as collection

rules = collection.rules
BEGIN = ("/", "/tasks/nli", "/tasks/checks", "/tasks/done", "/models")
LINKS = {"admin": 60, "author": 60, "anon": 20}
"""How many pages are looked at that each reaches by links."""
LEAST = 0.85
"""The share of what is asked that is answered."""
OTHER = {"sqlite": "postgres", "postgres": "sqlite"}


@pytest.fixture
def furnish():
    return filled


@pytest.mark.slow
@pytest.mark.timeout(900)  # hundreds of pages, each asked for twice
@pytest.mark.parametrize("into", ["same", "other"])
def test_a_restored_platform_answers_every_page_as_before(
    settings, furnished, database_kind, elsewhere, rules, tmp_path, monkeypatch, into
):
    monkeypatch.setattr(random, "Random", Seeded)
    scene, own = furnished[1], into == "same"
    there = elsewhere(database_kind if own else OTHER[database_kind])
    with opened(settings, rules.url, scene) as here:
        asked = [each for each in addresses(here) if own or each[0] == "admin"]
        for role, most in LINKS.items() if own else [("author", LINKS["author"])]:
            asked += [(role, link, None) for link in reached(here, role, BEGIN, most)]
        made = make_backup(settings, tmp_path / "backups" / "one.zip")
        assert made.path.stat().st_mode & 0o777 == 0o600
        assert made.manifest.flaws == []
        restore_backup(there, made.path)
        check_keys(there)
        with opened(there, rules.url, scene) as restored:
            apart, statuses = differences(here, restored, asked, in_order=own)
            assert not apart, "\n".join(apart)
            for role in LINKS:
                answers = sum(count for (of, _), count in statuses.items() if of == role)
                assert statuses[role, 200] >= LEAST * answers, statuses  # two refusals would be alike as well
            assert restored.database.read(check_files, there) == []
    assert there.key == settings.key
    assert pseudonym(there.key, "person", 1) == pseudonym(settings.key, "person", 1)
    names = {each.relative_to(there.folder).parts[0] for each in there.folder.rglob("*")}
    assert {"media", "datasets", "releases", "evaluations", "models", "secret", "signing-key"} <= names
    assert not {"cache", ".restoring"} & names
