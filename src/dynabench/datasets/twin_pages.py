"""Perturbed copies as a page: originals and copies side by side, making them anew, sending others."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from dynabench.adversaries import perturbations
from dynabench.datasets import stored, twin_api, twins
from dynabench.datasets.formats import quote_cell
from dynabench.datasets.schemas import Axis
from dynabench.datasets.tables import Twin
from dynabench.datasets.twins import DEFAULT_COPIES, MOST_COPIES
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db
from dynabench.kit.csv_tables import guarded
from dynabench.kit.db import Database
from dynabench.kit.forms import redirect
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import people, uploaded_files, views
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)
PAGE_ROWS = 6
Filter = Annotated[str, Query(max_length=60)]


def _twin_head(session: Session, viewer: Person | None, task: str, name: str, axis: str) -> dict[str, Any]:
    dataset, version, mine = twins.visible_version(session, viewer, task, name)
    current = views.current_round(views.started_rounds(session, task))
    return {
        "config": rounds.newest_config(session, task), "round": views.round_out(session, current) if current else None,
        "dataset": dataset, "version": version, "mine": mine, "disclosure": Disclosure.of(viewer, dataset),
        "twin": session.scalar(twins.current_twin(version.id, axis)),
        "last": session.scalar(twins.newest_twin(version.id, axis)) if mine else None,
    }  # fmt: skip


async def _twin_page(
    request: Request, viewer: Person | None, task: str, name: str, axis: Axis, transformation: str = "",
    after: int | None = None, status: int = 200, wrong: Mapping[str, str] | None = None,
    typed: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    db: Database = request.app.state.db
    values = await db.aread(_twin_head, viewer, task, name, axis)
    twin: Twin | None = values["twin"]
    pairs: list[Any] = []
    following = None
    if twin is not None and values["disclosure"].rows:
        pairs, following = await twin_api.pairs_page(request, values["version"], twin, transformation, after, PAGE_ROWS)
    offered = [
        transformation_ for transformation_ in perturbations.transformations().values() if transformation_.axis == axis
    ]
    return render(
        request, "datasets/twins.html", status=status, task=task, axis=axis, axes=twins.AXES, pairs=pairs,
        following=following, after=after, transformation=transformation, offered=offered, wrong=wrong or {},
        given=typed or {"seed": "1", "copies": str(DEFAULT_COPIES)}, most=MOST_COPIES, most_seed=twins.MOST_SEED,
        titles={transformation_.name: transformation_.title for transformation_ in offered}, **values,
    )  # fmt: skip


@router.get("/tasks/{task}/datasets/{name}/twins", name="twins", dependencies=[Depends(people.load_actions)])
async def show_twins(
    request: Request, task: str, name: str, viewer: Viewer, axis: Axis = "robustness", transformation: Filter = "",
    after: After = None,
) -> Response:  # fmt: skip
    """Copies of one axis beside their originals."""
    return await _twin_page(request, viewer, task, name, axis, transformation, after)


@router.post("/tasks/{task}/datasets/{name}/twins", name="generate_twin", dependencies=[Depends(people.load_actions)])
async def generate_twin(request: Request, db: Db, task: str, name: str, person: Member) -> Response:
    """Make an axis's copies anew (owners)."""
    form = await request.form()
    axis: Axis = "fairness" if form.get("axis") == "fairness" else "robustness"
    typed = {field: str(form.get(field, ""))[:20] for field in ("seed", "copies")}
    chosen = [str(field)[:60] for field in form.getlist("transformations")][:100]
    try:
        seed, copies = (int(text) if text.isdecimal() else -1 for text in typed.values())
        await db.awrite(twins.generate_twin, person, task, name, axis, seed, chosen, copies)
    except errors.Invalid as problem:
        return await _twin_page(request, person, task, name, axis, status=422, wrong=problem.fields, typed=typed)
    except errors.Conflict as problem:
        return await _twin_page(
            request, person, task, name, axis, status=409, wrong={"axis": problem.detail}, typed=typed
        )
    return _back_to_twins(request, task, name, axis)


@router.post("/tasks/{task}/datasets/{name}/twins/file", name="send_twin", dependencies=[Depends(people.load_actions)])
async def send_twin(request: Request, settings: AppSettings, db: Db, task: str, name: str, person: Member) -> Response:
    """Copies of one's own in the place of an axis's (owners)."""
    await db.aread(twins.owned_version, person, task, name)
    async with request.form(max_files=1, max_fields=5) as form:
        axis: Axis = "fairness" if form.get("axis") == "fairness" else "robustness"
        path = None
        try:
            path = await uploaded_files.store_form_file(settings, task, form)
            await db.awrite(twins.replace_twin, person, settings, task, name, axis, path)
        except (errors.Invalid, errors.Conflict) as problem:
            if path is not None:
                path.unlink(missing_ok=True)
            wrong = uploaded_files.upload_errors(problem)
            return await _twin_page(request, person, task, name, axis, status=422, wrong=wrong)
    return _back_to_twins(request, task, name, axis)


def _back_to_twins(request: Request, task: str, name: str, axis: str) -> Response:
    return redirect(request, "twins", task=task, name=name, query={"axis": axis})


@router.get("/tasks/{task}/datasets/{name}/twins/{axis}.csv", name="twins_csv")
async def download_twins(settings: AppSettings, db: Db, task: str, name: str, axis: Axis, viewer: Viewer) -> Response:
    """All copies of an axis as CSV (of public datasets; of others nobody reads a row)."""
    _, twin = await db.aread(twin_api.readable_twin, viewer, task, name, axis)
    headers = {"Content-Disposition": f'attachment; filename="{name}-{axis}.csv"', "Cache-Control": "no-store"}
    lines = _csv_lines(settings, twin.digest)
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


def _csv_lines(settings: Settings, digest: str) -> Iterator[str]:
    names: list[str] = []
    buffer: list[str] = []
    for row in stored.read_rows(settings, digest):
        if not names:
            names = list(row.inputs)
            buffer.append(
                ",".join(quote_cell(column) for column in ("uid", "input_id", "transformation", *names, "answers"))
            )
        cells = [row.uid, row.original_uid, row.transformation, *(_text(row.inputs.get(column)) for column in names)]
        answers = orjson.dumps([dict(answer) for answer in row.answers]).decode()
        buffer.append(",".join(quote_cell(guarded(cell)) for cell in (*cells, answers)))
        if len(buffer) == 500:
            yield "\r\n".join(buffer) + "\r\n"
            buffer = []
    if buffer:
        yield "\r\n".join(buffer) + "\r\n"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else orjson.dumps(value).decode()
