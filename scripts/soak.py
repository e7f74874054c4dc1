"""The real platform under eight busy annotators while models are killed, stopped and made to answer nonsense.

`dynabench serve` with two web processes asks three hosts: the two of `dynabench host --workers 2`, and a third
server with a switch. Counted are statuses on the annotator's page, examples in the database against those acknowledged,
and the growth of every process. Exit status 1 when anything was wrong.

    python scripts/soak.py --minutes 20 --report soak.md
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psutil
from sqlalchemy import func, select

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.running import operate, platform
from dynabench.collection.tables import Example, Prediction
from dynabench.kit.db import Database
from dynabench.kit.settings import process_addresses
from dynabench.kit.supervisor import Watched, answers, end
from dynabench.people.accounts.tables import Person
from scripts.soak_memory import FLAT, Growth, Sample, growth
from scripts.soak_people import Annotator
from scripts.soak_switch import WAYS, WELL, Switch

PEOPLE = 8
EVERY = (5.0, 12.0)  # seconds between two harms
STOPPED = 4.0  # seconds that a process is stopped, or the switch is not well
SAMPLE = 5.0  # seconds between two looks at memory
EARLY = 0.25  # share of the run in which the whole host is killed too; later some processes live long enough to judge
HARMS = ("kill worker", "kill worker", "stop worker", "stop worker", "stop host", "switch", "switch", "switch")


@dataclass
class Soak:
    """One run: its processes, what was done to them, how large they were."""

    home: Path
    host: Watched
    switch: Switch
    rng: random.Random = field(default_factory=lambda: random.Random(5))
    harms: Counter[str] = field(default_factory=Counter)
    sizes: dict[tuple[str, int], list[Sample]] = field(default_factory=lambda: defaultdict(list))
    mend: list[tuple[float, partial[None]]] = field(default_factory=list)

    def processes(self) -> dict[str, list[psutil.Process]]:
        """The platform's processes by what they are."""
        result: dict[str, list[psutil.Process]] = defaultdict(list)
        for process in psutil.Process().children(recursive=True):
            try:
                line = process.cmdline()
            except psutil.Error:
                continue
            if "dynabench" in line:
                role = line[line.index("dynabench") + 1]
                if role == "host" and line[line.index("--workers") + 1] == "1":
                    role = "host worker"
                result[role].append(process)
        return {role: sorted(some, key=psutil.Process.cmdline) for role, some in result.items()}

    def measure(self, now: float) -> None:
        """Note how much memory each process holds."""
        for role, processes in self.processes().items():
            for process in processes:
                try:
                    self.sizes[role, process.pid].append((now, process.memory_info().rss / 2**20))
                except psutil.Error:
                    continue

    def harm(self, now: float, early: bool) -> None:
        """Do one thing to the models, to be mended after a while. One worker is never killed by itself."""
        roles = self.processes()
        subject = self.rng.choice([*HARMS, "kill host"] if early else HARMS)
        if subject == "switch":
            self.switch.way = self.rng.choice(WAYS)
            self.harms[f"switch: {self.switch.way}"] += 1
            self.mend.append((now + STOPPED, partial(setattr, self.switch, "way", WELL)))
            return
        victims = roles.get("host worker" if subject.endswith("worker") else "host", [])
        if not victims:
            return
        pid = victims[-1].pid if subject == "kill worker" else self.rng.choice(victims).pid
        self.harms[subject] += 1
        send(pid, signal.SIGKILL if subject.startswith("kill") else signal.SIGSTOP)
        if subject.startswith("stop"):
            self.mend.append((now + STOPPED, partial(send, pid, signal.SIGCONT)))

    def run(self, seconds: float) -> None:
        """Harm, mend and measure for so long; the host is watched as its operator would."""
        begun = time.monotonic()
        harm_at, measure_at = begun + 10, begun
        while (now := time.monotonic()) < begun + seconds:
            self.host.check()
            for at, mend in [item for item in self.mend if item[0] <= now]:
                mend()
                self.mend.remove((at, mend))
            if now >= harm_at and now < begun + seconds - 10:
                self.harm(now, now < begun + EARLY * seconds)
                harm_at = now + self.rng.uniform(*EVERY)
            if now >= measure_at:
                self.measure(now)
                measure_at = now + SAMPLE
            time.sleep(0.1)
        for _, mend in self.mend:
            mend()

    def growth(self) -> list[Growth]:
        """Of the process of each role that lived longest."""
        by_role: dict[str, list[list[Sample]]] = defaultdict(list)
        for (role, _), samples in self.sizes.items():
            by_role[role].append(samples)
        return [growth(role, by_role[role]) for role in sorted(by_role)]


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal, unless the process is gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def compared(home: Path, people: list[Annotator]) -> tuple[int, int, list[str]]:
    """Acknowledged examples, examples of these people in the database, and what does not agree."""
    acknowledged = {id: key for person in people for id, key in person.acknowledged.items()}
    database = Database(f"sqlite:///{home / 'dynabench.sqlite'}")
    with database._reads() as session:
        authors = select(Person.id).where(Person.username.in_([person.name for person in people]))
        theirs = Example.author_id.in_(authors)
        rest = dict(session.execute(select(Example.id, Example.key).where(theirs)).all())
        request = session.execute(
            select(Prediction.example_id, Prediction.model)
            .where(Prediction.example_id.in_(list(rest)))
            .group_by(Prediction.example_id, Prediction.model)
            .having(func.count() > 1)
        ).all()
        bare = session.scalars(
            select(Example.id).where(theirs, ~select(Prediction.id).where(Prediction.example_id == Example.id).exists())
        ).all()
    database.close()
    wrong = [f"example {id} was acknowledged and is not there" for id in acknowledged.keys() - rest.keys()]
    wrong += [f"example {id} is there and was not acknowledged" for id in rest.keys() - acknowledged.keys()]
    wrong += [
        f"example {id} has another key" for id in acknowledged.keys() & rest.keys() if acknowledged[id] != rest[id]
    ]
    wrong += [f"example {id} has two predictions of {model}" for id, model in request]
    wrong += [f"example {id} has no prediction" for id in bare]
    return len(acknowledged), len(rest), wrong


def report(
    soak: Soak, people: list[Annotator], seconds: float, comparison: tuple[int, int, list[str]]
) -> tuple[str, bool]:
    """The figures as Markdown, and whether nothing was wrong."""
    seen: Counter[str] = sum((person.seen for person in people), Counter())
    wrong = [answer for person in people for answer in person.wrong] + comparison[2]
    memory = soak.growth()
    wrong += [f"{item.role} grows by {item.slope_text}" for item in memory if item.verdict == "grows"]
    head = f"{datetime.now(UTC):%Y-%m-%d}, {seconds / 60:.1f} min, {PEOPLE} annotators, {os.cpu_count()} cores"
    lines = [f"**{head}**", "", "| what | count |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in sorted(seen.items())]
    lines += [
        f"| examples acknowledged / in the database | {comparison[0]} / {comparison[1]} |",
        f"| wrong | {len(wrong)} |",
        "",
    ]
    lines += ["| harm | times |", "|---|---|"] + [f"| {name} | {count} |" for name, count in sorted(soak.harms.items())]
    lines += [
        "",
        "| process | lived | longest life | its memory at the end | growth over its last two thirds | verdict |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {item.role} | {item.lives} | {item.life:.0f} s | {item.size:.0f} MiB | {item.slope_text} | {item.verdict} |"
        for item in memory
    ]
    lines += ["", f"**{verdict(wrong, memory)}**", "", *(f"- {answer}" for answer in wrong[:20])]
    return "\n".join(lines).rstrip() + "\n", not wrong


def verdict(wrong: list[str], memory: list[Growth]) -> str:
    """The run in one sentence."""
    first = f"Failed: {len(wrong)} things were wrong." if wrong else "Passed: nothing was wrong."
    kinds = {name: [item.role for item in memory if item.verdict == name] for name in ("flat", "unclear", "too short")}
    flat = f"Memory grows by less than {FLAT:g} MiB a minute in: {', '.join(kinds['flat']) or 'no process'}."
    open_ = [*kinds["unclear"], *kinds["too short"]]
    return " ".join([first, flat, *([f"The run was too short to tell of: {', '.join(open_)}."] if open_ else [])])


def soak(home: Path, seconds: float) -> tuple[str, bool]:
    """Run everything in `home`; the report, and whether nothing was wrong."""
    address, switch, stop = f"unix:{home / 'models.sock'}", Switch(), threading.Event()
    urls = ",".join([*process_addresses(address, 2), switch.url])
    command = [sys.executable, "-m", "dynabench", "host", "--url", address, "--workers", "2"]
    host = Watched("host", command, partial(answers, address, "/v2/health/ready"), env={"DYNABENCH_HOME": str(home)})
    host.start()
    people: list[Annotator] = []
    try:
        assert host.comes_up(180), "the host did not come up"
        with platform(home, "--demo", "--web-workers", "2", host_url=urls) as base:
            while "Dynabench is at" not in (home / "serve.log").read_text():
                time.sleep(0.2)
            os.environ["DYNABENCH_HOST_URL"] = urls
            operate(home, "round", "close", "sentiment")
            operate(home, "round", "open", "sentiment", "--target", "switch")
            people += [Annotator(base, f"writer{number}", stop) for number in range(PEOPLE)]
            for person in people:
                person.start()
            run = Soak(home, host, switch)
            run.run(seconds)
            stop.set()
            for person in people:
                person.join(60)
        return report(run, people, seconds, compared(home, people))
    finally:
        stop.set()
        end([host])
        switch.shutdown()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--report", type=Path, help="file that the figures are written to")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dynabench-soak-", ignore_cleanup_errors=True) as folder:
        text, well = soak(Path(folder), chosen.minutes * 60)
        if not well:
            print((Path(folder) / "serve.log").read_text()[-3000:], file=sys.stderr)
    print(text)
    if chosen.report:
        chosen.report.write_text(text)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
