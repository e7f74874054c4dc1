"""How this process' `malloc` keeps memory. These are settings of glibc; with another C library nothing happens."""

import ctypes

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


def _adjust(parameter: int, value: int) -> None:
    try:
        ctypes.CDLL(None).mallopt(parameter, value)
    except (AttributeError, OSError, TypeError):
        return
