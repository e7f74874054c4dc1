"""Settings of operators, and platforms where no handler may run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.settings import Settings, get_settings
from dynabench.models.backends.handler import HandlerModel
from dynabench.models.sandbox import available
from dynabench.models.sandbox.available import Docker
from tests.models.handlers import PAIR, doing, need_bubblewrap, write

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory_mb": 100_000}, "options.memory_mb: This platform allows up to 4096"),
        ({"processes": 9999}, "options.processes: This platform allows up to 256"),
        ({"predict_seconds": 3600}, "options.predict_seconds: This platform allows up to 60"),
        ({"network": True}, "options.network: Extra inputs are not permitted"),
        ({"memory_mb": "much"}, "options.memory_mb"),
    ],
)
def test_more_than_the_operator_allows_is_refused(tmp_path, options, message):
    with pytest.raises(Invalid, match=re.escape(message)):
        HandlerModel.open(write(tmp_path / "greedy", doing("pass"), options=options))


def test_operators_set_the_ceilings(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HANDLER_MEMORY_MB", "128")
    get_settings.cache_clear()
    try:
        assert Settings().handler_memory_mb == 128
        with pytest.raises(Invalid, match="allows up to 128"):
            HandlerModel.open(write(tmp_path / "greedy", doing("pass"), options={"memory_mb": 129}))
    finally:
        monkeypatch.undo()
        get_settings.cache_clear()


def test_a_folder_without_code_is_refused(tmp_path):
    folder = write(tmp_path / "empty", "")
    (folder / "handler.py").unlink()
    with pytest.raises(Invalid, match=r"needs a file handler\.py"):
        HandlerModel.open(folder)


@pytest.mark.skipif(os.getuid() != 0, reason="only started by root the sandbox is another user")
def test_a_folder_that_the_sandbox_cannot_read_is_told_with_the_remedy(tmp_path):
    folder = write(tmp_path / "closed", doing("pass"))
    (folder / "handler.py").chmod(0o600)
    with pytest.raises(Invalid, match=r"cannot read handler\.py: chmod -R go\+rX"):
        HandlerModel.open(folder)


def test_where_nothing_confines_nothing_runs(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    folder = write(tmp_path / "model", f"open({str(ran)!r}, 'w')\n{doing('pass')}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"bwrap is not installed; docker is not installed.*apt install bubblewrap"):
        HandlerModel.open(folder)
    assert not ran.exists()


def test_a_sandbox_that_does_not_work_is_told_with_what_it_said(tmp_path, monkeypatch):
    """As on machines whose kernel gives no namespaces to ordinary users."""
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="ended with exit status 1 / No permissions to create new namespace"):
        HandlerModel.open(write(tmp_path / "model", doing("pass")))


def test_a_sandbox_that_failed_once_is_tried_again(tmp_path, monkeypatch):
    need_bubblewrap()
    works = shutil.which("bwrap")
    at_first = tmp_path / "bwrap"
    at_first.write_text(f'#!/bin/sh\n[ -e {tmp_path}/well ] || exit 1\nexec {works} "$@"\n')
    at_first.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    folder = write(tmp_path / "model", doing("pass"))
    with pytest.raises(Unavailable, match="ended with exit status 1"):
        HandlerModel.open(folder)
    (tmp_path / "well").touch()
    HandlerModel.open(folder).close()


def test_docker_confines_where_a_daemon_answers(tmp_path, monkeypatch):
    docker = shutil.which("docker")
    lacking = available._lacks(docker, Docker) if docker else "docker is not installed"
    if lacking:
        pytest.skip(lacking)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "docker").symlink_to(docker)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    model = HandlerModel.open(write(tmp_path / "model", doing("open('/model/x', 'w')")))
    try:
        with pytest.raises(Unavailable, match=r"Read-only file system|Permission"):
            model.predict([PAIR])
    finally:
        model.close()


@pytest.mark.release
@pytest.mark.skipif(os.getuid() != 0, reason="the other tests run as an ordinary user")
def test_an_ordinary_user_s_handlers_are_confined_as_well(tmp_path):
    need_bubblewrap()
    code = dedent(f"""
    import os, sys
    sys.path[:0] = {[str(ROOT / "src"), str(ROOT)]!r}
    from pathlib import Path
    from tests.models.handlers import PAIR, doing, write
    from dynabench.models.backends.handler import HandlerModel
    from dynabench.kit.errors import Unavailable
    import tempfile
    os.setgroups([]); os.setgid(12345); os.setuid(12345)
    body = '''
    import os
    children = 0
    try:
        while children < 200:
            if os.fork() == 0:
                import time; time.sleep(60)
            children += 1
    except BlockingIOError: pass
    refused = []
    for path in ("/x", "/dev/x", "/model/x", "/dev/shm/x"):
        try: open(path, "w")
        except OSError: refused.append(path)
    return {{"label": "neutral", "children": children, "user": os.getuid(), "refused": len(refused)}}
    '''
    with tempfile.TemporaryDirectory() as folder:
        model = HandlerModel.open(write(Path(folder) / "m", doing(body), options={{"processes": 12}}))
        print(model.predict([PAIR])[0].extras)
        model.close()
    """)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if "Permission denied" in ran.stderr:
        pytest.skip("an ordinary user cannot run this Python")
    document = yaml.safe_load(ran.stdout)
    assert 5 < document["children"] < 12, ran.stderr
    assert document["user"] == 12345
    assert document["refused"] == 4
