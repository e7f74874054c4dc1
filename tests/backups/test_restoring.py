"""A platform that is backed up and restored elsewhere answers as before, page by page, on both databases."""

import json
import os
import zipfile
from contextlib import ExitStack

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from dynabench.backups import manifest
from dynabench.backups.backup import make_backup
from dynabench.backups.file_check import check_files
from dynabench.backups.restore import restore_backup
from dynabench.cli import app
from dynabench.collection.tables import Example
from dynabench.db import Database
from dynabench.key_check import check_keys
from dynabench.security import pseudonym
from dynabench.settings import Settings, get_settings
from tests.backups.filled import addresses, differences, filled, get, opened, reached
from tests.collection import conftest as collection

rules = collection.rules


@pytest.fixture
def furnish():
    return filled


@pytest.fixture
def elsewhere(request, tmp_path):
    """Settings of an empty place, with a database of one kind or the other."""
    with ExitStack() as stack:

        def make(kind, name="elsewhere"):
            url = ""
            if kind == "postgres":
                url = stack.enter_context(request.getfixturevalue("server").database("template0"))
            return Settings(home=tmp_path / name, database_url=url, password_cost=1, rate_limit=False)

        yield make


OTHER = {"sqlite": "postgres", "postgres": "sqlite"}


@pytest.mark.parametrize("into", ["same", "other"])
def test_a_restored_platform_answers_every_page_as_before(
    settings, furnished, database_kind, elsewhere, rules, tmp_path, into
):
    scene = furnished[1]
    there = elsewhere(database_kind if into == "same" else OTHER[database_kind])
    with opened(settings, rules.url, scene) as here:
        asked = addresses(here)
        asked += [("admin", link, None) for link in reached(here, "admin", ("/", "/tasks/nli", "/tasks/checks"))]
        for role, address, params in asked:  # what is noted at a first visit is noted before
            get(here, role, address, params)
        made = make_backup(settings, tmp_path / "backups" / "one.zip")
        assert made.path.stat().st_mode & 0o777 == 0o600
        assert made.manifest.flaws == []
        restore_backup(there, made.path)
        check_keys(there)
        with opened(there, rules.url, scene) as restored:
            apart = differences(here, restored, asked)
            assert not apart, "\n".join(apart)
            assert restored.database.read(check_files, there) == []
    assert there.key == settings.key
    assert pseudonym(there.key, "person", 1) == pseudonym(settings.key, "person", 1)
    names = {each.relative_to(there.folder).parts[0] for each in there.folder.rglob("*")}
    assert {"media", "datasets", "releases", "evaluations", "models", "secret", "signing-key"} <= names
    assert not {"cache", ".restoring"} & names
