"""Boards as JSON and files: leaderboards, pictures, the ledger, snapshots and forks, others' results; and the views.

Nothing of what others report was measured here, and none of it is ranked.
"""

from dataclasses import asdict
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.evaluations import card_results
from dynabench.benchmark.evaluations.records import canonical_json
from dynabench.benchmark.leaderboards import (
    drawings,
    files,
    ledger,
    reports,
    requested_board,
    schemas,
    snapshots,
    view_api,
)
from dynabench.benchmark.leaderboards.requested_board import RequestedBoard
from dynabench.benchmark.leaderboards.schemas import Format, LedgerLine, LedgerOut, RanksOut, Slug
from dynabench.benchmark.leaderboards.tables import Report
from dynabench.benchmark.ranking import weight_parameters
from dynabench.benchmark.reading import read_board
from dynabench.kit import errors
from dynabench.kit.api import MARKDOWN, Db, download, file_route, page_address
from dynabench.kit.csv_tables import as_csv
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import auth
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds

boards_router = APIRouter(dependencies=[Depends(auth.scope("annotate"))])
Fork = Annotated[str, Query(max_length=40, description="A fork whose weights are the defaults.")]
PICTURES = {"svg": "image/svg+xml", "png": "image/png"}


async def board_of_request(request: Request, viewer: Person | None, task: str, fork: str = "") -> RequestedBoard:
    """The board that the request's parameters ask for."""
    board: RequestedBoard = await request.app.state.db.aread(
        requested_board.read_requested_board, viewer, task, request.query_params, fork
    )
    return board


@boards_router.get("/tasks/{task}/leaderboard")
async def read_leaderboard(request: Request, task: str, viewer: Viewer, fork: Fork = "") -> dict[str, Any]:
    """The board, best first, as weighed by `m.<metric>` and `d.<dataset>` (steps 0 to 5) and `form`.

    `size`, `licence`, `language` and `since` choose rows, `sort` orders them; ranks are among all rows.
    """
    board = await board_of_request(request, viewer, task, fork)
    return files.board_document(board.ranking, board.rows)


@boards_router.get("/tasks/{task}/leaderboard/ranks")
async def ranks(request: Request, task: str, viewer: Viewer, fork: Fork = "") -> RanksOut:
    """Rank intervals, tie groups and scores alone, by row: what a page asks for under changed weights."""
    rows = (await board_of_request(request, viewer, task, fork)).ranking.rows
    ranked = {str(row.entrant.id): row for row in rows if row.rank}
    return RanksOut(
        ranks={id: (row.rank.low, row.rank.high, row.rank.group) for id, row in ranked.items() if row.rank},
        scores={id: (row.score.value, row.score.low, row.score.high) for id, row in ranked.items()},
    )


@boards_router.get("/tasks/{task}/leaderboard/file", **file_route(_("The board."), *files.FORMATS.values()))
async def leaderboard_file(
    request: Request, task: str, viewer: Viewer, format: Format = "csv", fork: Fork = ""
) -> Response:
    """The board as a file: CSV, JSON or Parquet."""
    board = await board_of_request(request, viewer, task, fork)
    return download(
        files.board_file(board.ranking, board.rows, format), files.FORMATS[format], f"{task}-board.{format}"
    )


@boards_router.get("/tasks/{task}/leaderboard/image", **file_route(_("The picture."), *PICTURES.values()))
async def leaderboard_image(
    request: Request, db: Db, task: str, viewer: Viewer, format: Literal["svg", "png"] = "svg", fork: Fork = ""
) -> Response:
    """The board as a picture: scores of the first 30 with their intervals."""

    def draw(session: Session) -> bytes:
        board = requested_board.read_requested_board(session, viewer, task, request.query_params, fork)
        name = rounds.task_config(session, task).name
        return drawings.render_picture(drawings.board_chart(board.ranking, board.rows, name), format)

    return Response(await db.aread(draw), media_type=PICTURES[format])


@boards_router.get("/tasks/{task}/leaderboard/paperswithcode")
async def papers_with_code(request: Request, db: Db, task: str, viewer: Viewer) -> list[dict[str, Any]]:
    """The board in the form of Papers-with-Code's evaluation tables."""

    def read(session: Session) -> list[dict[str, Any]]:
        board = requested_board.read_requested_board(session, viewer, task, request.query_params)
        config = rounds.task_config(session, task)
        return files.papers_with_code(board.ranking, config.name, config.description)

    return await db.aread(read)


@boards_router.get("/tasks/{task}/leaderboard/rows/{id}")
async def read_leaderboard_row(request: Request, db: Db, task: str, id: RowId, viewer: Viewer) -> dict[str, Any]:
    """One row with its scores on each dataset, and by slice on those that are not hidden."""

    def read(session: Session) -> dict[str, Any]:
        ranking, row = requested_board.read_board_row(session, viewer, task, request.query_params, id)
        return files.row_document(ranking, row) | {
            "slices": [asdict(score) for score in requested_board.row_slices(session, ranking, row)]
        }

    return await db.aread(read)


@boards_router.get("/tasks/{task}/leaderboard/rows/{id}/card", **file_route(_("The front matter."), MARKDOWN))
async def model_index(request: Request, db: Db, task: str, id: RowId, viewer: Viewer) -> Response:
    """Return the scores of a row as front matter for a Hugging Face model card, each with a signed token."""

    def read(session: Session) -> str:
        ranking, row = requested_board.read_board_row(session, viewer, task, {}, id)
        if not row.entrant.model:
            raise errors.NotFound(_("This row has no name, so a model card cannot report its results."))
        config, address = rounds.task_config(session, task), page_address(request, "leaderboard", task=task)
        place = card_results.CardPlace(row.entrant.name, config, address)
        signer = card_results.result_signer(session, request.app.state.settings, row.entrant.id)
        return files.model_index(ranking.board, row.place, place, signer)

    return download((await db.aread(read)).encode(), MARKDOWN, f"{id}.md")


@boards_router.get("/tasks/{task}/ledger", **file_route(_("The ledger."), "application/json", files.FORMATS["csv"]))
async def ledger_of(db: Db, task: str, viewer: Viewer, format: Literal["json", "csv"] = "json") -> Response:
    """Every submission to the task, newest first, withdrawn ones too: how many tries stand behind a number."""
    lines = await db.aread(ledger.ledger_entries, viewer, task)
    items = [LedgerLine.model_validate(asdict(line)) for line in lines]
    if format == "json":
        return Response(LedgerOut(items=items).model_dump_json(), media_type="application/json")
    header = list(LedgerLine.model_fields)
    rows = [[str(value) if value is not None else "" for value in line.model_dump().values()] for line in items]
    return download(as_csv(header, rows), files.FORMATS["csv"], f"{task}-ledger.csv")


Limit = Annotated[int, Query(ge=1, le=100)]


def _params(body: schemas.WeightsIn) -> dict[str, str]:
    return weight_parameters(body.metrics, body.datasets, body.form)


@boards_router.get("/tasks/{task}/snapshots")
async def list_snapshots(
    db: Db, task: str, viewer: Viewer, after: schemas.After = "", limit: Limit = 50
) -> schemas.SnapshotPage:
    """The snapshots of a task's board, newest first."""
    return await db.aread(snapshots.snapshot_page, task, after, limit)


@boards_router.post("/tasks/{task}/snapshots", status_code=201)
async def keep_snapshot(db: Db, task: str, body: schemas.SnapshotIn, person: Member) -> schemas.SnapshotRow:
    """Freeze the public board of a task under these weights; it never changes afterwards."""

    def write(session: Session) -> schemas.SnapshotRow:
        snapshot = snapshots.take_snapshot(session, person, task, _params(body.weights), body.title)
        return snapshots.snapshot_row(snapshot, person)

    return await db.awrite(write)


@boards_router.get("/snapshots/{slug}")
async def read_snapshot(db: Db, slug: Slug, viewer: Viewer) -> Response:
    """A snapshot's document, byte for byte what its digest is of (header `Digest`)."""
    snapshot = await db.aread(snapshots.find_snapshot, slug)
    return Response(
        canonical_json(snapshot.document),
        media_type="application/json",
        headers={"Digest": f"sha-256={snapshot.digest}"},
    )


@boards_router.get("/tasks/{task}/forks")
async def list_forks(db: Db, task: str, viewer: Viewer) -> schemas.ForkList:
    """The boards of their own that people keep of a task, newest first."""
    return await db.aread(snapshots.list_forks, task)


@boards_router.post("/tasks/{task}/forks", status_code=201)
async def keep_fork(db: Db, task: str, body: schemas.ForkIn, person: Member) -> schemas.ForkOut:
    """Keep weights and a choice of datasets (weight 0 leaves one out) under a name; the board stays current."""

    def write(session: Session) -> schemas.ForkOut:
        fork = snapshots.make_fork(session, person, task, _params(body.weights), body.title, body.note)
        return snapshots.fork_out(fork, person)

    return await db.awrite(write)


@boards_router.get("/forks/{slug}")
async def read_fork(db: Db, slug: Slug, viewer: Viewer) -> schemas.ForkOut:
    """A fork; its board is that of its task with `?fork=<slug>`."""
    return await db.aread(snapshots.read_fork, slug)


@boards_router.patch("/forks/{slug}")
async def edit_fork(db: Db, slug: Slug, body: schemas.ForkChange, person: Member) -> schemas.ForkOut:
    """Change a fork (its maker, admins)."""

    def write(session: Session) -> schemas.ForkOut:
        params = _params(body.weights) if body.weights is not None else None
        snapshots.change_fork(session, person, slug, params, body.title, body.note)
        return snapshots.read_fork(session, slug)

    return await db.awrite(write)


@boards_router.delete("/forks/{slug}", status_code=204)
async def drop_fork(db: Db, slug: Slug, person: Member) -> Response:
    """Delete a fork (its maker, admins)."""
    await db.awrite(snapshots.delete_fork, person, slug)
    return Response(status_code=204)


reports_router = APIRouter(dependencies=[Depends(auth.scope("manage"))])


def report_out(report: Report) -> schemas.ReportOut:
    """An import."""
    return schemas.ReportOut(
        id=report.id,
        form=report.form,
        source=report.source,
        results=len(report.document["results"]),
        left_out=report.left_out,
        why=report.document["left_out"],
        digest=report.digest,
        made_at=report.made_at,
        removed_at=report.removed_at,
    )


def result_out(line: reports.ReportedLine) -> schemas.ResultOut:
    """One number."""
    fields = asdict(line.result) | {"number": line.result.number}
    return schemas.ResultOut(
        **fields, report=line.report, origin=line.origin or line.page, on=line.on, measure=line.measure
    )


@reports_router.get("/tasks/{task}/reported", **file_route(_("The results."), "application/json", files.FORMATS["csv"]))
async def read_reported(db: Db, task: str, viewer: Viewer, format: Literal["json", "csv"] = "json") -> Response:
    """Return the results that others report of this task's models, at most 2,000; `format=csv` for a sheet."""

    def read(session: Session) -> schemas.ReportedOut:
        results = [result_out(entry) for entry in reports.reported_lines(session, read_board(session, viewer, task))]
        return schemas.ReportedOut(
            items=results, reports=[report_out(entry) for entry in reports.reports_of_task(session, task)]
        )

    reported: schemas.ReportedOut = await db.aread(read)
    if format == "json":
        return Response(reported.model_dump_json(), media_type="application/json")
    rows = [["" if cell is None else cell for cell in result.model_dump().values()] for result in reported.items]
    sheet = as_csv(list(schemas.ResultOut.model_fields), rows)
    return download(sheet, files.FORMATS["csv"], f"{task}-reported.csv")


@reports_router.post("/tasks/{task}/reported", status_code=201)
async def import_reported(db: Db, task: str, report_in: schemas.ReportIn, person: Member) -> schemas.ReportOut:
    """Import results that others report (owners), in the form of Papers with Code or of a model card."""
    content = report_in.document.encode("utf-8", "replace") if isinstance(report_in.document, str) else None

    def write(session: Session) -> schemas.ReportOut:
        body = orjson.dumps(report_in.document) if content is None else content
        return report_out(reports.add_report(session, person, task, body, report_in.source))

    return await db.awrite(write)


@reports_router.patch("/tasks/{task}/reported/{id}")
async def change_reported(
    db: Db, task: str, id: RowId, body: schemas.ReportChange, person: Member
) -> schemas.ReportOut:
    """Take an import back, or undo that (owners)."""
    return await db.awrite(lambda session: report_out(reports.remove_report(session, person, task, id, body.removed)))


router = APIRouter(prefix="/api/v1", tags=["leaderboards"])
router.include_router(boards_router)
router.include_router(reports_router)
router.include_router(view_api.router, dependencies=[Depends(auth.scope("manage"))])
