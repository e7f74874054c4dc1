"""Suggestions as JSON."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from dynabench.collection.assisting import service
from dynabench.collection.assisting.providers import World
from dynabench.collection.assisting.service import Offered, Suggestion
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import RowId, throttle
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person

router = APIRouter()


class SuggestionsIn(StrictModel):
    """The text written so far, by field.

    Providers make edits of it and find similar examples by it.
    """

    input: dict[str, Any] = Field({}, max_length=20)


class SuggestionOut(BaseModel):
    """A text for a `field` of the input, by one of the task's providers.

    `about` tells the `edit` that was made, or the `context` of the earlier example and how much `alike` it is.
    """

    id: int
    provider: str
    model: str
    version: str
    field: str
    text: str
    about: dict[str, Any]
    latency_ms: float
    at: datetime

    @classmethod
    def of(cls, suggestion: Suggestion) -> "SuggestionOut":
        """As JSON."""
        return cls(**{name: getattr(suggestion, name) for name in cls.model_fields})


class SuggestionsOut(BaseModel):
    """The suggestions; `problems` says why a provider had none."""

    items: list[SuggestionOut]
    problems: list[str]


@router.post("/handouts/{id}/suggestions", status_code=201)
async def suggest(request: Request, id: RowId, person: Member, body: SuggestionsIn | None = None) -> SuggestionsOut:
    """Ask for suggestions on a context that was given to you, in an arm that offers help with writing.

    What is shown is recorded. Name the one that you used as `suggestion` of your example.
    """
    offered = await suggested(request, person, id, body.input if body else {})
    return SuggestionsOut(
        items=[SuggestionOut.of(suggestion) for suggestion in offered.items], problems=list(offered.problems)
    )


async def suggested(request: Request, person: Person, handout: int, input: dict[str, Any], task: str = "") -> Offered:
    """Ask for suggestions on a person's own hand-out, store them and return what is shown.

    Where `task` is given, the hand-out must be of that task.
    """
    throttle(request, "suggestions", 30, 60)
    state = request.app.state
    suggestion_request = await state.db.aread(service.ask, person, handout, input, task)
    brought = await service.bring(suggestion_request, World(state.db, state.host))  # nothing is held while models think
    offered: Offered = await state.db.awrite(service.keep, suggestion_request, brought)
    return offered
