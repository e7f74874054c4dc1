"""Floods a platform with anonymous requests while a bystander goes on asking, and tells what became of either.

    python scripts/flood.py [--connections 2000] [--seconds 60] [--addresses 4]

Starts `dynabench serve --demo` in a folder of its own on a free port of this machine and sends traffic to nothing else.
The flood comes from addresses from 127.0.1.1 on; the bystander's requests come from 127.0.0.3 and a process of its own,
so that the flood's own work does not count as waiting. Each connection sends one body of some kind: a large one
announced or in chunks, deep or long JSON, a form of many parts, one that trickles or never comes; or it asks for what
is dear to make, a cold leaderboard among it, with made-up cookies, or never reads the answer. Prints the
figures as JSON; the exit status is 1 where the bystander waited longer than two seconds, the web process took more
than 600 MB, a process was replaced, or something is refused 30 s after the flood.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import httpx2
import psutil

FLOODER, BYSTANDER = "127.0.1.{}", "127.0.0.3"
LONGEST_WAIT, MOST_MEMORY, HEALED = 2.0, 600.0, 30.0
PAGES = ("/", "/models", "/api/v1/tasks", "/tasks/nli", "/healthz")
KIB, MIB = 2**10, 2**20
HEAD = "POST {path} HTTP/1.1\r\nHost: flood\r\nContent-Type: {kind}\r\n{more}\r\n"
Writer = asyncio.StreamWriter


def head(path: str, kind: str, more: str) -> bytes:
    """Return the head of a request."""
    return HEAD.format(path=path, kind=kind, more=f"{more}\r\n").encode()


async def announced(writer: Writer) -> None:
    """Announce 60 MiB and send what is taken."""
    writer.write(head("/api/v1/archives", "application/octet-stream", f"Content-Length: {60 * MIB}"))
    for _ in range(60 * 16):
        writer.write(b"x" * 64 * KIB)
        await writer.drain()


async def chunked(writer: Writer) -> None:
    """Send a large JSON document without saying how large."""
    writer.write(head("/api/v1/models/sentiment-minilm/ask", "application/json", "Transfer-Encoding: chunked"))
    for _ in range(96):
        writer.write(b"10000\r\n" + b"[" * 65536 + b"\r\n")
        await writer.drain()


async def members(writer: Writer) -> None:
    """Send 250 KiB of unknown members."""
    body = json.dumps({f"m{number}": number for number in range(14_000)}).encode()[: 250 * KIB]
    writer.write(head("/api/v1/accounts", "application/json", f"Content-Length: {len(body)}") + body)
    await writer.drain()


async def deep(writer: Writer) -> None:
    """Send nesting without end."""
    body = b'{"a":' * 40_000
    writer.write(head("/api/v1/accounts", "application/json", f"Content-Length: {len(body)}") + body)
    await writer.drain()


async def parts(writer: Writer) -> None:
    """Send a form of several parts as long as it is taken."""
    writer.write(head("/archives", "multipart/form-data; boundary=b", f"Content-Length: {300 * MIB}"))
    writer.write(b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n')
    for _ in range(300 * 16):
        writer.write(b"x" * 64 * KIB)
        await writer.drain()


async def trickle(writer: Writer) -> None:
    """Send a byte of a body every second."""
    writer.write(head("/login", "application/x-www-form-urlencoded", "Content-Length: 1000"))
    for _ in range(1000):
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(1)


async def silent(writer: Writer) -> None:
    """Send half a head and nothing more."""
    writer.write(b"POST /api/v1/accounts HTTP/1.1\r\nHost: fl")
    await writer.drain()
    await asyncio.sleep(1000)


async def description(writer: Writer) -> None:
    """Ask for the OpenAPI document."""
    writer.write(b"GET /api/openapi.json HTTP/1.1\r\nHost: flood\r\n\r\n")
    await writer.drain()


async def board(writer: Writer) -> None:
    """Ask for a leaderboard."""
    writer.write(b"GET /tasks/nli/leaderboard HTTP/1.1\r\nHost: flood\r\n\r\n")
    await writer.drain()


async def made_up(writer: Writer) -> None:
    """Change something with a cookie that nobody has."""
    cookie = f"Cookie: dynabench_session={random.getrandbits(128):x}\r\nContent-Length: 2"
    writer.write(head("/api/v1/accounts", "application/json", cookie) + b"{}")
    await writer.drain()


async def unread(writer: Writer) -> None:
    """Ask for the same page many times at once and read no answer."""
    writer.write(b"GET /tasks/nli/leaderboard HTTP/1.1\r\nHost: flood\r\n\r\n" * 50)
    await writer.drain()
    await asyncio.sleep(1000)


Kind = Callable[[Writer], Awaitable[None]]
KINDS: tuple[Kind, ...] = (
    announced, chunked, members, deep, parts, trickle, silent, description, board, made_up, unread,
)  # fmt: skip


async def attack(port: int, address: str, kind: Kind, until: float, outcomes: Counter[str]) -> None:
    """Send one request of a kind from an address again and again until the time is over; note what is answered."""
    while (remaining := until - time.monotonic()) > 0:
        outcome = "closed"
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(remaining):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
                sending = asyncio.ensure_future(kind(writer))
                try:
                    if kind is unread:
                        await sending
                    line = await reader.readline()
                    outcome = line.split()[1].decode() if line.count(b" ") else "closed"
                finally:
                    sending.cancel()
                    writer.close()
                    await asyncio.gather(sending, return_exceptions=True)
        outcomes[f"{kind.__name__} {outcome}"] += 1
        await asyncio.sleep(random.uniform(0, 0.5))


async def bystand(port: int, until: float, waits: list[float], statuses: Counter[str]) -> None:
    """Ask for pages, one after the other, as a person does; note how long each takes."""
    transport = httpx2.AsyncHTTPTransport(local_address=BYSTANDER)
    async with httpx2.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
        while time.monotonic() < until:
            for page in PAGES:
                began = time.monotonic()
                try:
                    status = str((await http.get(page)).status_code)
                except httpx2.HTTPError as error:
                    status = type(error).__name__
                waits.append(time.monotonic() - began)
                statuses[status] += 1
            await asyncio.sleep(0.2)


async def bystand_apart(port: int, seconds: float) -> tuple[list[float], Counter[str]]:
    """Run `bystand` in a process of its own; returns its waits in order of length, and what it was answered."""
    command = [sys.executable, __file__, "--bystand", str(port), "--seconds", str(seconds)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    output, _ = await process.communicate()
    figures = json.loads(output)
    return sorted(figures["waits"]), Counter(figures["answers"])


async def print_bystander(port: int, seconds: float) -> None:
    """Bystand, and print the figures for the process that asked for them."""
    waits, answers = list[float](), Counter[str]()
    await bystand(port, time.monotonic() + seconds, waits, answers)
    print(json.dumps({"waits": waits, "answers": answers}))


async def all_processes(serve: int) -> dict[str, int]:
    """Wait for the last process to start, the worker, and return the process ids of all."""
    async with asyncio.timeout(120):
        while "worker" not in (running := processes(serve)):
            await asyncio.sleep(0.5)
    return running


def processes(serve: int) -> dict[str, int]:
    """Return the process ids of the platform's processes by their command."""
    result = {}
    for child in psutil.Process(serve).children():
        with contextlib.suppress(psutil.Error):
            result[" ".join(child.cmdline()).partition(" dynabench ")[2].partition(" ")[0]] = child.pid
    return result


async def memory(pid: int, until: float, most: list[float]) -> None:
    """Note the most memory that a process takes, in MB."""
    while time.monotonic() < until:
        with contextlib.suppress(psutil.Error):
            most[0] = max(most[0], psutil.Process(pid).memory_info().rss / 1e6)
        await asyncio.sleep(0.2)


@contextlib.asynccontextmanager
async def platform(port: int) -> AsyncIterator[int]:
    """Serve the demo from an empty folder; yields the process id of `serve` once its pages and models answer."""
    with tempfile.TemporaryDirectory(prefix="dynabench-flood-") as home:
        command = [sys.executable, "-m", "dynabench", "serve", "--demo", "--port", str(port)]
        with (Path(home) / "log").open("wb") as log:
            process = subprocess.Popen(command, env=os.environ | {"DYNABENCH_HOME": home}, stdout=log, stderr=log)
        try:
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
                async with asyncio.timeout(300):
                    while not await ready(http):
                        await asyncio.sleep(1)
            yield process.pid
        finally:
            process.terminate()
            process.wait(60)


async def ready(http: httpx2.AsyncClient) -> bool:
    """Tell whether the demo is there and its target answers."""
    with contextlib.suppress(httpx2.HTTPError):
        answer = await http.post("/api/v1/models/nli-minilm/ask", json={"inputs": {"premise": "a", "hypothesis": "b"}})
        return answer.status_code == 200 and (await http.get("/tasks/nli")).status_code == 200
    return False


async def run(connections: int, seconds: float, addresses: int = 4, kinds: Sequence[Kind] = KINDS) -> dict[str, object]:
    """Flood from so many addresses with requests of these kinds, watch, and return the figures."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    async with platform(port) as serve:
        before = await all_processes(serve)
        calm, _ = await bystand_apart(port, 5)
        until, most, flooded = time.monotonic() + seconds, [0.0], Counter[str]()
        senders = [(FLOODER.format(1 + n % addresses), kinds[n // addresses % len(kinds)]) for n in range(connections)]
        (waits, answered), *_ = await asyncio.gather(
            bystand_apart(port, seconds),
            memory(before["web"], until, most),
            *(attack(port, address, kind, until, flooded) for address, kind in senders),
        )
        await asyncio.sleep(HEALED)
        _, after = await bystand_apart(port, 3)
        now = processes(serve)
        replaced = [name for name in before if now.get(name) != before[name]]
        return {
            "connections": connections, "requests of the flood": sum(flooded.values()), "answers": dict(flooded),
            "bystander": dict(answered), "wait before, median s": round(calm[len(calm) // 2], 3),
            "wait, median s": round(waits[len(waits) // 2], 3), "wait, longest s": round(waits[-1], 3),
            "web process, most MB": round(most[0]), "replaced": replaced, "after": dict(after),
        }  # fmt: skip


def main() -> None:
    """Read the arguments, run, print, and tell by the exit status whether all held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--addresses", type=int, default=4)
    parser.add_argument("--bystand", type=int, default=0, help=argparse.SUPPRESS)  # the port; see `bystand_apart`
    values = parser.parse_args()
    if values.bystand:
        asyncio.run(print_bystander(values.bystand, min(values.seconds, 600)))
        return
    answer = asyncio.run(run(values.connections, min(values.seconds, 600), min(values.addresses, 250)))
    print(json.dumps(answer, indent=1))
    slow, large = answer["wait, longest s"] > LONGEST_WAIT, answer["web process, most MB"] > MOST_MEMORY  # type: ignore[operator]
    refused = set(answer["bystander"]) | set(answer["after"]) != {"200"}  # type: ignore[call-overload]
    sys.exit(1 if slow or large or refused or answer["replaced"] else 0)


if __name__ == "__main__":
    main()
