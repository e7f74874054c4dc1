"""Requests that a server left without any answer are sent once more, if that does no harm (RFC 9110, 9.2.2)."""

import httpx2

HARMLESS = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods that do the same twice as once."""
KEY = "Idempotency-Key"
"""Header with which the platform takes any request again without doing anything twice."""
LOST = httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError


class Resending(httpx2.HTTPTransport):
    """Sends such a request again when its connection ends before the answer begins.

    A server may close an idle connection just as the next request is sent on it.
    """

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, of which only the head was read; raises what httpx2 does."""
        try:
            return super().handle_request(request)
        except LOST:
            if not repeatable(request):
                raise
        return super().handle_request(request)


def repeatable(request: httpx2.Request) -> bool:
    """Return whether a request may be sent again: twice does the same as once, and its body is still there."""
    harmless = request.method in HARMLESS or KEY in request.headers
    return harmless and isinstance(request.stream, httpx2.ByteStream)
