"""The client for addresses that users name: checked addresses, no proxy, limits on time and size.

Redirects are followed where a caller asks for it, each to an address that is checked as well.
"""

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpcore2

from dynabench import __version__
from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.kit.outgoing.addresses import AllowedHosts, RefusedAddress, check_address, resolve_host

MAX_REPLY_BYTES = 8 * 2**20
"""Bytes of an answer."""
REDIRECTS = (301, 302, 303, 307, 308)
MOST_REDIRECTS = 5
MAX_QUIET_SECONDS = 30.0
"""Seconds between two parts of an answer; the first may take as long as there is time."""


class Unreached(Unavailable):
    """No connection was made, or it ended before any answer: nothing was computed that is now lost."""


class Interrupted(Unavailable):
    """The answer did not arrive, or not completely, within the limits of time and size."""


@dataclass(frozen=True)
class HttpReply:
    """A complete answer; names of headers are in lower case."""

    host: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; raises `RefusedAddress` for anything else, NaN and Infinity included."""
        try:
            return json.loads(self.body, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise RefusedAddress(f"{self.host} did not answer with JSON{self._instead(error)}") from error

    def _instead(self, error: Exception) -> str:
        kind = self.headers.get("content-type", "").partition(";")[0]
        if kind == "text/html" or self.body.lstrip()[:1] == b"<":
            return " but with a web page: check `url`, it may lead to a log-in or to documentation."
        if not self.body.strip():
            return " but with nothing."
        return f": {error}."


class OutgoingClient:
    """Keeps connections; usable from several threads at once. Close it."""

    def __init__(self, allowed: AllowedHosts, connections: int = 8) -> None:
        self._allowed = allowed
        self._network = _CheckedNetwork(allowed)
        self._connections = connections
        self._pool: httpcore2.ConnectionPool | None = None
        self._making = threading.Lock()

    def call(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        seconds: float,
        most: int = MAX_REPLY_BYTES,
    ) -> HttpReply:
        """The answer within `seconds` and `most` bytes.

        Raises `RefusedAddress`, `Unreached` or `Interrupted`, and `Invalid` for an address that is not called.
        """
        host, _address = check_address(url, self._allowed, query=True)
        until = time.monotonic() + seconds
        with self._exchange(method, url, body, headers, until, host) as response:
            named = _headers(response)
            _check(host, response.status, named, most)
            read = bytearray()
            for part in self._parts(response, until, host):
                read += part
                if len(read) > most:
                    raise Interrupted(
                        _(
                            "%(host)s answered with more than %(most)s MiB, the limit.",
                            host=host,
                            most=most // 2**20,
                        )
                    )
            return HttpReply(host, response.status, named, bytes(read))

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        seconds: float,
        most: int = MAX_REPLY_BYTES,
    ) -> Iterator[tuple[HttpReply, Iterator[bytes]]]:
        """An answer without its body, and its parts as they come; limits and errors as for `call`."""
        host, _address = check_address(url, self._allowed, query=True)
        until = time.monotonic() + seconds
        with self._exchange(method, url, body, headers, until, host) as response:
            named = _headers(response)
            _check(host, response.status, named, most)
            yield HttpReply(host, response.status, named, b""), self._limited(response, until, host, most)

    @contextmanager
    def fetch(
        self, url: str, headers: Mapping[str, str], seconds: float, most: int = MAX_REPLY_BYTES
    ) -> Iterator[tuple[HttpReply, Iterator[bytes]]]:
        """The answer to a GET as `stream` gives it, after at most `MOST_REDIRECTS` redirects.

        The address of each redirect is checked like the first one.
        """
        until = time.monotonic() + seconds
        for _redirect in range(MOST_REDIRECTS + 1):
            host, _address = check_address(url, self._allowed, query=True)
            with self._exchange("GET", url, None, headers, until, host) as response:
                named = _headers(response)
                if response.status in REDIRECTS and named.get("location"):
                    url = urljoin(url, named["location"])
                    continue
                _check(host, response.status, named, most)
                yield HttpReply(host, response.status, named, b""), self._limited(response, until, host, most)
                return
        raise RefusedAddress(_("%(host)s redirects again and again.", host=host))

    def close(self) -> None:
        """Close all connections."""
        with self._making:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def _limited(self, response: httpcore2.Response, until: float, host: str, most: int) -> Iterator[bytes]:
        size = 0
        for part in self._parts(response, until, host):
            size += len(part)
            if size > most:
                raise Interrupted(
                    _("%(host)s answered with more than %(most)s MiB, the limit.", host=host, most=most // 2**20)
                )
            yield part

    def _parts(self, response: httpcore2.Response, until: float, host: str) -> Iterator[bytes]:
        stream = response.iter_stream()
        while True:
            self._network.until(until, MAX_QUIET_SECONDS)
            if time.monotonic() > until:
                raise _late(host)
            try:
                part = next(stream)
            except StopIteration:
                return
            yield part

    @contextmanager
    def _exchange(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], until: float, host: str
    ) -> Iterator[httpcore2.Response]:
        self._network.until(until)
        seconds_left = max(until - time.monotonic(), 0.001)
        sent = [("User-Agent", f"dynabench/{__version__}"), ("Accept-Encoding", "identity"), *headers.items()]
        wait = dict.fromkeys(("connect", "read", "write", "pool"), seconds_left)
        begun = False
        try:
            pool = self._opened()
            with pool.stream(method, url, headers=_bytes(sent), content=body, extensions={"timeout": wait}) as response:
                begun = True
                yield response
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise _late(host) from error
        except httpcore2.ConnectError as error:
            raise Unreached(_("%(host)s cannot be reached: %(error)s.", host=host, error=error)) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            if begun:
                raise Interrupted(
                    _("%(host)s closed the connection in the middle of the answer.", host=host)
                ) from error
            if isinstance(error, httpcore2.ProtocolError) and "disconnected" not in str(error):
                raise RefusedAddress(
                    _("%(host)s does not speak HTTP: check the port and the scheme in `url`.", host=host)
                ) from error
            raise Unreached(_("%(host)s closed the connection without an answer.", host=host)) from error

    def _opened(self) -> httpcore2.ConnectionPool:
        with self._making:
            if self._pool is None:
                import ssl  # certificates take 30 ms to read, and not every model is asked

                self._pool = httpcore2.ConnectionPool(
                    ssl_context=ssl.create_default_context(),
                    max_connections=self._connections,
                    max_keepalive_connections=self._connections,
                    keepalive_expiry=30,
                    network_backend=self._network,
                )
            return self._pool


class _CheckedNetwork(httpcore2.NetworkBackend):
    """Connects to the very address that was checked, so that a second look-up can lead nowhere else.

    Each thread has one exchange under way; `until` says when that ends.
    """

    def __init__(self, allowed: AllowedHosts) -> None:
        self._allowed = allowed
        self._plain = httpcore2.SyncBackend()
        self._now = threading.local()

    def until(self, end: float, quiet: float = float("inf")) -> None:
        """Set when this thread's exchange ends, and how long one read may take."""
        self._now.end, self._now.quiet = end, quiet

    def seconds_left(self) -> float:
        """Seconds that the next step of this thread may take; raises TimeoutError without any."""
        remaining: float = min(self._now.end - time.monotonic(), self._now.quiet)
        if remaining <= 0:
            raise httpcore2.ReadTimeout("no time is left")
        return remaining

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            addresses = resolve_host(host, port, self._allowed, self.seconds_left())
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise httpcore2.ConnectTimeout(str(error)) from error
            raise httpcore2.ConnectError(f"its name leads nowhere ({error.strerror or error})") from error
        for address in addresses[:-1]:
            try:
                return self._connected(address, port, self.seconds_left() / 2)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return self._connected(addresses[-1], port, self.seconds_left())

    def _connected(self, address: str, port: int, timeout: float) -> httpcore2.NetworkStream:
        return _Timed(self._plain.connect_tcp(address, port, timeout), self)


class _Timed(httpcore2.NetworkStream):
    """A connection of which no single read outlasts its exchange, so that dripping headers end as well."""

    def __init__(self, inner: httpcore2.NetworkStream, network: _CheckedNetwork) -> None:
        self._inner = inner
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._network.seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._network.seconds_left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Timed(self._inner.start_tls(ssl_context, server_hostname, self._network.seconds_left()), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _bytes(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes | str, bytes | str]]:
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers]


def _headers(response: httpcore2.Response) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}


def _check(host: str, status: int, headers: Mapping[str, str], most: int) -> None:
    if 300 <= status < 400:
        raise RefusedAddress(
            _(
                "%(host)s answered with a redirect (%(status)s); redirects are not followed. Give the final address.",
                host=host,
                status=status,
            )
        )
    if headers.get("content-encoding", "identity") != "identity":
        raise RefusedAddress(
            _("%(host)s compressed its answer although asked not to. Turn compression off there.", host=host)
        )
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > most:
        raise Interrupted(
            _(
                "%(host)s answered with %(length)s MiB; the limit is %(most)s MiB.",
                host=host,
                length=int(length) // 2**20,
                most=most // 2**20,
            )
        )


def _late(host: str) -> Interrupted:
    return Interrupted(_("%(host)s did not answer in time. Try again in a moment or increase `seconds`.", host=host))


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
