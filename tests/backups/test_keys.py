"""The secret and the signing key: written whole, of enough bytes, and never made anew beside old rows."""

import stat
import subprocess
import sys
import time

import pytest
from pydantic import ValidationError
from sqlalchemy import select
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.db import now
from dynabench.errors import Conflict
from dynabench.key_check import check_keys
from dynabench.scoring import records
from dynabench.scoring.tables import Evaluation, Record
from dynabench.settings import Settings, get_settings
from tests import boards
from tests.collection.conftest import seed


@pytest.fixture
def fresh(settings, tmp_path):
    """The same database with an empty home folder, and no secret in the environment."""
    return lambda name="fresh": Settings(home=tmp_path / name, database_url=settings.database_url)


START = """
import secrets, sys, time
from pathlib import Path
from dynabench.settings import Settings
random = secrets.token_hex
secrets.token_hex = lambda size: (time.sleep(0.2), random(size))[1]  # a machine that is busy just then
home = Path(sys.argv[1])
(home / f"ready-{sys.argv[2]}").touch()
while not (home / "go").exists():
    time.sleep(0.001)
sys.stdout.buffer.write(Settings(home=home / "home").key)
"""


def test_processes_that_start_at_once_read_the_same_whole_secret(tmp_path):
    begun = [
        subprocess.Popen([sys.executable, "-c", START, str(tmp_path), str(number)], stdout=subprocess.PIPE)
        for number in range(4)
    ]
    until = time.monotonic() + 120
    while len(list(tmp_path.glob("ready-*"))) < len(begun) and time.monotonic() < until:
        time.sleep(0.05)
    (tmp_path / "go").touch()
    keys = {process.communicate(timeout=120)[0] for process in begun}
    path = tmp_path / "home" / "secret"
    assert keys == {path.read_bytes()}
    assert len(path.read_bytes()) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["secret"], "nothing half-written stays"


@pytest.mark.parametrize("content", ["", "short"])
def test_a_secret_file_that_was_cut_short_is_refused(tmp_path, content):
    (tmp_path / "secret").write_text(content)
    with pytest.raises(Conflict, match="at least 32"):
        _ = Settings(home=tmp_path).key


def test_a_short_secret_in_the_environment_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValidationError, match="at least 32"):
        Settings(home=tmp_path, secret="short-secret")
    done = subprocess.run(
        [sys.executable, "-m", "dynabench", "db", "check"],
        env={"DYNABENCH_HOME": str(tmp_path), "DYNABENCH_SECRET": "short-secret", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "DYNABENCH_SECRET: the secret has 12 bytes and needs at least 32" in done.stderr
    assert "Traceback" not in done.stderr
    assert "short-secret" not in done.stderr


def test_a_fresh_secret_beside_old_accounts_is_refused(fresh, person):
    check_keys(fresh())
    person("ada")
    check_keys(fresh())
    with pytest.raises(Conflict, match="accounts"):
        check_keys(fresh("other"))
    assert not (fresh("other").folder / "secret").exists()


def test_a_changed_secret_over_an_intact_home_is_refused(settings):
    def started_with(secret):
        check_keys(Settings(home=settings.folder, database_url=settings.database_url, secret=secret))

    started_with("a" * 32)
    started_with("a" * 32)
    with pytest.raises(Conflict, match="DYNABENCH_SECRET is not the one"):
        started_with("b" * 32)
    (settings.folder / "secret.fingerprint").unlink()
    started_with("b" * 32)


def test_a_fresh_signing_key_beside_old_records_is_refused_until_a_new_one_is_wanted(
    settings, database, tmp_path, monkeypatch
):
    def sign(session):
        seed(session)
        boards.furnish(session, "nli", skills=[0.9], datasets=["first"])
        evaluation = session.scalars(select(Evaluation)).one()
        document = {"format": records.FORMAT, "key": records.public_keys(settings)[0], "evaluation": evaluation.id}
        signature = records.sign(settings, document)
        session.add(Record(evaluation_id=evaluation.id, document=document, signature=signature, made_at=now()))

    database.write(sign)
    check_keys(settings)
    other = settings.model_copy(update={"home": tmp_path / "other"})
    other.__dict__.pop("folder", None)
    with pytest.raises(Conflict, match=r"There is no .*signing-key"):
        check_keys(other)
    records.public_keys(other)
    with pytest.raises(Conflict, match="is another key"):
        check_keys(other)
    monkeypatch.setenv("DYNABENCH_HOME", str(other.home))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", settings.database_url)
    get_settings.cache_clear()
    try:
        assert CliRunner().invoke(app, ["evaluate", "new-key"]).exit_code == 0
    finally:
        get_settings.cache_clear()
    check_keys(other)
    kept = database.read(lambda session: session.scalars(select(Record)).one())
    assert any(records.verified(kept.document, kept.signature, key) for key in records.public_keys(other))
