"""The choice of this machine's sandbox: the first that a harmless handler runs in."""

import shutil
import tempfile
import threading
from collections import deque
from pathlib import Path

from dynabench.kit.errors import Unavailable
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
_WORKING: set[tuple[str, type[Box]]] = set()
_TRYING = threading.Lock()


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


def _lacks(path: str, box: type[Box]) -> str:
    """Return the fault of the sandbox that this program makes; empty when it works.

    Success alone is remembered: a full disk or a busy machine make a sandbox fail that works a minute later.
    """
    with _TRYING:
        if (path, box) in _WORKING:
            return ""
        fault = _fault(path, box)
        if not fault:
            _WORKING.add((path, box))
        return fault


def _fault(path: str, box: type[Box]) -> str:
    """Run a harmless handler in the sandbox and return what goes wrong; empty where nothing does."""
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
