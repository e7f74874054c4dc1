"""Limits of the web process on idle connections and on open files.

The server has no limit of its own on the time until a request's head has come, nor on the time in which an answer is
read. A connection costs a file descriptor, and without descriptors nobody is answered.
"""

import asyncio
import resource
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 20.0
"""Seconds in which the head of a request has to come, from the start of the connection or the request's first byte."""
READ_SECONDS = 60.0
"""Seconds in which a reader takes what waits to be sent, some 64 KiB."""
MOST_FILES = 65_536
RESERVE = 128
"""Open files that are left for the database, for models and for files: connections beyond are closed at once."""


def allow_open_files() -> int:
    """Raise the number of files that this process may have open as far as the system lets it; returns the number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return MOST_FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


class Connection(cast(Any, AutoHTTPProtocol)):  # type: ignore[misc]
    """The server's connection, closed when a head does not come, or an answer is not read, in time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first head; refuse the connection where too few open files are left."""
        super().connection_made(transport)
        if len(self.connections) > max(RESERVE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - RESERVE):
            self.transport.abort()
            return
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Take what came; the time for a head runs on until it is there."""
        super().data_received(data)
        if self._is_at_work():
            self._stop_head_timer()
        elif self._head_timer is None:
            self._await_head()

    def pause_writing(self) -> None:
        """Wait for the reader."""
        super().pause_writing()
        self._stop_read_timer()
        self._read_timer = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the reader has taken what waited."""
        super().resume_writing()
        self._stop_read_timer()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that is not used any more, whether or not the last answer was read."""
        super().timeout_keep_alive_handler()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_head_timer()
        self._stop_read_timer()
        super().connection_lost(exc)

    def _is_at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up_head)

    def _give_up_head(self) -> None:
        self._head_timer = None
        if not self._is_at_work():
            self.transport.abort()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = None

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
        self._read_timer = None
