"""Digests, pseudonyms, the forms' tokens and the limits on how often: what every request is checked with.

Nothing here knows a feature; `dynabench.people.accounts` knows who sends a request.
"""

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from base64 import b32encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Annotated
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi import Path
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from dynabench.kit.errors import MOST_NAMED, Forbidden, Invalid, TooMany
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import DEEPEST, printable, unstorable

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
SESSION, VISITOR = "dynabench_session", "dynabench_visitor"
NO_JSON = _("The body is not valid JSON in UTF-8.")
STALE_FORM = _("This form has expired. Open its page again and send it from there.")

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
}

SMALL, LARGE_TEXT = 256 * 1024, 9 * 2**20
"""Bytes of an ordinary request, and of forms whose text may be long: columns of a table, a picture that comes back."""
LOOKED_THROUGH_AT_ONCE = 64 * 1024
"""Bytes of JSON or of a form that are looked through in the event loop; more of them in a thread."""
RowId = Annotated[int, Path(ge=1, le=2**63 - 1)]
"""A row's number in an address: what fits the database's integers, so that no other number reaches it."""


def digest(secret: str) -> str:
    """The SHA-256 of a random secret in hex: what is stored of session cookies and API tokens.

    A plain hash is enough for secrets of 256 random bits; passwords go through Argon2id instead.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


def keyed(key: bytes, purpose: str, text: str) -> bytes:
    """HMAC-SHA-256 of `text` under the deployment's key, separate for each purpose."""
    return hmac.digest(key, f"{purpose}\0{text}".encode(), "sha256")


def pseudonym(key: bytes, kind: str, number: int) -> str:
    """The name that exports give to a person (or another numbered thing): stable, and not reversible without the key.

    80 bits, written in 16 lower-case letters and digits.
    """
    return f"{kind}-{b32encode(keyed(key, 'pseudonym', f'{kind} {number}')[:10]).decode().lower()}"


def cookie_name(settings: Settings, name: str) -> str:
    """Over HTTPS alone the `__Host-` prefix keeps other hosts of the same domain from planting the cookie."""
    return f"__Host-{name}" if settings.secure_cookies else name


def session_cookie(request: Request) -> str | None:
    """The session cookie that came with the request, checked by nobody yet."""
    return request.cookies.get(cookie_name(request.app.state.settings, SESSION))


def bearer(request: Request) -> str | None:
    """The token of an `Authorization: Bearer` header; where there is one, cookies count for nothing."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _visitor(request: Request) -> str:
    """The random cookie of a browser that is not logged in; a new one is sent with the response."""
    cookie = request.cookies.get(cookie_name(request.app.state.settings, VISITOR))
    if cookie:
        return cookie
    fresh: str | None = getattr(request.state, "new_visitor", None)
    if fresh is None:
        fresh = request.state.new_visitor = secrets.token_urlsafe(16)
    return fresh


def _form_key(request: Request, salt: str, cookie: str) -> str:
    return keyed(request.app.state.settings.key, "csrf", f"{salt} {cookie}").hex()


def csrf_token(request: Request) -> str:
    """The token for this browser's forms: an HMAC over its session cookie, or its visitor cookie before log-in.

    Salted anew each time, so that compressed pages do not leak it (BREACH).
    """
    salt = secrets.token_hex(8)
    return f"{salt}.{_form_key(request, salt, session_cookie(request) or _visitor(request))}"


def _genuine(request: Request, token: str) -> bool:
    cookie = session_cookie(request) or request.cookies.get(cookie_name(request.app.state.settings, VISITOR))
    salt, _, mac = token.partition(".")
    return bool(cookie) and hmac.compare_digest(mac.encode(), _form_key(request, salt, cookie or "").encode())


def _from_here(request: Request) -> bool:
    """Return whether the browser names one of our own pages as sender; programs that name no sender pass."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def protect(request: Request) -> None:
    """Refuse requests that another site made a browser send, and text that no database can hold.

    Two defences: the browser's own word on where the request comes from, and a token bound to its cookie in the
    header `X-CSRF-Token` or the form field `csrf`. Programs with a bearer token, or without any cookie on the JSON
    API, have nothing that a foreign page could use.
    """
    if request.method in SAFE_METHODS:
        return
    try:
        await _protect(request)
    except BaseException:
        await request.close()  # files of a form that nobody will read
        raise


async def _protect(request: Request) -> None:
    if bearer(request) is None:
        if not _from_here(request):
            raise Forbidden(_("Another site sent this request."))
        if session_cookie(request) or not request.url.path.startswith("/api/"):
            token = request.headers.get("x-csrf-token") or (await _form(request)).get("csrf")
            if not isinstance(token, str) or not _genuine(request, token):
                raise Forbidden(STALE_FORM)
    await _storable(request)


async def _storable(request: Request) -> None:
    size, body = 0, None
    if is_json(request):
        size = len(raw := await request.body())
        try:
            body = await request.json() if raw else None
        except (ValueError, RecursionError):  # also where a handler reads the body by itself
            raise HTTPException(400, NO_JSON) from None
        if is_plain_json(raw):
            return
    else:
        form = await _form(request)
        body = {name: value for name, value in form.multi_items() if isinstance(value, str)}
        size = sum(map(len, body.values()))
    if size > LOOKED_THROUGH_AT_ONCE:
        wrong = await to_thread.run_sync(_unstorable_names, body, limiter=_looks())
    else:
        wrong = _unstorable_names(body)
    if wrong:
        message = _("This cannot be stored: remove control characters or deep nesting.")
        raise Invalid(dict.fromkeys(wrong, message))


def is_plain_json(raw: bytes) -> bool:
    """Tell from its bytes that JSON can be stored: without escapes of code points, NUL, encoded halves of surrogates
    (which begin with 0xED, as Korean does) and many brackets. Other JSON has to be looked through.
    """
    brackets = raw.count(b"{") + raw.count(b"[")
    return brackets <= DEEPEST and not any(sign in raw for sign in (b"\\u", b"\xed", b"\0"))


def _unstorable_names(body: object) -> list[str]:
    return [printable(name) for name in islice(unstorable(body), MOST_NAMED)]


def _looks() -> CapacityLimiter:
    """One thread: several at a time would take no less time in all, and the event loop would wait for each."""
    try:
        return _looking.get()
    except LookupError:
        _looking.set(limiter := CapacityLimiter(1))
        return limiter


_looking: RunVar[CapacityLimiter] = RunVar("limiter_of_looks_through_bodies")


def media_type(request: Request) -> str:
    """The media type of the body in lower case, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(request: Request) -> bool:
    """Tell whether the body is parsed as JSON: FastAPI parses every `application/json` and `application/*+json`."""
    kind = media_type(request)
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


async def _form(request: Request) -> FormData:
    """The form of a page; no route of the JSON API takes one, and what is sent to it as a file is not read as a form.

    All text of a form is held in memory, so where many or large files may come along it is limited more than they are.
    """
    if request.url.path.startswith("/api/"):
        return FormData()
    most = getattr(request.state, "most_bytes", SMALL)
    if most <= SMALL:
        return await request.form()
    if most <= LARGE_TEXT:
        return await request.form(max_files=4, max_fields=200, max_part_size=LARGE_TEXT)
    return await request.form(max_files=250, max_fields=300, max_part_size=SMALL)


def address(request: Request) -> str:
    """Return the sender's address, for people who are not logged in: IPv4, or the /64 network of IPv6."""
    return _network(request.client.host if request.client else "")


@lru_cache(maxsize=10_000)
def _network(host: str) -> str:
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else host


class Limiter:
    """Token buckets in this process: `times` at once, refilled evenly over `seconds`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = 50_000) -> None:
        self._clock = clock
        self._most = most
        self._full_at: dict[tuple[str, str], float] = {}  # when the bucket will be full again
        self._lock = threading.Lock()

    def wait(self, name: str, key: str, times: int, seconds: float) -> float:
        """Take one token; 0.0 when there was one, else the seconds until there is and nothing is taken."""
        now, item = self._clock(), seconds / times
        with self._lock:
            full_at = max(self._full_at.get((name, key), now), now) + item
            if full_at - now > seconds + 1e-9:
                return full_at - now - seconds
            self._full_at[name, key] = full_at
            if len(self._full_at) > self._most:
                self._full_at = {k: moment for k, moment in self._full_at.items() if moment > now}
        return 0.0


def throttle(request: Request, name: str, times: int, seconds: float, key: str | None = None) -> None:
    """Raise `TooMany` when `key` (default: the person, or the address of a visitor) did this too often.

    `seconds` is the period in which `times` are allowed. Counted in each web process for itself.
    """
    if not request.app.state.settings.rate_limit:
        return
    viewer = getattr(request.state, "viewer", None)
    sender = key if key is not None else f"person {viewer.id}" if viewer is not None else address(request)
    wait = request.app.state.limiter.wait(name, sender, times, seconds)
    if wait > 0:
        after = int(wait) + 1
        raise TooMany(_("Too many requests in a short time. Try again in %(after)s s.", after=after), retry_after=after)
