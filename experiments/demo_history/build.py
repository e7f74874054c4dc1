"""Building the demo's archive: a platform of its own, rounds played on it, models trained, all of it packed."""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from dynabench.adversaries import checklist
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState
from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.registry import submissions
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.releases import planning, release_steps
from dynabench.benchmark.releases import service as releases
from dynabench.collection import seeds
from dynabench.datasets import conversions, stored
from dynabench.datasets.tables import EVALUATED, Dataset, DatasetState, Twin
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import catalog
from dynabench.models.client import Host
from dynabench.models.protocol import ModelCard
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.rules import Newcomer
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import contexts
from dynabench.rounds import planning as round_planning
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import ContextRow
from dynabench.rounds.plan import PlannedRound
from dynabench.tasks import TaskConfig
from dynabench.tasks.shipped import ShippedTask, shipped_tasks
from experiments.demo_history import models
from experiments.demo_history.clock import SimulatedClock
from experiments.demo_history.people import OWNER, PEOPLE
from experiments.demo_history.rounds import RoundPlan, RoundPlayer
from experiments.demo_history.scripts import SCRIPTS, TaskScript

START = datetime(2026, 8, 3, tzinfo=UTC)
END = datetime(2026, 11, 26, tzinfo=UTC)
"""The simulated days; the archive is dated as if it had been made at the end."""
PATIENCE = 600.0


@contextmanager
def platform(home: Path) -> Iterator[None]:
    """Run a platform on the folder, with a port of its own."""
    port = 20_000 + os.getpid() % 20_000
    env = os.environ | {"DYNABENCH_DEMO": "false"}
    with (home / "platform.log").open("w") as log:
        command = [sys.executable, "-m", "dynabench", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


@dataclass
class TaskBuilder:
    """Builds the history of one task."""

    db: Database
    settings: Settings
    host: Host
    clock: SimulatedClock
    shipped: ShippedTask
    script: TaskScript
    people: dict[str, Person]
    folder: Path
    report: Callable[[str], None]

    @property
    def task(self) -> str:
        """The id of the task."""
        return self.config.id

    @property
    def config(self) -> TaskConfig:
        """The task's shipped config."""
        return self.shipped.config

    async def build(self) -> None:
        """Make the task, play its rounds, and enter its models."""
        owner = self.people[OWNER.name]
        self.clock.moment = START - timedelta(days=3)
        self.db.write(self._add_task, owner)
        suite = next(
            (name for name in checklist.shipped_suites() if checklist.load_suite(name).task == self.task), None
        )
        if suite:
            loaded = checklist.load_suite(suite)
            self.db.write(
                conversions.add_suite, loaded, stored.write_rows(self.settings, conversions.suite_rows(loaded))
            )
        for card in self._cards():
            self._enter(owner, card)
        for name, make in self.script.baselines.items():
            self._enter(owner, models.install(self.settings, make(self.config, self.folder, name)), baseline=True)
        player = RoundPlayer(
            self.db, self.host, self.clock, self.config, self.script.bank(), self.script.context_field, self.people,
            random.Random(f"demo {self.task}"), self.report,
        )  # fmt: skip
        start = START
        for number, part in enumerate(self.script.rounds, start=1):
            last = number == len(self.script.rounds)
            start = max(start, self.clock.moment + timedelta(days=2)).replace(hour=0, minute=0)
            if last:
                start = max(start, END - timedelta(days=part.days))
            targets = [catalog.entry(name).card for name in part.targets]
            round_id = await self._open(owner, [card for card in targets if card], start)
            plan = RoundPlan(part.verified, part.most, start, part.days, leave=8 if last else 0)
            await player.play(plan, round_id)
            if last:
                break
            self.clock.advance(3600 * 5)
            self._release(owner, number)
            for name, make in part.trained.items():
                self.clock.advance(3600 * 6)
                began = time.monotonic()
                card = models.install(self.settings, make(self.config, self.folder, name))
                self.report(f"{self.task}: {name} in {time.monotonic() - began:.0f} s")
                self._enter(owner, card)

    def _cards(self) -> list[ModelCard]:
        return [entry.card for entry in catalog.find([catalog.BUILTIN]) if entry.card and entry.card.task == self.task]

    def _add_task(self, session: Any, owner: Person) -> None:
        rounds.save_task(session, None, self.script.source(self.shipped.source))
        session.add(Role(task_id=self.task, person_id=owner.id, role=TaskRole.OWNER))
        rows = [
            ContextRow(number, item["values"], item["tag"]) for number, item in enumerate(self.shipped.contexts(), 1)
        ]
        for batch in contexts.split_batches(rows):
            contexts.add_contexts(session, self.task, self.config, batch)
        for some in contexts.split_batches(seeds.rows(self.shipped.seeds())):
            seeds.add(session, self.task, self.config, some)

    def _enter(self, owner: Person, card: ModelCard, baseline: bool = False) -> None:
        if self.db.read(
            lambda session: session.scalar(submission_queries.submission_of_model(self.task, card.name, card.version))
        ):
            return

        def submit(session: Any) -> None:
            submissions.submit_installed(session, owner, self.task, card).baseline = baseline

        self.db.write(submit)

    async def _open(self, owner: Person, targets: Sequence[ModelCard], at: datetime) -> int:
        self.clock.move_to(at + timedelta(hours=6))

        def opened(session: Any) -> int:
            round_ = rounds.draft_round(session, owner, self.task, targets, "any")
            session.flush()
            if self.config.context:
                round_planning.change_plan(session, owner, self.task, round_.number, PlannedRound(sampling="uniform"))
            return rounds.open_round(session, owner, self.task, round_.number).id

        round_id = self.db.write(opened)
        for card in targets:
            await self._served(card)
        return round_id

    async def _served(self, card: ModelCard) -> None:
        """Wait until a host answers for the model."""
        until = time.monotonic() + PATIENCE
        inputs = dict.fromkeys(card.inputs, "A short text.")
        while True:
            try:
                await self.host.answer(card.name, card.version, inputs)
                return
            except errors.Unavailable:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.5)

    def _release(self, owner: Person, number: int) -> None:
        self.db.write(rounds.close_round, owner, self.task, number)
        self.clock.advance(3600 * 20)
        rules = self.db.read(releases.release_rules, self.task, number, self.script.release)
        plan = planning.plan_release(self.db, self.settings, self.task, number, rules)
        self.report(f"{self.task}: round {number} in parts {plan.report.parts}")
        for finding in plan.report.findings:
            self.report(f"  {finding.level}: {finding.text}")
        release_id = self.db.write(lambda s: releases.prepare_release(s, owner, self.task, number, rules, True).id)
        release_steps.make_release(self.db, self.settings, release_id)


def _add_people(session: Any) -> dict[str, Person]:
    people = {}
    for person in (OWNER, *PEOPLE):
        newcomer = Newcomer(person.username, f"{person.username}@demo.invalid", "")
        account = accounts.register_account(session, newcomer, "!")
        account.imported_as = person.username
        people[person.name] = account
    return people


def wait_for_evaluations(db: Database, report: Callable[[str], None]) -> None:
    """Wait until every model is scored on every dataset and its perturbed copies."""
    expected_pairs = select(func.count()).select_from(Submission).join(Dataset, Dataset.task_id == Submission.task_id)
    expected_pairs = expected_pairs.where(EVALUATED, Dataset.version_id.is_not(None), Submission.state == "ready")
    done = select(func.count()).select_from(Evaluation).where(Evaluation.state == EvaluationState.DONE)
    failed = select(Evaluation.id, Evaluation.code, Evaluation.reason).where(Evaluation.state == EvaluationState.FAILED)
    reading = select(func.count()).select_from(Twin).where(Twin.state == DatasetState.READING)
    reported, quiet = -1, 0
    while True:
        expected, finished, open_twins = db.read(
            lambda s: (s.scalar(expected_pairs), s.scalar(done), s.scalar(reading))
        )
        if broken := db.read(lambda s: s.execute(failed).all()):
            raise RuntimeError(f"evaluations failed: {broken}")
        if finished != reported:
            report(f"evaluations: {finished} of {expected}")
            reported = finished or 0
        quiet = quiet + 1 if finished == expected and not open_twins else 0
        if quiet > 5:
            return
        time.sleep(1)


async def build(tasks: Sequence[str], archive: Path, report: Callable[[str], None]) -> None:
    """Build the archive of some tasks and write it to a folder."""
    from experiments.demo_history import packing

    with tempfile.TemporaryDirectory(prefix="demo-history-") as place:
        home = Path(place)
        os.environ |= {"DYNABENCH_HOME": str(home), "DYNABENCH_DATABASE_URL": "", "DYNABENCH_SECRET": ""}
        get_settings.cache_clear()
        settings = get_settings()
        from dynabench.operations import migrations

        migrations.upgrade(settings)
        with platform(home):
            db, host = Database(settings.url), Host.of(settings)
            host.timeout = 20.0
            try:
                with SimulatedClock(START - timedelta(days=4)) as clock:
                    people = db.write(_add_people)
                    for name in tasks:
                        shipped = next(item for item in shipped_tasks() if item.config.id == name)
                        folder = home / "trained" / name
                        builder = TaskBuilder(db, settings, host, clock, shipped, SCRIPTS[name], people, folder, report)
                        await builder.build()
                wait_for_evaluations(db, report)
            finally:
                await host.close()
            report("measuring the rounds")
            packing.measure_rounds(db, settings)
            for name in tasks:
                packing.write_archive(db, settings, name, archive / f"{name}.zip", END, report)
            db.close()
