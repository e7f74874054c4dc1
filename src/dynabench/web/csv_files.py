"""Tables as CSV downloads, written while they are read."""

from collections.abc import Iterable, Sequence

from starlette.responses import StreamingResponse

from dynabench.kit.csv_tables import pieces


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingResponse:
    """Return a CSV file called `name` (plain ASCII) as a download; spreadsheets do not run its cells as formulas."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces(header, rows), media_type="text/csv; charset=utf-8", headers=headers)
