"""The create page: the annotator's context, their tries on it, and the outcome of the last try."""

import importlib
import random
import uuid
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session

from dynabench.collection import boards, draft_origin, eligibility, forms, overview, playing, queries
from dynabench.collection.assisting import service as assisting
from dynabench.collection.chat import schemas as chats
from dynabench.collection.drawing import pages as drawings
from dynabench.collection.forms import Posted
from dynabench.collection.playing import DraftOutcome
from dynabench.collection.schemas import HandoutOut, OutcomeOut
from dynabench.collection.service import SavedExplanation
from dynabench.collection.tables import Example
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people, plan, views
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.plan import parse_plan
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig, conditions
from dynabench.tasks.conditions import ConditionFacts

TRIES = 20  # earlier tries on a context that are listed
WORKED = 2  # verified examples that are shown before the first try
SILENT: dict[str, Any] = {"values": {}, "errors": {}, "saved": False, "answered": 0, "required": 0}
"""The explanation of an example of which its author has said nothing yet, as `_explain.html` reads it."""


async def prepare_page(
    request: Request, person: Person | None, task: str, sandbox: bool, posted: Posted | None = None, fresh: bool = False
) -> dict[str, Any]:
    """All that the page shows; draws a context where there is none, or where a `fresh` one is wanted.

    The parameters of its address may tell how a member came.
    """
    db: Database = request.app.state.db
    handout = None
    if posted is None and not fresh and not sandbox and await db.aread(_spent, person, task):
        return await db.aread(values, person, task, sandbox, posted, None)
    if await db.aread(_collects, person, task):
        handout = await _handout(request, None if sandbox else person, task, posted, fresh)
    page_values = await db.aread(values, person, task, sandbox, posted, handout)
    page_values["inspires"] = bool(page_values.get("live")) and await db.aread(_is_inspiring, task)
    return page_values | {"checks": await checks_left(request, person, task)}


def _is_inspiring(session: Session, task: str) -> bool:
    """Tell whether the page offers examples of others; the rule is of a higher level."""
    offered: bool = importlib.import_module("dynabench.communities.inspiration.service").is_offered(session, task)
    return offered


async def checks_left(request: Request, person: Person | None, task: str) -> int | None:
    """Return how many examples a person can check in a task, None for visitors.

    The application is told how to count them (`app.state.count_checks`), since checking stands above writing.
    """
    if person is None:
        return None
    return int(await request.app.state.db.aread(request.app.state.count_checks, person, task))


def values(
    session: Session, person: Person | None, task: str, sandbox: bool, posted: Posted | None, handout: HandoutOut | None
) -> dict[str, Any]:
    """The page's values with this handout; with None no round is open."""
    current = session.scalar(round_queries.open_round(task))
    config = rounds.task_config(session, task)
    page_values: dict[str, Any] = {"task": task, "config": config, "round": None, "sandbox": sandbox, "quota": None}
    if current is not None and person is not None:
        page_values["quota"] = eligibility.quota(session, person.id, current.id, parse_plan(current.plan))
    if current is None or handout is None:
        return page_values | ({"round": views.round_out(session, current)} if page_values["quota"] and current else {})
    live = person is not None and not sandbox
    targets = plan.targets_of_arm(current, handout.arm)
    chat = None
    if config.chat is not None and live and handout.handout:
        chat = chats.view(session, handout.handout, len(targets))
    sheets = []
    if config.drawing is not None and person is not None and live and handout.handout:
        sheets = drawings.view(session, person.id, handout.handout)
    tries = _tries(session, person, current, handout.id) if live and person else []
    begun = {"input": posted.input, "answer": posted.answer} if posted else {"input": handout.initial, "answer": {}}
    if sheets and posted is None:
        begun["input"] = {**handout.initial, **sheets[0].words}
    return page_values | {
        "config": rounds.config_of(session, current.version_id),
        "round": views.round_out(session, current),
        "handout": handout,
        "chat": chat,
        "help": assisting.view(session, handout, config, posted) if live else None,
        "live": live,
        "sheets": sheets,
        "draw_key": uuid.uuid4().hex,
        "model_text": parse_plan(current.plan).model_text,
        "declared": bool(posted and posted.writing.model_written),
        "asks": bool(targets),
        "against": [model for model, _ in targets],
        "goals": eligibility.goals(session, current),
        "progress": _progress(session, current),
        "mine": boards.mine(session, person, current) if person else None,
        "place": boards.place_of(session, person, current) if person else None,
        "tries": tries,
        "worked": [] if tries else overview.specimens(session, task, WORKED),
        "values": begun,
        "key": uuid.uuid4().hex,
        "errors": {},
        "problem": "",
        "outcome": None,
        "tried": None,
    }


def outcome_values(config: TaskConfig, handout: HandoutOut, context_id: int, answer: DraftOutcome) -> dict[str, Any]:
    """Return the further values for the page that answers a try.

    They are the draft, the changes made in it, and how near the models' answers are.
    """
    draft = answer.draft
    return {
        "outcome": answer.outcome,
        "tried": tried(context_id, handout.values, draft.input, draft.answer),
        "changes": forms.changes(config.input, handout.initial, draft.input),
        "overlaps": _overlaps(config, answer.outcome, draft.answer),
        **asking(config, handout.values, draft.input, draft.answer, fooled=answer.outcome.fooled),
        "explanation": SILENT,
        "retracted": False,
    }


def stored_outcome_values(
    config: TaskConfig, handout: HandoutOut, example: Example, outcome: OutcomeOut
) -> dict[str, Any]:
    """Return the values of `outcome_values` for an example that is stored."""
    return {
        "outcome": outcome,
        "tried": tried(example.context_id, handout.values, example.input, example.answer),
        "changes": forms.changes(config.input, handout.initial, example.input),
        "overlaps": {},
        **asking(config, handout.values, example.input, example.answer, fooled=outcome.fooled),
        "explanation": SILENT,
        "retracted": False,
    }


def tried(
    context_id: int, context: Mapping[str, Any], input: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """A draft as templates read it; `context` is what was shown of it."""
    return {"context_id": context_id, "context": dict(context), "input": dict(input), "answer": dict(answer)}


def asking(
    config: TaskConfig,
    context: Mapping[str, Any],
    input: Mapping[str, Any],
    answer: Mapping[str, Any],
    *,
    fooled: bool | None,
) -> dict[str, Any]:
    """`asked_for`: the fields of the explanation that apply, or may once another one of them is filled in."""
    facts = ConditionFacts(fooled, None, {**context, **input, **answer})
    asked_for = list(config.ask)
    while True:  # a field that depends on one that is not asked is not asked either
        later = [field.name for field in asked_for]
        possible = [field for field in asked_for if conditions.any_condition_may_hold(field.when, facts, later)]
        if len(possible) == len(asked_for):
            return {"asked_for": possible}
        asked_for = possible


def explanation_values(saved: SavedExplanation) -> dict[str, Any]:
    """Return a saved explanation as `_explain.html` reads it."""
    values = saved.explanation.values
    return SILENT | {"values": values, "saved": True, "answered": saved.answered, "required": saved.required}


def _spent(session: Session, person: Person | None, task: str) -> bool:
    quota = eligibility.quota_of(session, person, task)
    return quota is not None and not quota.remaining


def _collects(session: Session, person: Person | None, task: str) -> bool:
    people.require_seat(session, person, task)  # in the sandbox too
    return session.scalar(round_queries.open_round(task)) is not None


async def _handout(
    request: Request, person: Person | None, task: str, posted: Posted | None, fresh: bool
) -> HandoutOut:
    db, host, but = request.app.state.db, request.app.state.host, posted.context_id if posted else 0
    if person is None:
        if posted is None or fresh:
            return await playing.hand_out(db, host, None, task, but=but)
        same: HandoutOut = await db.aread(_same, task, posted)
        return same
    handout, link = None, dict(request.query_params)
    if not fresh:
        handout_id = posted.handout_id if posted else 0
        handout = await playing.current(db, host, person, task, context_id=but, handout_id=handout_id, link=link)
    return handout or await playing.hand_out(db, host, person, task, link=link)


def _same(session: Session, task: str, posted: Posted) -> HandoutOut:
    config = rounds.task_config(session, task)
    context = draft_origin.context_of(session, task, posted.context_id)
    assigned = config.draw_goal(random.Random()) or {}
    options = {field.name: getattr(field, "values", []) for field in config.answer}
    goal = {  # a forged one is no goal, and is refused as an answer
        name: posted.answer[name] if posted.answer.get(name) in options[name] else drawn
        for name, drawn in assigned.items()
    } or None
    context_values = config.shown_context(context.values)
    return HandoutOut(id=context.id, values=context_values, goal=goal, start="blank", initial=posted.begun)


def _tries(session: Session, person: Person, round_: Round, context_id: int) -> list[dict[str, Any]]:
    return [
        {
            "id": example.id,
            "attempt": example.attempt,
            "input": example.input,
            "answer": example.answer,
            "fooled": standing.fooled,
            "asked": bool(plan.targets_of_arm(round_, example.arm)),
            "made_from": example.made_from if example.start == "perturb" else None,
            "retracted": standing.retracted,
            "hidden": standing.hidden,
            "verdict": standing.verdict,
        }
        for example, standing in session.execute(queries.tried(person.id, round_.id, context_id, TRIES))
    ]


def _progress(session: Session, round_: Round) -> dict[str, int]:
    sums = session.execute(boards.sums([round_.id])).first()
    return {name: int(getattr(sums, name)) if sums else 0 for name in ("examples", "validated")}


def _overlaps(config: TaskConfig, outcome: OutcomeOut, claimed: Mapping[str, Any]) -> dict[str, float]:
    first = config.fooled.counting(config.answer)[0]
    near = {
        prediction.model: config.fooled.nearness(prediction.answer.get(first.name), claimed.get(first.name), first)
        for prediction in outcome.predictions
    }
    return {model: share for model, share in near.items() if share is not None}
