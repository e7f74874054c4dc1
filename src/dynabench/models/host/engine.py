"""The engine of the model host: batches, the cache of attributions, and conversations."""

import asyncio
import hashlib
import inspect
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from dynabench.kit.errors import Invalid, Problem, Unavailable
from dynabench.models import kinds, samples
from dynabench.models.backends.base import Backend
from dynabench.models.host.batch_queue import BATCH, BatchQueue
from dynabench.models.host.compute_threads import PATIENCE, HostCounters, Threads, as_exception
from dynabench.models.host.repository import READY, Repository
from dynabench.models.protocol import ROLES, Attribution, Conversing, Message, ModelCard, ModelOutput, explained

WORDS = 200_000
"""Words, and cells of maps, of all explanations that are kept, some 60 MB; the ones used longest ago go first."""
Key = tuple[str, ...]


class ExplanationCache:
    """Keeps the explanations used last, up to so many words. One that was cut short is not kept."""

    def __init__(self, words: int = WORDS) -> None:
        self._limit = words
        self._explanations: OrderedDict[Key, Attribution] = OrderedDict()
        self._words = 0

    def get(self, key: Key) -> Attribution | None:
        """Return the explanation that was put under the key; None if it is no longer there."""
        if key not in self._explanations:
            return None
        self._explanations.move_to_end(key)
        return self._explanations[key]

    def put(self, key: Key, explanation: Attribution) -> None:
        """Keep an explanation."""
        if getattr(explanation, "cut_short", False) or key in self._explanations or _words(explanation) > self._limit:
            return
        self._explanations[key] = explanation
        self._words += _words(explanation)
        while self._words > self._limit:
            _, gone = self._explanations.popitem(last=False)
            self._words -= _words(gone)


def explanation_key(card: ModelCard, inputs: Mapping[str, Any], label: str, method: str) -> Key:
    """The question: the model's version, the SHA-256 of what it reads (pictures are long), label and method."""
    read = json.dumps({name: inputs.get(name) for name in card.inputs}, ensure_ascii=True)
    return (card.name, card.version, label, method, hashlib.sha256(read.encode()).hexdigest())


def _words(explanation: Attribution) -> int:
    cells = sum(len(row) for rows in explanation.maps.values() for row in rows)
    return 1 + cells + sum(map(len, explanation.fields.values()))


WAITING = 32
"""Conversations with one model that may wait for their turn; more are refused."""
MESSAGES, CHARACTERS, TOKENS = 200, 200_000, 4096
"""Limits of one call: messages, their characters together, tokens of the reply."""
CLOSING = 10.0
"""Seconds that a host which ends waits for pieces that are being written."""


@dataclass
class _Place:
    """The queue of the conversations with one model: threads that write, and the number that wait for one."""

    free: asyncio.Semaphore
    threads: Threads
    waiting: int = 0


class Streams:
    """Lets models write in threads of their own, as many at a time as each model allows. Lives on one event loop.

    A model that has not ended `patience` seconds after its listener left is given up, and its thread replaced.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._places: dict[str, _Place] = {}
        self._patience = patience
        self._ends: set[asyncio.Task[None]] = set()

    async def converse(
        self, model: Any, messages: Sequence[Message], max_tokens: int, within: float | None = None
    ) -> AsyncGenerator[str, None]:
        """Yield the text that the model writes next, piece by piece.

        A caller that stops listening stops the model after the piece that it is writing. Raises `Invalid` where
        the model does not converse, `Unavailable` where it cannot begin `within` so many seconds, and every
        error that the model raises, also in the middle.
        """
        if not isinstance(model, Conversing):
            raise Invalid({"model": f"{model.card.name} does not converse; language models that write text do."})
        place = self._place(model)
        if place.waiting >= WAITING:
            raise Unavailable(f"{model.card.name} is busy: {place.waiting} conversations wait. Try again in a moment.")
        place.waiting += 1
        try:
            async with asyncio.timeout(within):
                await place.free.acquire()
        except TimeoutError:
            raise Unavailable(f"{model.card.name} is busy with other conversations. Try again in a moment.") from None
        finally:
            place.waiting -= 1
        queue: asyncio.Queue[Any] = asyncio.Queue()
        gone = threading.Event()
        loop = asyncio.get_running_loop()

        def tell(piece: Any) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, piece)

        try:
            written = place.threads.submit(_write, model, messages, max_tokens, tell, gone)
        except RuntimeError as error:  # no thread could be started
            place.free.release()
            raise Unavailable(f"{model.card.name} gave no answer: {error}.") from error
        try:
            while (piece := await queue.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            gone.set()
            end = loop.create_task(self._end(place, written))
            self._ends.add(end)
            end.add_done_callback(self._ends.discard)

    async def close(self) -> None:
        """End all threads, after the pieces that they write."""
        late: set[asyncio.Task[None]] = set()
        if self._ends:
            _done, late = await asyncio.wait(self._ends, timeout=CLOSING)
        for end in late:
            end.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for place in self._places.values():
            await asyncio.to_thread(place.threads.close, wait=not late)

    async def _end(self, place: _Place, written: Future[None]) -> None:
        """Let the next conversation begin, not before the thread is free again or was replaced."""
        try:
            await place.threads.wait_for(written, self._patience)
        finally:
            place.free.release()

    def _place(self, model: Any) -> _Place:
        if model.lane not in self._places:
            at_once = getattr(model, "at_once", 1)
            threads = Threads(at_once, f"chat-{model.card.name}")
            self._places[model.lane] = _Place(asyncio.Semaphore(at_once), threads)
        return self._places[model.lane]


def _write(model: Conversing, messages: Sequence[Message], most: int, tell: Any, gone: threading.Event) -> None:
    """Tell each piece, then None; an exception in its place."""
    try:
        with closing(model.converse(messages, most)) as pieces:
            for piece in pieces:
                if gone.is_set():
                    return
                tell(piece)
        tell(None)
    except BaseException as error:
        tell(as_exception(error))


def requested_conversation(body: Mapping[str, Any]) -> tuple[list[Message], int]:
    """Messages and tokens at most, from a call's JSON; raises `Invalid`."""
    messages, most = body.get("messages"), body.get("max_tokens", 256)
    if type(most) is not int or not 1 <= most <= TOKENS:
        raise Invalid({"max_tokens": f"A whole number from 1 to {TOKENS} is needed."})
    if not isinstance(messages, list) or not 1 <= len(messages) <= MESSAGES:
        raise Invalid({"messages": f"A list of 1 to {MESSAGES} messages is needed."})
    for at, message in enumerate(messages):
        well_formed = (
            isinstance(message, dict) and set(message) == {"role", "content"} and isinstance(message["content"], str)
        )
        if not well_formed or message["role"] not in ROLES:
            raise Invalid({f"messages.{at}": "A message has a role (system, user, assistant) and a content, a text."})
    if sum(len(message["content"]) for message in messages) > CHARACTERS:
        raise Invalid({"messages": f"A conversation may have {CHARACTERS} characters."})
    if messages[-1]["role"] != "user":
        raise Invalid({"messages": "The last message is a user's: the model answers it."})
    return messages, most


log = logging.getLogger("dynabench.host")

EXPLANATIONS = 64
"""Explanations of one method that may wait."""
KEPT_BACK = 0.8
"""Share of an explanation's time that a backend with a time limit may use; the rest is for the way and the queue."""
FIRST_CALL_SECONDS = 30.0
"""How long a model may take for its first call; one that takes longer is served without."""


class Engine:
    """The lanes of a host, and the explanations given before. Lives on one event loop."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.figures = HostCounters()
        self.cache = ExplanationCache()
        self._streams = Streams()
        self._lanes: dict[str, BatchQueue] = {}
        repository.on_load = lambda model: make_first_call(self, model)
        repository.on_unload = self._unloaded
        repository.on_change = lambda change: self.figures.changes.labels(change).inc()
        self.figures.memory.set_function(lambda: repository.held)

    async def predict(
        self, model: Backend, batch: Sequence[Mapping[str, Any]], within: float | None = None
    ) -> list[ModelOutput]:
        """Answers in order; calls share batches with those of anybody else on the lane.

        Raises `Invalid`; `Busy` where they could not be there `within` so many seconds.
        """
        prepared = [model.prepare(inputs) for inputs in batch]
        lane = self._lane(model)
        if len(prepared) == 1:
            return [await lane.submit((model, prepared[0]), len(prepared[0]), within)]
        calls = (lane.submit((model, prepared_inputs), len(prepared_inputs), within) for prepared_inputs in prepared)
        return list(await asyncio.gather(*calls))

    async def attribute(
        self,
        model: Backend,
        inputs: Mapping[str, Any],
        label: str | None,
        method: str,
        within: float | None = None,
    ) -> Attribution:
        """Weights towards `label`, by default the model's answer or its start. Raises as `predict` does.

        The same question again is answered from memory. A backend whose `attribute` takes `seconds` is given most of
        the time there is.
        """
        if method not in model.card.methods:
            raise Invalid({"method": f"One of {', '.join(model.card.methods)}."})
        model.prepare(inputs)
        if label is None and model.card.returns != "label":
            label = explained(model.card)[0]
        elif label is None:
            label = str((await self.predict(model, [inputs], within))[0].answer[model.card.answer])
        question = explanation_key(model.card, inputs, label, method)
        cached = self.cache.get(question)
        self.figures.explained.labels("miss" if cached is None else "hit").inc()
        if cached is not None:
            return cached
        limit: dict[str, float] = {}
        if within is not None and "seconds" in inspect.signature(model.attribute).parameters:
            limit["seconds"] = within * KEPT_BACK
        explanation: Attribution = await self._explainer(model, method).submit(
            (model, inputs, label, method, limit), 1, within
        )
        self.cache.put(question, explanation)
        return explanation

    def converse(
        self, model: Backend, messages: Sequence[Message], max_tokens: int, within: float | None = None
    ) -> AsyncGenerator[str, None]:
        """Return the text that a language model writes next, piece by piece; see `Streams.converse`."""
        return self._streams.converse(model, messages, max_tokens, within)

    async def close(self) -> None:
        """End all lanes."""
        await self._streams.close()
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))

    async def _unloaded(self, model: Backend) -> None:
        """End the lanes of a model that is gone, unless they are others' too."""
        if any(slot.state == READY and slot.model.lane == model.lane for slot in self.repository.slots()):
            return
        gone = [name for name in self._lanes if name == model.lane or name.startswith(f"{model.lane}/")]
        await asyncio.gather(*(self._lanes.pop(name).close() for name in gone))

    def _lane(self, model: Backend) -> BatchQueue:
        name = model.lane
        if name not in self._lanes:
            at_once = getattr(model, "at_once", 1)
            patience = _patience(model, 1 if model.room == 1 else BATCH)
            self._lanes[name] = BatchQueue(
                name, _predict, self.figures, room=model.room, at_once=at_once, patience=patience
            )
        return self._lanes[name]

    def _explainer(self, model: Backend, method: str) -> BatchQueue:
        name = f"{model.lane}/{method}"
        if name not in self._lanes:
            at_once = getattr(model, "at_once", 1)
            self._lanes[name] = BatchQueue(
                name, _explain, self.figures, 1, EXPLANATIONS, at_once=at_once, patience=_patience(model, BATCH)
            )
        return self._lanes[name]


async def make_first_call(engine: Any, model: Any) -> None:
    """Ask a model that has just been loaded once through `engine`, since the first call is slow and no person waits for
    this one; a model that does not take the input is served all the same."""
    row = _first_inputs(model.card)
    if row is None:
        return
    try:
        await engine.predict(model, [row], FIRST_CALL_SECONDS)
    except Problem as problem:
        log.info("first call to %s: %s", model.card.name, problem.detail)
    except Exception:
        log.exception("first call to %s", model.card.name)


def _first_inputs(card: ModelCard) -> dict[str, str] | None:
    # Not those that cost money elsewhere, nor those that write long replies.
    if not card.inside or kinds.kind(card.kind).converses:
        return None
    texts = samples.ORDINARY
    return {
        name: samples.picture() if name in card.images else texts[place % len(texts)]
        for place, name in enumerate(card.inputs)
    }


def _patience(model: Backend, calls: int) -> float:
    """Return the seconds after which a batch of so many calls is given up: twice what the model's card asks for."""
    return max(PATIENCE, 2 * calls * (model.card.seconds or 0.0))


def _predict(payloads: list[tuple[Backend, Any]]) -> list[ModelOutput]:
    return payloads[0][0].answer(payloads)


def _explain(payloads: list[tuple[Backend, Mapping[str, Any], str, str, dict[str, float]]]) -> list[Attribution]:
    return [model.attribute(inputs, label, method, **limit) for model, inputs, label, method, limit in payloads]
