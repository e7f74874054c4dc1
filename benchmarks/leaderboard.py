"""A board of 100 models, 5 metrics and 10 datasets with rank intervals; and 1,000 models weighed anew in a browser."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import uvicorn
from sqlalchemy.orm import Session

from benchmarks.row import Row, median_ms
from benchmarks.world import databases
from dynabench.benchmark import reading
from dynabench.benchmark.ranking import default_weights, rank_entrants
from dynabench.kit.db import Database
from dynabench.operations.migrations import metadata
from dynabench.rounds import service
from dynabench.site.app import create_app
from tests import boards
from tests.furnished import settings_for
from tests.web import gallery

SOURCE = """
id: bench
name: Bench
input: [{name: text, type: text}]
answer: {name: label, type: choice, options: [a, b], goal: chosen}
metrics: {primary: accuracy, costs: [throughput, memory], perturb: [fairness, robustness]}
"""
MODELS, DATASETS, MANY = 100, 10, 1000
MOVE = """() => {
  const board = document.querySelector("weighed-board");
  const slider = board.querySelector("input[type=range]");
  const taken = [];
  for (let turn = 0; turn < 20; turn += 1) {
    slider.value = turn % 2 ? 4 : 1;
    const begun = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.getBoundingClientRect();
    taken.push(performance.now() - begun);
  }
  return taken.sort((a, b) => a - b)[10];
}"""


def fill(session: Session, models: int, datasets: int) -> None:
    """A task with a board of this size."""
    service.save_task(session, None, SOURCE)
    skills = list(np.linspace(0.95, 0.55, models))
    boards.furnish(session, "bench", skills, [f"data-{n}" for n in range(datasets)], rows=100)


def weighed(session: Session) -> object:
    """The board of the task as everybody sees it."""
    board = reading.read_board(session, None, "bench")
    return rank_entrants(board, default_weights(board))


def rows() -> list[Row]:
    """The figures."""
    return list(_rows())


def _rows() -> Iterator[Row]:
    with databases("SQLite", "PostgreSQL") as result:
        for name, db in result.items():
            db.write(fill, MODELS, DATASETS)

            def cold(db: Database = db) -> object:
                reading._cache.clear()
                return db.read(weighed)

            subject = f"board of {MODELS} models x 5 metrics x {DATASETS} datasets with rank intervals, {name}"
            warm = median_ms(lambda db=db: db.read(weighed), 10)  # type: ignore[misc]
            yield Row(subject, warm, "ms", budget="50 ms once scores are in", holds=warm < 50)
            yield Row(f"{subject}, first time", median_ms(cold, 3, 1), "ms", note="reads all replicates")
    moved = in_the_browser()
    subject = f"{MANY} models weighed anew in Chromium, whole re-render"
    yield Row(subject, moved, "ms", budget="50 ms", holds=moved < 50)


def in_the_browser() -> float:
    """Median milliseconds from moving a slider until the table is laid out."""
    with TemporaryDirectory() as folder, served(folder) as address, gallery.chromium() as chromium:
        page = chromium.new_page()
        page.goto(f"{address}/tasks/bench/leaderboard")
        page.evaluate(MOVE)
        return float(page.evaluate(MOVE))


@contextmanager
def served(folder: str) -> Iterator[str]:
    """The application over a board of `MANY` models, at an address."""
    settings = settings_for(Path(folder) / "home", f"sqlite:///{folder}/board.sqlite")
    db = Database(settings.url)
    metadata().create_all(db.engine)
    db.write(fill, MANY, 1)
    db.close()
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
