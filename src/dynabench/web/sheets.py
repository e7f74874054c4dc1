"""Tables that are downloaded as CSV, written as they are read."""

from collections.abc import Iterable, Sequence

from starlette.responses import StreamingResponse

from dynabench.sheets import pieces


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingResponse:
    """A CSV file called `name` (plain ASCII) to download, of which no spreadsheet runs anything."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces(header, rows), media_type="text/csv; charset=utf-8", headers=headers)
