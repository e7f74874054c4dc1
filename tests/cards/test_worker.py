"""The process that computes for the web process: what runs there is a module on what a stranger sent."""

import asyncio
import os
import shutil
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from dynabench.kit.errors import Invalid, Problem, Unavailable
from dynabench.site.cards import worker
from dynabench.site.cards.calculator import Calculator, NotComputed
from tests.plugins import distribution

HOSTILE = '''
"""Does what the text in its column says."""
from typing import Any
import numpy as np
from dynabench.evaluate.card import Card, CardExample, Output
from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums

class Hostile(Metric):
    """Evil."""
    card = Card("Evil.", "x", {"predictions": "code"}, (Output("x", "x"),), (), "All.", "None.")
    columns = {"predictions": Texts()}
    def update(self, predictions: list[str]) -> Sums:
        exec(predictions[0], {})
        return Sums(np.array([1.0]))
    def formula(self, total: Any) -> dict[str, Any]:
        return {"x": total[..., 0]}
'''


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Computes a module that runs what it is sent, in a worker like the application's."""
    (tmp_path / "hostile.py").write_text(HOSTILE)
    (tmp_path / "hostile_plugin.py").write_text(
        "from dynabench.kit.hooks import hookimpl\n\n@hookimpl\ndef dynabench_evaluation_modules():\n"
        "    return {'metric': {'hostile': 'hostile'}}\n"
    )
    distribution(tmp_path, "hostile_plugin")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("DYNABENCH_SECRET", "hunter2")

    async def ask(calculator, code):
        request = {"kind": "metric", "name": "hostile", "config": None, "options": {}, "extra": {}}
        while True:
            try:
                return await calculator.compute(columns={"predictions": [code]}, **request)
            except Invalid as problem:
                return problem
            except Unavailable:  # a busy machine was late
                continue

    async def story(codes):
        calculator = Calculator(seconds=2)
        try:
            return [await ask(calculator, code) for code in codes]
        finally:
            calculator.close()

    return lambda *codes: asyncio.run(story(codes))


@pytest.mark.slow
def test_a_hostile_computation_ends_alone_reaches_nothing_and_the_next_is_answered(hostile, tmp_path):
    place = tmp_path / "written"
    forbidden = (
        f"open({str(place)!r}, 'w').write('x')",
        "open('/etc/passwd').read()",
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.kill(os.getppid(), 9)",
    )
    no_secrets = "import os; assert 'DYNABENCH_SECRET' not in os.environ and 'hunter2' not in str(os.environ)"
    endless = ("while True: pass", "import time; time.sleep(60)", "x = bytearray(8 << 30)")
    broken = "raise KeyError('secret detail')"
    first, *refused, secrets, busy, asleep, full, trouble, stated, last = hostile(
        "1", *forbidden, no_secrets, *endless, broken, "raise ValueError('no label')", "1"
    )
    assert first == secrets == last == {"x": 1.0}
    assert all("not allowed here" in answer.fields[""] for answer in refused), refused
    assert not place.exists()
    for answer in (busy, asleep):
        assert type(answer) is NotComputed, "it may succeed when asked again"
        assert "more than 2 s" in answer.fields[""]
    assert "more memory" in full.fields[""]
    assert type(trouble) is NotComputed
    assert "did not expect" in trouble.fields[""]
    assert "secret" not in trouble.fields[""], "no traceback"
    assert type(stated) is Invalid


def test_what_a_module_refuses_is_passed_on():
    result = worker.compute_request("metric", "accuracy", None, {"predictions": [1], "references": []}, {}, {})
    assert "references has 0" in result["error"]


ACCURACY = {"kind": "metric", "name": "accuracy", "config": None, "options": {}, "extra": {}}


async def _ask(calculator):
    """The accuracy of one right answer of two, or the problem that was raised."""
    try:
        answer = await calculator.compute(columns={"predictions": [1, 0], "references": [1, 1]}, **ACCURACY)
    except Problem as problem:
        return problem
    return answer["accuracy"]


async def _ask_again(calculator):
    """The accuracy, asked for until it comes: a second may be too short on a busy machine."""
    for _ in range(60):
        if isinstance(answer := await _ask(calculator), float):
            return answer
    return answer


def _worker():
    """The process that computes within a second; the one that tests share has more."""
    [process] = [item for item in psutil.Process().children() if item.cmdline()[-1:] == ["1"]]
    return process


def _stop(process, _):
    process.suspend()


def _fill(process, leaving):
    """Take all places of its queue."""
    process.suspend()
    [place] = [net_connection.laddr for net_connection in process.net_connections("unix") if net_connection.laddr]
    while True:
        connection = leaving.enter_context(socket.socket(socket.AF_UNIX))
        connection.setblocking(False)
        try:
            connection.connect(place)
        except BlockingIOError:
            return


def _clean(process, _):
    """Take its socket away, as a cleaner of temporary files does."""
    [place] = [net_connection.laddr for net_connection in process.net_connections("unix") if net_connection.laddr]
    shutil.rmtree(Path(place).parent)


def _kill(process, _):
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.release
def test_a_worker_that_is_stopped_full_out_of_reach_or_killed_is_replaced():
    """One calculator meets one trouble after the other; the module has no part in any."""

    async def story():
        calculator = Calculator(seconds=1)
        try:
            assert await _ask_again(calculator) == 0.5
            for harm in (_stop, _fill, _clean, _kill):
                with ExitStack() as leaving:
                    harm(_worker(), leaving)
                    if harm is not _kill:
                        assert isinstance(await _ask(calculator), Unavailable), harm
                    assert await _ask_again(calculator) == 0.5, harm
        finally:
            calculator.close()

    asyncio.run(story())
