"""The owner's pages of a panel without a programming interface: its list compared, entry links, payment lists."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from dynabench.crowd import panel_claims, participation, payment_lists, studies
from dynabench.crowd.manage import SECTION, study_page
from dynabench.crowd.panel_claims import Claim, PanelRow
from dynabench.crowd.provider import SignedEntries
from dynabench.crowd.tables import Study
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, csv_response, page_address
from dynabench.kit.forms import Text, Texts, read_number, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.pay.exports import money_text
from dynabench.people.accounts.tables import Person
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner

router = APIRouter()
STUDY = "/tasks/{task}/manage/studies/{id}"
MOST_LINKS = 5_000


def _panel_study(session: Session, owner: Person, task: str, study_id: int) -> Study:
    study = studies.owned_study(session, owner, task, study_id)
    if studies.provider_of(study).credential_fields:
        raise errors.NotFound(_("This platform is compared by itself every few minutes."))
    session.expunge(study)
    return study


@router.get(f"{STUDY}/participants/compare", name="compare_participants")
async def show_comparison(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """The form for the panel's list of participants and codes."""
    return await _comparison_page(request, task, await db.aread(_panel_study, owner, task, id))


async def _comparison_page(
    request: Request, task: str, study: Study, /, *, status: int = 200, **values: Any
) -> Response:
    defaults: dict[str, Any] = {"errors": {}, "study": study, "text": "", "claims": None, "counts": {}}
    return await frame.console_page(
        request, task, "crowd/manage/compare.html", SECTION, status=status, **(defaults | values)
    )


@router.post(f"{STUDY}/participants/compare", name="compare_panel_list")
async def compare(request: Request, db: Db, settings: AppSettings, task: str, id: RowId, owner: TaskOwner) -> Response:
    """Compare the panel's list with the study, as a page or (`then` = csv) as a file; nothing is stored."""
    study = await db.aread(_panel_study, owner, task, id)
    async with request.form(max_files=1, max_part_size=4 * panel_claims.LONGEST_LIST) as form:
        then = form.get("then")
        try:
            text = await _posted_list(form)
        except errors.Invalid as problem:
            return await _comparison_page(request, task, study, **rejection(problem, "list"))
    try:
        rows = panel_claims.read_panel_list(text, study.settings.get("worker_parameter", ""))
    except errors.Invalid as problem:
        return await _comparison_page(request, task, study, text=text, **rejection(problem, "list"))
    claims = await db.aread(_compare, owner, task, id, settings.key, rows)
    if then == "csv":
        lines = (panel_claims.csv_row(claim) for claim in claims)
        return csv_response(f"{task}-study-{id}-compared.csv", panel_claims.CSV_COLUMNS, lines)
    findings = [claim.finding for claim in claims]
    counts = {finding.value: findings.count(finding) for finding in panel_claims.ClaimFinding if finding in findings}
    return await _comparison_page(request, task, study, text=text, claims=claims, counts=counts)


async def _posted_list(form: FormData) -> str:
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return str(form.get("list", ""))
    try:
        return (await file.read(4 * panel_claims.LONGEST_LIST)).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise errors.Invalid({"list": _("The file is not valid UTF-8.")}) from None


def _compare(
    session: Session, owner: Person, task: str, study_id: int, key: bytes, rows: Sequence[PanelRow]
) -> list[Claim]:
    return panel_claims.compare_list(session, key, studies.owned_study(session, owner, task, study_id), rows)


@router.post(f"{STUDY}/participants/decisions", name="decide_participants")
async def decide(
    request: Request,
    db: Db,
    task: str,
    id: RowId,
    owner: TaskOwner,
    decision: Text = "",
    participants: Texts = (),
    completed: Text = "",
    reason: Text = "",
) -> Response:
    """Approve or reject the participants who are ticked, or approve all who `completed` the work."""
    chosen = None if completed else set(map(read_number, participants)) - {0}
    try:
        if decision not in ("approve", "reject"):
            raise errors.Invalid({"decision": _("Choose what to do.")})
        if chosen is not None and not chosen:
            raise errors.Invalid({"participants": _("Choose at least one person.")})
        approve = decision == "approve" or chosen is None
        count = await db.awrite(participation.decide_some, owner, task, id, chosen, approve, reason)
    except (errors.Invalid, errors.Conflict) as problem:
        return await study_page(request, db, task, owner, id, **rejection(problem, "reason"))
    done = {(True, False): "approved", (True, True): "rejected"}.get((count > 0, not approve), "undecided")
    return redirect(request, "manage_study", task=task, id=id, query={"done": done, "count": count})


@router.post(f"{STUDY}/participants/links", name="download_entry_links")
async def download_links(
    request: Request, db: Db, task: str, id: RowId, owner: TaskOwner, ids: Annotated[str, Form()] = ""
) -> Response:
    """Write the address of each participant as CSV, signed where the study asks for it."""
    study = await db.aread(_panel_study, owner, task, id)
    provider, facts = studies.provider_of(study), studies.facts_of(study)
    workers = list(dict.fromkeys(line.strip() for line in ids.splitlines() if line.strip()))
    if not workers or len(workers) > MOST_LINKS or not isinstance(provider, SignedEntries):
        problem = errors.Invalid({"ids": _("Give one id in each line, at most %(most)s.", most=MOST_LINKS)})
        return await study_page(request, db, task, owner, id, **rejection(problem, "ids"))
    entry = page_address(request, "study", slug=study.slug)
    lines = [(worker, provider.entry_address(facts, entry, worker)) for worker in workers]
    return csv_response(f"{task}-study-{id}-links.csv", ("worker", "address"), lines)


@router.get(f"{STUDY}/bonuses/{{order}}", name="payment_list")
async def show_list(request: Request, task: str, id: RowId, order: RowId, owner: TaskOwner, done: str = "") -> Response:
    """One payment list: what the panel is to pay to whom, and what it has paid."""
    return await _list_page(request, task, owner, id, order, done=done)


async def _list_page(
    request: Request, task: str, owner: Person, id: int, order_id: int, /, *, status: int = 200, **values: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        study, order = payment_lists.find_list(session, owner, task, id, order_id)
        lines = payment_lists.read_list(session, request.app.state.settings.key, order)
        totals: dict[str, int] = {}
        for line in lines:
            totals[line.currency] = totals.get(line.currency, 0) + line.amount
        return {"study": study, "order": order, "lines": lines, "totals": totals}

    defaults: dict[str, Any] = {"errors": {}, "done": "", "typed": "", "ticked": None, "money": money_text}
    page_values = defaults | await request.app.state.db.aread(read) | values
    return await frame.console_page(
        request, task, "crowd/manage/payment_list.html", SECTION, status=status, **page_values
    )


@router.get(f"{STUDY}/bonuses/{{order}}/list.csv", name="download_payment_list")
async def download_list(
    db: Db, settings: AppSettings, task: str, id: RowId, order: RowId, owner: TaskOwner
) -> Response:
    """A payment list as CSV, with the panel's ids, for the panel's own form for bonuses."""

    def read(session: Session) -> list[list[object]]:
        _study, found_order = payment_lists.find_list(session, owner, task, id, order)
        return [payment_lists.csv_row(line) for line in payment_lists.read_list(session, settings.key, found_order)]

    name = f"{task}-study-{id}-payments-{order}.csv"
    return csv_response(name, payment_lists.CSV_COLUMNS, await db.aread(read))


@router.post(f"{STUDY}/bonuses/{{order}}", name="record_payment_list")
async def record_list(
    request: Request,
    db: Db,
    task: str,
    id: RowId,
    order: RowId,
    owner: TaskOwner,
    payouts: Texts = (),
    reference: Text = "",
) -> Response:
    """Record which lines of a list the panel has paid; the payments of the others can be approved again."""
    paid = set(map(read_number, payouts)) - {0}
    try:
        await db.awrite(payment_lists.record_list, owner, task, id, order, paid, reference)
    except (errors.Invalid, errors.Conflict) as problem:
        ticked = frozenset(paid)
        return await _list_page(
            request, task, owner, id, order, typed=reference, ticked=ticked, **rejection(problem, "reference")
        )
    return redirect(request, "payment_list", task=task, id=id, order=order, query={"done": "recorded"})
