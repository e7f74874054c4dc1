"""Handlers in a Docker container that is empty but for this machine's Python and libraries, mounted for reading.

The daemon must see the files of this machine by the same names: one on the machine itself does, one beside a container
that the platform runs in does not, and is then not used.
"""

import subprocess
from contextlib import suppress
from pathlib import Path

from dynabench.evaluate.programs import sandbox
from dynabench.evaluate.programs.sandbox import NOBODY
from dynabench.models.sandbox import box
from dynabench.models.sandbox.limits import MIB, Options

IMAGE = "dynabench-empty"
ANSWERS = 10.0
"""Seconds within which a daemon that is there answers."""


class Docker:
    """A `Box` that asks the Docker daemon."""

    def start(self, name: str, folder: Path, options: Options, stream: int, log: int) -> subprocess.Popen[bytes]:
        """See `Box.start`."""
        try:
            _make_image()
        except subprocess.CalledProcessError as error:
            raise OSError(error.stderr.decode(errors="replace").strip()) from error
        return subprocess.Popen(
            [*self._command(name, folder, options), IMAGE, *box.python(options)],
            stdin=stream,
            stdout=stream,
            stderr=log,
            start_new_session=True,
        )

    def end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """See `Box.end`: the daemon kills the container; its client ends by itself, or is ended."""
        with suppress(OSError, subprocess.SubprocessError):
            _docker("kill", name)
        process.kill()

    def _command(self, name: str, folder: Path, options: Options) -> list[str]:
        shown = {place: place for place in sandbox.readable_paths() if Path(place).exists()}
        shown[str(folder.resolve())] = box.HOME
        if (folder / box.UNVERSIONED).is_file():
            shown["/dev/null"] = f"{box.HOME}/{box.UNVERSIONED}"
        memory = f"{options.memory_mb}m"
        return [
            *("docker", "run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only"),
            *("--user", f"{NOBODY}:{NOBODY}", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--memory", memory, "--memory-swap", memory, "--pids-limit", str(options.processes)),
            *("--cpus", str(options.processors), "--shm-size", "1m", "--log-driver", "none"),
            *("--tmpfs", f"/tmp:size={options.disk_mb * MIB},mode=1777", "--workdir", "/"),  # noqa: S108 - inside
            *(part for item in box.environment(options).items() for part in ("--env", "=".join(item))),
            *(part for source, place in shown.items() for part in ("--volume", f"{source}:{place}:ro")),
        ]


def _make_image() -> None:
    try:
        _docker("image", "inspect", IMAGE)
    except subprocess.CalledProcessError:
        _docker("import", "-", IMAGE, content=bytes(10240))  # a tar file with nothing in it


def _docker(*arguments: str, content: bytes = b"") -> None:
    command = ("docker", *arguments)
    subprocess.run(command, input=content, capture_output=True, check=True, timeout=ANSWERS)
