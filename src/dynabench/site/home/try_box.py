"""The box to try on the first page: some tasks with a short form, their contexts, and what models answered."""

import random
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import handouts
from dynabench.kit import errors
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.site.home.task_index import TaskLine
from dynabench.tasks import TaskConfig

MAX_TASKS = 4  # to switch between
FORMS: tuple[tuple[list[str], str], ...] = (
    ([], "choice"),
    (["text"], "choice"),
    (["image"], "choice"),
    (["image"], "text"),
)
"""Types of the context and of the answer that make a short form."""


def fits(config: TaskConfig, round_: Round | None) -> bool:
    """Return whether a round can be tried without an account in one short form: a context, a text, an answer."""
    return (
        round_ is not None
        and bool(round_.targets)
        and not config.content_warning
        and config.annotators == "anyone"
        and config.fooled.judged_by in (None, "annotator")
        and len(config.input) == 1
        and config.input[0].type == "text"
        and len(config.answer) == 1
        and len(config.model_context) <= 1
        and ([field.type for field in config.model_context], config.answer[0].type) in FORMS
    )


def box_tasks(session: Session, lines: Sequence[TaskLine]) -> list[TaskLine]:
    """Return the tasks of the box: those without a context to read first, then the most active ones."""
    chosen = []
    for line in lines:
        current = session.scalar(round_queries.open_round(line.id)) if line.round is not None else None
        config = rounds.config_of(session, current.version_id) if current else None
        if config and fits(config, current) and session.scalar(round_queries.any_context(line.id)) is not None:
            chosen.append((bool(config.model_context), line))
    chosen.sort(key=lambda entry: entry[0])
    return [line for _context, line in chosen[:MAX_TASKS]]


def read_box(session: Session, task: str) -> dict[str, Any] | None:
    """Return the values of the box for a task, with a context drawn at random; None where it does not fit."""
    current = session.scalar(round_queries.open_round(task))
    config = rounds.config_of(session, current.version_id) if current else None
    if current is None or config is None or not fits(config, current):
        return None
    if session.scalar(round_queries.any_context(task)) is None:
        return None
    try:
        offer = handouts.hand_out(session, None, task, random.Random())
        if offer.screening is not None and offer.screening.missing:  # may fool the models, which this page never asks
            offer = handouts.hand_out(session, None, task, random.Random(), seedless=True)
    except (errors.Unauthenticated, errors.Forbidden, errors.Conflict):  # for some people alone, or without seeds yet
        return None
    handout = offer.handout
    models = [target.model for target in current.targets]
    return {"task": task, "config": config, "models": models, **box_context(config, handout.id, handout.values),
            "goal": handout.goal, "values": {"input": dict(handout.initial), "answer": dict(handout.goal or {})},
            "errors": {}, "outcome": None, "tried": None}  # fmt: skip


def box_context(config: TaskConfig, context_id: int, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the context that the box shows."""
    names = {field.name for field in config.model_context}
    shown_fields = [field for field in config.context if field.name in names and values.get(field.name) is not None]
    return {"context_id": context_id, "context": values, "context_fields": shown_fields}


def posted_box(session: Session, task: str, context_id: int) -> dict[str, Any] | None:
    """Return the values of the box around a context that was given before; None where the task does not fit."""
    box = read_box(session, task)
    context = session.get(Context, context_id) if box else None
    if box is None or context is None or context.task_id != task:
        return box
    config: TaskConfig = box["config"]
    return box | box_context(config, context.id, config.shown_context(context.values))
