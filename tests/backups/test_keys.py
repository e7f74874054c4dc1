"""The secret and the signing key: written whole, of enough bytes, and never made anew beside old rows."""

import json
import stat
import subprocess
import sys
import time

import pytest
from pydantic import ValidationError
from sqlalchemy import select

from dynabench.benchmark.evaluations import records
from dynabench.benchmark.evaluations.tables import Evaluation, Record
from dynabench.kit.db import now
from dynabench.kit.errors import Conflict
from dynabench.kit.settings import Settings
from dynabench.operations.key_check import check_keys, note_secret
from tests import boards
from tests.collection.conftest import seed


@pytest.fixture
def fresh(settings, tmp_path):
    """The same database with an empty home folder, and no secret in the environment."""
    return lambda name="fresh": Settings(home=tmp_path / name, database_url=settings.database_url)


START = """
import secrets, sys, time
from pathlib import Path
from dynabench.kit.settings import Settings
random = secrets.token_hex
secrets.token_hex = lambda size: (time.sleep(0.2), random(size))[1]  # a machine that is busy just then
home = Path(sys.argv[1])
(home / f"ready-{sys.argv[2]}").touch()
while not (home / "go").exists():
    time.sleep(0.001)
sys.stdout.buffer.write(Settings(home=home / "home").key)
"""


@pytest.mark.slow
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
    assert [item.name for item in path.parent.iterdir()] == ["secret"], "nothing half-written stays"


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


@pytest.mark.slow
def test_a_fresh_secret_beside_old_accounts_is_refused(fresh, person):
    check_keys(fresh())
    person("ada")
    check_keys(fresh())
    with pytest.raises(Conflict, match="accounts"):
        check_keys(fresh("other"))
    assert not (fresh("other").folder / "secret").exists()


@pytest.mark.parametrize("name", ["home", "another"])
def test_a_changed_secret_is_refused_in_any_home_until_it_is_accepted(settings, tmp_path, command, name):
    def with_secret(secret):
        return Settings(home=tmp_path / name, database_url=settings.database_url, secret=secret)

    check_keys(settings)
    check_keys(settings)
    with pytest.raises(Conflict, match="DYNABENCH_SECRET is not the one"):
        check_keys(with_secret("b" * 32))
    assert command(with_secret(""), "db", "accept-secret").exit_code == 1
    assert not (tmp_path / name / "secret").exists(), "none is made beside rows that were filled with another"
    done = command(with_secret("b" * 32), "db", "accept-secret")
    assert done.exit_code == 0, done.output
    check_keys(with_secret("b" * 32))
    with pytest.raises(Conflict, match="is not the one"):
        check_keys(settings)


def test_processes_that_start_at_once_with_two_secrets_do_not_both_start(settings, database, tmp_path):
    check_keys(settings)
    other = Settings(home=tmp_path / "other", database_url=settings.database_url, secret="b" * 32)
    with pytest.raises(Conflict, match="is not the one"):
        database.write(note_secret, other)


@pytest.mark.parametrize(
    "words",
    [
        ("export", "nli"),
        ("round", "release", "nli", "--round", "1"),
        ("cycle", "status", "nli"),
        ("round", "close", "nli"),
        ("user", "list"),
        ("db", "rebuild"),
    ],
    ids=" ".join,
)
def test_commands_over_old_accounts_make_no_fresh_secret(fresh, person, database, command, words):
    database.write(seed)
    person("ada")
    present = fresh()
    done = command(present, *words)
    assert done.exit_code == 1, done.output
    assert "accounts, but there is no" in done.output.replace("\n", " ")
    assert [path.name for path in present.folder.iterdir()] == []
    check = command(present, "db", "check", "--files", "--json")
    assert any(f"{present.secret_file} is missing" in problem for problem in json.loads(check.stdout)["problems"])
    with pytest.raises(Conflict, match="accounts"):
        check_keys(present)


def test_commands_refuse_the_home_of_another_platform(settings, fresh, person, command):
    check_keys(settings)
    person("ada")
    present = fresh()
    assert present.key != settings.key
    done = command(present, "export", "nli")
    assert done.exit_code == 1
    assert "is not the one with which this platform ran" in done.output.replace("\n", " ")
    check = command(present, "db", "check", "--files", "--json")
    assert any("is not the one" in problem for problem in json.loads(check.stdout)["problems"])


def test_a_fresh_signing_key_beside_old_records_is_refused_until_a_new_one_is_wanted(
    settings, database, tmp_path, command
):
    def sign(session):
        seed(session)
        boards.furnish(session, "nli", skills=[0.9], datasets=["first"])
        evaluation = session.scalars(select(Evaluation)).one()
        document = {"format": records.FORMAT, "key": records.public_keys(settings)[0], "evaluation": evaluation.id}
        signature = records.sign_document(settings, document)
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
    assert command(other, "evaluate", "new-key").exit_code == 0
    check_keys(other)
    stored = database.read(lambda session: session.scalars(select(Record)).one())
    assert any(records.is_signature_valid(stored.document, stored.signature, key) for key in records.public_keys(other))
