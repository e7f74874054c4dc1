"""One endpoint: calls with its token, retries, the breaker, and its errors."""

import json
import os
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.outgoing import (
    MAX_REPLY_BYTES,
    AllowedHosts,
    HttpReply,
    Interrupted,
    OutgoingClient,
    RefusedAddress,
    Unreached,
    check_address,
)
from dynabench.kit.settings import get_settings
from dynabench.models.health import Breaker

TRIPS = 4
"""Failures in a row after which an endpoint is left alone."""
PAUSE = 10.0
"""Seconds for which it is; then one call tries it."""


@cache
def breaker(origin: str) -> Breaker:
    """The breaker of `scheme://host:port`."""
    return Breaker(TRIPS, PAUSE)


PREFIX = "DYNABENCH_TOKEN_"
SUBMITTED = re.compile(r"SUBMITTED_[0-9A-F]{32}")
"""What tokens are called that people sent with a model: no operator's token is, and nobody guesses one."""


def token(name: str, host: str, environ: Mapping[str, str] = os.environ) -> str:
    """The token `name` for `host`, from `DYNABENCH_TOKEN_<name>`, which reads `HOST TOKEN`; empty without a name.

    The author of a `model.yaml` chooses its address, so the variable says which host may see the token. Raises
    `Invalid` when it is not set, malformed, or another host's.
    """
    if not name:
        return ""
    setting = _submitted(name) if SUBMITTED.fullmatch(name) else environ.get(PREFIX + name, "")
    bound, _, secret = setting.strip().partition(" ")
    secret = secret.strip()
    if not bound:
        raise Invalid({"options.token": f"There is no token {name}: the operator sets {PREFIX}{name}='HOST TOKEN'."})
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise Invalid({"options.token": f"{PREFIX}{name} must read 'HOST TOKEN', say 'api.example.org abc123'."})
    if bound.lower() != host:
        raise Invalid({"options.token": f"The token {name} is for another host than {host}; the operator can set one."})
    return secret


def keep_token(home: Path, name: str, host: str, secret: str) -> None:
    """Keep a token that a person sent, for `host` alone."""
    folder = home / "tokens"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(f"{host} {secret}", encoding="ascii")


def drop_token(home: Path, name: str) -> None:
    """Throw such a token away."""
    if SUBMITTED.fullmatch(name):
        (home / "tokens" / name).unlink(missing_ok=True)


_lent_tokens: dict[str, str] = {}


@contextmanager
def lend_token(host: str, secret: str) -> Iterator[str]:
    """The name of a token that is known for `host` in this process alone, until the context ends; empty without one."""
    if not secret:
        yield ""
        return
    name = f"SUBMITTED_{uuid.uuid4().hex.upper()}"
    _lent_tokens[name] = f"{host} {secret}"
    try:
        yield name
    finally:
        del _lent_tokens[name]


def _submitted(name: str) -> str:
    if name in _lent_tokens:
        return _lent_tokens[name]
    try:
        return (get_settings().folder / "tokens" / name).read_text(encoding="ascii")
    except OSError:
        return ""


FIRST = 0.25
"""Seconds that the first retry waits at most; each further one twice as long."""
PASSING = {429, 502, 503, 504}
"""Statuses of an endpoint that may answer a moment later and has computed nothing."""
FAILURES = {500, 502, 504}
JSON = "application/json"


class Complaint(Unavailable):
    """The endpoint answered with an error."""

    def __init__(self, detail: str, status: int, retry_after: int = 2) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.remote_status = status


class Endpoint:
    """An address that answers, as `options` of a model name it; usable from several threads at once.

    Raises `Invalid` for an address that is not called or a token that there is not. `seconds` is the time of a call
    with all its retries, of which there are `retries` at most.
    """

    def __init__(self, url: str, name: str, seconds: float, retries: int = 2, connections: int = 4) -> None:
        allowed = AllowedHosts.read(get_settings().private_endpoints)
        self.url = url.rstrip("/")
        self.host, port = check_address(url, allowed, "options.url")
        self.seconds = seconds
        self._retries = retries
        self._name = name
        self._token = token(name, self.host)
        self._client = OutgoingClient(allowed, connections)
        self._breaker = breaker(f"{url.partition(':')[0]}://{self.host}:{port}")

    def json(self, method: str, path: str, document: Any = None, most: int = MAX_REPLY_BYTES) -> Any:
        """The answer as JSON, of `most` bytes; raises `Complaint`, `RefusedAddress`, `Unreached` or `Interrupted`."""
        return self.call(method, path, None if document is None else packed(document), most=most).json()

    def call(
        self, method: str, path: str, body: bytes | None = None, content_type: str = JSON, most: int = MAX_REPLY_BYTES
    ) -> HttpReply:
        """An answer with a status under 400; errors as for `json`."""
        until = time.monotonic() + self.seconds
        return self._complained(
            self._patiently(lambda: self._once(method, path, body, content_type, until, most), until)
        )

    def fetch(self, url: str, seconds: float, most: int) -> HttpReply:
        """Return the content of an address that the endpoint named, on any server; the token is not sent.

        Raises `RefusedAddress`, also for an address that is not called, `Unreached` or `Interrupted`.
        """
        try:
            return self._client.call("GET", url, None, {"Accept": "image/*"}, seconds, most)
        except Invalid as problem:
            raise RefusedAddress(f"{self.host} names an address that is not called: {problem.detail}") from problem

    @contextmanager
    def stream(self, path: str, document: Any) -> Iterator[Iterator[bytes]]:
        """The parts of an answer as they come; not tried again, since parts may have been used."""
        self._admit()
        headers = {**self._headers(JSON), "Accept": "text/event-stream"}
        with (
            self._minding(),
            self._client.stream("POST", self.url + path, packed(document), headers, self.seconds) as (reply, parts),
        ):
            if reply.status >= 400:
                self._note(reply.status)
                body = b"".join(parts)
                self._complained(HttpReply(reply.host, reply.status, reply.headers, self._clean(body)))
            yield parts
            self._breaker.succeeded()

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _once(
        self, method: str, path: str, body: bytes | None, content_type: str, until: float, most: int
    ) -> HttpReply:
        self._admit()
        remaining = max(until - time.monotonic(), 0.001)
        with self._minding():
            reply = self._client.call(method, self.url + path, body, self._headers(content_type), remaining, most)
        self._note(reply.status)
        return HttpReply(reply.host, reply.status, reply.headers, self._clean(reply.body))

    def _note(self, status: int) -> None:
        """Tell the breaker of an answer: a complaint about the call shows that the endpoint is there."""
        if status in FAILURES:
            self._breaker.failed()
        else:
            self._breaker.succeeded()

    def _admit(self) -> None:
        """Raise `Unavailable` while the endpoint is left alone."""
        if wait := self._breaker.wait():
            message = f"{self.host} has failed {self._breaker.failures} times in a row and is left alone for a moment."
            raise Unavailable(message, retry_after=int(wait) + 1)

    @contextmanager
    def _minding(self) -> Iterator[None]:
        try:
            yield
        except (Unreached, Interrupted):
            self._breaker.failed()
            raise

    def _patiently(self, once: Callable[[], HttpReply], until: float) -> HttpReply:
        """The first answer that is worth having; others are waited out with full jitter, as long as there is time."""
        for tried in range(self._retries + 1):
            wait = random.uniform(0, FIRST * 2**tried)
            last = tried == self._retries
            try:
                reply = once()
            except Unreached:
                if last or time.monotonic() + wait >= until:
                    raise
            else:
                delay = wished(reply)
                if last or reply.status not in PASSING or (reply.status == 429 and delay is None):
                    return reply
                wait += delay or 0
                if time.monotonic() + wait >= until:
                    return reply
            time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _headers(self, content_type: str) -> dict[str, str]:
        headers = {"Content-Type": content_type, "Accept": JSON}
        return {**headers, "Authorization": f"Bearer {self._token}"} if self._token else headers

    def _clean(self, body: bytes) -> bytes:
        """Return the body without the token, in case the endpoint repeats it."""
        return body.replace(self._token.encode(), b"...") if self._token else body

    def _complained(self, reply: HttpReply) -> HttpReply:
        """The reply unless it is a complaint; raises `Complaint`."""
        if reply.status < 400:
            return reply
        message = {
            401: self._describe_token_problem(),
            403: self._describe_token_problem(),
            404: "knows nothing at this address: check `url` and the model's name and version.",
            405: "takes no such call at this address: check `url`.",
            429: "gets too many calls. Try again later, or ask it less at once (`at_once`).",
            503: "is not ready, and may be loading the model.",
        }.get(reply.status, "gave no answer.")
        detail = excerpt(reply)
        after = wished(reply)
        if after:
            message += f" It asks to be tried again in {after:.0f} s."
        retry = min(max(round(after), 1), 86_400) if after is not None else 2
        raise Complaint(f"{self.host} {message} (status {reply.status}{detail})", reply.status, retry)

    def _describe_token_problem(self) -> str:
        if self._name:
            return f"does not accept the token {self._name}; the operator sets it."
        return "wants a token: name one as `token`, and have the operator set it."


def packed(document: Any) -> bytes:
    """A document as JSON."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def segment(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")


def wished(reply: HttpReply) -> float | None:
    """Seconds after which the endpoint asks to be tried again: `Retry-After`, or a `loading` with its estimate."""
    header = reply.headers.get("retry-after", "")
    if header.isdigit():
        return float(header[:6])
    if header:
        try:
            return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
        except (ValueError, TypeError, OverflowError):
            return None
    estimate = _member(reply, "estimated_time") if reply.status == 503 else None
    return min(float(estimate), 86_400.0) if isinstance(estimate, int | float) and estimate >= 0 else None


def excerpt(reply: HttpReply) -> str:
    """The beginning of what an endpoint said, for messages; empty for web pages."""
    message = _member(reply, "error") or _member(reply, "message") or _member(reply, "detail")
    if isinstance(message, Mapping):
        message = message.get("message")
    text = " ".join(message.split()) if isinstance(message, str) else ""
    return f": {text[:200]}" if text else ""


def _member(reply: HttpReply, name: str) -> Any:
    try:
        document = reply.json()
    except RefusedAddress:
        return None
    return document.get(name) if isinstance(document, dict) else None
