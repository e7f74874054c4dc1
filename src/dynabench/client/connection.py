"""The connection of the client: requests below `/api/v1`, their answers, and refusals."""

import json
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx2

Json = dict[str, Any]


class ApiError(Exception):
    """The platform refused: `status`, `detail` for people, `fields` that were wrong, and `retry_after` in seconds."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.detail = str(problem.get("detail") or problem.get("title") or "")
        self.fields: dict[str, str] = dict(problem.get("fields") or {})
        self.retry_after: float | None = problem.get("retry_after")
        super().__init__(f"{status}: {self.detail}")


class ApiConnection:
    """A connection to the JSON API of one person, or without a token of a visitor.

    What gets no answer because the server has closed the connection is sent once more, where that does no harm.
    """

    def __init__(self, url: str = "http://127.0.0.1:8000", token: str = "", timeout: float = 30.0) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx2.Client(base_url=url, headers=headers, timeout=timeout, transport=Resending())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.http.close()

    def request(self, method: str, path: str, **how: Any) -> Any:
        """The JSON answer to a request below `/api/v1`, None for an empty one."""
        response = self.checked(self.http.request(method, f"/api/v1{path}", **how))
        return response.json() if response.content else None

    def download(self, path: str, **how: Any) -> bytes:
        """The bytes that a request below `/api/v1` is answered with."""
        return self.checked(self.http.get(f"/api/v1{path}", **how)).content

    def checked(self, response: httpx2.Response) -> httpx2.Response:
        """The response; raises `ApiError` for a refusal."""
        if response.is_error:
            try:
                problem = json.loads(response.read())
            except ValueError:
                problem = {"title": response.text[:200]}
            raise ApiError(response.status_code, problem if isinstance(problem, dict) else {})
        return response

    def pages(self, path: str, **params: Any) -> Iterator[Json]:
        """All items of a list, page by page."""
        while True:
            page = self.request("GET", path, params=params)
            yield from page["items"]
            if page["next"] is None:
                return
            params["after"] = page["next"]


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
