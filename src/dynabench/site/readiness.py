"""The check whether this web process is ready for people, with the progress of anything that it waits for.

It is ready when the database answers, the demo is set up, and the models of open rounds answer.
"""

import asyncio
import time
from typing import Any

from sqlalchemy import text
from starlette.requests import Request
from starlette.responses import JSONResponse

from dynabench.kit import errors
from dynabench.models.client import Host, State
from dynabench.models.host_connection import Key
from dynabench.rounds import round_models
from dynabench.rounds.demo import RETRY_SECONDS, progress_of_demo

FRESH = 0.5
"""Seconds that an answer is kept, so that many who ask cost no more than one."""


class Readiness:
    """The answer of `/readyz`.

    Once everything was there, the process stays ready as long as its database answers: a model host that
    fails later is reported, and pages work without it.
    """

    def __init__(self) -> None:
        self._begun = False
        self._kept: tuple[float, dict[str, Any], int] | None = None
        self._lock = asyncio.Lock()

    async def answer(self, request: Request) -> JSONResponse:
        """The document with status 200, or 503 while something is awaited."""
        async with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] > FRESH:
                document, status = await self._look(request)
                self._kept = time.monotonic(), document, status
            _at, document, status = self._kept
        return JSONResponse(document, status, {"Retry-After": str(RETRY_SECONDS)} if status == 503 else None)

    async def _look(self, request: Request) -> tuple[dict[str, Any], int]:
        db, host = request.app.state.db, request.app.state.host
        try:
            await db.aread(lambda session: session.execute(text("SELECT 1")))
        except Exception:
            return {"database": "no answer", "host": "unknown", "ready": False, "awaited": [{"what": "database"}]}, 503
        progress = await progress_of_demo(request)
        loaded = await host.ready()
        models = await db.aread(round_models.models_of_open_rounds)
        awaited, unavailable = await _models(host, models, loaded)
        if progress is not None:
            awaited.insert(0, {"what": "demo tasks", "done": progress.done, "of": progress.total})
        self._begun = self._begun or not awaited
        document = {"database": "ok", "host": "ok" if loaded else "no answer", "ready": self._begun, "awaited": awaited}
        return document | ({"unavailable": unavailable} if unavailable else {}), 200 if self._begun else 503


async def _models(host: Host, models: list[Key], loaded: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the models that open rounds still wait for, and the models that cannot be served.

    The latter are those that a host which has loaded everything cannot serve: they are reported, but not
    waited for.
    """
    if not models:
        return [], []
    try:
        states: dict[Key, State] = {(item.name, item.version): item for item in await host.states()}
    except errors.Unavailable:
        return [{"what": "host"}, {"what": "models", "done": 0, "of": len(models), "names": _names(models)}], []
    missing = [key for key in models if key not in states or not states[key].available]
    broken = [key for key in missing if loaded and (key not in states or states[key].state != "LOADING")]
    waiting = [key for key in missing if key not in broken]
    if not waiting:
        return [], _names(broken)
    progress = {"what": "models", "done": len(models) - len(missing), "of": len(models), "names": _names(waiting)}
    return [progress], _names(broken)


def _names(models: list[Key]) -> list[str]:
    return sorted({name for name, _version in models})
