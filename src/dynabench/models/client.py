"""The way to a model host, here or elsewhere: Open Inference Protocol v2 over a local socket or HTTP."""

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx

from dynabench.errors import Unavailable
from dynabench.models.host import wire
from dynabench.models.protocol import Attribution, Card

EXPLAIN_SECONDS = 10.0
AT_ONCE = 128
"""Calls of one model under way at most; more wait here, within their time."""
TRIPS = 3
"""Consecutive time-outs after which a model is left alone for a moment."""
PAUSE = 2.0
"""Seconds that such a model is left alone before one call tries it again."""
REMEMBERED = 200
"""Answers of one model version that its latency is told from."""

_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


@dataclass(frozen=True)
class Answer:
    """What one model version answered; `latency_ms` is what the caller waited."""

    model: str
    version: str
    answer: dict[str, Any]
    probabilities: dict[str, float] | None
    latency_ms: float


@dataclass(frozen=True)
class State:
    """One model version of a host: `READY`, `LOADING` or `UNAVAILABLE` with the reason; no card when it is broken.

    `where` are the addresses of the hosts that serve it.
    """

    name: str
    version: str
    state: str
    reason: str
    card: Card | None
    where: tuple[str, ...] = ()


@dataclass(frozen=True)
class Health:
    """One model version since the process started: answers, failures, and the latency of the last answers in ms."""

    name: str
    version: str
    answers: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    last_failure: str
    failed_at: float | None


@dataclass
class Record:
    """What `Health` is made from."""

    answers: int = 0
    failures: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    last_failure: str = ""
    failed_at: float | None = None

    def health(self, name: str, version: str) -> Health:
        """The calls summed up; percentiles are those of the nearest rank."""
        times = sorted(self.recent)
        p50, p95 = (times[min(len(times) - 1, int(share * len(times)))] if times else None for share in (0.5, 0.95))
        return Health(name, version, self.answers, self.failures, p50, p95, self.last_failure, self.failed_at)


@dataclass
class Target:
    """How one model has been doing lately: a limit on calls under way, and a breaker."""

    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    timeouts: int = 0
    tried_at: float = 0.0

    def admit(self, name: str) -> None:
        """Raise `Unavailable` at once while the model is left alone; lets one call through after each pause."""
        if self.timeouts >= TRIPS:
            now = time.monotonic()
            if now < self.tried_at + PAUSE:
                raise Unavailable(f"{name} has not answered {self.timeouts} times in a row. Try again in a moment.")
            self.tried_at = now

    def succeeded(self) -> None:
        """It answered, be it with an error."""
        self.timeouts = 0

    def timed_out(self) -> None:
        """It did not answer in time."""
        self.timeouts += 1
        self.tried_at = time.monotonic()


class Host:
    """A model host at `url`: `unix:PATH`, or `http://...`. Use within one event loop, and close it."""

    def __init__(self, url: str, timeout: float = 2.0) -> None:
        self.url = url
        self.timeout = timeout
        self._targets: dict[str, Target] = {}
        self._records: dict[tuple[str, str], Record] = {}
        limits = httpx.Limits(max_connections=512, max_keepalive_connections=128, keepalive_expiry=60)
        uds = url.removeprefix("unix:") if url.startswith("unix:") else None
        self._http = httpx.AsyncClient(
            base_url="http://host" if uds else url,
            # Certificates take 30 ms to read, and neither a socket nor plain http has one to check.
            transport=httpx.AsyncHTTPTransport(uds=uds, limits=limits, verify=url.startswith("https:")),
            timeout=None,
            trust_env=False,
        )

    async def answer(self, model: str, version: str | None, inputs: Mapping[str, Any]) -> Answer:
        """What `model` answers; without a version, the host's default one.

        Raises `Unavailable` when it does not answer within the time limit, is not served in this version, or fails.
        """
        try:
            found = await self._answer(model, version, inputs)
        except Unavailable as problem:
            record = self._record(model, version or "")
            record.failures += 1
            record.last_failure, record.failed_at = problem.detail, time.time()
            raise
        record = self._record(model, found.version)
        record.answers += 1
        record.recent.append(found.latency_ms)
        return found

    def health(self) -> list[Health]:
        """How the models that this process asked have been doing, by name and version."""
        return [record.health(*key) for key, record in sorted(self._records.items())]

    def _record(self, model: str, version: str) -> Record:
        return self._records.setdefault((model, version), Record())

    async def _answer(self, model: str, version: str | None, inputs: Mapping[str, Any]) -> Answer:
        started = time.perf_counter()
        body = wire.request([{name: _text(value) for name, value in inputs.items()}], list(inputs))
        document = await self._call(model, f"{_path(model, version)}/infer", body, self.timeout)
        try:
            output = wire.outputs(document)[0]
            served = str(document.get("model_version", ""))
        except (KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
            raise Unavailable(f"{model} answered something that is no prediction.") from error
        if version is not None and served != version:
            raise Unavailable(f"{model} answered as version {served or 'unknown'}; version {version} was asked for.")
        latency = (time.perf_counter() - started) * 1000
        return Answer(model, served, output.answer, output.probabilities, round(latency, 3))

    async def attribute(
        self, model: str, version: str | None, inputs: Mapping[str, Any], label: str | None, method: str | None
    ) -> Attribution:
        """Which words spoke for `label` (default: the model's answer) by `method` (default: its first).

        Raises `Unavailable` as `answer` does, after ten seconds at the latest.
        """
        body = {"inputs": {name: _text(value) for name, value in inputs.items()}, "label": label, "method": method}
        document = await self._call(model, f"{_path(model, version)}/attribute", body, EXPLAIN_SECONDS)
        try:
            return wire.attribution_of(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unavailable(f"{model} answered something that is no attribution.") from error

    async def states(self) -> list[State]:
        """Every model version that the host knows, broken ones with the reason."""
        try:
            async with asyncio.timeout(self.timeout):
                found = await self._http.post("/v2/repository/index", json={})
            return [
                State(
                    entry["name"],
                    entry.get("version", ""),
                    entry.get("state", ""),
                    entry.get("reason", ""),
                    wire.card_of(entry["card"]) if entry.get("card") else None,
                    (self.url,),
                )
                for entry in found.raise_for_status().json()
            ]
        except (TimeoutError, httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unavailable(f"The model host at {self.url} does not say which models it has.") from error

    async def readme(self, model: str, version: str) -> str:
        """What the model's folder says about it in Markdown; empty where it says nothing, or the host hands out none.

        Raises `Unavailable` when the host cannot be reached.
        """
        try:
            async with asyncio.timeout(self.timeout):
                found = await self._http.get(f"{_path(model, version)}/readme")
            text = found.json().get("readme") if found.status_code == 200 else ""
        except (TimeoutError, httpx.HTTPError) as error:
            raise Unavailable(f"The model host at {self.url} cannot be reached.") from error
        except (ValueError, AttributeError):
            return ""
        return text if isinstance(text, str) else ""

    async def index(self) -> list[Card]:
        """Cards of the models that are ready."""
        return [state.card for state in await self.states() if state.state == "READY" and state.card is not None]

    async def ready(self) -> bool:
        """Whether the host has loaded its models."""
        try:
            async with asyncio.timeout(self.timeout):
                return (await self._http.get("/v2/health/ready")).status_code == 200
        except (TimeoutError, httpx.HTTPError):
            return False

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _call(self, model: str, path: str, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        target = self._targets.setdefault(model, Target())
        target.admit(model)
        try:
            async with asyncio.timeout(seconds), target.places:
                response = await self._post(path, body)
        except TimeoutError as error:
            target.timed_out()
            raise Unavailable(f"{model} has not answered for {seconds:g} s. Try again in a moment.") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{model} gave no answer: the model host cannot be reached.") from error
        target.succeeded()
        try:
            document = response.json()
        except ValueError:
            document = None
        if response.status_code == 200 and isinstance(document, dict):
            return document
        reason = document.get("error") if isinstance(document, dict) else None
        raise Unavailable(f"{model} gave no answer: {reason or f'status {response.status_code}'}")

    async def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """Post, once more if a kept-alive connection turns out to be gone: asking a model twice changes nothing."""
        try:
            return await self._http.post(path, json=body)
        except _BROKEN:
            return await self._http.post(path, json=body)


def _path(model: str, version: str | None) -> str:
    return f"/v2/models/{model}" if version is None else f"/v2/models/{model}/versions/{version}"


def _text(value: Any) -> str:
    return "" if value is None else str(value)
