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

pytestmark = pytest.mark.release

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


@pytest.mark.timeout(900)  # hundreds of pages, each asked for twice
@pytest.mark.parametrize("into", ["same", "other"])
def test_a_restored_platform_answers_every_page_as_before(
    settings, furnished, database_kind, elsewhere, rules, tmp_path, monkeypatch, into
):
    monkeypatch.setattr(random, "Random", Seeded)
    scene, own = furnished[1], into == "same"
    present = elsewhere(database_kind if own else OTHER[database_kind])
    with opened(settings, rules.url, scene) as here:
        request = [address for address in addresses(here) if own or address[0] == "admin"]
        for role, most in LINKS.items() if own else [("author", LINKS["author"])]:
            request += [(role, link, None) for link in reached(here, role, BEGIN, most)]
        backup = make_backup(settings, tmp_path / "backups" / "one.zip")
        assert backup.path.stat().st_mode & 0o777 == 0o600
        assert backup.manifest.flaws == []
        restore_backup(present, backup.path)
        check_keys(present)
        with opened(present, rules.url, scene) as restored:
            apart, statuses = differences(here, restored, request, in_order=own)
            assert not apart, "\n".join(apart)
            for role in LINKS:
                answers = sum(count for (source, _), count in statuses.items() if source == role)
                assert statuses[role, 200] >= LEAST * answers, statuses  # two refusals would be alike as well
            assert restored.database.read(check_files, present) == []
    assert present.key == settings.key
    assert pseudonym(present.key, "person", 1) == pseudonym(settings.key, "person", 1)
    names = {item.relative_to(present.folder).parts[0] for item in present.folder.rglob("*")}
    assert {"media", "datasets", "releases", "evaluations", "models", "secret", "signing-key"} <= names
    assert not {"cache", ".restoring"} & names
