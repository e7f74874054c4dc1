"""From an empty folder to the first accepted example, through HTTP, beside processes that keep the processors busy.

`python scripts/first_example.py --times 10 --loops 4` starts `dynabench serve --demo` so many times, each time in a new
folder, and says when the first page came, when everything was ready and when the first example was accepted. Exit
status 1 where that took longer than `--seconds` once.
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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

TASK, FIELD = "sentiment", "statement"
LOOP = "while True: pass"
GIVE_UP = 5
"""Times `--seconds` after which a start is given up."""


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
def platform(folder: Path) -> Iterator[str]:
    """Run the demo on a free port; yields its address at once."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "dynabench", "serve", "--demo", "--port", str(port)]
    env = os.environ | {"DYNABENCH_HOME": str(folder), "DYNABENCH_PASSWORD_COST": "3"}
    with (folder.parent / "log").open("w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}"
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


def start(seconds: float) -> dict[str, float]:
    """Start once; seconds until each event."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "home"
        folder.mkdir()
        begun = time.monotonic()
        until = begun + seconds
        events: dict[str, float] = {}

        def note(event: str) -> None:
            events[event] = round(time.monotonic() - begun, 1)

        with platform(folder) as address, httpx2.Client(base_url=address, timeout=30, trust_env=False) as http:
            patient(http, "GET", "/", until)
            note("page")
            account = {"username": "first", "email": "first@example.org", "password": "a long pass phrase"}
            patient(http, "POST", "/api/v1/accounts", until, json=account).raise_for_status()
            proof = {"username": "first", "password": "a long pass phrase"}
            token = patient(http, "POST", "/api/v1/tokens", until, json=proof).raise_for_status().json()["token"]
            http.headers["Authorization"] = f"Bearer {token}"
            note("account")
            given = patient(http, "POST", f"/api/v1/tasks/{TASK}/contexts/next", until).raise_for_status().json()
            note("context")
            goal = given["goal"] or {"label": "negative"}
            body = {"context_id": given["id"], "input": {FIELD: "A film like no other, sadly."}, "answer": goal}
            where = f"/api/v1/tasks/{TASK}/examples"
            patient(http, "POST", where, until, json=body).raise_for_status()
            note("example")
            patient(http, "GET", "/readyz", until).raise_for_status()
            note("ready")
    return events


def main() -> int:
    """Start as often as asked for and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1, help="starts, each in an empty folder")
    parser.add_argument("--loops", type=int, default=4, help="processes that keep a processor busy meanwhile")
    parser.add_argument("--seconds", type=float, default=60.0, help="what a first accepted example may take")
    given = parser.parse_args()
    late = 0
    for number in range(1, given.times + 1):
        with busy(given.loops):
            try:
                events = start(given.seconds * GIVE_UP)
            except TimeoutError as error:
                print(f"{number}: given up, {error} was never answered", flush=True)
                late += 1
                continue
        late += events["example"] > given.seconds
        print(f"{number}: " + ", ".join(f"{event} {after:g} s" for event, after in events.items()), flush=True)
    print(f"{given.times - late} of {given.times} within {given.seconds:g} s beside {given.loops} busy loops")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
