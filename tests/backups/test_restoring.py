"""A platform that is backed up and restored elsewhere answers as before, page by page, on both databases."""

import random

import pytest

from dynabench.backups.backup import make_backup
from dynabench.backups.file_check import check_files
from dynabench.backups.restore import restore_backup
from dynabench.key_check import check_keys
from dynabench.security import pseudonym
from tests.backups.filled import Seeded, addresses, differences, filled, opened, reached
from tests.collection import conftest as collection

rules = collection.rules
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
    there = elsewhere(database_kind if own else OTHER[database_kind])
    with opened(settings, rules.url, scene) as here:
        asked = addresses(here)
        asked = [each for each in asked if own or each[0] == "admin"]
        asked += [
            ("admin", link, None)
            for link in reached(here, "admin", ("/", "/tasks/nli", "/tasks/checks") if own else ())
        ]
        made = make_backup(settings, tmp_path / "backups" / "one.zip")
        assert made.path.stat().st_mode & 0o777 == 0o600
        assert made.manifest.flaws == []
        restore_backup(there, made.path)
        check_keys(there)
        with opened(there, rules.url, scene) as restored:
            apart = differences(here, restored, asked, in_order=own)
            assert not apart, "\n".join(apart)
            assert restored.database.read(check_files, there) == []
    assert there.key == settings.key
    assert pseudonym(there.key, "person", 1) == pseudonym(settings.key, "person", 1)
    names = {each.relative_to(there.folder).parts[0] for each in there.folder.rglob("*")}
    assert {"media", "datasets", "releases", "evaluations", "models", "secret", "signing-key"} <= names
    assert not {"cache", ".restoring"} & names
