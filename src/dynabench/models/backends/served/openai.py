"""Language models behind an OpenAI-compatible chat API, asked by a prompt template."""

import logging
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field

from dynabench.kit.errors import Invalid
from dynabench.models.backends.served import events, odds, prompt, written
from dynabench.models.backends.served.base import SECONDS, EndpointOptions, Served
from dynabench.models.backends.served.endpoint import Complaint, packed, segment
from dynabench.models.protocol import Card, Inputs, Message, Output
from dynabench.models.validity import Broken

log = logging.getLogger("dynabench.served")

SCHEMAS_AGAIN = 600.0
"""Seconds after which a server that refused a schema is given one again: it may have been exchanged."""
MILLION = 1_000_000
OVERHEAD = 64
"""Tokens that a chat template adds to a message, at most."""
PICTURE = 4096
"""Tokens that a picture counts for, at most."""

Messages = Sequence[Mapping[str, Any]]
"""`{role, content}` each, as the API takes them."""
Reply = TypeVar("Reply")
_Called = tuple[Mapping[str, Any], Any, Mapping[str, int], float | None]


class Options(EndpointOptions):
    """Options of a chat model: its name, what it is told, how its answer is read, and prices of tokens."""

    model: str = Field(min_length=1, description="Its name there.")
    prompt: str = Field("", description="The template: {field} stands for an input, {labels} for the options.")
    system: str = Field("", description="What it is told first; the same places.")
    answers: Literal["auto", "json", "plain"] = Field(
        "auto", description="By JSON schema; as plain text; or by schema where the server takes schemas."
    )
    max_tokens: int = Field(64, ge=1, le=32_768, description="Tokens of an answer at most.")
    limit: Literal["max_tokens", "max_completion_tokens"] = Field("max_tokens", description="What it calls that limit.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="None leaves it to the server.")
    seed: int | None = None
    probabilities: bool = Field(False, description="Ask for log-probabilities and read the options' from them.")
    price_in: float = Field(0.0, ge=0, description="What a million tokens of a prompt cost.")
    price_out: float = Field(0.0, ge=0, description="What a million tokens of an answer cost.")

    def priced(self) -> bool:
        """Return whether calls or tokens have a price."""
        return super().priced() or self.price_in > 0 or self.price_out > 0


class ChatModel(Served):
    """A language model that answers by chat."""

    options: Options

    def __init__(self, card: Card, options: Options, seconds: float = SECONDS) -> None:
        super().__init__(card, options, seconds)
        self._plain_until = math.inf if options.answers == "plain" else 0.0

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        if self.card.returns not in ("label", "text"):
            raise Invalid({"returns": "A chat model answers with a label or a text."})
        prompt.check(self.card, self.options.prompt)
        prompt.check(self.card, self.options.system, "options.system")

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output for the one input."""
        (inputs,) = batch
        return [self._tried(lambda structured: self._answer(inputs, structured))]

    def compose(self, messages: Messages, schema: Mapping[str, Any]) -> tuple[str, float]:
        """Return the model's reply to the messages, and its cost.

        The reply is an object of the JSON `schema` where the server takes schemas. The text is empty where the
        model wrote none. The cost is the highest possible one where the server does not state it.
        Raises `Unavailable`.
        """

        def write(structured: bool) -> tuple[str, float]:
            body = self._body(messages) | (_formatted(schema) if structured else {})
            choice, _document, _said, cost = self._called(messages, body)
            return _text(choice) or "", self._most(messages) if cost is None else cost

        return self._tried(write)

    def stream(self, messages: Messages, max_tokens: int | None = None) -> Iterator[str]:
        """Yield the model's reply to the messages, piece by piece; raises as `predict` does, also in the middle."""
        most = min(max_tokens or self.options.max_tokens, self.options.max_tokens)
        body = self._body(messages) | {"stream": True, self.options.limit: most}
        if self.options.priced():
            body["stream_options"] = {"include_usage": True}
        with self.paid(self._most(messages)) as bill, self.endpoint.stream("/chat/completions", body) as parts:
            for event in events.documents(parts, self.endpoint.host):
                if usage := _usage(event):
                    bill.cost = self._cost(usage)
                if piece := _piece(event):
                    yield piece

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """Its next reply; what the options say it is told first stands before the messages."""
        told = self.options.system
        first = [{"role": "system", "content": told}] if told and messages[0]["role"] != "system" else []
        yield from self.stream([*first, *messages], max_tokens)

    def probe(self) -> str:
        """Return the server's name for the model, from its page of the model.

        The name is empty for a server without such a page.
        """
        try:
            told = self.endpoint.json("GET", f"/models/{segment(self.options.model)}")
        except Complaint as complaint:
            if complaint.remote_status not in (404, 405, 500, 501):
                raise
            return ""  # it answers; not every server has such pages
        return str(told.get("id") or "") if isinstance(told, Mapping) else ""

    def _tried(self, ask: Callable[[bool], Reply]) -> Reply:
        """Return the reply of `ask` with a schema, or without one for a while after the server refused schemas."""
        if time.monotonic() < self._plain_until:
            return ask(False)
        try:
            return ask(True)
        except Complaint as complaint:
            if self.options.answers == "json" or complaint.remote_status not in (400, 422, 501):
                raise
        self._plain_until = time.monotonic() + SCHEMAS_AGAIN
        try:
            reply = ask(False)
        except Complaint:
            self._plain_until = 0.0  # it was not the schema that it complained about
            raise
        log.info("%s: the server takes no schemas, answers are read as plain text", self.card.name)
        return reply

    def _answer(self, inputs: Inputs, structured: bool) -> Output:
        messages = self._messages(inputs)
        body = self._body(messages) | (_formatted(written.schema(self.card)) if structured else {})
        if self.options.probabilities and self.card.returns == "label":
            body |= {"logprobs": True, "top_logprobs": odds.MOST}
        return self._read(*self._called(messages, body), structured)

    def _called(self, messages: Messages, body: Mapping[str, Any]) -> _Called:
        """One request: the choice, its document, tokens and, as far as that is known, the cost."""
        with self.paid(self._most(messages)) as bill:
            document = self.endpoint.json("POST", "/chat/completions", body)
            usage = _usage(document)
            if usage:
                bill.cost = self._cost(usage)
        return _choice(document), document, usage, bill.cost

    def _read(
        self, choice: Mapping[str, Any], document: Any, usage: Mapping[str, int], cost: float | None, structured: bool
    ) -> Output:
        text = _text(choice)
        if text is None:
            message = choice.get("message")
            refusal = message.get("refusal") if isinstance(message, Mapping) else None
            raise Broken(f"{self.card.name} wrote no text{f' but refused: {refusal!s:.120}' if refusal else ''}.")
        if choice.get("finish_reason") == "length" and self.card.returns == "label":
            raise Broken(
                f"{self.card.name} was cut off after {self.options.max_tokens} tokens: allow more `max_tokens`."
            )
        if structured:
            answer: str = written.structured(self.card, text)
        else:
            answer = written.output(self.card, text).answer[self.card.answer]
        extras: dict[str, Any] = {"generated": text}
        if usage:
            extras["tokens"] = dict(usage)
        if cost is not None:
            extras["cost"] = cost
        start = text.lower().rfind(answer.lower())
        known = odds.probabilities(self.card, choice, start) if self.options.probabilities else None
        version = document.get("system_fingerprint") or document.get("model")
        return self.noted(Output({self.card.answer: answer}, known, extras), version)

    def _messages(self, inputs: Inputs) -> list[dict[str, Any]]:
        text = prompt.filled(self.options.prompt or prompt.plain(self.card), self.card, inputs)
        pictures = [{"type": "image_url", "image_url": {"url": inputs[name]}} for name in self.card.images]
        content = [{"type": "text", "text": text}, *pictures] if pictures else text
        told = prompt.filled(self.options.system, self.card, inputs)
        first = [{"role": "system", "content": told}] if told else []
        return [*first, {"role": "user", "content": content}]

    def _body(self, messages: Messages) -> dict[str, Any]:
        body = {"model": self.options.model, "messages": list(messages), self.options.limit: self.options.max_tokens}
        if self.options.temperature is not None:
            body["temperature"] = self.options.temperature
        return body if self.options.seed is None else body | {"seed": self.options.seed}

    def _most(self, messages: Messages) -> float:
        """Return the highest possible cost of an answer: a token has at least one byte of text."""
        texts = packed([_without_pictures(message) for message in messages])
        pictures = PICTURE * len(self.card.images)
        return self._cost({"in": len(texts) + OVERHEAD * len(messages) + pictures, "out": self.options.max_tokens})

    def _cost(self, usage: Mapping[str, int]) -> float:
        by_token = (usage["in"] * self.options.price_in + usage["out"] * self.options.price_out) / MILLION
        return self.options.price_per_call + by_token


def _choice(document: Any) -> Mapping[str, Any]:
    choices = document.get("choices") if isinstance(document, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise Broken("The chat API answered without `choices`.")
    return choices[0]


def _text(choice: Mapping[str, Any]) -> str | None:
    message = choice.get("message")
    text = message.get("content") if isinstance(message, Mapping) else None
    return text if isinstance(text, str) else None


def _formatted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a request that asks for an object of this schema."""
    named = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _piece(event: Any) -> str:
    choices = event.get("choices") if isinstance(event, Mapping) else None
    delta = (
        choices[0].get("delta") if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else None
    )
    piece = delta.get("content") if isinstance(delta, Mapping) else None
    return piece if isinstance(piece, str) else ""


def _usage(document: Any) -> dict[str, int]:
    """Tokens read and written, `{in, out}`; empty where the server does not say."""
    usage = document.get("usage") if isinstance(document, Mapping) else None
    if not isinstance(usage, Mapping):
        return {}
    read, wrote = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(read) is not int or type(wrote) is not int or not 0 <= read < 10**9 or not 0 <= wrote < 10**9:
        return {}
    return {"in": read, "out": wrote}


def _without_pictures(message: Mapping[str, Any]) -> Any:
    content = message.get("content")
    return [part for part in content if part.get("type") == "text"] if isinstance(content, list) else content
