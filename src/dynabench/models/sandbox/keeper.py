"""A handler that is kept running: loaded, asked, started again when it ended, with growing pauses."""

import json
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Invalid, TooLarge, Unavailable
from dynabench.models.sandbox.box import Box
from dynabench.models.sandbox.limits import REQUEST, Options
from dynabench.models.sandbox.process import LINES, Ended, Process
from dynabench.models.validity import Broken

PAUSES = (0, 0, 1, 2, 4, 8, 16, 32, 60)
"""Seconds before the next start, by how often it has ended since it last answered."""
TRIES = 2
LAST = 10
"""Lines of the log that end a message."""
HANDLER = "handler.py"


class Keeper:
    """One handler, loaded by a class that is asked by any number of threads, one after the other."""

    def __init__(self, name: str, box: Box, folder: Path, options: Options) -> None:
        self._name, self._box, self._folder, self._options = name, box, folder, options
        self._log: deque[str] = deque(maxlen=LINES)
        self._turn = threading.Lock()
        self._process: Process | None = None
        self._ended, self._next, self._reason = 0, 0.0, ""
        self._closed = False

    def load(self) -> None:
        """Start it; raises `Invalid` with what is wrong with the handler and the end of its log."""
        with self._turn:
            try:
                self._start()
            except (Ended, Broken) as failed:
                self.close()
                raise Invalid({HANDLER: self._told(str(failed))}) from failed

    def predict(self, batch: Sequence[Mapping[str, Any]]) -> Any:
        """Return the handler's answer to a batch.

        Raises `Broken` for an error of the handler's code, `Unavailable` where the handler ended twice.
        """
        request = json.dumps(list(batch)).encode()
        if len(request) > REQUEST:
            raise TooLarge(f"A batch for {self._name} may have {REQUEST} bytes.")
        with self._turn:
            for _ in range(TRIES):
                try:
                    return self._ask(request)
                except Ended as ended:
                    self._count(str(ended))
                except Broken as broken:
                    raise Broken(self._told(broken.detail)) from broken
        raise Unavailable(self._told(self._reason), retry_after=max(1, round(self._next - time.monotonic())))

    def log(self) -> list[str]:
        """The last lines that the handler printed, over all its starts."""
        return list(self._log)

    def close(self) -> None:
        """End it for good."""
        self._closed = True
        if self._process is not None:
            self._process.close()

    def _ask(self, request: bytes) -> Any:
        process = self._process if self._process is not None and self._process.alive else self._start()
        answer = content(process.ask(request, self._options.predict_seconds))
        self._ended = 0
        return answer

    def _start(self) -> Process:
        """Start and load; raises `Ended`, `Unavailable` while a pause lasts, `Broken` when the handler cannot load."""
        left = self._next - time.monotonic()
        if self._closed or left > 0:
            when = "was unloaded" if self._closed else f"ended {self._ended} times and starts again in {left:.0f} s"
            raise Unavailable(self._told(f"it {when}; last time {self._reason}"), retry_after=max(1, round(left)))
        if self._process is not None:
            self._process.close()
            self._log.append("-- started again --")
        self._process = Process(self._box, self._folder, self._options, self._log)
        if self._closed:  # meanwhile, so that whoever did saw another process, or none
            self._process.close()
        content(self._process.first(self._options.load_seconds))
        return self._process

    def _count(self, reason: str) -> None:
        if self._process is not None:
            self._process.close()
        self._reason = reason
        self._ended += 1
        self._next = time.monotonic() + PAUSES[min(self._ended, len(PAUSES) - 1)]

    def _told(self, reason: str) -> str:
        """The reason, with the end of the log."""
        last = "\n".join(list(self._log)[-LAST:])
        return f"{self._name}: {reason}".rstrip(". \n") + (f". The end of its log:\n{last}" if last else ".")


def content(raw: bytes) -> Any:
    """Return the handler's answer, checked to be text that can be stored.

    Raises `Broken` with the error of the handler's code, and `Ended` where the process must end since it
    answers nonsense.
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Ended(f"it answered what is no JSON: {error}") from error
    if not isinstance(document, dict) or not ("ok" in document or isinstance(document.get("error"), str)):
        raise Ended("it answered what is neither an answer nor an error")
    if "ok" not in document:
        raise Broken(f"its code failed. {document.get('trace') or document['error']}")
    try:
        json.dumps(document["ok"], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Broken(f"it answered with text that is no Unicode: {error}") from error
    return document["ok"]
