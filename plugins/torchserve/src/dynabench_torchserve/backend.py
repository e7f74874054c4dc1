"""Models behind TorchServe: its inference API, and its management API for versions and readiness."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from dynabench.kit import outgoing
from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.outgoing import HttpReply
from dynabench.models.backends.served import answers
from dynabench.models.backends.served.base import SECONDS, EndpointOptions, Served
from dynabench.models.backends.served.endpoint import Endpoint, packed, segment
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput


class Options(EndpointOptions):
    """Options of a model on TorchServe: its name there, the format of its inputs and of its answers."""

    model: str = Field(min_length=1, description="Its name there.")
    version: str = Field("", description="The version asked for; empty leaves it to the server.")
    management: str = Field("", description="Address of the management API, by which versions are told.")
    sends: Literal["json", "text"] = Field("json", description="An object by field, or the one input as it is.")
    fields: dict[str, str] = Field({}, description="Their name by our field, where it is called otherwise.")
    scores: answers.Scores = Field("probabilities", description="What its numbers for labels are.")

    @field_validator("management")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        try:
            if url:
                outgoing.check_address(url)
            return url
        except Invalid as error:
            raise ValueError(error.fields["url"]) from error


class TorchServeModel(Served):
    """A model of a TorchServe; it batches on its side what comes by several connections."""

    options: Options

    def __init__(self, card: ModelCard, options: Options, seconds: float = SECONDS) -> None:
        super().__init__(card, options, seconds)
        answer = options.management
        self._management = Endpoint(answer, options.token, seconds, options.retries, 1) if answer else None

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        if self.options.sends == "text" and len(self.card.inputs) != 1:
            raise Invalid({"options.sends": "As `text` goes one input; this model has several: send `json`."})
        if strangers := sorted(set(self.options.fields) - set(self.card.inputs)):
            raise Invalid({"options.fields": f"{', '.join(strangers)}: no inputs of the model."})

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output for the one input."""
        (inputs,) = batch
        if self.options.sends == "text":
            body, kind = str(inputs[self.card.inputs[0]]).encode(), "text/plain; charset=utf-8"
        else:
            named = {self.options.fields.get(name, name): inputs[name] for name in self.card.inputs}
            body, kind = packed(named), "application/json"
        with self.paid(self.options.price_per_call) as bill:
            reply = self.endpoint.call("POST", f"/predictions{self._path}", body, kind)
            bill.cost = bill.reserved
        return [answers.read_output(self.card, self.options.labels, inputs, _read_reply(reply), self.options.scores)]

    def probe(self) -> str:
        """The version that would answer, by the management API; without one, only that the server lives."""
        if self._management is None:
            self.endpoint.call("GET", "/ping")
            return self.options.version
        answer = self._management.json("GET", f"/models{self._path}")
        result = answer[0] if isinstance(answer, list) and answer and isinstance(answer[0], Mapping) else {}
        workers = result.get("workers")
        if not isinstance(workers, list) or not any(
            isinstance(w, Mapping) and w.get("status") == "READY" for w in workers
        ):
            raise Unavailable(f"{self.endpoint.host} has no worker ready for {self.options.model}: scale it up there.")
        return str(result.get("modelVersion") or "")

    def close(self) -> None:
        """Close all connections."""
        super().close()
        if self._management is not None:
            self._management.close()

    @property
    def _path(self) -> str:
        version = f"/{segment(self.options.version)}" if self.options.version else ""
        return f"/{segment(self.options.model)}{version}"


def _read_reply(reply: HttpReply) -> Any:
    """Return a handler's answer: TorchServe sends texts as they are and all else as JSON, often without a type."""
    try:
        return reply.json()
    except outgoing.RefusedAddress as error:
        text = reply.body.decode(errors="replace").strip()
        if not text or text[0] in "<{[" or isinstance(error.__cause__, RecursionError):
            raise
        return text
