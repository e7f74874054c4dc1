"""A chat API around the small language model of the tests, as a process of its own: `python -m ... FOLDER PORT`.

Two of them generate side by side, a core each, as two models on two machines would.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.running import free_port, wait_for


def missing() -> str:
    """Why there is no such model here; empty when there is."""
    from tests.models.served import chat_server

    return chat_server.missing()


@contextmanager
def speaking(cache: Path) -> Iterator[str]:
    """Run one; yields its address, with `/v1`."""
    from tests.models.served import chat_server

    port = free_port()
    folder = chat_server.unpacked(cache)
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.language_model", str(folder), str(port)])
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models/{chat_server.NAME}")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def main() -> None:
    """Serve it on one core."""
    import torch
    import uvicorn

    from tests.models.served import chat_server

    torch.set_num_threads(1)
    uvicorn.run(chat_server.Chat(Path(sys.argv[1])).app, port=int(sys.argv[2]), log_level="warning")


if __name__ == "__main__":
    main()
