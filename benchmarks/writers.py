"""`python -m benchmarks.writers`: a small language model as adversary, in each way to ask it, against shipped targets.

It runs beside, as a server of the chat protocol that takes JSON schemas and always writes the likeliest token. The
table goes into docs/explanation/attacks.md.
"""

import argparse
import os
import re
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import get_args

from benchmarks import language_model
from benchmarks.__main__ import machine
from benchmarks.attacks import PAGE, ROOT, TARGETS, contexts
from dynabench.adversaries.attacks import LocalTarget, candidate_row, run_attempts
from dynabench.adversaries.language_model import SHOTS, LanguageModel, Strategy
from dynabench.adversaries.protocol import AttackContext, Budget, is_wrong
from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from dynabench.tasks import shipped_tasks

MARKS = (
    "<!-- writers: `python -m benchmarks.writers` writes what is between these marks -->",
    "<!-- end of writers -->",
)
TASKS = {"sentiment-minilm": "sentiment", "nli-minilm": "nli"}
HEAD = ("target", "strategy", "inputs", "requests", "readable", "new", "near enough", "asked the target", "fooled it",
        "seconds each, median")  # fmt: skip


def main() -> None:
    """Ask in all ways, print the table, and put it into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.writers")
    parser.add_argument("--n", type=int, default=5, help="inputs that a target answers correctly, for each row")
    parser.add_argument("--tries", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--weights", type=Path, help="where the model is unpacked, or was before")
    parser.add_argument("--show", action="store_true", help="print what was written, to look at")
    request = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DYNABENCH_HOME": folder, "DYNABENCH_PRIVATE_ENDPOINTS": "127.0.0.1"}
        get_settings.cache_clear()
        with language_model.speaking(request.weights or Path(folder)) as url:
            table = [line for name in TASKS for line in _rows(name, url, request)]
    head = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    text = "\n".join([MARKS[0], f"On {machine()}, {datetime.now(UTC):%Y-%m-%d}.", "", *head, *table, MARKS[1]])
    page = PAGE.read_text()
    start, end = page.index(MARKS[0]), page.index(MARKS[1]) + len(MARKS[1])
    PAGE.write_text(page[:start] + text + page[end:])


def _rows(name: str, url: str, request: argparse.Namespace) -> Iterator[str]:
    rows, target = contexts(name, request.data), LocalTarget(catalog.open_model(catalog.entry(name).folder))
    missed = (row for row in reversed(rows) if is_wrong(target.ask([row.inputs])[0], row.answer or {}))
    successes = list(islice(missed, SHOTS))
    [task] = [item.config for item in shipped_tasks() if item.config.id == TASKS[name]]
    for strategy in get_args(Strategy):
        model = LanguageModel(
            url, "smollm2", strategy, tries=request.tries, temperature=0, max_tokens=48, seconds=300,
            about=_plain(task.instructions.create), successes=successes if strategy == "few-shot" else (),
            fields=[field for field in rows[0].inputs if field not in TARGETS[name][1]],
        )  # fmt: skip
        yield _row(name, model, target, rows, request)
        model.close()


def _plain(text: object) -> str:
    """The first paragraph of instructions, without marks."""
    return re.sub(r"[*_`]", "", str(text)).strip().partition("\n\n")[0].replace("\n", " ")


def _row(
    name: str, model: LanguageModel, target: LocalTarget, rows: Sequence[AttackContext], request: argparse.Namespace
) -> str:  # fmt: skip
    created = list(run_attempts(model, target, rows, Budget(), request.n))
    result = [item for attempt in created for item in attempt.candidates]
    if request.show:
        for item in result:
            print(candidate_row(item))
    tally = model.tally
    readable = tally["requests"] - tally["unreadable"]
    new = readable - tally["repeated"]
    near = str(new - tally["unlike"]) if model.strategy == "paraphrase" else ""
    item = statistics.median(attempt.seconds / request.tries for attempt in created)
    fooled = sum(bool(candidate.fooled) for candidate in result)
    cells = (
        name,
        model.strategy,
        len(created),
        tally["requests"],
        readable,
        new,
        near,
        len(result),
        fooled,
        f"{item:.1f}",
    )
    line = "| " + " | ".join(map(str, cells)) + " |"
    print(line, flush=True)
    return line


if __name__ == "__main__":
    main()
