"""A person's own data as one JSON file, written while it is read, however much it is."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson
from sqlalchemy.orm import Session
from starlette.responses import StreamingResponse

from dynabench.kit.api import attachment
from dynabench.kit.db import Database, now
from dynabench.site.community.own_sections import PAGED_SECTIONS, SECTIONS, PagedSection

PAGE = 500


def read_sections(session: Session, person_id: int) -> dict[str, Any]:
    """Return the sections of a person's own data but for the long lists; a few index ranges each."""
    return {
        name: [dict(row) for row in session.execute(section(person_id)).mappings()]
        for name, section in SECTIONS.items()
    }


def _read_page(session: Session, section: PagedSection, person_id: int, after: int) -> list[Mapping[str, Any]]:
    return [dict(row) for row in session.execute(section(person_id, after, PAGE)).mappings()]


async def write_own_data(db: Database, person_id: int) -> AsyncIterator[bytes]:
    """Yield the file: short sections first, then the long lists page by page."""
    sections = await db.aread(read_sections, person_id)
    head = orjson.dumps({"made_at": now(), **sections})
    yield head[:-1]
    for name, section in PAGED_SECTIONS.items():
        yield b',\n"' + name.encode() + b'":['
        after, mark = 0, b""
        while rows := await db.aread(_read_page, section, person_id, after):
            after = next(iter(rows[-1].values()))
            yield mark + b",\n".join(orjson.dumps(row) for row in rows)
            mark = b",\n"
        yield b"]"
    yield b"}\n"


def download_own_data(db: Database, person_id: int) -> StreamingResponse:
    """Return the file as a download."""
    headers = attachment("own-data.json") | {"Cache-Control": "no-store"}
    return StreamingResponse(write_own_data(db, person_id), media_type="application/json", headers=headers)
