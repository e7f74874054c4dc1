"""Which sandbox this machine has: the first that a harmless handler runs in."""

import shutil
import tempfile
from collections import deque
from functools import cache
from pathlib import Path

from dynabench.errors import Unavailable
from dynabench.models.sandbox import calls
from dynabench.models.sandbox.box import Box
from dynabench.models.sandbox.bubblewrap import Bubblewrap
from dynabench.models.sandbox.docker import Docker
from dynabench.models.sandbox.limits import Options
from dynabench.models.sandbox.process import Ended, Process

REMEDY = (
    "On the machine of the model host install bubblewrap 0.8 or newer (apt install bubblewrap) or run Docker there."
)
HARMLESS = "class Model:\n    def __init__(self, folder): pass\n"
WAIT = 60.0


def sandbox() -> Box:
    """Bubblewrap, else Docker; raises `Unavailable` where handlers cannot be confined, with what to do."""
    lacking = []
    for program, box in (("bwrap", Bubblewrap), ("docker", Docker)):
        path = shutil.which(program)
        told = _lacks(path, box) if path else f"{program} is not installed"
        if not told:
            return box()
        lacking.append(told)
    raise Unavailable(f"Handlers run only in a sandbox, and there is none here: {'; '.join(lacking)}. {REMEDY}")


@cache
def _lacks(path: str, box: type[Box]) -> str:
    """What is wrong with the sandbox that this program makes; empty when it works."""
    if box is Bubblewrap and not calls.known():
        return f"{path} is not used, for no filter of system calls is known for this processor"
    log: deque[str] = deque(maxlen=3)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "handler.py").write_text(HARMLESS)
        (folder / "handler.py").chmod(0o644)
        process = Process(box(), folder, Options(), log)
        try:
            told = process.first(WAIT)
        except Ended as ended:
            return f"{path}: {ended}{''.join(f' / {line}' for line in log)}"
        process.close()
    return "" if told == b'{"ok": "loaded"}' else f"{path}: {told[:200]!r}"
