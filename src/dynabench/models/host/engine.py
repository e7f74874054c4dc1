"""Which lane a call takes: predictions by backend, explanations by backend and method."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.errors import Invalid
from dynabench.models.backends.base import Backend
from dynabench.models.host.figures import Figures
from dynabench.models.host.lane import Lane
from dynabench.models.host.repository import Repository
from dynabench.models.protocol import Attribution, Output, explained

EXPLANATIONS = 64
"""Explanations of one method that may wait."""


class Engine:
    """The lanes of a host. Lives on one event loop."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.figures = Figures()
        self._lanes: dict[str, Lane] = {}

    async def predict(self, model: Backend, batch: Sequence[Mapping[str, Any]]) -> list[Output]:
        """Answers in order; calls share batches with those of anybody else on the lane. Raises `Invalid`, `Busy`."""
        prepared = [model.prepare(inputs) for inputs in batch]
        lane = self._lane(model)
        if len(prepared) == 1:
            return [await lane.submit((model, prepared[0]), len(prepared[0]))]
        return list(await asyncio.gather(*(lane.submit((model, one), len(one)) for one in prepared)))

    async def attribute(self, model: Backend, inputs: Mapping[str, Any], label: str | None, method: str) -> Attribution:
        """Weights towards `label`, by default the model's answer or its start. Raises `Invalid`, `Busy`."""
        if method not in model.card.methods:
            raise Invalid({"method": f"One of {', '.join(model.card.methods)}."})
        if label is None and model.card.returns != "label":
            label = explained(model.card)[0]
        elif label is None:
            label = str((await self.predict(model, [inputs]))[0].answer[model.card.answer])
        model.prepare(inputs)
        found: Attribution = await self._explainer(model, method).submit((model, inputs, label, method), 1)
        return found

    async def close(self) -> None:
        """End all lanes."""
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))

    def _lane(self, model: Backend) -> Lane:
        name = model.lane
        if name not in self._lanes:
            self._lanes[name] = Lane(name, _predict, self.figures, room=model.room)
        return self._lanes[name]

    def _explainer(self, model: Backend, method: str) -> Lane:
        name = f"{model.lane}/{method}"
        if name not in self._lanes:
            self._lanes[name] = Lane(name, _explain, self.figures, batch=1, waiting=EXPLANATIONS)
        return self._lanes[name]


def _predict(payloads: list[tuple[Backend, Any]]) -> list[Output]:
    return payloads[0][0].answer(payloads)


def _explain(payloads: list[tuple[Backend, Mapping[str, Any], str, str]]) -> list[Attribution]:
    return [model.attribute(inputs, label, method) for model, inputs, label, method in payloads]
