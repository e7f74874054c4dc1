"""The client of the model host."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Self

from dynabench.kit.errors import NotFound, Unavailable
from dynabench.kit.settings import Settings
from dynabench.kit.storable import UNSTORABLE, unstorable
from dynabench.media.store import MediaStore, has_references
from dynabench.models import validity
from dynabench.models.health import CallRecords, ModelHealth
from dynabench.models.host import wire
from dynabench.models.host_connection import PAUSE, TRIPS, Elsewhere, HostConnection, Key, ModelState
from dynabench.models.protocol import EXPLAIN_SECONDS, Attribution, Message, ModelCard, ModelOutput, as_text

QUIET = 30.0
"""Seconds between two pieces at most; the first may wait that long for its turn."""
WHOLE = 120.0
"""Seconds that a reply may take, where its model asks for no more."""
LONGEST = 100_000
"""Characters of a reply: far more than the tokens that were allowed make."""


async def pieces(
    connection: HostConnection, model: str, path: str, body: Mapping[str, Any], seconds: float
) -> AsyncIterator[str]:
    """Yield the model's reply in pieces of text; raises `Unavailable`, also in the middle."""
    loop = asyncio.get_running_loop()
    until, size = loop.time() + seconds, 0
    async with AsyncExitStack() as stack:
        async with _in_time(model, until):
            lines = await stack.enter_async_context(connection.stream(model, path, body, until))
        while True:
            async with _in_time(model, until):
                line = await anext(lines, None)
            if line is None:
                raise Unavailable(f"{model} broke off in the middle of its reply.")
            piece = _piece(model, line)
            if piece is None:
                return
            size += len(piece)
            if size > LONGEST:
                raise Unavailable(f"{model} writes without an end. Tell the owner of the task.")
            if piece:
                yield UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", piece)


@asynccontextmanager
async def _in_time(model: str, until: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(min(until, asyncio.get_running_loop().time() + QUIET)):
            yield
    except TimeoutError:
        raise Unavailable(f"{model} has not gone on in time. Try again in a moment.") from None


def _piece(model: str, line: str) -> str | None:
    """The text of a line, empty for one without; None at the end. Raises `Unavailable` for what is no such event."""
    if not line.startswith("data:"):
        return ""
    try:
        event = json.loads(line[5:])
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise Unavailable(f"{model} answered something that is no reply.")
    if "error" in event:
        raise Unavailable(str(event["error"])[:500])
    if event.get("end"):
        return None
    text = event.get("text")
    if not isinstance(text, str):
        raise Unavailable(f"{model} answered something that is no reply.")
    return text


__all__ = ["PAUSE", "TRIPS", "Answer", "Host", "ModelHealth", "ModelState"]

FRESH = 5.0
"""Seconds after which hosts are asked again what they serve, and at least between two times."""
NO_HOST = "No model host is named by DYNABENCH_HOST_URL."
_ORDER = ("READY", "LOADING", "UNAVAILABLE")


@dataclass(frozen=True)
class Answer:
    """An answer of one model version.

    `latency_ms` is the time that the caller waited, `extras` what the backend adds.
    """

    model: str
    version: str
    answer: dict[str, Any]
    probabilities: dict[str, float] | None
    latency_ms: float
    extras: dict[str, Any] = field(default_factory=dict)


class Host:
    """The model hosts at `url`: `unix:PATH` or `http://...`, several separated by commas.

    A call goes to a host that has the model loaded, the one with the fewest calls under way first; where that one
    cannot be reached, hangs, is busy or lacks the model, once to another. Use within one event loop, and close it.
    """

    def __init__(self, url: str, timeout: float = 2.0, token: str = "") -> None:
        self.url = url
        self.timeout = timeout
        self.media: MediaStore | None = None
        self._connections = [HostConnection(part.strip(), token) for part in url.split(",") if part.strip()]
        self._records = CallRecords()
        self._cards: dict[Key, ModelCard] = {}
        self._learnt_at = -FRESH
        self._learning: asyncio.Task[None] | None = None
        self._calls = 0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The hosts that the settings name."""
        host = cls(settings.host_address, settings.answer_seconds, settings.host_token)
        host.media = MediaStore.of(settings)
        return host

    async def answer(self, model: str, version: str | None, inputs: Mapping[str, Any]) -> Answer:
        """Return the answer of `model`; without a version, of the host's default one.

        Raises `Unavailable` when the model does not answer within the time limit (the model's own, where its
        card has a longer one), is not served in this version, or fails; with `position` and `seconds` when it
        is busy.
        """
        started = time.perf_counter()
        inputs = await self._unfolded(inputs)
        body = wire.request(
            [{name: value if type(value) is str else as_text(value) for name, value in inputs.items()}], list(inputs)
        )
        with self._records.failures(model, version):
            document = await self._call(model, version, "infer", body, self.timeout)
            try:
                output = wire.outputs(document)[0]
                served = str(document.get("model_version", ""))
            except (KeyError, TypeError, ValueError, IndexError, StopIteration, RecursionError) as error:
                raise Unavailable(f"{model} answered something that is no prediction.") from error
            if version is not None and served != version:
                message = f"{model} answered as version {served or 'unknown'}; version {version} was asked for."
                raise Unavailable(message)
            self._check(served, model, inputs, output)
        latency = round((time.perf_counter() - started) * 1000, 3)
        self._records.answered(model, served, latency)
        return Answer(model, served, output.answer, output.probabilities, latency, output.extras)

    async def attribute(
        self, model: str, version: str | None, inputs: Mapping[str, Any], label: str | None, method: str | None
    ) -> Attribution:
        """Return the weights of words for `label` (default: the model's answer) by `method` (default: its first).

        Raises `Unavailable` as `answer` does. The time limit is the longest of ten seconds, the time for
        answers and the model's own limit.
        """
        inputs = await self._unfolded(inputs)
        body = {"inputs": {name: as_text(value) for name, value in inputs.items()}, "label": label, "method": method}
        document = await self._call(model, version, "attribute", body, max(EXPLAIN_SECONDS, self.timeout))
        try:
            return wire.attribution_of(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unavailable(f"{model} answered something that is no attribution.") from error

    async def converse(
        self, model: str, version: str | None, messages: Sequence[Message], max_tokens: int
    ) -> AsyncIterator[str]:
        """Yield the reply of a language model to `messages`, piece by piece, of `max_tokens` tokens at most.

        Raises `Unavailable`, also in the middle: when nothing comes for half a minute, when the whole takes
        longer than two minutes (or the model's own time limit), when the model fails or is busy.
        """
        own = await self._own_limit(model, version, asyncio.get_running_loop().time() + self.timeout / 2)
        path = f"{_path(model, version)}/converse"
        body = {"messages": [dict(message) for message in messages], "max_tokens": max_tokens}
        failure: Elsewhere | None = None
        with self._records.failures(model, version):
            for connection in self._best(model, version):
                try:
                    async for piece in pieces(connection, model, path, body, max(own, WHOLE)):
                        yield piece
                except Elsewhere as problem:  # which comes before the first piece
                    failure = problem if failure is None or not failure.reached else failure
                else:
                    return
            raise failure or Unavailable(NO_HOST)

    async def states(self) -> list[ModelState]:
        """Every model version that the hosts know and where that is, broken ones with the reason.

        Raises `Unavailable` when no host says anything.
        """
        outcomes = await asyncio.gather(
            *(connection.learn(self.timeout) for connection in self._connections), return_exceptions=True
        )
        state_lists = [states for states in outcomes if not isinstance(states, BaseException)]
        for failure in outcomes:
            if isinstance(failure, BaseException) and (not state_lists or not isinstance(failure, Unavailable)):
                raise failure
        self._learnt_at = time.monotonic()
        merged = _merged([state for states in state_lists for state in states])
        self._cards = {(state.name, state.version): state.card for state in merged if state.card}
        return merged

    @property
    def connections(self) -> Sequence[HostConnection]:
        """All hosts, whether they answer or not."""
        return self._connections

    async def reachable(self) -> list[HostConnection]:
        """The hosts that say now what they serve; raises `Unavailable` when none does."""
        await self.states()
        return [connection for connection in self._connections if connection.present]

    async def index(self) -> list[ModelCard]:
        """Cards of the models that can be asked: those that are ready, and those that are loaded on demand."""
        return [state.card for state in await self.states() if state.available and state.card]

    async def ready(self) -> bool:
        """Return whether a host has loaded its models."""
        return any(await asyncio.gather(*(connection.ready(self.timeout) for connection in self._connections)))

    async def readme(self, model: str, version: str) -> str:
        """Return the model folder's readme in Markdown; empty where there is none, or no host sends it.

        Raises `Unavailable` when no host can be reached.
        """
        failure, reached = None, False
        for connection in sorted(self._connections, key=lambda connection: connection.rank(model, version)):
            try:
                if text := await connection.readme(f"{_path(model, version)}/readme", self.timeout):
                    return text
                reached = True
            except Unavailable as problem:
                failure = problem
        if failure is not None and not reached:
            raise failure
        return ""

    def health(self) -> dict[Key, ModelHealth]:
        """Return the health of the models asked through this client, by name and version.

        Only calls of this process count.
        """
        return self._records.health()

    async def close(self) -> None:
        """Close all connections."""
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)
        for connection in self._connections:
            await connection.close()

    async def _call(
        self, model: str, version: str | None, operation: str, body: Mapping[str, Any], seconds: float
    ) -> dict[str, Any]:
        begun = asyncio.get_running_loop().time()
        seconds = max(seconds, await self._own_limit(model, version, begun + self.timeout / 2))
        path = f"{_path(model, version)}/{operation}"
        failure: Elsewhere | None = None
        best = self._best(model, version)
        for connection, other in zip_longest(best, best[1:]):
            try:
                return await connection.call(model, path, body, seconds, begun + seconds, other)
            except Elsewhere as problem:
                failure = problem if failure is None or not failure.reached else failure
            except Unavailable:
                self._learn_again(0.5)  # a host that has stopped is found out before all calls to it time out
                raise
        raise failure or Unavailable(NO_HOST)

    async def _unfolded(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Inputs with the files that they refer to; `Unavailable` where one is gone."""
        if self.media is None or not has_references(inputs):
            return inputs
        try:
            return await asyncio.to_thread(self.media.unfolded, inputs)
        except NotFound as problem:
            raise Unavailable(problem.detail) from problem

    def _best(self, model: str, version: str | None) -> list[HostConnection]:
        """The two hosts to ask, the better one first, among those that may have the model as far as they have said.

        Hosts that are equally good take turns.
        """
        hosts = self._connections
        if len(hosts) == 1:
            return list(hosts)
        serving = [connection for connection in hosts if connection.serves(model, version)] or hosts
        self._calls += 1
        first = self._calls % max(1, len(serving))
        in_turn = serving[first:] + serving[:first]
        return sorted(in_turn, key=lambda connection: connection.rank(model, version))[:2]

    def _check(self, version: str, model: str, inputs: Mapping[str, Any], output: ModelOutput) -> None:
        """Raise `Unavailable` for an output that is none by the model's card: hosts may be anybody's servers."""
        card = self._cards.get((model, version))
        try:
            if card is not None:
                validity.check_outputs(card, [inputs], [output])
        except validity.Broken as broken:
            raise Unavailable(f"{broken.detail} Tell the owner of the task.") from broken
        if card is None and any(unstorable([output.answer, output.probabilities, output.extras])):
            raise Unavailable(f"{model} answered something that cannot be stored. Tell the owner of the task.")

    async def _own_limit(self, model: str, version: str | None, deadline: float) -> float:
        """The seconds that the model's card asks for, 0 where it asks for none or nobody says so in time."""
        card = self._card(model, version)
        if (
            (card is None or len(self._connections) > 1)
            and self._learn_again(FRESH)
            and card is None
            and self._learning
        ):
            try:
                async with asyncio.timeout_at(deadline):
                    await asyncio.shield(self._learning)
            except TimeoutError:
                return 0.0
            card = self._card(model, version)
        return (card.seconds or 0.0) if card else 0.0

    def _card(self, model: str, version: str | None) -> ModelCard | None:
        if version is not None:
            return self._cards.get((model, version))
        return next((card for key, card in self._cards.items() if key[0] == model), None)

    def _learn_again(self, age: float) -> bool:
        """Ask the hosts in the background what they serve, unless that was done lately; whether it is under way."""
        if self._learning is not None and not self._learning.done():
            return True
        if time.monotonic() - self._learnt_at < age:
            return False
        self._learnt_at = time.monotonic()
        self._learning = asyncio.create_task(self._learn())
        return True

    async def _learn(self) -> None:
        try:
            await self.states()
        except Unavailable:
            return  # the next request for an answer reports it


def _merged(states: list[ModelState]) -> list[ModelState]:
    """One state a model version: the best of all hosts', with every host where it is in that state."""
    best: dict[Key, ModelState] = {}
    for state in states:
        key = state.name, state.version
        other = best.get(key)
        if other is None or _rank(state) < _rank(other):
            best[key] = replace(state, card=state.card or (other.card if other else None))
        elif _rank(state) == _rank(other):
            best[key] = replace(other, where=f"{other.where},{state.where}")
    return sorted(best.values(), key=lambda state: state.name)


def _rank(state: ModelState) -> tuple[int, bool]:
    return (_ORDER.index(state.state) if state.state in _ORDER else len(_ORDER)), not state.on_demand


def _path(model: str, version: str | None) -> str:
    return f"/v2/models/{model}" if version is None else f"/v2/models/{model}/versions/{version}"
