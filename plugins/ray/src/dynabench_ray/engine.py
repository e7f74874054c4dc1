"""The host's engine, when models run on Ray: calls go to replicas, which batch them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from dynabench.kit.errors import Invalid, Problem, Unavailable
from dynabench.models.host.compute_threads import HostCounters
from dynabench.models.host.engine import make_first_call
from dynabench.models.host.repository import Repository
from dynabench.models.protocol import Attribution, Message, ModelOutput, explained
from dynabench_ray.repository import Remote

T = TypeVar("T")


class ClusterEngine:
    """Asks replicas; queues, batches and their figures are Ray's."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.figures = HostCounters()
        repository.on_load = lambda model: make_first_call(self, model)

    async def predict(
        self, model: Remote, batch: Sequence[Mapping[str, Any]], within: float | None = None
    ) -> list[ModelOutput]:
        """Answers in order. Raises `Invalid`; `Unavailable` when a replica is lost, or has not answered `within`."""
        handle = model.handle.options(method_name="predict")
        async with _limit(model, within):
            return list(await asyncio.gather(*(self._call_replica(model, handle, dict(inputs)) for inputs in batch)))

    async def attribute(
        self, model: Remote, inputs: Mapping[str, Any], label: str | None, method: str, within: float | None = None
    ) -> Attribution:
        """Weights towards `label`, by default the model's answer or its start. Raises as `predict` does."""
        if method not in model.card.methods:
            raise Invalid({"method": f"One of {', '.join(model.card.methods)}."})
        if label is None and model.card.returns == "label":
            label = str((await self.predict(model, [inputs], within))[0].answer[model.card.answer])
        handle = model.handle.options(method_name="attribute")
        async with _limit(model, within):
            result: Attribution = await self._call_replica(
                model, handle, dict(inputs), label or explained(model.card)[0], method
            )
        return result

    async def converse(
        self, model: Remote, messages: Sequence[Message], max_tokens: int, within: float | None = None
    ) -> AsyncGenerator[str, None]:
        """Replicas answer whole calls alone: raises `Unavailable`."""
        answer = f"{model.card.name} runs on Ray, where models do not converse. Serve it behind a chat API."
        raise Unavailable(answer)
        yield ""

    async def close(self) -> None:
        """Nothing is held here."""

    async def _call_replica(self, model: Remote, handle: Any, *given: Any) -> Any:
        """Return the replica's answer; call again once if it died, since another one may have started."""
        from ray.exceptions import RayError

        for last in (False, True):
            try:
                text = await handle.remote(model.key, *given)
                break
            except RayError as error:
                self.figures.failed.labels("ray").inc()
                if last:
                    answer = f"{model.card.name} gave no answer: its replica on Ray failed ({type(error).__name__})."
                    raise Unavailable(answer) from error
        if isinstance(text, Problem):
            raise text
        return text


@asynccontextmanager
async def _limit(model: Remote, within: float | None) -> AsyncIterator[None]:
    """Raise `Unavailable` when the time is over."""
    try:
        async with asyncio.timeout(within):
            yield
    except TimeoutError:
        raise Unavailable(f"{model.card.name} has not answered for {within:g} s. Try again in a moment.") from None
