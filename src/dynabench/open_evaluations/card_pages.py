"""Forms that put results on the cards of models and decide on proposals, and the page that verifies results."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, site_address
from dynabench.kit.forms import Text, field_errors, redirect
from dynabench.kit.language import _
from dynabench.kit.security import throttle
from dynabench.open_evaluations import card_results, pages, verifying
from dynabench.open_evaluations.card_api import CardEntryIn, add_result, remove_result
from dynabench.open_evaluations.tables import CardLocation
from dynabench.open_evaluations.verifying import ResultState, VerifiedResult
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds.schemas import Number
from dynabench.web import render

router = APIRouter(include_in_schema=False)
ShortText = Annotated[str, Query(max_length=4000)]
Card = Annotated[str, Form()]


@router.post("/open-evaluations/{id}/cards", name="add_to_cards")
async def add_to_cards(request: Request, db: Db, id: Number, person: Member) -> Response:
    """Put the results of all models on their cards in the registry, or propose it (the evaluation's author)."""
    await db.awrite(card_results.add_to_registry, person, id)
    return redirect(request, "open_evaluation", anchor="cards", id=id)


@router.post("/open-evaluations/{id}/cards/change", name="change_card")
async def change_card(
    request: Request, db: Db, settings: AppSettings, id: Number, person: Member, model: Text = "", act: Text = "",
    place: Text = "registry", repository: Text = "",
) -> Response:  # fmt: skip
    """Add the results of a model, by its number, to a card, remove them, or decide on a proposal."""
    if not re.fullmatch(r"\d{1,2}", model):
        raise errors.Invalid({"model": _("Choose a model of this evaluation.")})
    chosen = CardLocation.REPOSITORY if place == CardLocation.REPOSITORY else CardLocation.REGISTRY
    entry = CardEntryIn(model=int(model), place=chosen, repository=repository.strip()[:200])
    try:
        if act == "remove":
            await remove_result(request, db, person, id, entry)
        elif act in ("accept", "decline"):
            await db.awrite(card_results.decide_entry, person, id, entry.model, act == "accept")
        elif act == "add":
            await add_result(request, db, person, id, entry)
        else:
            raise errors.Invalid({"act": _("Choose what to do with the card.")})
    except errors.Invalid as problem:
        wrong = {entry.model: next(iter(field_errors(problem, "repository").values()))}
        return await pages.evaluation_page(request, id, person, wrong_cards=wrong, status=problem.status)
    return redirect(request, "open_evaluation", anchor="cards", id=id)


@router.get("/results/verify", name="verify_results")
async def show_verification(request: Request, viewer: Viewer, text: ShortText = "") -> Response:
    """Show the form for results to verify, or what the records say of the evaluation that a link names."""
    return await _verification_page(request, viewer, text)


@router.post("/results/verify")
async def verify(request: Request, viewer: Viewer, text: Card = "") -> Response:
    """Verify the results in a card, a token or a link against the records; nothing is stored."""
    throttle(request, "verify results", 60, 600)
    return await _verification_page(request, viewer, text or " ")


async def _verification_page(request: Request, viewer: Person | None, text: str) -> Response:
    results: list[VerifiedResult] | None = None
    wrong: dict[str, str] = {}
    status = 200
    state = request.app.state
    if text:
        try:
            site = site_address(request)
            results = await state.db.aread(verifying.verify_text, state.settings, viewer, site, text)
        except errors.Problem as problem:
            wrong, status = field_errors(problem, "text"), problem.status
    values: dict[str, Any] = {
        "text": text.strip() if results is None else "",
        "wrong": wrong,
        "results": results,
        "summary": verifying.summarize_states(results or []),
        "sound": all(result.state == ResultState.RECORDED for result in results or ()),
    }
    return render(request, "open_evaluations/verify.html", status=status, **values)
