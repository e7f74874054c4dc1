"""A real TorchServe to test and time against: installed once into a cache folder, started with any handlers."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

PACKAGES = ("torchserve==0.12.0", "torch-model-archiver==0.12.0", "psutil", "packaging")
STARTS = 120
"""Seconds that a start may take on two busy cores."""


@dataclass(frozen=True)
class Archive:
    """One model to serve: a handler's file, the function of it that answers, files beside it, and how it is run."""

    handler: Path
    entry: str
    version: str = "1.0"
    files: tuple[Path, ...] = ()
    workers: int = 1
    batch: int = 1
    delay_ms: int = 5


@dataclass(frozen=True)
class Running:
    """Return the address of the server."""

    inference: str
    management: str


def missing() -> str:
    """Why TorchServe cannot run here; empty when it can."""
    return "" if shutil.which("java") else "TorchServe needs Java."


def installed(cache: Path) -> Path:
    """A folder with TorchServe in it, to be put on the path of Python beside torch; raises CalledProcessError."""
    folder = cache / "torchserve-0.12.0"
    if not folder.is_dir():
        making = cache / f"making-{os.getpid()}"
        shutil.rmtree(making, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(making), *PACKAGES]
        subprocess.run(pip, check=True, capture_output=True, timeout=280)
        with suppress(OSError):  # another process was first
            making.rename(folder)
        shutil.rmtree(making, ignore_errors=True)
    return folder


@contextmanager
def serving(site: Path, work: Path, archives: Mapping[str, Archive]) -> Iterator[Running]:
    """Run TorchServe over the archives, by name, until the end of the block."""
    environment = {**os.environ, "PYTHONPATH": str(site), "OMP_WAIT_POLICY": "passive", "TEMP": str(work)}
    environment |= {"LOG_LOCATION": str(work / "logs"), "METRICS_LOCATION": str(work / "logs")}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    store = work / "store"
    store.mkdir(parents=True)
    for name, archive in archives.items():
        _archive(name, archive, store, environment)
    ports = _free(5)
    inference, management = (f"http://127.0.0.1:{port}" for port in ports[:2])
    (work / "config.properties").write_text(
        f"inference_address={inference}\nmanagement_address={management}\nmetrics_address=http://127.0.0.1:{ports[2]}\n"
        f"grpc_inference_port={ports[3]}\ngrpc_management_port={ports[4]}\n"  # or two of them cannot run here
        f"model_store={store}\ndisable_token_authorization=true\nenable_model_api=true\n"
        "disable_system_metrics=true\nmax_response_size=65535000\n"
    )
    command = [
        *("java", "-Xmx256m", "-XX:-UseContainerSupport", f"-Dmodel_server_home={site}"),
        *("-Djava.io.tmpdir=" + str(work), f"-DtsConfigFile={work / 'config.properties'}"),
        *("-cp", f".:{site / 'ts' / 'frontend' / '*'}", "org.pytorch.serve.ModelServer", "--python", sys.executable),
        *("-s", str(store), "--disable-token-auth"),
    ]
    with (work / "torchserve.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=work, stdout=log, stderr=log, start_new_session=True)
        try:
            _until_alive(process, inference, work)
            for name, archive in archives.items():
                _register(management, name, archive, work)
            yield Running(inference, management)
        finally:
            for sign in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, sign)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(20)


def _archive(name: str, archive: Archive, store: Path, environment: Mapping[str, str]) -> None:
    created = [
        sys.executable,
        "-m",
        "model_archiver.model_packaging",
        "--model-name",
        name,
        "--version",
        archive.version,
    ]
    created += ["--handler", str(archive.handler), "--export-path", str(store), "--force"]
    if archive.files:
        created += ["--extra-files", ",".join(map(str, archive.files))]
    subprocess.run(created, check=True, env=dict(environment), capture_output=True, timeout=60)


def _register(management: str, name: str, archive: Archive, work: Path) -> None:
    expected = {
        "url": f"{name}.mar",
        "handler": f"{archive.handler.name}:{archive.entry}",
        "initial_workers": archive.workers,
        "synchronous": "true",
        "batch_size": archive.batch,
        "max_batch_delay": archive.delay_ms,
    }
    answer = httpx2.post(f"{management}/models", params=expected, timeout=STARTS)
    assert answer.status_code == 200, f"{answer.text}\n{(work / 'torchserve.log').read_text()[-3000:]}"


def _until_alive(process: subprocess.Popen[bytes], inference: str, work: Path) -> None:
    until = time.monotonic() + STARTS
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx2.get(f"{inference}/ping", timeout=2).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.1)
    raise AssertionError((work / "torchserve.log").read_text()[-3000:])


def _free(count: int) -> list[int]:
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [bound.getsockname()[1] for bound in servers]
    for bound in servers:
        bound.close()
    return ports
