"""One simulated round: people write against the real targets and check each other's examples, day by day."""

import asyncio
import random
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from dynabench.collection import playing
from dynabench.collection import service as collection
from dynabench.collection.schemas import ExampleIn
from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.models.client import Host
from dynabench.people.accounts.tables import Person
from dynabench.stats.verdict import Verdict
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice
from dynabench.validation import places
from dynabench.validation import service as validation
from dynabench.validation.service import Ballot
from experiments.demo_history.claims import Claim, ClaimBank
from experiments.demo_history.clock import SimulatedClock
from experiments.demo_history.people import EXPLAINS, FLAGS, PEOPLE, SKIPS, WITHDRAWALS, DemoPerson

ATTEMPTS = 3
"""Texts that an author tries on one context before taking another."""
MISSES = 400
"""Hand-outs without a fitting text in a row after which writing ends."""
RESERVED_SECONDS = 600


@dataclass(frozen=True)
class RoundPlan:
    """The size of a simulated round: until so many examples are verified or written, over so many days.

    With `leave` the last so many examples keep waiting for votes.
    """

    verified: int
    most: int
    start: datetime
    days: int
    leave: int = 0


@dataclass
class RoundPlayer:
    """Plays one task's rounds; `answers` tells the right answer and the claim of each example by id."""

    db: Database
    host: Host
    clock: SimulatedClock
    config: TaskConfig
    bank: ClaimBank
    context_field: str
    people: dict[str, Person]
    rng: random.Random
    report: Callable[[str], None]
    answers: dict[int, tuple[dict[str, Any], Claim]] = field(default_factory=dict)
    written: int = 0

    @property
    def task(self) -> str:
        """The id of the task."""
        return self.config.id

    async def play(self, plan: RoundPlan, round_id: int) -> None:
        """Simulate the open round to its end."""
        day, missed = 0, 0
        self.written = 0
        per_day = max(1, round(plan.most / plan.days))
        while self.written < plan.most and missed < MISSES and day < 3 * plan.days:
            morning = plan.start + timedelta(days=day)
            busy = 0.3 if morning.weekday() >= 5 else 1.15
            self.clock.move_to(morning + timedelta(hours=self.rng.uniform(6.5, 9.5)))
            for _ in range(max(0, round(self.rng.gauss(per_day * busy, per_day * 0.35)))):
                if self.written >= plan.most or missed >= MISSES:
                    break
                self.clock.advance(self.rng.expovariate(1 / 700.0))
                missed = 0 if await self._write() else missed + 1
            if self.written < plan.most or not plan.leave:
                self.clock.move_to(morning + timedelta(hours=self.rng.uniform(17, 19)))
                self._check(round_id)
            day += 1
            if self._verified(round_id) >= plan.verified:
                break
        if not plan.leave:
            self._check(round_id)
            self._check(round_id)
        verified = self._verified(round_id)
        self.report(f"{self.task}: {self.written} examples, {verified} verified, until {self.clock.moment:%d %b}")

    def _verified(self, round_id: int) -> int:
        statement = select(func.count()).select_from(Standing).where(
            Standing.round_id == round_id, Standing.fooled.is_(True), Standing.verdict == Verdict.CORRECT
        )  # fmt: skip
        return self.db.read(lambda session: session.scalar(statement) or 0)

    async def _write(self) -> bool:
        """Let somebody take a context and try up to `ATTEMPTS` texts on it; whether anything was written."""
        author = self.rng.choices(PEOPLE, [person.writes for person in PEOPLE])[0]
        person = self.people[author.name]
        handout = await playing.hand_out(self.db, self.host, person, self.task)
        context = str(handout.values.get(self.context_field, "")) if self.context_field else ""
        slips = self.rng.random() < author.slips
        goal = handout.goal if not slips else None
        candidates = self.bank.candidates(context, goal, self.rng)
        if slips and handout.goal:
            candidates = [claim for claim in candidates if claim.answer != handout.goal]
        wrote = False
        for claim in candidates[: self.rng.choice((1, 2, ATTEMPTS))]:
            self.bank.take(claim)
            claimed = self._claimed(claim, handout.goal, context, slips)
            self.clock.advance(self._seconds(author, claim))
            body = ExampleIn(context_id=handout.id, handout=handout.handout, input=claim.input, answer=claimed)
            played = await self._played(person, body)
            wrote = True
            self.written += 1
            self.answers[played.id] = (claim.answer, claim)
            self._afterwards(person, played.id, claim, fooled=bool(played.fooled))
            if played.fooled:
                break
        return wrote

    async def _played(self, person: Person, body: ExampleIn) -> Any:
        key = f"demo-{self.task}-{self.rng.getrandbits(64):x}"
        for _ in range(60):
            try:
                return (await playing.play(self.db, self.host, person, self.task, body, key)).outcome
            except errors.Unavailable:
                await asyncio.sleep(1)
        raise TimeoutError("the targets do not answer")

    def _claimed(self, claim: Claim, goal: dict[str, Any] | None, context: str, slips: bool) -> dict[str, Any]:
        """The answer that the author claims, which is a wrong one where they slip."""
        return goal or (wrong_answer(self.config, claim.answer, context, self.rng) if slips else claim.answer)

    def _seconds(self, author: DemoPerson, claim: Claim) -> float:
        length = sum(len(str(value)) for value in claim.input.values())
        return author.speed * (0.5 + length / 120) * self.rng.lognormvariate(0, 0.45)

    def _afterwards(self, person: Person, example_id: int, claim: Claim, *, fooled: bool) -> None:
        if fooled and self.rng.random() < EXPLAINS:
            values = {"why_fooled": f"{claim.phenomenon[0].upper()}{claim.phenomenon[1:]}."}
            if claim.why:
                values["why_correct"] = claim.why
            self.clock.advance(self.rng.uniform(10, 60))
            with suppress(errors.Invalid):  # a task may ask for more
                self.db.write(collection.explain, person, example_id, values)
        elif self.rng.random() < WITHDRAWALS:
            self.db.write(collection.retract, person, example_id)

    def _check(self, round_id: int) -> None:
        """Let people check what waits, each until nothing is left for them."""
        checkers = sorted(PEOPLE, key=lambda person: self.rng.random() / person.checks)
        for checker in [*checkers[:7]]:
            person = self.people[checker.name]
            while (item := self.db.write(places.next_item, person, self.task, seconds=RESERVED_SECONDS)) is not None:
                self.clock.advance(self.rng.uniform(8, 70))
                if self.rng.random() < SKIPS:
                    self.db.write(validation.skip, person, item.example_id)
                    continue
                self.db.write(validation.vote, person, item.example_id, self._ballot(checker, item))

    def _ballot(self, checker: DemoPerson, item: places.CheckItem) -> Ballot:
        right, _ = self.answers[item.example_id]
        context = str(item.context.get(self.context_field, ""))
        careful = self.rng.random() < checker.accuracy
        wrong = wrong_answer(item.config, right, context, self.rng)
        if self.rng.random() < FLAGS:
            return Ballot(vote="flagged")
        if item.mode == "answer":
            return Ballot(answer=right if careful else wrong)
        if item.answer is None:
            raise ValueError("a claim is judged that is not shown")
        agrees = _texts(item.answer) == _texts(right)
        vote = "correct" if agrees == careful else "incorrect"
        return Ballot(vote=vote, values=_correction(item, wrong if agrees else right) if vote == "incorrect" else {})


def wrong_answer(config: TaskConfig, right: dict[str, Any], context: str, rng: random.Random) -> dict[str, Any]:
    """Return another answer than the right one: another label, or another word of the context."""
    field = config.answer[0]
    if isinstance(field, Choice):
        return {field.name: rng.choice([option.value for option in field.options if option.value != right[field.name]])}
    matches = [match for match in re.finditer(r"[A-Z0-9]\w{3,}", context) if match.group() not in str(right)]
    match = rng.choice(matches)
    return {field.name: [{"start": match.start(), "end": match.end(), "text": match.group()}]}


def _texts(answer: dict[str, Any]) -> list[Any]:
    """The answer without the places of its spans."""
    return [[span["text"] for span in value] if isinstance(value, list) else value for value in answer.values()]


def _correction(item: places.CheckItem, answer: dict[str, Any]) -> dict[str, Any]:
    names = {question.name for question in item.config.validation.ask}
    return {f"corrected_{name}": value for name, value in answer.items() if f"corrected_{name}" in names}
