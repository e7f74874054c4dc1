"""Costs of one posted example in the web process: the files and functions that it runs through, and processor time.

`python -m benchmarks.posted_example` prints both, and with `--against FOLDER` the time beside that of the `src` of
another checkout, both in turns. The application runs in this process, on the loop of the real server; the model is a
rule in a process of its own.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvloop

ROOT = Path(__file__).parent.parent
MODEL, VERSION = "nli-rule", "0123456789abcdef"
LABELS = ["entailment", "neutral", "contradiction"]
POSTS, WARM, TRIES, CONTEXTS = 600, 150, 3, 600
BLOCK, TURNS = 30, 40
PERIODIC = "kit/heartbeat.py"
"""The file that runs several times a second, whatever is asked: a slow post meets it, and it is no part of one."""


class RuleModel:
    """A model host that answers `neutral` to everything, without a web framework."""

    def __init__(self) -> None:
        from dynabench.models.host import wire
        from dynabench.models.protocol import ModelCard, ModelOutput

        inputs, labels = ("premise", "hypothesis"), tuple(LABELS)
        card = ModelCard(MODEL, VERSION, task="nli", kind="rule", inputs=inputs, answer="label", labels=labels)
        output = ModelOutput({"label": "neutral"}, dict(zip(LABELS, (0.1, 0.8, 0.1), strict=True)))
        self.answer = json.dumps(wire.response(card, [output])).encode()
        listed = {"name": MODEL, "version": VERSION, "state": "READY", "reason": "", "card": wire.card_json(card)}
        self.index = json.dumps([listed]).encode()

    async def serve(self, path: str) -> None:
        """Answer on a local socket until the process ends."""
        async with await asyncio.start_unix_server(self.reply, path) as server:
            await server.serve_forever()

    async def reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            lines = head.lower().split(b"\r\n")
            size = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            await reader.readexactly(size)
            body = self.index if b"/index" in lines[0] else self.answer
            header = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
            writer.write(header + body)


@contextmanager
def rule_host(folder: str) -> Iterator[str]:
    """Run the model in a process of its own; yields its address."""
    path = f"{folder}/host.sock"
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.posted_example", "--serve", path])
    try:
        while process.poll() is None:
            with socket.socket(socket.AF_UNIX) as probe:
                if not probe.connect_ex(path):
                    break
            time.sleep(0.05)
        yield f"unix:{path}"
    finally:
        process.terminate()
        process.wait()


class Site:
    """An application in this process with one annotator in an open round of the task nli."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.token = ""
        self.turn = 0
        self.handout: dict[str, Any] = {}

    def furnish(self) -> None:
        """Register the annotator, an admin, and open the round."""
        from dynabench.people.accounts import rules
        from dynabench.people.accounts import service as accounts
        from dynabench.people.accounts.tables import SCOPES
        from dynabench.rounds import contexts
        from dynabench.rounds import service as rounds
        from dynabench.rounds.contexts import ContextRow
        from dynabench.tasks.shipped import shipped_tasks

        task = next(shipped for shipped in shipped_tasks() if shipped.config.id == "nli")

        def write(session: Any) -> str:
            newcomer = rules.check_registration("ada", "ada@example.org", "a long enough passphrase", True)
            person = accounts.register_account(session, newcomer, "no hash")
            person.admin = True
            session.flush()
            rounds.save_task(session, None, task.source)
            premises = [
                f"{context['values']['premise']} ({turn})" for turn in range(CONTEXTS) for context in task.contexts()
            ]
            rows = [ContextRow(n, {"premise": text}, "") for n, text in enumerate(premises[:CONTEXTS], start=1)]
            contexts.add_contexts(session, "nli", task.config, rows)
            return str(accounts.create_token(session, person.id, "API", SCOPES)[1])

        self.token = self.app.state.db.write(write)

    async def request(self, path: str, body: dict[str, Any], key: str = "") -> dict[str, Any]:
        """Post JSON to the application as a server would hand it over; returns the answer."""
        content = json.dumps(body).encode()
        headers = [(b"host", b"site"), (b"authorization", f"Bearer {self.token}".encode())]
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        headers += [(b"idempotency-key", key.encode())] if key else []
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path}
        scope |= {"scheme": "http", "raw_path": path.encode(), "query_string": b"", "root_path": "", "state": {}}
        scope |= {"headers": headers, "client": ("127.0.0.1", 9), "server": ("site", 80)}
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        answer = b"".join(message.get("body", b"") for message in sent[1:])
        if sent[0]["status"] >= 400:
            raise RuntimeError(f"{path}: {sent[0]['status']} {answer.decode()}")
        document: dict[str, Any] = json.loads(answer)
        return document

    async def post_example(self) -> dict[str, Any]:
        """Post a new example; a new context is asked for beforehand by `draw`."""
        self.turn += 1
        text = f"Two hikers wait outside the closed shop number {self.turn} while nobody plays the old piano."
        body = {"context_id": self.handout["id"], "input": {"hypothesis": text}, "answer": self.handout["goal"]}
        return await self.request("/api/v1/tasks/nli/examples", body | {"sandbox": False}, f"key-{self.turn}")

    async def draw(self) -> None:
        """Ask for another context."""
        self.handout = await self.request("/api/v1/tasks/nli/contexts/next", {})


class Trace:
    """The project's functions that run while it is on, in any thread, by file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.functions: dict[str, set[str]] = defaultdict(set)

    def __enter__(self) -> "Trace":
        threading.setprofile_all_threads(self._note) if hasattr(threading, "setprofile_all_threads") else None
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: Any, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(self.source):
            self.functions[frame.f_code.co_filename.removeprefix(self.source)].add(frame.f_code.co_qualname)


async def measure(url: str, home: str, host_url: str, blocks: bool, posts: int) -> None:
    """Print the trace and the milliseconds of processor time of a post, or those of a block for each line read.

    The time is the median of so many `posts`, without which there is none.
    """
    os.environ |= {"DYNABENCH_HOME": home, "DYNABENCH_RATE_LIMIT": "false"}
    import dynabench
    from dynabench.kit.db import Database
    from dynabench.kit.settings import Settings
    from dynabench.models.client import Host
    from dynabench.operations import migrations
    from dynabench.site.app import create_app

    settings = Settings(database_url=url)
    db = Database(settings.url)
    migrations.run(db, "head")
    db.close()
    app = create_app(settings, host=Host(host_url, 10.0))
    async with app.router.lifespan_context(app):
        site = Site(app)
        site.furnish()
        await site.request("/api/v1/tasks/nli/rounds", {"targets": [MODEL]})
        await post_many(site, WARM)
        if not blocks:
            if posts:
                print(f"processor time of one post: {statistics.median(await post_many(site, posts)):.2f} ms")
            await site.draw()
            await print_trace(site, str(Path(dynabench.__file__).parent) + "/")
        print("ready", flush=True)
        while blocks and await asyncio.to_thread(sys.stdin.readline):
            print(statistics.median(await post_many(site, BLOCK)), flush=True)


async def post_many(site: Site, many: int) -> list[float]:
    """Post examples, some to a context; returns the milliseconds of processor time of each."""
    spent = []
    for number in range(many):
        if number % TRIES == 0:
            await site.draw()
        begun = time.process_time()
        await site.post_example()
        spent.append((time.process_time() - begun) * 1000)
    return spent


async def print_trace(site: Site, source: str) -> None:
    """Print the files and functions that one post runs through."""
    loop = asyncio.get_running_loop()
    loop._default_executor = None  # type: ignore[attr-defined]
    with Trace(source) as trace:
        await asyncio.create_task(_fresh_threads(site))
    trace.functions.pop(PERIODIC, None)
    for name in sorted(trace.functions):
        print(f"{len(trace.functions[name]):4}  {name}  {' '.join(sorted(trace.functions[name]))}")
    total = sum(map(len, trace.functions.values()))
    print(f"one posted example: {len(trace.functions)} files, {total} functions")


async def _fresh_threads(site: Site) -> None:
    """Post in threads that start now: those of before are not traced."""
    from anyio import to_thread

    limiter = to_thread.current_default_thread_limiter()
    held = [asyncio.create_task(to_thread.run_sync(time.sleep, 0.3)) for _ in range(_idle_threads())]
    await asyncio.sleep(0.05)
    limiter.total_tokens += 10
    await site.post_example()
    await asyncio.gather(*held)


def _idle_threads() -> int:
    return sum(thread.name.startswith("AnyIO") for thread in threading.enumerate())


class Checkout:
    """A checkout measured by its own copy of this benchmark, in a process of its own."""

    def __init__(self, source: Path) -> None:
        environment = os.environ | {"PYTHONPATH": f"{source}:{source.parent}"}
        command = [sys.executable, "-m", "benchmarks.posted_example", "--blocks"]
        self.process = subprocess.Popen(
            command, env=environment, cwd=source.parent, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        while self._read_line() != "ready":
            pass

    def _read_line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the measured process has ended")
        return line.strip()

    def measure_block(self) -> float:
        """Return the milliseconds of processor time of a post, the median of a block."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        while True:
            with suppress(ValueError):
                return float(self._read_line())


def compare(before: Checkout, after: Checkout) -> None:
    """Print the processor time of a post in both, measured in short blocks in turn, and the ratio of neighbours."""
    pairs = [(before.measure_block(), after.measure_block()) for _ in range(TURNS)]
    ratios = [new / old for old, new in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    old, new = (min(column) for column in zip(*pairs, strict=True))
    print(f"least of {TURNS} blocks: {old:.2f} ms before, {new:.2f} ms now, {new / old:.2f}x")
    print(f"neighbouring blocks: {middle:.2f}x (quartiles {low:.2f}x to {high:.2f}x)")


def main() -> None:
    """Trace one post and measure many."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posted_example")
    parser.add_argument("--against", type=Path, help="the `src` folder of another checkout that has this file, too")
    parser.add_argument("--url", default="", help="an empty database; else SQLite in a folder of its own")
    parser.add_argument("--posts", type=int, default=POSTS, help=f"posts to time (default: {POSTS})")
    parser.add_argument("--blocks", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(RuleModel().serve(options.serve))
        return
    if options.against:
        before, after = Checkout(options.against), Checkout(ROOT / "src")
        try:
            compare(before, after)
        finally:
            for checkout in (before, after):
                checkout.process.stdin.close()
                checkout.process.wait()
        return
    with tempfile.TemporaryDirectory() as home, rule_host(home) as host_url:
        uvloop.run(measure(options.url, home, host_url, options.blocks, options.posts))


if __name__ == "__main__":
    main()
