"""Threads that compute for a model, with others in their place where one does not come back."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from dynabench.kit.errors import Unavailable

PATIENCE = 600.0
"""Seconds after which a thread is not expected back."""

_given_up: set[Future[Any]] = set()
_lock = threading.Lock()


class Threads:
    """At most `at_once` threads; one that was given up no longer counts."""

    def __init__(self, at_once: int, name: str) -> None:
        self._at_once = at_once
        self._name = name
        self._executor = self._new_executor()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Run a function in a thread, once one is free."""
        return self._executor.submit(function, *args)

    async def wait_for(self, future: Future[Any], patience: float) -> bool:
        """Tell whether the call ends within `patience` seconds; if not, or when cancelled, replace its thread."""
        try:
            await asyncio.wait({asyncio.wrap_future(future)}, timeout=patience)
        finally:
            if not future.done():
                self._replace(future)
        return future.done()

    def close(self, wait: bool) -> None:
        """End the threads, after what they do; with `wait`, return when they have ended."""
        self._executor.shutdown(wait=wait, cancel_futures=True)

    def _replace(self, future: Future[Any]) -> None:
        """Expect a thread back no more: the others end when they are done, and new ones take the place of all."""
        with _lock:
            _given_up.add(future)
        future.add_done_callback(_came_back)
        self._executor.shutdown(wait=False)
        self._executor = self._new_executor()

    def _new_executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._at_once, thread_name_prefix=self._name)


def stuck() -> bool:
    """Tell whether a thread that was given up still runs in this process: only a new process gets rid of it."""
    with _lock:
        return bool(_given_up)


def _came_back(future: Future[Any]) -> None:
    with _lock:
        _given_up.discard(future)


def as_exception(error: BaseException) -> Exception:
    """The error as one that a future can hold and that ends no event loop.

    A library in Rust panics with a `BaseException`; `SystemExit`, too, says nothing about the process when a model
    raises it.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return Unavailable(f"The model failed: {type(error).__name__}: {error}")
