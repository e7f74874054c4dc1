"""A model may take so much memory: more is refused by the system itself, and told as what it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dynabench.benchmark.evaluations.model_process import EvaluationStopped, ModelLimits, ModelProcess
from dynabench.kit.child_process import read_message, write_message
from dynabench.kit.process_memory import is_out_of_memory
from dynabench.kit.settings import get_settings
from tests.models.transformers import made

pytestmark = pytest.mark.release

WORDS = "a film of many words " * 20


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A classifier that was never trained; a batch of long texts takes it some GiB."""
    return made.wide(tmp_path_factory.mktemp("wide"))


@pytest.fixture
def predict(wide, monkeypatch, tmp_path):
    """Ask the model in a process of its own, with so many MiB."""
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path))
    get_settings.cache_clear()
    models = []

    def ask(memory_mb, rows):
        if not models:
            models.append(ModelProcess(wide, ModelLimits(memory_mb, 120), lambda: None))
        return models[0].ask([{"text": WORDS}] * rows, rows)

    yield ask
    for model in models:
        model.close()
    get_settings.cache_clear()


def test_what_fits_is_answered_and_what_is_too_much_ends_as_out_of_memory(predict):
    assert len(predict(1200, 1).outputs) == 1
    with pytest.raises(EvaluationStopped) as stopped:
        predict(1200, 96)
    assert stopped.value.code == "out_of_memory", stopped.value


def test_the_system_refuses_it_where_nobody_looks(wide, tmp_path):
    command = [sys.executable, "-m", "dynabench.benchmark.evaluations.model_process", str(wide), str(500 * 2**20)]
    env = os.environ | {"DYNABENCH_HOME": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        message = read_message(process.stdout)
        if "card" in message:
            write_message(process.stdin, {"rows": [{"text": WORDS}] * 96, "batch": 96})
            message = read_message(process.stdout)
        process.stdin.close()
    assert message["code"] == "out_of_memory", message


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="nothing is bound beside a GPU")
def test_bounds_are_for_good():
    source = (
        "from dynabench.kit.process_memory import limit_memory\nlimit_memory(2**20)\nlimit_memory(2**40)\n"
        "try:\n    bytearray(2**30)\nexcept MemoryError as error:\n    print(repr(error))"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert is_out_of_memory(done.stdout), done


@pytest.mark.parametrize(
    "words",
    [
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes. Error code 12",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "memory allocation of 1073741824 bytes failed",
        "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Failed to allocate memory for requested buffer of size 1",
    ],
)
def test_libraries_say_it_in_their_own_words(words):
    assert is_out_of_memory(words)
    assert not is_out_of_memory(words[:9])
