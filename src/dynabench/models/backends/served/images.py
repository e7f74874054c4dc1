"""Models that draw, behind an API of OpenAI's protocol for images (`POST /images/generations`)."""

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.outgoing import HttpReply, Interrupted, RefusedAddress
from dynabench.models import pictures
from dynabench.models.backends.served import answers
from dynabench.models.backends.served.base import EndpointOptions, Served
from dynabench.models.backends.served.endpoint import Complaint, segment
from dynabench.models.protocol import Inputs, ModelOutput
from dynabench.models.validity import Broken

LARGEST = 4 * 2**20
"""Bytes of a picture at most."""
BESIDE = 2**16
"""Bytes of what an answer may say beside each picture."""
DARK = 8
"""A picture of which no point is brighter than this, of 255, shows nothing."""
UNTOLD = ("", "application/octet-stream", "binary/octet-stream")
"""Content types that leave open what is sent."""


class Withheld(Unavailable):
    """The server drew nothing but black pictures, as safety filters do in the place of what they withhold."""


class DrawingOptions(EndpointOptions):
    """Options of a model that draws: its name, the pictures (number and size), how they are sent, and prices."""

    model: str = Field(min_length=1, description="Its name there.")
    prompt: str = Field("", description="The template: {field} stands for an input; the inputs themselves without one.")
    pictures: int = Field(4, ge=1, le=8, description="Pictures that are drawn of a prompt.")
    per_call: int = Field(8, ge=1, le=8, description="Pictures of one request at most; some models draw one at a time.")
    size: str = Field("1024x1024", pattern=r"^([1-9]\d{1,3}x[1-9]\d{1,3}|auto)?$", description="Width x height.")
    answers: Literal["b64_json", "url", ""] = Field(
        "b64_json", description="`response_format`: in the answer, or an address; empty where it is not to be sent."
    )
    parameters: dict[str, str | int | float | bool] = Field({}, max_length=20, description="What else is sent.")
    price_per_picture: float = Field(0.0, ge=0, description="What a picture costs.")
    cache: bool = Field(False, description="Keep the pictures of a prompt, so that it is drawn once.")

    def priced(self) -> bool:
        """Return whether calls or pictures have a price."""
        return super().priced() or self.price_per_picture > 0


class DrawingModel(Served):
    """A model that draws several pictures of a prompt."""

    options: DrawingOptions

    def fits(self) -> None:
        """Raise `Invalid` where options and card do not fit each other."""
        super().fits()
        if self.card.returns != "pictures" or self.card.images:
            raise Invalid({"returns": "A model that draws reads texts and returns pictures."})
        if self.card.seconds is None:
            raise Invalid({"seconds": "Say how long drawing may take, such as seconds: 60."})
        answers.check_prompt(self.card, self.options.prompt)

    def ask(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output for the one input: its pictures, as `data:` texts."""
        (inputs,) = batch
        until = time.monotonic() + self.endpoint.seconds
        template = self.options.prompt or "\n".join(f"{{{name}}}" for name in self.card.inputs)
        documents, cost = self._documents(answers.fill_prompt(template, self.card, inputs).strip())
        sent = [entry for document, count in documents for entry in self._entries(document, count)]
        drawn = [text for entry in sent if (text := self._picture(entry, until))]
        if not drawn:
            raise Withheld(f"{self.card.name} drew nothing but black, as filters do instead. Reword the prompt.")
        extras = {} if cost is None else {"cost": cost}
        return [ModelOutput({self.card.answer: drawn}, None, extras)]

    def probe(self) -> str:
        """Return the version that the server gives for the model.

        A server without such a page answers, and counts as ready; its version is empty.
        """
        try:
            document = self.endpoint.json("GET", f"/models/{segment(self.options.model)}")
        except Complaint as complaint:
            if complaint.remote_status not in (404, 405):
                raise
            return ""
        return str(document.get("created") or "")[:100] if isinstance(document, Mapping) else ""

    def _documents(self, text: str) -> tuple[list[tuple[Any, int]], float | None]:
        """Return the server's answers, each with the number of pictures requested, and the cost of all."""
        whole, rest = divmod(self.options.pictures, self.options.per_call)
        counts = [self.options.per_call] * whole + [rest] * (rest > 0)
        prices = [self.options.price_per_call + count * self.options.price_per_picture for count in counts]
        with self.paid(sum(prices)) as bill, ThreadPoolExecutor(min(len(counts), self.options.at_once)) as threads:
            calls = [threads.submit(self._drawn, text, count) for count in counts]
            wait(calls)
            failures = [error for call in calls if (error := call.exception())]
            if not all(map(_free, failures)):
                raise failures[0]  # all stays reserved: what was drawn is not known
            bill.cost = sum(price for price, call in zip(prices, calls, strict=True) if not call.exception())
            if failures:
                raise failures[0]
        cost = bill.cost if self.options.priced() else None
        return [(call.result(), count) for call, count in zip(calls, counts, strict=True)], cost

    def _drawn(self, text: str, count: int) -> Any:
        body = {**self.options.parameters, "model": self.options.model, "prompt": text, "n": count}
        body |= {"size": self.options.size} if self.options.size else {}
        body |= {"response_format": self.options.answers} if self.options.answers else {}
        return self.endpoint.json("POST", "/images/generations", body, most=count * (LARGEST * 4 // 3 + BESIDE))

    def _entries(self, document: Any, count: int) -> list[Mapping[str, Any]]:
        entries = document.get("data") if isinstance(document, Mapping) else None
        if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
            raise Broken(f"{self.endpoint.host} answered without a list of pictures, `data`.")
        if len(entries) != count:
            hint = "; where it draws fewer at a time, say so as `per_call`" if len(entries) < count else ""
            raise Broken(f"{self.endpoint.host} was asked for {count} pictures and sent {len(entries)}{hint}.")
        return entries

    def _picture(self, entry: Mapping[str, Any], until: float) -> str:
        """A picture as `data:` text, empty for a black one; raises `Broken` or `RefusedAddress` for what is none."""
        packed, url = entry.get("b64_json"), entry.get("url")
        if isinstance(packed, str):
            content = self._unpacked(packed)
        elif isinstance(url, str):
            content = self._fetched(url, until)
        else:
            raise Broken(f"{self.endpoint.host} sent an entry with neither `b64_json` nor `url`.")
        kind = pictures.picture_type(content)
        if not kind:
            raise Broken(f"{self.endpoint.host} sent something that is no PNG, JPEG or WebP picture.")
        text = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        try:
            brightest = pictures.open_picture(text, self.card.answer).convert("L").getextrema()[1]
        except Invalid as problem:
            raise Broken(f"{self.endpoint.host}: {' '.join(problem.fields.values())}") from problem
        return text if isinstance(brightest, int) and brightest > DARK else ""

    def _unpacked(self, packed: str) -> bytes:
        if len(packed) > LARGEST * 4 // 3 + 4:
            raise Broken(f"{self.endpoint.host} sent a picture of more than {LARGEST // 2**20} MiB.")
        try:
            return base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError) as error:
            raise Broken(f"{self.endpoint.host} sent `b64_json` that is no base64.") from error

    def _fetched(self, url: str, until: float) -> bytes:
        reply = self.endpoint.fetch(url, max(until - time.monotonic(), 0.001), LARGEST)
        if problem := _no_picture(reply):
            raise Broken(f"{self.endpoint.host} named an address at {urlsplit(url).hostname} that {problem}.")
        return reply.body


def _no_picture(reply: HttpReply) -> str:
    if reply.status != 200:
        return f"answers with status {reply.status}"
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    return "" if kind.startswith("image/") or kind in UNTOLD else f"holds {kind[:60]}, no picture"


def _free(error: BaseException) -> bool:
    """Return whether a call that failed with this error drew nothing."""
    return isinstance(error, Unavailable) and not isinstance(error, Interrupted | RefusedAddress)
