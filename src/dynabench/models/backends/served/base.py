"""Common parts of models served by others: options, connections, the cache and the spending limit."""

import logging
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dynabench.kit import outgoing
from dynabench.kit.errors import Invalid, Problem
from dynabench.kit.settings import get_settings
from dynabench.models import kinds, spec, validity
from dynabench.models.backends.base import Alone
from dynabench.models.backends.served.endpoint import Endpoint
from dynabench.models.backends.served.stores import Bill, cache, spending
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput

log = logging.getLogger("dynabench.served")

SECONDS = 10.0
"""How long a call may take, with its retries, where `model.yaml` does not say."""
VERSION = "remote_version"
PRICE = "price"
"""Of an answer from the cache: what it once cost. `cost` is what was paid just now."""


class EndpointOptions(BaseModel):
    """Options that every served model has, in `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    url: str = Field(description="Where it is served, without what the protocol adds.")
    token: str = Field("", pattern=r"^([A-Z][A-Z0-9_]{0,63})?$", description="DYNABENCH_TOKEN_<this> holds the token.")
    at_once: int = Field(4, ge=1, le=64, description="Calls under way at most.")
    retries: int = Field(2, ge=0, le=5, description="More tries where nothing was computed, within `seconds`.")
    cache: bool = Field(True, description="Keep answers by model version and input.")
    labels: dict[str, str] = Field({}, description="Our label by what the endpoint calls it, an index as its digits.")
    price_per_call: float = Field(0.0, ge=0, description="What a call costs.")
    spend_per_day: float | None = Field(None, ge=0, description="What this model may cost a day (UTC).")

    def priced(self) -> bool:
        """Return whether calls have a price."""
        return self.price_per_call > 0

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        try:
            outgoing.check_address(url)
        except Invalid as error:
            raise ValueError(error.fields["url"]) from error
        return url


@dataclass(frozen=True)
class EndpointHealth:
    """The state of an endpoint: whether it answers, its version (empty if it gives none), and any problem."""

    ready: bool
    version: str = ""
    reason: str = ""


class Served(Alone):
    """A model behind an endpoint. Subclasses say how one request is made and read; inputs of one request are `rows`."""

    rows: ClassVar[int] = 1

    def __init__(self, card: ModelCard, options: Any, seconds: float) -> None:
        super().__init__(card)
        self.options = options
        self.fits()
        self.at_once = options.at_once
        if self.rows == 1:
            self.room = 1  # a call of its own fails alone, and is not paid for twice
        settings = get_settings()
        self.endpoint = Endpoint(options.url, options.token, seconds, options.retries, options.at_once)
        self._cache = cache(settings.folder) if options.cache else None
        self._spending = spending(settings.folder, settings.spending_per_day)
        self._threads = ThreadPoolExecutor(options.at_once, thread_name_prefix=f"served-{card.name}")
        self._version = ""

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Open a model folder; calls nothing yet. Raises `Invalid` when it is broken or its address is refused."""
        details = spec.read(folder)
        options = kinds.kind(details.kind).read(details.options)
        return cls(spec.card(folder), options, details.seconds or SECONDS)

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        if strangers := sorted(set(self.options.labels.values()) - set(self.card.labels)):
            raise Invalid({"options.labels": f"{', '.join(strangers)}: not among the model's labels."})
        if self.options.spend_per_day is not None and not self.options.priced():
            raise Invalid({"options.spend_per_day": "Without a price nothing is ever spent: say what calls cost."})

    @abstractmethod
    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input by one request; the batch has `rows` inputs at most."""

    @abstractmethod
    def probe(self) -> str:
        """Return the version that the endpoint gives for the model; empty if it gives none.

        Raises when the endpoint does not answer.
        """

    def ready(self) -> EndpointHealth:
        """Return whether the endpoint answers now, with its version or the reason.

        This costs one call that computes nothing.
        """
        try:
            version = self.probe()
        except Problem as problem:
            return EndpointHealth(False, reason=problem.detail)
        return EndpointHealth(True, version)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order; several requests at a time. Raises `Unavailable`."""
        output_by_index: dict[int, ModelOutput] = {}
        for index, inputs in enumerate(batch):
            if (output := self._remembered(inputs)) is not None:
                output_by_index[index] = replace(output, extras={**output.extras, "cached": True})
        missing = [index for index in range(len(batch)) if index not in output_by_index]
        parts = [missing[at : at + self.rows] for at in range(0, len(missing), self.rows)]
        if len(parts) == 1:
            answered = [self._request_outputs([batch[index] for index in parts[0]])]
        else:
            rows = [[batch[index] for index in part] for part in parts]
            answered = self._side_by_side(rows)
        for part, outputs in zip(parts, answered, strict=True):
            output_by_index.update(zip(part, outputs, strict=True))
        return [output_by_index[index] for index in range(len(batch))]

    def close(self) -> None:
        """Close all connections."""
        self._threads.shutdown(cancel_futures=True)
        self.endpoint.close()

    def record_version(self, output: ModelOutput, version: Any) -> ModelOutput:
        """The output with the version that the endpoint told; a changed one is worth a warning."""
        version_text = str(version or "")[:100]
        if not version_text:
            return output
        if self._version not in ("", version_text):
            log.warning(
                "%s: the endpoint now answers as version %s, before as %s", self.card.name, version_text, self._version
            )
        self._version = version_text
        return replace(output, extras={**output.extras, VERSION: version_text})

    @contextmanager
    def paid(self, most: float) -> Iterator[Bill]:
        """Set aside what a request may cost; a call that was never made costs nothing. Raises `Unavailable`."""
        if most <= 0:
            yield Bill(0.0)
            return
        with self._spending.reserved(self.card.name, most, self.options.spend_per_day) as bill:
            try:
                yield bill
            except (outgoing.Interrupted, outgoing.RefusedAddress, validity.Broken):
                raise  # it was computed, for all we know
            except Problem:
                if bill.cost is None:
                    bill.cost = 0.0
                raise

    def _remembered(self, inputs: Inputs) -> ModelOutput | None:
        """Return the cached answer; one that the checks refuse is forgotten, so that the endpoint is asked again."""
        if self._cache is None or (output := self._cache.get(self.card.version, inputs)) is None:
            return None
        try:
            return validity.check_outputs(self.card, [inputs], [output])[0]
        except validity.Broken:
            self._cache.forget(self.card.version, inputs)
            return None

    def _side_by_side(self, parts: list[list[Inputs]]) -> list[list[ModelOutput]]:
        """Outputs of each request. Where one fails, those under way still end, since they are paid for and kept."""
        calls = [self._threads.submit(self._request_outputs, part) for part in parts]
        if any(call.exception() for call in wait(calls, return_when=FIRST_EXCEPTION).done):
            for call in calls:
                call.cancel()
        wait(calls)
        for error in (call.exception() for call in calls if not call.cancelled()):
            if error is not None:
                raise error
        return [call.result() for call in calls]

    def _request_outputs(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        outputs = validity.check_outputs(self.card, batch, self.ask(batch))
        for inputs, output in zip(batch, outputs, strict=True):
            if self._cache is not None:
                stored_extras = {PRICE if name == "cost" else name: value for name, value in output.extras.items()}
                self._cache.put(self.card.version, inputs, replace(output, extras=stored_extras))
        return outputs
