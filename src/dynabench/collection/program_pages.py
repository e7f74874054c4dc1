"""The programs of a round as a table to download."""

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import programs
from dynabench.collection.program_schemas import ProgramRow
from dynabench.kit.api import csv_response
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import service as rounds
from dynabench.rounds import views
from dynabench.rounds.schemas import Number

router = APIRouter()

RATES = ("mer", "vmer")
PLAIN = [name for name in ProgramRow.model_fields if name not in RATES]
HEADER = [*PLAIN, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high"))]


@router.get("/tasks/{task}/rounds/{n}/programs.csv", name="programs_csv")
async def download(request: Request, task: str, n: Number, viewer: Viewer) -> Response:
    """One line for each version of a program."""

    def read(session: Session) -> list[ProgramRow]:
        views.visible_round(session, viewer, task, n)
        return programs.told(programs.board(session, rounds.round_of(session, task, n))).items

    rows = [_cells(row) for row in await request.app.state.db.aread(read)]
    return csv_response(f"{task}-round-{n}-programs.csv", HEADER, rows)


def _cells(row: ProgramRow) -> list[object]:
    limits = [each for rate in (row.mer, row.vmer) for each in (rate.value, rate.low, rate.high)]
    return [*(getattr(row, name) for name in PLAIN), *limits]
