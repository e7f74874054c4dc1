"""A study whose 1,000 workers arrive within a minute, over HTTP: none loses work, and none is paid twice.

Each worker comes from the platform's address, agrees, writes one example, finishes, and reads the completion code. As
people do, some open the study twice, send their form twice, or come back in another browser. Everybody clicks the last
button twice. Then the owner approves all and pays, each act twice.
"""

import asyncio
import itertools
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from benchmarks import annotators, loop
from benchmarks.row import Row
from benchmarks.running import platform, settle
from dynabench.client import Client

WORKERS, ARRIVAL_SECONDS = 1000, 60.0
BOOKING_SECONDS, PATIENCE = 300.0, 60
BUSY = frozenset({429, 503})
LOST = httpx2.TransportError
CONSENT = "We keep your texts. Write to crowd@example.org."
SCHEME = {"currency": "USD", "per_example": "0.50"}
HIDDEN = re.compile(r'<input type="hidden" name="([\w.-]+)"[^>]*? value="([^"]*)"')
CODE = re.compile(r"<code[^>]*>([A-Z2-9]{10})</code>")


@dataclass
class Journeys:
    """The results of all workers: completion codes by worker, milliseconds of pages and of examples, and surprises."""

    codes: dict[str, str] = field(default_factory=dict)
    pages: list[float] = field(default_factory=list)
    examples: list[float] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    retried: int = 0
    seconds: float = 0.0


class VisitingWorker:
    """A worker with a browser: cookies, forms as the pages have them, and patience where the platform is busy."""

    def __init__(self, base: str, entry: str, number: int, seen: Journeys) -> None:
        self.base, self.number, self.seen = base, number, seen
        self.page = "/" + entry.partition("//")[2].partition("/")[2]
        self.browser = self.new_browser()

    def new_browser(self) -> httpx2.AsyncClient:
        """A browser without cookies, at an address of the worker's own, as an address may hold few connections."""
        address = f"127.{1 + self.number // 250}.{self.number % 250}.1"
        transport = httpx2.AsyncHTTPTransport(local_address=address)
        return httpx2.AsyncClient(base_url=self.base, transport=transport, timeout=120, follow_redirects=True)

    async def request(self, method: str, path: str, times: list[float], **how: Any) -> str:
        """The text of the answer; a busy platform or model is tried again when it says so, as its page does."""
        for turn in itertools.count():
            begun = time.perf_counter()
            try:
                answer = await self.browser.request(method, path, **how)
            except LOST:
                if turn == PATIENCE:
                    raise
                answer = None
            if answer is not None and answer.status_code not in BUSY and "Retry-After" not in answer.headers:
                times.append((time.perf_counter() - begun) * 1000)
                answer.raise_for_status()
                return answer.text
            if turn == PATIENCE and answer is not None:
                answer.raise_for_status()
            self.seen.retried += 1
            if answer is not None and answer.history:  # what led there is done: the page that was busy renews itself
                method, path, how = "GET", str(answer.url), {}
            await asyncio.sleep(float(answer.headers.get("Retry-After", 1)) if answer is not None else 1.0)
        raise AssertionError("the turns never end")

    async def visit(self, path: str, **parameters: str) -> str:
        """The text of a page."""
        return await self.request("GET", path, self.seen.pages, params=parameters or None)

    async def arrive(self) -> str:
        """Come from the platform's address; every fourth worker opens it in two tabs at once."""
        tabs = 2 if self.number % 4 == 0 else 1
        texts = await asyncio.gather(*(self.visit(self.page, participantId=f"w{self.number}") for _ in range(tabs)))
        return texts[-1] if tabs == 1 else await self.visit(self.page)

    async def write(self) -> None:
        """Write one example; every third worker sends the form twice."""
        fields = _fields(await self.visit("/tasks/nli/create"))
        fields["input.hypothesis"] = loop.hypothesis(self.number)
        for _ in range(2 if self.number % 3 == 0 else 1):
            await self.request("POST", "/tasks/nli/create", self.seen.examples, data=fields)

    async def go_on(self) -> str:
        """The study's page; every fifth worker has closed the browser and comes anew from the platform."""
        if self.number % 5:
            return await self.visit(self.page)
        await self.browser.aclose()
        self.browser = self.new_browser()
        return await self.visit(self.page, participantId=f"w{self.number}")

    async def take_part(self) -> None:
        """The whole way, with two clicks on the last button at the same time."""
        fields = _fields(await self.arrive())
        agreed = {"csrf": fields["csrf"], "consent": fields["consent"]}
        await self.request("POST", f"{self.page}/consent", self.seen.pages, data=agreed)
        await self.write()
        sent = {"csrf": _fields(await self.go_on())["csrf"]}
        clicks = (self.request("POST", f"{self.page}/finish", self.seen.pages, data=sent) for _ in range(2))
        await asyncio.gather(*clicks)
        code = CODE.search(await self.visit(self.page))
        self.seen.codes[f"w{self.number}"] = code[1] if code else ""


def _fields(text: str) -> dict[str, str]:
    """The hidden fields of a page's forms."""
    return dict(HIDDEN.findall(text))


async def simulate(base: str, entry: str, workers: int, seconds: float) -> Journeys:
    """Let workers arrive evenly over some seconds, whatever the platform does, and wait until each has ended."""
    seen = Journeys()
    begun = time.perf_counter()

    async def come(number: int) -> None:
        await asyncio.sleep(number * seconds / workers)
        worker = VisitingWorker(base, entry, number, seen)
        try:
            await worker.take_part()
        except (LOST, httpx2.HTTPStatusError, KeyError) as problem:
            seen.surprises.append(f"w{number}: {problem!r}")
        finally:
            await worker.browser.aclose()

    await asyncio.gather(*(come(number) for number in range(workers)))
    seen.seconds = time.perf_counter() - begun
    return seen


@contextmanager
def recruiting(home: Path, **settings: str) -> Iterator[tuple[Client, int, str]]:
    """A platform with a paid round and a published study: the owner's client, the study's id, the entry address."""
    url = settings.get("database_url", f"sqlite:///{home}/dynabench.sqlite")
    with platform(home, **settings) as base:
        token, *_others = annotators.furnish(url)
        annotators.open_round(base, token)
        with Client(base, token, timeout=120) as owner:
            owner.set_pay_scheme("nli", 1, SCHEME)
            owner.save_consent_text("nli", CONSENT)
            work = {"examples": 1, "votes": 0, "minutes": 5}
            study = owner.draft_study("nli", 1, "Fool a model", work=work)["id"]
            yield owner, study, owner.move_study("nli", study, "published")["entry"]


def pay_all(owner: Client, study: int, workers: int) -> Counter[tuple[int, str, str]]:
    """Approve all who finished and pay them, each act twice; returns the ledger's lines by person, amount, state."""
    waiting = [part["id"] for part in owner.participants("nli", study) if part["state"] == "finished"]
    for participant in waiting * 2:
        owner.decide_participant("nli", study, participant, True)
    begun = time.monotonic()
    while len(list(owner.payments("nli", 1))) < workers and time.monotonic() - begun < BOOKING_SECONDS:
        owner.request("POST", "/tasks/nli/rounds/1/pay/booking")
        time.sleep(2)
    people = sorted({line["person_id"] for line in owner.payments("nli", 1)})
    for _ in range(2):
        owner.decide_payments("nli", 1, "approve", people=people)
    for _ in range(2):
        owner.decide_payments("nli", 1, "paid", people=people, reference="transfer-1")
    return Counter((line["person_id"], line["amount"], line["state"]) for line in owner.payments("nli", 1))


def differences(owner: Client, study: int, workers: int, seen: Journeys) -> list[str]:
    """Everything in which the platform's books differ from what the workers did and were shown."""
    parts = list(owner.participants("nli", study))
    problems = list(seen.surprises)
    if {part["worker"]: part["code"] for part in parts} != seen.codes:
        problems.append("the codes that workers read are not those that the owner reads")
    if len(set(seen.codes.values())) != workers or "" in seen.codes.values():
        problems.append(f"{len(set(seen.codes.values()) - {''})} codes for {workers} workers")
    wrong = [part["worker"] for part in parts if (part["outcome"], part["examples"]) != ("completed", 1)]
    if wrong:
        problems.append(f"work of {len(wrong)} workers is lost or counted twice, such as {wrong[0]}")
    lines = pay_all(owner, study, workers)
    if set(lines.values()) != {1} or len({person for person, _amount, _state in lines}) != workers:
        problems.append(f"{sum(lines.values())} payments for {len(lines)} people")
    if {(amount, state) for _person, amount, state in lines} != {(SCHEME["per_example"], "paid")}:
        problems.append("a payment has another amount, or is not paid")
    return problems


def measure(workers: int = WORKERS, seconds: float = ARRIVAL_SECONDS, **settings: str) -> tuple[Journeys, list[str]]:
    """Run a study with so many workers on a platform of its own; returns their journeys and what is wrong."""
    with (
        tempfile.TemporaryDirectory() as home,
        recruiting(Path(home), **settings) as (owner, study, entry),
    ):
        settle()
        base = str(owner.http.base_url)
        seen = asyncio.run(simulate(base, entry, workers, seconds))
        return seen, differences(owner, study, workers, seen)


def rows() -> list[Row]:
    """Workers who keep their work and are paid once, and how long they wait."""
    seen, problems = measure()
    complete = sum(1 for code in seen.codes.values() if code)
    late, writing = (statistics.quantiles(times, n=20)[-1] for times in (seen.pages, seen.examples))
    after = seen.seconds - ARRIVAL_SECONDS
    is_kept = not problems and complete == WORKERS
    note = "; ".join(problems) or f"{len(seen.pages) + len(seen.examples):,} requests, {seen.retried} tried again"
    return [
        Row("1,000 workers of a study within a minute, finished and paid once", complete, "workers",
            budget="all", holds=is_kept, note=note),
        Row("1,000 workers, the last code after the last arrival", after, "s", budget="under 240 s", holds=after < 240),
        Row("1,000 workers, a page, p95", late, "ms", note=f"median {statistics.median(seen.pages):.0f} ms"),
        Row("1,000 workers, an example sent, p95", writing, "ms",
            note=f"median {statistics.median(seen.examples):.0f} ms"),
    ]  # fmt: skip
