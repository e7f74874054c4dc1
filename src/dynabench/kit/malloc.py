"""Memory settings of this process: glibc's `malloc`, and garbage collection.

The settings of `malloc` have no effect with another C library.
"""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of glibc's `mallopt`."""


def one_arena() -> None:
    """Have all threads share one heap; call it before there are any.

    Otherwise each thread of a pool gets a heap of its own, and what a request leaves free in one is of no use to the
    next request in another: these heaps grow for hours. Threads of Python seldom allocate at the same time.
    """
    _adjust(M_ARENA_MAX, 1)


def keep_freed() -> None:
    """Keep up to 64 MiB that a forward pass has freed: given back and asked for anew, every page of it costs a fault, a
    seventh of the time of a batch.
    """
    _adjust(M_MMAP_THRESHOLD, 32 * 2**20)
    _adjust(M_TRIM_THRESHOLD, 64 * 2**20)


@contextmanager
def unswept() -> Iterator[None]:
    """Load code without collecting garbage meanwhile, and leave what was loaded out of every later collection.

    Modules, schemas and tables stay as long as the process. Looking through them again and again was a third of the
    time until the web process answers, and each later look at all of them would take some tenths of a second. What
    garbage loading left, a quarter of the objects, stays too: looking for it first would take back half of what is won.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _adjust(parameter: int, value: int) -> None:
    try:
        ctypes.CDLL(None).mallopt(parameter, value)
    except (AttributeError, OSError, TypeError):
        return
