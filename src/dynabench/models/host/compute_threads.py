"""Run batches in threads that can be given up, and count what a host does."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from dynabench.kit.errors import Unavailable

BATCH_SIZES = tuple(range(1, 33))


class HostCounters:
    """Counters of one host; every host has its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # its start tells when it was started again
        self.batch_size = Histogram(
            "dynabench_host_batch_size",
            "Calls answered by one forward pass.",
            ["lane"],
            buckets=BATCH_SIZES,
            registry=self.registry,
        )
        self.seconds = Histogram(
            "dynabench_host_batch_seconds",
            "Seconds of one forward pass.",
            ["lane"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
            registry=self.registry,
        )
        self.waiting = Gauge(
            "dynabench_host_waiting", "Calls that wait for their turn.", ["lane"], registry=self.registry
        )
        self.refused = self._counter("refused", "Calls refused for overload.")
        self.abandoned = self._counter("abandoned", "Calls whose client left before their turn.")
        self.failed = self._counter("failed", "Calls that a model failed on.")
        self.given_up = self._counter("given_up", "Batches that did not end and were given up.")
        self.explained = Counter(
            "dynabench_host_explanations",
            "Explanations, by whether they were kept from before.",
            ["cache"],
            registry=self.registry,
        )
        self.changes = Counter(
            "dynabench_host_changes", "Models loaded, unloaded and refused.", ["change"], registry=self.registry
        )
        self.memory = Gauge(
            "dynabench_host_memory_bytes",
            "Memory that models and host take by the host's own account.",
            registry=self.registry,
        )

    def _counter(self, name: str, documentation: str) -> Counter:
        return Counter(f"dynabench_host_{name}", documentation, ["lane"], registry=self.registry)

    def text(self) -> bytes:
        """The figures as text."""
        return generate_latest(self.registry)


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


def has_stuck_threads() -> bool:
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
