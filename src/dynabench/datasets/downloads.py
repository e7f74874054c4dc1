"""Exports over HTTP: sent while they are read, and over as soon as nobody listens any more."""

from collections.abc import AsyncIterator, Generator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from anyio import CancelScope, to_thread
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from dynabench.datasets import exports
from dynabench.datasets.formats import FORMATS
from dynabench.datasets.scopes import Scope as What
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media.store import MediaStore

AT_ONCE = 4  # in one process: each holds a connection and a snapshot
_running = 0


class Download(StreamingResponse):
    """Sends what a generator makes, in a thread; however it ends, the generator's transaction ends with it."""

    def __init__(self, parts: Generator[bytes, None, None], **how: Any) -> None:
        self.parts = parts
        super().__init__(self._made(), **how)

    async def _made(self) -> AsyncIterator[bytes]:
        while (part := await to_thread.run_sync(next, self.parts, None)) is not None:
            yield part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, then clean up."""
        global _running
        if _running >= AT_ONCE:
            raise errors.Unavailable(_("Several exports are running. Try again in a minute."), retry_after=60)
        _running += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            _running -= 1
            with CancelScope(shield=True), suppress(ValueError):
                await to_thread.run_sync(self.parts.close)


def download(db: Database, settings: Settings, what: What, form: str) -> Response:
    """The response that carries an export."""
    kind = FORMATS[form]
    what = replace(what, files=MediaStore.of(settings))

    def parts() -> Generator[bytes, None, None]:
        yield from kind.write(exports.records(db, settings, what), what)

    headers = {"Content-Disposition": f'attachment; filename="{what.name}{kind.ending}"'}
    if form in ("parquet", "zip"):  # compressed already
        headers["Content-Encoding"] = "identity"
    return Download(parts(), media_type=kind.media_type, headers=headers)
