"""The choice of a lane for each call: predictions by backend, explanations by backend and method."""

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from dynabench.kit.errors import Invalid, Problem
from dynabench.models import kinds, samples
from dynabench.models.backends.base import Backend
from dynabench.models.host import cache
from dynabench.models.host.batch_queue import BATCH, BatchQueue
from dynabench.models.host.figures import Figures
from dynabench.models.host.repository import READY, Repository
from dynabench.models.host.streams import Streams
from dynabench.models.host.threads import PATIENCE
from dynabench.models.protocol import Attribution, Card, Message, Output, explained

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
        self.figures = Figures()
        self.cache = cache.Cache()
        self._streams = Streams()
        self._lanes: dict[str, BatchQueue] = {}
        repository.on_load = lambda model: make_first_call(self, model)
        repository.on_unload = self._unloaded
        repository.on_change = lambda change: self.figures.changes.labels(change).inc()
        self.figures.memory.set_function(lambda: repository.held)

    async def predict(
        self, model: Backend, batch: Sequence[Mapping[str, Any]], within: float | None = None
    ) -> list[Output]:
        """Answers in order; calls share batches with those of anybody else on the lane.

        Raises `Invalid`; `Busy` where they could not be there `within` so many seconds.
        """
        prepared = [model.prepare(inputs) for inputs in batch]
        lane = self._lane(model)
        if len(prepared) == 1:
            return [await lane.submit((model, prepared[0]), len(prepared[0]), within)]
        return list(await asyncio.gather(*(lane.submit((model, one), len(one), within) for one in prepared)))

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
        question = cache.key(model.card, inputs, label, method)
        known = self.cache.get(question)
        self.figures.explained.labels("miss" if known is None else "hit").inc()
        if known is not None:
            return known
        limit = {} if within is None or not _limited(model) else {"seconds": within * KEPT_BACK}
        found: Attribution = await self._explainer(model, method).submit(
            (model, inputs, label, method, limit), 1, within
        )
        self.cache.put(question, found)
        return found

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


def _first_inputs(card: Card) -> dict[str, str] | None:
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


def _limited(model: Backend) -> bool:
    return "seconds" in inspect.signature(model.attribute).parameters


def _predict(payloads: list[tuple[Backend, Any]]) -> list[Output]:
    return payloads[0][0].answer(payloads)


def _explain(payloads: list[tuple[Backend, Mapping[str, Any], str, str, dict[str, float]]]) -> list[Attribution]:
    return [model.attribute(inputs, label, method, **limit) for model, inputs, label, method, limit in payloads]
