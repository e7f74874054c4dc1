"""The heap of a process with many threads, by glibc's own account, and what its garbage collector looks through."""

import platform
import subprocess
import sys

import pytest

HEAPS = """
import ctypes, sys, threading
from dynabench.kit import process_memory as heap

if sys.argv[1] == "one":
    heap.share_one_heap()
libc, met = ctypes.CDLL(None), threading.Barrier(8)

def allocate():
    met.wait()  # so that no thread takes over the heap of one that has ended
    place = libc.malloc(1000)
    met.wait()

libc.malloc.restype = ctypes.c_void_p
threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


def heaps(how: str) -> int:
    """Count the heaps of a process with eight threads."""
    done = subprocess.run([sys.executable, "-c", HEAPS, how], capture_output=True, check=True, text=True)
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps by thread")
def test_all_threads_of_a_web_process_share_one_heap():
    assert heaps("many") > 1
    assert heaps("one") == 1


def test_what_a_process_loaded_is_not_looked_through_again():
    code = (
        "import gc; from dynabench.kit import process_memory as heap\n"
        "with heap.without_collection():\n"
        "    assert not gc.isenabled(); import dynabench.site.app; loaded = len(gc.get_objects())\n"
        "assert gc.isenabled(); print(loaded, gc.get_freeze_count(), len(gc.get_objects()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded, frozen, remaining = map(int, done.stdout.split())
    assert frozen > 0.99 * loaded > 100_000
    assert remaining < 1_000
