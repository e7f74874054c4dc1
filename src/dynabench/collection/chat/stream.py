"""A turn as server-sent events, which go on from wherever a connection was lost (WHATWG HTML, section 9.2).

The id of an event says how many characters of each reply were sent by then, so nothing is sent twice or left out.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import StreamingResponse

from dynabench.collection.chat.live import Chats
from dynabench.collection.chat.service import ENDED, Begun
from dynabench.tasks.fields.chat import SIDES

MEDIA_TYPE = "text/event-stream"
_ID = re.compile(r"(\d{1,6}):(\d{1,7}(?:\.\d{1,7}){0,5})")
DOCUMENTED: dict[str, Any] = {
    "description": "Server-sent events: `turn` (conversation, number, attempt), `reply` (side, and a piece of text), "
    "`ended` (side, and how: done, stopped, failed or cut_off), at last `end`. The id of an event goes into "
    "`Last-Event-ID` of a request that resumes.",
    "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
}


@dataclass
class Cursor:
    """The characters that were sent, by side of one attempt."""

    attempt: int = 0
    sent: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> "Cursor":
        """From `Last-Event-ID`; what is none of ours begins anew."""
        found = _ID.fullmatch(text or "")
        return cls(int(found[1]), dict(enumerate(map(int, found[2].split("."))))) if found else cls()

    def __str__(self) -> str:
        return (
            f"{self.attempt}:{'.'.join(str(self.sent.get(side, 0)) for side in range(max(self.sent, default=0) + 1))}"
        )


def response(chats: Chats, begun: Begun, last: str | None = None) -> StreamingResponse:
    """The turn from its beginning, or from behind the event `last`."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events(chats, begun, Cursor.read(last)), media_type=MEDIA_TYPE, headers=headers)


async def events(chats: Chats, begun: Begun, cursor: Cursor) -> AsyncIterator[str]:
    """The events behind the cursor, up to the end of the turn."""
    told: set[int] = set()
    yield _event("turn", conversation=begun.conversation_id, number=begun.number)
    async with aclosing(chats.states(begun.turn_id)) as states:
        async for seen in states:
            if seen.attempt != cursor.attempt:
                cursor, told = Cursor(seen.attempt), set()
            quiet = True
            for side, reply in sorted(seen.replies.items()):
                begin = min(cursor.sent.get(side, 0), len(reply.text))
                if text := reply.text[begin:]:
                    cursor.sent[side] = begin + len(text)
                    yield _event("reply", cursor, side=SIDES[side], text=text)
                    quiet = False
                if reply.state in ENDED and side not in told:
                    told.add(side)
                    yield _event("ended", side=SIDES[side], state=reply.state)
                    quiet = False
            if quiet and not seen.over:
                yield ": still writing\n\n"
    yield _event("end")


def _event(name: str, cursor: Cursor | None = None, **document: Any) -> str:
    id = f"id: {cursor}\n" if cursor else ""
    return f"{id}event: {name}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n"
