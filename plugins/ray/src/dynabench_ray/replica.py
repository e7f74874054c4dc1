"""An actor of Ray Serve: models that may share batches, opened once, and calls batched as they come."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ray import serve

from dynabench.kit.errors import Invalid, Problem
from dynabench.models import catalog, runtime
from dynabench.models.host.batch_queue import BATCH, LINGER
from dynabench.models.protocol import Attribution, ModelOutput

Key = tuple[str, str]
"""Name and version of a model."""


class Replica:
    """Opens folders and answers for them; calls for all its models share batches."""

    def __init__(self, folders: Mapping[Key, str]) -> None:
        self._models: dict[Key, Any] = {}
        self._broken: dict[Key, str] = {}
        runtime.quiet()
        for key, folder in folders.items():
            model, reason = _opened(folder)
            if reason:
                self._broken[key] = reason
            else:
                self._models[key] = model

    async def broken(self) -> dict[Key, str]:
        """Why models could not be opened."""
        return self._broken

    async def trial(self, folder: str) -> str:
        """Return the reason why this replica cannot open a folder; empty where it can."""
        model, reason = await asyncio.to_thread(_opened, folder)
        if model is not None:
            model.close()
        return reason

    async def predict(self, key: Key, inputs: Mapping[str, Any]) -> ModelOutput | Problem:
        """The answer, or what is wrong with the question.

        Problems are returned: Ray wraps what is raised, and prints it as if the actor were at fault.
        """
        model = self._models[key]
        try:
            prepared = model.prepare(inputs)
        except Invalid as problem:
            return problem
        result: ModelOutput | Problem = await self._together((model, prepared))
        return result

    async def attribute(self, key: Key, inputs: Mapping[str, Any], label: str, method: str) -> Attribution | Problem:
        """Weights towards a label, or what is wrong with the question."""
        try:
            result: Attribution = await asyncio.to_thread(self._models[key].attribute, inputs, label, method)
        except Problem as problem:
            return problem
        return result

    @serve.batch(max_batch_size=BATCH, batch_wait_timeout_s=LINGER)  # type: ignore[untyped-decorator]
    async def _together(self, calls: list[tuple[Any, Any]]) -> Sequence[ModelOutput | Problem]:
        return await asyncio.to_thread(_answered, calls)


def _opened(folder: str) -> tuple[Any, str]:
    """The model, or why there is none."""
    try:
        return catalog.open_model(Path(folder)), ""
    except Problem as problem:
        return None, problem.detail
    except BaseException as error:  # a library in Rust panics with one
        return None, f"{type(error).__name__}: {error}"


def _answered(calls: Sequence[tuple[Any, Any]]) -> list[ModelOutput | Problem]:
    """One pass for all; where that fails one for each, so that a bad input or model spoils no other's answer."""
    try:
        return list(calls[0][0].answer(calls))
    except BaseException as error:
        if len(calls) == 1:
            return [_as_problem(calls[0][0].card.name, error)]
        return [_answered([call])[0] for call in calls]


def _as_problem(name: str, error: BaseException) -> Problem:
    from dynabench.kit.errors import Unavailable

    return error if isinstance(error, Problem) else Unavailable(f"{name} failed: {type(error).__name__}: {error}")
