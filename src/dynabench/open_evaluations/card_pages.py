"""Forms of an evaluation's page that put results on the cards of models, and that decide on proposed results."""

import re

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.forms import Text, field_errors, redirect
from dynabench.kit.language import _
from dynabench.open_evaluations import card_results, pages
from dynabench.open_evaluations.card_api import CardEntryIn, add_result, remove_result
from dynabench.open_evaluations.tables import CardLocation
from dynabench.people.accounts.auth import Member
from dynabench.rounds.schemas import Number

router = APIRouter(include_in_schema=False)


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
