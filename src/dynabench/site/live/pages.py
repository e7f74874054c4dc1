"""Routes of what changes while a page is open: counters as JSON, counters and activity as server-sent events."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from dynabench.kit import security
from dynabench.site.live.activity import Position
from dynabench.site.live.counters import Topic, describe_counts
from dynabench.site.live.feed import Feed

router = APIRouter(include_in_schema=False)

TaskId = Annotated[str, Query(max_length=60)]
RoundNumber = Annotated[int, Query(ge=0, le=1_000_000, alias="round")]
Last = Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)]
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def _topic(task: str, number: int) -> Topic:
    return (task, number) if task and number else None


@router.get("/live", name="live")
async def live_counters(request: Request, task: TaskId = "", number: RoundNumber = 0) -> JSONResponse:
    """The counters of all rounds, or of one: `texts` in the reader's language, and `counts`."""
    topic, feed = _topic(task, number), request.app.state.live
    counts = (await feed.counters.read([topic])).get(topic)
    document = describe_counts(counts) if counts else {"texts": {}, "counts": {}}
    return JSONResponse(document, headers={"Cache-Control": "no-store"})


@router.get("/live/events", name="live_events")
async def live_events(
    request: Request,
    task: TaskId = "",
    number: RoundNumber = 0,
    last_id: Last = None,
    last: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """`counters` and `activity` as they change; 204 where this process has no room: then the counters can be polled.

    A client that was told of something before says so by `Last-Event-ID`, or by `last` where a page connects anew.
    """
    feed: Feed = request.app.state.live
    address = security.address(request)
    if not feed.has_room(address):
        return Response(status_code=204, headers=HEADERS)
    position = Position.parse(last_id) or Position.parse(last)
    stream = feed.stream(address, _topic(task, number), position)
    return StreamingResponse(stream, media_type=MEDIA_TYPE, headers=HEADERS)
