"""A module in the sandbox gives what it gives here; one that means harm, or is broken, gives a clear error."""

import math
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dynabench.evaluate import combine, load
from dynabench.models.sandbox.box import HandlerOptions
from dynabench.published_modules.sandboxed import (
    LIMITS,
    ModuleFailed,
    SandboxedModule,
    describe_files,
    sandbox_module,
)
from tests.published_modules.writing import DOCUMENT, manifest, module_files

ROWS = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, 0]}
QUICK = HandlerOptions(**{**LIMITS.model_dump(), "predict_seconds": 3.0, "memory_mb": 512})
AT_ONCE = HandlerOptions(**{**QUICK.model_dump(), "predict_seconds": 0.5})


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("the key of the server")
    path.chmod(0o644)
    return path


@pytest.fixture
def listening() -> Iterator[int]:
    """A port that accepts connections, and that no module may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: [server.accept() for _ in range(9)], daemon=True).start()
        yield int(server.getsockname()[1])


def opened(**code: str) -> SandboxedModule:
    return sandbox_module(manifest(), module_files(**code), limits=QUICK)


@pytest.mark.slow
def test_a_module_computes_what_the_same_module_computes_in_this_process():
    with opened() as module:
        same = load("accuracy").compute(**ROWS, interval=0.9, per_example=True)
        result = module.compute(**ROWS, interval=0.9, per_example=True)
        assert result["agreement"] == same["accuracy"] == 0.75
        assert result["interval"]["agreement"] == same["interval"]["accuracy"]
        assert result["per_example"]["agreement"] == same["per_example"]["accuracy"]
        module.add(prediction=1, reference=1)
        module.add_batch(predictions=[0, 0], references=[1, 1])
        assert len(module) == 3
        assert module.compute() == pytest.approx({"agreement": 1 / 3})
        assert combine([module, "accuracy"]).compute(**ROWS) == {"agreement": 0.75, "accuracy": 0.75}
        assert module.merged([{n: v[:1] for n, v in ROWS.items()}, {n: v[1:] for n, v in ROWS.items()}], {}) == {
            "agreement": 0.75
        }


@pytest.mark.slow
def test_the_code_describes_itself_as_it_is_declared():
    described, document = describe_files(module_files(), "agreement.py")
    assert described == manifest()
    assert document == DOCUMENT


@pytest.mark.slow
def test_what_a_module_refuses_is_its_own_message_and_leaves_it_running():
    with opened() as module:
        with pytest.raises(ValueError, match=r"predictions: row 1 is missing"):
            module.compute(predictions=[0, None], references=[0, 1])
        with pytest.raises(TypeError, match="'average' is none of them"):
            module.compute(**ROWS, average="macro")
        with pytest.raises(ValueError, match="give a list with one value for each example"):
            module.compute(predictions="text", references=[0])
        assert module.compute(**ROWS) == {"agreement": 0.75}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update", "message"),
    [
        ("x = bytearray(10 * 2**30)", "needs more memory than is allowed"),
        ("x = [bytearray(2**20) for _ in range(10_000)]", "memory"),
        ("import os\n        while True: os.fork()", "BlockingIOError|took longer|Resource temporarily|ended"),
        ("import os; os.kill(os.getppid(), 9); os._exit(3)", "ended|Permission|exit status 3"),
        ("import os; os._exit(0)", "ended with exit status 0"),
        ("raise KeyError('oops')", "KeyError: 'oops'"),
        ("raise SystemExit(1)", "SystemExit"),
        ("import ctypes; ctypes.string_at(0)", "signal 11|ended"),
        ("import sys; sys.stdout.write('x' * 10**8); raise KeyError('flood')", "KeyError: 'flood'|took longer"),
        ("return {}[predictions[0]]", "KeyError"),
        ("import torch_of_nobody", "No module named 'torch_of_nobody'"),
        ("open('/model/module/own.py', 'w')", "Read-only file system|Permission denied"),
        ("open('/etc/shadow').read()", "No such file"),
        ("open('/usr/lib/own', 'w')", "Read-only file system|Permission denied"),
        ("import subprocess; subprocess.run(['mount', '-t', 'tmpfs', 'x', '/mnt'], check=True)", "Error"),
        ("import os; open('/tmp/big', 'wb').write(bytes(10**9))", "File too large|No space left|memory"),
    ],
)
def test_a_module_that_means_harm_or_fails_gives_an_error_that_says_what_happened(update: str, message: str):
    with opened(update=update) as module, pytest.raises(ValueError, match=message):
        module.compute(**ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("update", ["while True: pass", "import time; time.sleep(100)"])
def test_a_module_that_does_not_end_is_ended(update: str):
    too_long = pytest.raises(ModuleFailed, match=r"took longer than 0\.5 s")
    with sandbox_module(manifest(), module_files(update=update), limits=AT_ONCE) as module, too_long:
        module.compute(**ROWS)


@pytest.mark.slow
def test_a_module_sees_no_file_of_the_machine_and_reaches_no_port(secret: Path, listening: int):
    reads = f"raise ValueError(open({str(secret)!r}).read())"
    with opened(update=reads) as module, pytest.raises(ValueError, match="No such file") as error:
        module.compute(**ROWS)
    assert "the key of the server" not in str(error.value)
    connects = f"import socket; socket.create_connection(('127.0.0.1', {listening}), 2)"
    with opened(update=connects) as module, pytest.raises(ValueError, match=r"refused|unreachable|denied"):
        module.compute(**ROWS)
    resolves = "import socket; socket.getaddrinfo('example.org', 80)"
    with opened(update=resolves) as module, pytest.raises(ValueError, match="gaierror"):
        module.compute(**ROWS)


def test_a_module_learns_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DYNABENCH_SECRET_KEY", "not for modules")
    with opened(update="import os; raise ValueError(repr(dict(os.environ)))") as module:
        with pytest.raises(ValueError, match="PATH") as error:
            module.compute(**ROWS)
        assert "not for modules" not in str(error.value)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ('return {"agreement": np.nan * total[..., 0]}', "no finite number for 'agreement'"),
        ('return {"agreement": np.inf + total[..., 0]}', "no finite number for 'agreement'"),
        ('return {"agreement": 7 + total[..., 0]}', "its card says 0 to 1"),
        ('return {"other": total[..., 0]}', "none of its outputs agreement"),
        ("return {}", "a result is a dictionary of its outputs"),
        ("return 0.5", "AttributeError|dictionary|KeyError"),
        ('return {"agreement": {"x": [0.5, 2.0]}}', "its card says 0 to 1"),
        ('return {"agreement": "x" * 5_000_000}', "more than 4 MiB"),
        ('return {"agreement": "x" * 50_000_000}', r"answered with \d+ bytes"),
        ('return {"agreement": [[[[[[[[[[0.5]]]]]]]]]]}', "lists in lists"),
    ],
)
def test_a_result_of_another_form_is_refused(formula: str, message: str):
    with opened(formula=formula) as module, pytest.raises(ModuleFailed, match=message):
        module.compute(**ROWS)


def test_scores_of_other_rows_are_refused():
    before = "class Odd:\n    pass\n"
    code = module_files(before=before)
    source = (
        code["agreement.py"].decode() + "\n    def per_example(self, state):\n        return {'agreement': [1.0]}\n"
    )
    changed = code | {"agreement.py": source.encode()}
    wrong = pytest.raises(ModuleFailed, match="scores of other rows than the 4")
    with sandbox_module(manifest(), changed) as module, wrong:
        module.compute(**ROWS, per_example=True)


@pytest.mark.slow
def test_a_module_that_died_starts_again_with_the_next_rows():
    with opened(update="import os\n        if len(predictions) == 1: os._exit(1)") as module:
        with pytest.raises(ModuleFailed, match="exit status 1"):
            module.compute(predictions=[1], references=[1])
        assert module.compute(**ROWS) == {"agreement": 0.75}


@pytest.mark.slow
def test_rows_of_one_caller_are_forgotten_with_the_process():
    remembers = "KEPT.append(list(predictions))\n        if len(KEPT) > 1: raise ValueError(repr(KEPT[0]))"
    with opened(update=remembers, before="KEPT = []") as module:
        module.compute(**ROWS)
        module.close_process()
        assert module.compute(predictions=[5], references=[5]) == {"agreement": 1.0}


def test_closing_leaves_no_process_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    module = opened()
    assert not math.isnan(module.compute(**ROWS)["agreement"])
    assert list(tmp_path.glob("dynabench-module-*"))
    module.close()
    assert not list(tmp_path.glob("dynabench-module-*"))
    assert not [process for process in Path("/proc").glob("[0-9]*") if str(tmp_path) in _command(process)]


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
