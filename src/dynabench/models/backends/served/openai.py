"""Language models behind an OpenAI-compatible chat API."""

import json
import logging
import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field

from dynabench.kit.errors import Invalid
from dynabench.kit.outgoing import Interrupted
from dynabench.models.backends.served import answers
from dynabench.models.backends.served.base import SECONDS, EndpointOptions, Served
from dynabench.models.backends.served.endpoint import Complaint, packed, segment
from dynabench.models.protocol import Inputs, Message, ModelCard, ModelOutput
from dynabench.models.validity import Broken

LONGEST = 2**20
"""Bytes of one line."""
END = b"[DONE]"


def documents(parts: Iterable[bytes], host: str) -> Iterator[Any]:
    """The document of each event up to the end mark.

    Raises `Interrupted` for lines that are none, and at an end without the mark or a choice with a reason to finish.
    """
    finished = False
    for line in _lines(parts, host):
        name, _, value = line.partition(b":")
        if name != b"data":
            continue  # comments keep connections open; other fields say nothing here
        value = value.strip()
        if value == END:
            return
        try:
            document = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise Interrupted(f"{host} streams something that is no JSON.") from error
        if isinstance(document, dict) and document.get("error"):
            raise Interrupted(f"{host} broke its answer off with an error.")
        finished = finished or _finished(document)
        yield document
    if not finished:
        raise Interrupted(f"{host} broke its answer off.")


def _finished(document: Any) -> bool:
    choices = document.get("choices") if isinstance(document, dict) else None
    return isinstance(choices, list) and any(
        isinstance(choice, dict) and choice.get("finish_reason") for choice in choices
    )


def _lines(parts: Iterable[bytes], host: str) -> Iterator[bytes]:
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).replace(b"\r\n", b"\n").split(b"\n")
        yield from lines
        if len(rest) > LONGEST:
            raise Interrupted(f"{host} streams a line without an end.")
    yield rest


MOST = 20
"""Alternatives that chat APIs tell for a token at most."""
UNCLEAR = 0.01
"""Share of the alternatives that may fit several options and be left out."""


def probabilities(card: ModelCard, choice: Mapping[str, Any], start: int) -> dict[str, float] | None:
    """The options' shares of what might have stood where the answer starts, in characters of the text, by label.

    A token counts for the one option that it begins, or that begins it. None where nothing can be told: without
    log-probabilities, or where more than `UNCLEAR` of them fits several options, as `not` fits `not sure` and `not
    true`. Options that are not among the alternatives have less than the least of these, and get 0.
    """
    at = 0
    for token in _tokens(choice):
        end = at + len(token["token"])
        if at <= start < end:
            return _shares(card, token, start - at)
        at = end
    return None


def _shares(card: ModelCard, token: Mapping[str, Any], lead: int) -> dict[str, float] | None:
    shares = dict.fromkeys(card.labels, 0.0)
    unclear = 0.0
    for other, logprob in _alternatives(token):
        alternative = (other[lead:] if other.startswith(token["token"][:lead]) else other).strip(" \"'").casefold()
        fitting = [label for label in card.labels if alternative and _begins(alternative, label.casefold())]
        if len(fitting) == 1:
            shares[fitting[0]] += math.exp(logprob)
        elif fitting:
            unclear += math.exp(logprob)
    total = sum(shares.values())
    if total <= 0 or unclear > UNCLEAR * total:
        return None
    return {label: share / total for label, share in shares.items()}


def _begins(text: str, label: str) -> bool:
    return label.startswith(text) or text.startswith(label)


def _tokens(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    tokens = content if isinstance(content, list) else []
    fine = all(isinstance(token, Mapping) and isinstance(token.get("token"), str) for token in tokens)
    return tokens if fine else []


def _alternatives(token: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Texts and log-probabilities of what might have stood there; a text that is told twice counts twice."""
    alternatives = token.get("top_logprobs")
    for other in alternatives if isinstance(alternatives, list) else []:
        value = other.get("logprob") if isinstance(other, Mapping) else None
        if isinstance(value, int | float) and -1e9 < value <= 0 and isinstance(other.get("token"), str):
            yield other["token"], float(value)


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


class ChatOptions(EndpointOptions):
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

    options: ChatOptions

    def __init__(self, card: ModelCard, options: ChatOptions, seconds: float = SECONDS) -> None:
        super().__init__(card, options, seconds)
        self._plain_until = math.inf if options.answers == "plain" else 0.0

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        if self.card.returns not in ("label", "text"):
            raise Invalid({"returns": "A chat model answers with a label or a text."})
        answers.check_prompt(self.card, self.options.prompt)
        answers.check_prompt(self.card, self.options.system, "options.system")

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
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
            choice, _document, _token_counts, cost = self._called(messages, body)
            return _text(choice) or "", self._most(messages) if cost is None else cost

        return self._tried(write)

    def stream(self, messages: Messages, max_tokens: int | None = None) -> Iterator[str]:
        """Yield the model's reply to the messages, piece by piece; raises as `predict` does, also in the middle."""
        most = min(max_tokens or self.options.max_tokens, self.options.max_tokens)
        body = self._body(messages) | {"stream": True, self.options.limit: most}
        if self.options.priced():
            body["stream_options"] = {"include_usage": True}
        with self.paid(self._most(messages)) as bill, self.endpoint.stream("/chat/completions", body) as parts:
            for event in documents(parts, self.endpoint.host):
                if usage := _usage(event):
                    bill.cost = self._cost(usage)
                if piece := _piece(event):
                    yield piece

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """Its next reply; what the options say it is told first stands before the messages."""
        system = self.options.system
        first = [{"role": "system", "content": system}] if system and messages[0]["role"] != "system" else []
        yield from self.stream([*first, *messages], max_tokens)

    def probe(self) -> str:
        """Return the server's name for the model, from its page of the model.

        The name is empty for a server without such a page.
        """
        try:
            document = self.endpoint.json("GET", f"/models/{segment(self.options.model)}")
        except Complaint as complaint:
            if complaint.remote_status not in (404, 405, 500, 501):
                raise
            return ""  # it answers; not every server has such pages
        return str(document.get("id") or "") if isinstance(document, Mapping) else ""

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

    def _answer(self, inputs: Inputs, structured: bool) -> ModelOutput:
        messages = self._messages(inputs)
        body = self._body(messages) | (_formatted(answers.answer_schema(self.card)) if structured else {})
        if self.options.probabilities and self.card.returns == "label":
            body |= {"logprobs": True, "top_logprobs": MOST}
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
    ) -> ModelOutput:
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
            answer: str = answers.read_structured(self.card, text)
        else:
            answer = answers.read_written(self.card, text).answer[self.card.answer]
        extras: dict[str, Any] = {"generated": text}
        if usage:
            extras["tokens"] = dict(usage)
        if cost is not None:
            extras["cost"] = cost
        start = text.lower().rfind(answer.lower())
        label_shares = probabilities(self.card, choice, start) if self.options.probabilities else None
        version = document.get("system_fingerprint") or document.get("model")
        return self.record_version(ModelOutput({self.card.answer: answer}, label_shares, extras), version)

    def _messages(self, inputs: Inputs) -> list[dict[str, Any]]:
        text = answers.fill_prompt(self.options.prompt or answers.plain_prompt(self.card), self.card, inputs)
        pictures = [{"type": "image_url", "image_url": {"url": inputs[name]}} for name in self.card.images]
        content = [{"type": "text", "text": text}, *pictures] if pictures else text
        system = answers.fill_prompt(self.options.system, self.card, inputs)
        first = [{"role": "system", "content": system}] if system else []
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
