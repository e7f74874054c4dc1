"""Connections to model hosts."""

import asyncio
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx2 as httpx

from dynabench.kit.errors import Unavailable
from dynabench.models.health import Breaker
from dynabench.models.host import wire
from dynabench.models.host_calls import HostCalls, HostReply
from dynabench.models.protocol import ModelCard

AT_ONCE = 128
"""Calls of one model under way at most; more wait here, within their time."""
TRIPS = 3
"""Consecutive time-outs after which a model is left alone for a moment."""
IDLE = 60.0
"""Seconds that an idle connection is kept, fewer than the host keeps it."""
PAUSE = 2.0
"""Seconds that such a model is left alone before one call tries it again, and between two questions to a host that has
gone away whether it is back."""
SLOW = 0.5
"""Seconds after which a host that has not answered a call is asked whether it lives."""
PATIENCE = 1.0
"""Seconds that a host has to say that it lives, however much it computes."""
MARGIN = 0.15
"""Seconds before the caller's time is over by which the host has to refuse what it cannot answer."""

_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
Key = tuple[str, str]


class Elsewhere(Unavailable):
    """This host has no answer, but another one may; `reached` says whether it was there at all."""

    reached = True


class Unreachable(Elsewhere):
    """There is no answer from the address."""

    reached = False


@dataclass(frozen=True)
class ModelState:
    """One model version of the hosts: `READY`, `LOADING` or `UNAVAILABLE` with the reason; no card when it is broken.

    `where` names the hosts where it is in this state, separated by commas, `since` when (ISO 8601) the first of them
    changed its state, `memory_bytes` what it took there. One that is `on_demand` is loaded by the next call, and `cold`
    where a process of the host has not loaded it yet since it started.
    """

    name: str
    version: str
    state: str
    reason: str
    card: ModelCard | None
    where: str = ""
    on_demand: bool = False
    since: str = ""
    memory_bytes: int | None = None
    cold: bool = False

    @property
    def available(self) -> bool:
        """True if the model can be asked."""
        return self.card is not None and (self.state == "READY" or self.on_demand)


@dataclass
class HostedModel:
    """The recent state of one model at a host: a limit on calls under way, and a breaker."""

    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    breaker: Breaker = field(default_factory=lambda: Breaker(TRIPS, PAUSE))

    def admit(self, name: str) -> None:
        """Raise `Elsewhere` at once while the model is left alone; lets one call through after each pause."""
        if self.breaker.wait():
            message = f"{name} has not answered {self.breaker.failures} times in a row. Try again in a moment."
            raise Elsewhere(message)


class HostConnection:
    """The way to the host at `url`: `unix:PATH`, or `http://...`, where `token` is sent."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self.in_flight = 0
        self.states: dict[Key, ModelState] = {}
        self.away = False
        self._learnt = False
        self._targets: dict[str, HostedModel] = {}
        self._liveness: asyncio.Task[bool] | None = None
        self._return: asyncio.Task[None] | None = None
        limits = httpx.Limits(max_connections=512, max_keepalive_connections=128, keepalive_expiry=IDLE)
        uds = url.removeprefix("unix:") if url.startswith("unix:") else None
        self._http = httpx.AsyncClient(
            base_url="http://host" if uds else url,
            # Certificates take 30 ms to read, and neither a socket nor plain http has one to check.
            transport=httpx.AsyncHTTPTransport(uds=uds, limits=limits, verify=url.startswith("https:")),
            headers={"Authorization": f"Bearer {token}"} if token and not uds else None,
            timeout=None,
            trust_env=False,
        )
        self._calls = HostCalls("" if uds else url, uds, "" if uds else token, IDLE)

    def serves(self, model: str, version: str | None) -> bool:
        """Return whether the host may have the model; True as long as it has not said which models it has."""
        return not self.states or bool(self._states_of(model, version))

    def rank(self, model: str, version: str | None) -> tuple[bool, bool, int]:
        """Smaller is better: reachable, has the model loaded, has little to do."""
        ready = any(state.state == "READY" for state in self._states_of(model, version))
        return self.away, not ready, self.in_flight

    def _states_of(self, model: str, version: str | None) -> list[ModelState]:
        return [state for key, state in self.states.items() if key[0] == model and version in (None, key[1])]

    async def call(
        self,
        model: str,
        path: str,
        body: Mapping[str, Any],
        seconds: float,
        deadline: float,
        other: "HostConnection | None" = None,
    ) -> dict[str, Any]:
        """Return the host's answer to a call.

        The call was given `seconds`, which are over at `deadline` of the event loop's clock. Raises `Elsewhere`
        where another host may have an answer, else `Unavailable`. Where there is an `other` host to ask, the
        call does not wait for a host that does not even say that it lives.
        """
        target = self._targets.setdefault(model, HostedModel())
        target.admit(model)
        self.in_flight += 1
        begun = False
        try:
            async with asyncio.timeout_at(deadline), target.places:
                begun = True
                posting = self._post(path, body, deadline)
                response = await (posting if other is None else self._unless_silent(posting, model, other))
        except TimeoutError as error:
            if not begun:  # the host is not to blame for calls that wait here
                raise Unavailable(f"{model} has {AT_ONCE} calls under way. Try again in a moment.") from error
            target.breaker.failed()
            raise Unavailable(f"{model} has not answered for {seconds:g} s. Try again in a moment.") from error
        except httpx.HTTPError as error:
            self.leave_alone()
            raise Unreachable(f"{model} gave no answer: the model host cannot be reached.") from error
        finally:
            self.in_flight -= 1
        target.breaker.succeeded()
        return _document(model, response)

    @asynccontextmanager
    async def stream(
        self, model: str, path: str, body: Mapping[str, Any], deadline: float
    ) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of an answer as they come; errors before the first as for `call`."""
        target = self._targets.setdefault(model, HostedModel())
        target.admit(model)
        self.in_flight += 1
        try:
            async with target.places, self._http.stream("POST", path, json=body, headers=_within(deadline)) as response:
                if response.status_code != 200:
                    await response.aread()
                    _document(model, response)
                yield response.aiter_lines()
                target.breaker.succeeded()
        except httpx.ConnectError as error:
            self.leave_alone()
            raise Unreachable(f"{model} gave no answer: the model host cannot be reached.") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{model} broke off: the connection to the model host was lost.") from error
        finally:
            self.in_flight -= 1

    async def learn(self, seconds: float) -> list[ModelState]:
        """Every model version that the host knows; raises `Unreachable` when it does not say so in time."""
        try:
            async with asyncio.timeout(seconds):
                response = await self._http.post("/v2/repository/index", json={})
            states = [self._state(entry) for entry in response.raise_for_status().json()]
        except httpx.HTTPStatusError as error:
            raise Elsewhere(f"The model host at {self.url} does not say which models it has.") from error
        except (TimeoutError, httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.leave_alone()
            raise Unreachable(f"The model host at {self.url} does not say which models it has.") from error
        self.away, self._learnt = False, True
        self.states = {}
        for state in states:
            self.states.setdefault((state.name, state.version), state)
        return states

    @property
    def present(self) -> bool:
        """True if the host answered when it was asked last."""
        return self._learnt and not self.away

    async def load(self, model: str, seconds: float, beside: Collection[str] = ()) -> None:
        """Have the host load a model that its folders hold, unless its operator unloaded it; those in `beside` do not
        make room for it. What takes longer goes on there, and its index tells."""
        body = {"parameters": {"beside": list(beside)}}
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(seconds):
                await self._http.post(f"/v2/repository/models/{quote(model, safe='')}/load", json=body)

    async def readme(self, path: str, seconds: float) -> str:
        """Return the text that the host has at `path` about a model, or an empty text; raises `Unreachable`."""
        try:
            async with asyncio.timeout(seconds):
                response = await self._http.get(path)
            text = response.json().get("readme") if response.status_code == 200 else ""
        except (TimeoutError, httpx.HTTPError) as error:
            raise Unreachable(f"The model host at {self.url} cannot be reached.") from error
        except (ValueError, AttributeError):
            return ""
        return text if isinstance(text, str) else ""

    async def ready(self, seconds: float) -> bool:
        """Return whether the host has loaded its models."""
        try:
            async with asyncio.timeout(seconds):
                return (await self._http.get("/v2/health/ready")).status_code == 200
        except (TimeoutError, httpx.HTTPError):
            return False

    def leave_alone(self) -> None:
        """Prefer others until the host says that it lives."""
        self.away = True
        if self._return is None or self._return.done():
            self._return = asyncio.create_task(self._await_return())

    async def lives(self) -> bool:
        """Return whether the host says anything in time; callers that ask at the same time share one question."""
        if self._liveness is None or self._liveness.done():
            self._liveness = asyncio.create_task(self._ask_liveness())
        return await asyncio.shield(self._liveness)

    async def close(self) -> None:
        """Close all connections."""
        tasks = [task for task in (self._liveness, self._return) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._calls.close()
        await self._http.aclose()

    async def _ask_liveness(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._http.get("/v2/health/live")
        except (TimeoutError, httpx.HTTPError):
            return False
        return True

    async def _await_return(self) -> None:
        while self.away:
            await asyncio.sleep(PAUSE)
            if await self.lives():
                self.away = False

    async def _unless_silent(
        self, posting: Coroutine[Any, Any, HostReply], model: str, other: "HostConnection"
    ) -> HostReply:
        task = asyncio.ensure_future(posting)
        try:
            while not (await asyncio.wait({task}, timeout=SLOW))[0]:
                if await self.lives() or task.done():
                    continue
                self.leave_alone()
                if not other.away:
                    raise Unreachable(f"{model} gave no answer: the model host says nothing.")
            return task.result()
        finally:
            task.cancel()

    def _state(self, entry: Mapping[str, Any]) -> ModelState:
        state = str(entry.get("state", ""))
        return ModelState(
            entry["name"],
            entry.get("version", ""),
            state,
            entry.get("reason", ""),
            wire.card_of(entry["card"]) if entry.get("card") else None,
            self.url,
            bool(entry.get("on_demand")),
            str(entry.get("since") or ""),
            entry.get("memory_bytes"),
            bool(entry.get("cold")),
        )

    async def _post(self, path: str, body: Mapping[str, Any], deadline: float) -> HostReply:
        """Post, once more if a kept-alive connection turns out to be gone: asking a model twice changes nothing."""
        try:
            return await self._calls.post(path, body, _within(deadline))
        except _BROKEN:
            return await self._calls.post(path, body, _within(deadline))


def _within(deadline: float) -> dict[str, str]:
    seconds = deadline - asyncio.get_running_loop().time()
    return {"Answer-Within": f"{max(seconds - MARGIN, seconds / 2, 0.001):.3f}"}


def _document(model: str, response: httpx.Response | HostReply) -> dict[str, Any]:
    try:
        document = response.json()
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        document = {}
    elif response.status_code == 200:
        return document
    busy = {name: document[name] for name in ("position", "seconds") if isinstance(document.get(name), int | float)}
    if response.status_code == 503 and len(busy) == 2:
        message = (
            f"{model} is busy: position {busy['position']} in its queue, about {busy['seconds']:g} s. Try again then."
        )
        raise Elsewhere(message, retry_after=max(1, round(busy["seconds"] + 0.5)), **busy)
    message = f"{model} gave no answer: {document.get('error') or f'status {response.status_code}'}"
    raise (Elsewhere if response.status_code in (401, 404, 503) else Unavailable)(message)
