"""The process that computes for the web process: what runs there is a module on what a stranger sent."""

import asyncio
import os
import shutil
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from dynabench.cards import worker
from dynabench.cards.calculator import Calculator, NotComputed
from dynabench.errors import Invalid, Problem, Unavailable
from tests.plugins import distribution

HOSTILE = '''
"""Does what the text in its column says."""
from typing import Any
import numpy as np
from dynabench.evaluate.card import Card, Example, Output
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
        "from dynabench.hooks import hookimpl\n\n@hookimpl\ndef dynabench_evaluation_modules():\n"
        "    return {'metric': {'hostile': 'hostile'}}\n"
    )
    distribution(tmp_path, "hostile_plugin")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("DYNABENCH_SECRET", "hunter2")

    async def ask(calculator, code):
        request = {"kind": "metric", "name": "hostile", "config": None, "options": {}, "extra": {}}
        try:
            return await calculator.compute(columns={"predictions": [code]}, **request)
        except Invalid as problem:
            return problem

    async def story(codes):
        calculator = Calculator(seconds=2)
        try:
            return [await ask(calculator, code) for code in codes]
        finally:
            calculator.close()

    def texts(*codes, problems=False):
        found = asyncio.run(story(codes))
        return found if problems else [each.fields[""] if isinstance(each, Invalid) else each for each in found]

    return texts


def test_a_hostile_computation_ends_alone_and_the_next_is_answered(hostile):
    began = time.monotonic()
    found = hostile("1", "while True: pass", "import time; time.sleep(60)", "x = bytearray(8 << 30)", "1")
    assert found[0] == found[-1] == {"x": 1.0}
    assert "more than 2 s" in found[1]
    assert "more than 2 s" in found[2]
    assert "more memory" in found[3]
    assert time.monotonic() - began < 30


def test_computations_read_no_files_open_no_connections_start_nothing_and_see_no_secrets(hostile, tmp_path):
    place = tmp_path / "written"
    found = hostile(
        f"open({str(place)!r}, 'w').write('x')",
        "open('/etc/passwd').read()",
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.kill(os.getppid(), 9)",
        "import os; assert 'DYNABENCH_SECRET' not in os.environ and 'hunter2' not in str(os.environ)",
    )
    assert all("not allowed here" in said for said in found[:5]), found
    assert found[5] == {"x": 1.0}
    assert not place.exists()


def test_a_module_that_fails_otherwise_says_so_without_its_traceback(hostile):
    (said,) = hostile("raise KeyError('secret detail')")
    assert "did not expect" in said
    assert "secret" not in said


def test_what_a_module_refuses_is_passed_on():
    told = worker.computed("metric", "accuracy", None, {"predictions": [1], "references": []}, {}, {})
    assert "references has 0" in told["error"]


def test_what_a_module_refuses_is_told_apart_from_what_may_succeed_when_asked_again(hostile):
    codes = ("raise ValueError('no label')", "while True: pass", "raise KeyError('x')")
    refused, *unfinished = hostile(*codes, problems=True)
    assert type(refused) is Invalid
    assert [type(each) for each in unfinished] == [NotComputed, NotComputed]


ACCURACY = {"kind": "metric", "name": "accuracy", "config": None, "options": {}, "extra": {}}


@pytest.fixture
def ask():
    """Ask a calculator of a second's patience for an accuracy: the number, or the problem that it raised."""

    async def number(calculator):
        try:
            return (await calculator.compute(columns={"predictions": [1, 0], "references": [1, 1]}, **ACCURACY))[
                "accuracy"
            ]
        except Problem as problem:
            return problem

    return number


def _worker():
    """The process that computes within a second; the one that tests share has more."""
    [found] = [each for each in psutil.Process().children() if each.cmdline()[-1:] == ["1"]]
    return found


def _numbers(ask, harm, times):
    """What a calculator answers first, then `times` times after `harm` was done to its worker's process."""

    async def story():
        calculator = Calculator(seconds=1)
        try:
            found = [await ask(calculator)]
            with ExitStack() as leaving:
                harm(_worker(), leaving)
                return found + [await ask(calculator) for _ in range(times)]
        finally:
            calculator.close()

    return asyncio.run(story())


def test_a_worker_that_is_stopped_is_replaced(ask):
    first, refused, again = _numbers(ask, lambda process, _: process.suspend(), 2)
    assert (first, again) == (0.5, 0.5)
    assert isinstance(refused, Unavailable), "the module had no part in it"


def test_a_worker_whose_queue_is_full_is_replaced(ask):
    def fill(process, leaving):
        process.suspend()
        [place] = [each.laddr for each in process.net_connections("unix") if each.laddr]
        while True:
            connection = leaving.enter_context(socket.socket(socket.AF_UNIX))
            connection.setblocking(False)
            try:
                connection.connect(place)
            except BlockingIOError:
                return

    first, refused, again = _numbers(ask, fill, 2)
    assert (first, again) == (0.5, 0.5)
    assert isinstance(refused, Unavailable)


def test_a_worker_that_nobody_can_reach_any_more_is_replaced(ask):
    """A cleaner of temporary files took its socket away."""

    def clean(process, _):
        [place] = [each.laddr for each in process.net_connections("unix") if each.laddr]
        shutil.rmtree(Path(place).parent)

    first, refused, again = _numbers(ask, clean, 2)
    assert (first, again) == (0.5, 0.5)
    assert isinstance(refused, Unavailable)


def test_a_worker_that_was_killed_is_started_again(ask):
    assert _numbers(ask, lambda process, _: process.send_signal(signal.SIGKILL), 2)[-1] == 0.5
