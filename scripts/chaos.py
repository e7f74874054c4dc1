"""Queues evaluations, kills the worker at random moments, and counts what is left undone or was done twice.

    python scripts/chaos.py [--evaluations 200] [--minutes 10] [--seed 1]

Runs in a folder of its own. The evaluations are those of copies of a shipped model on generated reviews; each is done
in shards of a few seconds. Further copies come before all are done until the minutes are over, however quick the
machine is. Prints the figures as JSON and as a row of `docs/explanation/reliability.md`; the exit status is 1 if one
evaluation did not end well, one shard is missing or stands twice, or one evaluation that was begun stood still for more
than a minute.
"""

import argparse
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries
from dynabench.benchmark.evaluations import service as evaluation_service
from dynabench.benchmark.evaluations.tables import Evaluation, Score, Shard
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.models import catalog, spec
from dynabench.operations.migrations import upgrade
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks

MODEL, TASK, DATASETS, ROWS = "sentiment-ngram", "sentiment", 10, 1000
LOW = 50
"""Evaluations that are left when further ones are queued."""
STUCK = 60.0
"""Seconds without a step forward after which an evaluation that was begun counts as stuck."""


def furnish(settings: Settings, database: Database, evaluations: int) -> None:
    """Datasets, copies of a model, and all of their evaluations queued."""
    [task] = [item for item in shipped_tasks() if item.config.id == TASK]
    database.write(rounds.save_task, None, task.source)
    versions = [_dataset(settings, database, number) for number in range(DATASETS)]
    created = sum(feed(settings, database, number) for number in range(-(-evaluations // DATASETS)))
    print(f"{created} evaluations on {len(versions)} datasets of {ROWS} rows", file=sys.stderr)


def feed(settings: Settings, database: Database, number: int) -> int:
    """Submit one more copy of the model; how many evaluations that queues."""
    folder = _copy(settings, number)
    submission = database.write(_submission, folder)
    return database.write(evaluation_service.queue_evaluations, {"submission": submission})


def _dataset(settings: Settings, database: Database, number: int) -> int:
    words = ("a wonderful, warm film", "a dull, terrible film", "a film")
    labels = ("positive", "negative", "neutral")
    rows = (
        StoredRow(f"{number}-{n}", {"statement": f"{words[n % 3]}, scene {n} of {number}"}, ({"label": labels[n % 3]},))
        for n in range(ROWS)
    )
    written = stored.write_rows(settings, rows)

    def make(session: Session) -> int:
        dataset = Dataset(task_id=TASK, name=f"reviews-{number}", visibility="public")
        session.add(dataset)
        session.flush()
        version = DatasetVersion(dataset_id=dataset.id, number=1, state="ready", digest=written.digest, rows=ROWS)
        session.add(version)
        session.flush()
        dataset.version_id = version.id
        return version.id

    return database.write(make)


def _copy(settings: Settings, number: int) -> Path:
    """A copy of the model under another name, which makes it another version."""
    folder = settings.folder / "models" / f"copy-{number}"
    shutil.copytree(catalog.entry(MODEL).folder, folder)
    text = yaml.safe_load((folder / "model.yaml").read_text()) | {"name": f"copy-{number}"}
    spec.write(folder, text)
    return folder


def _submission(session: Session, folder: Path) -> int:
    card = spec.card(folder)
    created = Submission(
        task_id=TASK, kind="installed", name=card.name, model=card.name, version=card.version, inside=True,
        state="ready", card={"size_bytes": card.size_bytes},
    )  # fmt: skip
    session.add(created)
    session.flush()
    return created.id


def going(session: Session) -> dict[int, tuple[Any, ...]]:
    """Of each evaluation that was begun and is not over, how far it is."""
    begun = select(Evaluation).where(Evaluation.state.in_(queries.OPEN_STATES), Evaluation.state != "queued")
    return {item.id: (item.state, item.rows_done) for item in session.scalars(begun)}


def count_open(session: Session) -> int:
    """Return the number of evaluations that have not ended."""
    return (
        session.scalar(select(func.count()).select_from(Evaluation).where(Evaluation.state.in_(queries.OPEN_STATES)))
        or 0
    )


def outcome(session: Session) -> dict[str, int]:
    """Return counts of states, of shards that are missing or overlap, and of scores that occur twice."""
    states = session.execute(select(Evaluation.state, func.count()).group_by(Evaluation.state)).all()
    result = {f"state_{state}": int(number) for state, number in states}
    covered = dict(
        session.execute(select(Shard.evaluation_id, func.sum(Shard.rows)).group_by(Shard.evaluation_id)).all()
    )
    evaluations = session.scalars(select(Evaluation)).all()
    result["wrong_shards"] = sum(covered.get(item.id, 0) != ROWS or item.rows_done != ROWS for item in evaluations)
    named = select(Score.evaluation_id, Score.metric, Score.slice)
    twice = named.group_by(Score.evaluation_id, Score.metric, Score.slice).having(func.count() > 1)
    result["scores_twice"] = len(session.execute(twice).all())
    return result | {
        "evaluations": len(evaluations),
        "shards": session.scalar(select(func.count()).select_from(Shard)) or 0,
    }


def run(settings: Settings, database: Database, minutes: float, rng: random.Random, log: Path) -> dict[str, Any]:
    """Kill and start the worker and queue more until the time is over, then let it finish; figures."""
    begun, kills, stillest = time.monotonic(), 0, 0.0
    copies = database.read(lambda session: session.scalar(select(func.count()).select_from(Submission))) or 0
    worker, moved = _worker(settings, log), {}
    kill_at = begun + rng.uniform(1, 6)
    while database.read(count_open):
        time.sleep(0.5)
        moment = time.monotonic()
        seen = database.read(going)
        moved = {id: moved[id] if id in moved and moved[id][0] == at else (at, moment) for id, at in seen.items()}
        stillest = max([stillest, *(moment - since for _, since in moved.values())])
        if moment - begun >= 60 * minutes:
            continue
        if database.read(count_open) < LOW:
            feed(settings, database, copies)
            copies += 1
        if moment >= kill_at:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            kills += 1
            worker = _worker(settings, log)
            kill_at = time.monotonic() + rng.uniform(1, 12)
    took = time.monotonic() - begun
    worker.kill()
    worker.wait()
    return {"kills": kills, "seconds": round(took), "longest_still": round(stillest, 1)} | database.read(outcome)


def row(figures: dict[str, Any]) -> str:
    """The figures as a row of the table in the documentation."""
    cells = (
        f"{now():%Y-%m-%d}",
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[2]:.0f}",
        figures["kills"],
        f"{figures.get('state_done', 0)} of {figures['evaluations']}",
        figures["shards"],
        figures["wrong_shards"],
        figures["scores_twice"],
        f"{figures['longest_still']:.0f} s",
        f"{figures['seconds']} s",
    )
    return f"| {' | '.join(map(str, cells))} |"


def _worker(settings: Settings, log: Path) -> subprocess.Popen[bytes]:
    env = os.environ | {"DYNABENCH_HOME": str(settings.home)}
    with log.open("ab") as file:
        return subprocess.Popen([sys.executable, "-m", "dynabench", "worker"], env=env, stdout=file, stderr=file)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    request = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dynabench-chaos-", ignore_cleanup_errors=True) as folder:
        os.environ["DYNABENCH_HOME"] = folder
        settings = Settings()
        upgrade(settings)
        database = Database(settings.url)
        furnish(settings, database, request.evaluations)
        result = run(settings, database, request.minutes, random.Random(request.seed), Path(folder) / "worker.log")
        database.close()
        print(json.dumps(result | {"at": now().isoformat(timespec="seconds")}))
        print(row(result))
        fine = (
            result.get("state_done") == result["evaluations"]
            and not result["wrong_shards"]
            and not result["scores_twice"]
        )
        sys.exit(0 if fine and result["longest_still"] <= STUCK else 1)


if __name__ == "__main__":
    main()
