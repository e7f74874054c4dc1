"""The pages of open evaluations: the form, whose state is its address, the list, and the board of one evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.registry import pages as registry_pages
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db, csv_response, site_address
from dynabench.kit.disk import erase_paths, has_disk_room
from dynabench.kit.forms import Text, field_errors, redirect
from dynabench.kit.language import _, join_messages
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import (
    api,
    board,
    card_results,
    metrics,
    planning,
    predictions,
    published_metrics,
    published_predictions,
    queries,
    remote_source,
    repository_cards,
    service,
    sources,
)
from dynabench.open_evaluations.choices import MOST_MODELS, OpenChoices, label_field
from dynabench.open_evaluations.kinds import OPEN_TASKS
from dynabench.open_evaluations.planning import OpenPlan
from dynabench.open_evaluations.remote_downloads import DownloadState, RemoteDownload, downloaded_bytes, find_download
from dynabench.open_evaluations.schemas import PublicationIn
from dynabench.open_evaluations.tables import OpenState
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import uploaded_files
from dynabench.rounds.schemas import Number
from dynabench.web import render

router = APIRouter(include_in_schema=False)
LISTED = 20
FORM: dict[str, Any] = {"max_files": 1, "max_fields": 1000, "max_part_size": 2**20}


@router.get("/open-evaluations", name="open_evaluations")
async def show_list(request: Request, db: Db, viewer: Viewer, after: After = None) -> Response:
    """Show one's own open evaluations and those that everybody may see."""
    before = api.NEWEST if after is None else after
    rows = await db.aread(service.list_evaluations, viewer, before, LISTED + 1)
    following = rows[LISTED - 1].evaluation.id if len(rows) > LISTED else None
    values: dict[str, Any] = {"rows": rows[:LISTED], "following": following, "tasks": OPEN_TASKS}
    return render(request, "open_evaluations/list.html", **values)


@router.get("/open-evaluations/new", name="open_evaluation_form")
async def show_form(request: Request, person: Member) -> Response:
    """Show the form with the choices of the address; everything that they leave open is guessed."""
    choices, wrong = _read(request.query_params.multi_items())
    touched = "checked" in request.query_params or bool(choices.models or choices.columns)
    return await _form_page(request, person, choices, wrong, touched=touched)


@router.post("/open-evaluations/files", name="upload_dataset_form")
async def upload(request: Request, db: Db, settings: AppSettings, person: Member) -> Response:
    """Store an uploaded file and lead to the form with it."""
    async with request.form(**FORM) as form:
        file = form.get("file")
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise errors.Invalid({"file": _("Choose a file first.")})
            parts = uploaded_files.read_pieces(file)
            stored = await api.store_file(db, settings, person, file.filename, parts)
        except (errors.Invalid, errors.TooLarge) as problem:
            wrong = field_errors(problem, "file")
            return await _form_page(request, person, OpenChoices(), wrong, status=problem.status)
    return redirect(request, "open_evaluation_form", query={"dataset": stored.dataset})


@router.post("/open-evaluations/remote-datasets", name="fetch_dataset")
async def fetch_dataset(request: Request, db: Db, settings: AppSettings, person: Member) -> Response:
    """Start the download of a dataset of another hub and lead to the form, which shows how far it is."""
    async with request.form(**FORM) as form:
        choices, wrong = _read([(name, value) for name, value in form.multi_items() if isinstance(value, str)])
    try:
        if not wrong:
            await api.start_fetching(request, db, settings, person, choices)
            return RedirectResponse(
                f"{request.url_for('open_evaluation_form').path}?{choices.query()}", status_code=303
            )
    except errors.Problem as problem:
        wrong = field_errors(problem, "dataset")
    return await _form_page(request, person, choices, wrong, status=422)


@router.post("/open-evaluations/{id}/file/delete", name="delete_dataset_file")
async def remove_file(request: Request, db: Db, settings: AppSettings, id: Number, person: Member) -> Response:
    """Delete the uploaded file of an evaluation, which stays (its owner)."""

    def remove(session: Session) -> list[Path]:
        file = service.find_file(session, person, service.find_evaluation(session, person, id).evaluation)
        return service.delete_file(session, settings, person, file.id if file else "")

    erase_paths(await db.awrite(remove))
    return redirect(request, "open_evaluation", id=id)


@router.post("/open-evaluations", name="start_open_evaluation")
async def start(request: Request, db: Db, settings: AppSettings, person: Member) -> Response:
    """Start an open evaluation and lead to it; show the form again with what is wrong."""
    async with request.form(**FORM) as form:
        pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    choices, wrong = _read(pairs)
    if wrong:
        return await _form_page(request, person, choices, wrong, status=422)
    try:
        cards = await api.usable_cards(request, person)
        evaluation = await db.awrite(_start, settings, person, choices, cards)
    except (errors.Invalid, errors.Conflict) as problem:
        return await _form_page(request, person, choices, field_errors(problem, "models"), status=problem.status)
    return redirect(request, "open_evaluation", id=evaluation)


def _start(session: Session, settings: Any, person: Person, choices: OpenChoices, cards: Any) -> int:
    evaluation = service.start_evaluation(session, settings, person, choices, cards)
    session.flush()
    return evaluation.id


def _read(pairs: Sequence[tuple[str, str]]) -> tuple[OpenChoices, dict[str, str]]:
    try:
        return OpenChoices.from_query(pairs), {}
    except errors.Invalid as problem:
        return OpenChoices(), problem.fields


async def _form_page(
    request: Request,
    person: Person,
    choices: OpenChoices,
    wrong: dict[str, str],
    status: int = 200,
    touched: bool = True,
) -> Response:
    """The form: the choice of a dataset, or the plan for the chosen one."""
    db, settings = request.app.state.db, request.app.state.settings
    plan: OpenPlan | None = None
    down, download = "", None
    if choices.dataset.startswith(remote_source.REMOTE_PREFIX):
        download, wrong = await _find_download(settings, choices, wrong)
    if choices.dataset and (download is None or not download.open) and "dataset" not in wrong:
        try:
            cards = await api.usable_cards(request, person)
        except errors.Unavailable as problem:
            cards, down = [], problem.detail
        try:
            plan = await db.aread(planning.make_plan, settings, person, choices, cards)
        except errors.Problem as problem:
            wrong, status = {**field_errors(problem, "dataset"), **wrong}, max(status, problem.status)
    if plan and touched:
        wrong = {**plan.problems, **wrong}
    elif plan:  # before a person has chosen columns or models, that they are missing is no error
        unchosen = ("column.", "models", "labels")
        wrong = {name: text for name, text in plan.problems.items() if not name.startswith(unchosen)} | wrong
    values: dict[str, Any] = {
        "choices": plan.choices if plan else choices,
        "plan": plan,
        "wrong": wrong,
        "down": down,
        "tasks": OPEN_TASKS,
        "offered": await db.aread(sources.offered_datasets, person),
        "repositories": [] if plan else await db.aread(sources.offered_repositories, person),
        "further": metrics.offered_metrics(plan.task) if plan else [],
        "modules": await db.aread(published_metrics.offered_modules, person) if plan else [],
        "hub": bool(settings.hub_url),
        "hub_address": settings.hub_url.rstrip("/").rpartition("@")[2].rpartition("//")[2],
        "download": download,
        "downloaded": downloaded_bytes(settings, download) if download else 0,
        "here": f"{request.url.path}?{choices.query()}",
        "most": MOST_MODELS,
        "most_rows": planning.MOST_ROWS,
        "label_field": label_field,
        "link": f"?{plan.choices.query()}" if plan else "",
    }
    if "HX-Request" in request.headers:  # the page that waits for a download takes in no answer of an error
        status = 200
    return render(request, "open_evaluations/form.html", status=status, **values)


async def _find_download(
    settings: Settings, choices: OpenChoices, wrong: dict[str, str]
) -> tuple[RemoteDownload | None, dict[str, str]]:
    """The download of the chosen dataset, and what is wrong with its name beside everything else."""
    try:
        wish = remote_source.remote_request(choices)
    except errors.Invalid as problem:
        return None, {"dataset": join_messages(problem.fields.values())} | wrong
    download = await to_thread.run_sync(find_download, settings, wish)
    if download is not None and download.state == DownloadState.FAILED:
        wrong = {"dataset": download.reason} | wrong
    return download, wrong


@dataclass(frozen=True)
class EvaluationValues:
    """The values of the page of one open evaluation; `texts` is what would be written into the card of each model.

    `uploaded` says that its rows came from the viewer's file, and `file_end` when this is deleted, None where it was.
    `public_rows` says that everybody may read the dataset, `needs_room` that the job waits for room on the disk.
    """

    seen: service.VisibleEvaluation
    board: board.OpenBoard
    link: str
    registry: Sequence[card_results.RegistryEntry] = ()
    repositories: Sequence[repository_cards.RepositoryEntry] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    uploaded: bool = False
    file_end: datetime | None = None
    public_rows: bool = False
    needs_room: bool = False

    @property
    def decides(self) -> bool:
        """True where the viewer decides on the card of a model of the registry that has an entry."""
        return any(item.direct and item.entry for item in self.registry)


def _evaluation_values(session: Session, viewer: Person | None, id: int, by: str) -> EvaluationValues:
    seen = service.find_evaluation(session, viewer, id)
    link = OpenChoices.parse(seen.evaluation.choices).query() if seen.own else ""
    file = service.find_file(session, viewer, seen.evaluation) if viewer else None
    return EvaluationValues(
        seen, board.read_board(session, seen, by), link,
        uploaded=seen.own and seen.evaluation.source.startswith("file:"),
        file_end=service.file_end(file) if file else None,
    )  # fmt: skip


def _values_with_cards(
    session: Session, settings: Settings, viewer: Person | None, id: int, by: str, site: str
) -> EvaluationValues:
    values = _evaluation_values(session, viewer, id, by)
    if values.seen.evaluation.state == OpenState.QUEUED:
        return replace(values, needs_room=not has_disk_room(settings))
    if viewer is None or values.seen.evaluation.state != OpenState.DONE:
        return values
    registry = card_results.registry_entries(session, viewer, values.seen)
    if not values.seen.own:
        return replace(values, registry=registry)
    repositories = repository_cards.repository_entries(session, viewer, values.seen)
    texts = {
        item.model.number: card_results.results_text(session, settings, values.seen, item.model, site)
        for item in repositories
    }
    public = published_predictions.is_public_source(session, settings, viewer, values.seen.evaluation)
    return replace(values, registry=registry, repositories=repositories, texts=texts, public_rows=public)


By = Annotated[str, Query(max_length=200)]


@router.get("/open-evaluations/{id}", name="open_evaluation")
async def show_evaluation(request: Request, id: Number, viewer: Viewer, by: By = "") -> Response:
    """Show an open evaluation: its progress by model, then its board; htmx reloads it until it has ended."""
    return await evaluation_page(request, id, viewer, by)


async def evaluation_page(
    request: Request, id: int, viewer: Person | None, by: str = "", *, wrong_cards: Mapping[int, str] | None = None,
    wrong_publication: Mapping[str, str] | None = None, status: int = 200,
) -> Response:  # fmt: skip
    """Return the page of an open evaluation; `wrong_cards` says by model why results did not come into a repository.

    `wrong_publication` says by field why the predictions were not published.
    """
    db, settings, site = request.app.state.db, request.app.state.settings, site_address(request)
    page_values = await db.aread(_values_with_cards, settings, viewer, id, by, site)
    here = str(request.app.url_path_for("open_evaluation", id=id))
    values: dict[str, Any] = {
        "shown": page_values,
        "here": here,
        "public_link": f"{site}{here}",
        "by": by,
        "task": OPEN_TASKS.get(page_values.seen.evaluation.kind),
        "wrong_cards": wrong_cards or {},
        "wrong_publication": wrong_publication or {},
    }
    template, part = "open_evaluations/evaluation.html", "open_evaluations/_state.html"
    return render(request, template, status=status, fragment=part, **values)


@router.get("/open-evaluations/{id}/scores.csv", name="open_evaluation_scores")
async def download_scores(db: Db, id: Number, viewer: Viewer) -> Response:
    """Download the scores as CSV."""
    page_values = await db.aread(_evaluation_values, viewer, id, "")
    lines = [
        [line.model.reference, line.model.version, score.metric, score.key, score.value, score.low, score.high, score.n]
        for line in page_values.board.lines
        for score in line.scores
        if score is not None
    ]
    header = ["model", "version", "metric", "key", "value", "low", "high", "n"]
    return csv_response(f"open-evaluation-{id}-scores.csv", header, lines)


@router.get("/open-evaluations/{id}/pairs.csv", name="open_evaluation_pairs")
async def download_pairs(db: Db, id: Number, viewer: Viewer, by: By = "") -> Response:
    """Download the paired differences on one metric as CSV."""
    page_values = await db.aread(_evaluation_values, viewer, id, by)
    lines = [[pair.first, pair.second, pair.value, pair.low, pair.high] for pair in page_values.board.pairs]
    header = ["first", "second", "difference", "low", "high"]
    return csv_response(f"open-evaluation-{id}-pairs.csv", header, lines)


@router.get("/open-evaluations/{id}/predictions.{format}", name="open_evaluation_predictions")
async def download_predictions(db: Db, settings: AppSettings, id: Number, person: Member, format: str) -> Response:
    """Download rows, right answers and predictions as CSV or Parquet (the author)."""
    if format not in ("csv", "parquet"):
        raise errors.NotFound(_("Predictions can be downloaded as csv or parquet."))
    table = await db.aread(predictions.prediction_table, settings, person, id)
    return await api.prediction_file(settings, id, table, format)


@router.post("/open-evaluations/{id}/publish", name="publish_predictions")
async def publish(
    request: Request, db: Db, settings: AppSettings, id: Number, person: Member, name: Text = "", private: Text = ""
) -> Response:
    """Publish the predictions as a dataset of the hub and lead to it (the author)."""
    body = PublicationIn(name=name.strip()[:96], private=bool(private))
    try:
        published = await api.publish_dataset(request, db, settings, id, person, body)
    except errors.Invalid as problem:
        wrong = field_errors(problem, "name")
        return await evaluation_page(request, id, person, wrong_publication=wrong, status=problem.status)
    namespace, _slash, own_name = published.repository.partition("/")
    return redirect(request, "repository", kinds="datasets", namespace=namespace, name=own_name)


@router.post("/open-evaluations/{id}/cancel", name="cancel_open_evaluation")
async def cancel(request: Request, db: Db, id: Number, person: Member) -> Response:
    """Cancel an open evaluation (its author)."""
    await db.awrite(service.cancel_evaluation, person, id)
    return redirect(request, "open_evaluation", id=id)


@router.post("/open-evaluations/{id}/listed", name="list_open_evaluation")
async def change_listing(request: Request, db: Db, id: Number, person: Member) -> Response:
    """Show the scores to everybody, or to the author alone (its author)."""
    listed = bool((await request.form()).get("listed"))
    await db.awrite(service.list_publicly, person, id, listed)
    return redirect(request, "open_evaluation", id=id)


@router.post("/open-evaluations/{id}/delete", name="delete_open_evaluation")
async def delete(request: Request, db: Db, settings: AppSettings, id: Number, person: Member) -> Response:
    """Delete an open evaluation that has ended (its author)."""
    erase_paths(await db.awrite(service.delete_evaluation, settings, person, id))
    return RedirectResponse(str(request.app.url_path_for("open_evaluations")), status_code=303)


def model_results(session: Session, name: str) -> list[dict[str, Any]]:
    """Return the listed open evaluations of a model for its page: title, address, rows and the main score."""
    results = []
    for evaluation, model in session.execute(queries.listed_of_model(name, LISTED)):
        scores = session.scalars(queries.scores_of(evaluation.id)).all()
        main = next((score for score in scores if score.model == model.number), None)
        results.append({"id": evaluation.id, "title": evaluation.title, "rows": evaluation.rows, "score": main,
                        "version": model.version})  # fmt: skip
    return results


registry_pages.result_lists.append(model_results)
