"""Features that take part when an example is recorded: a conversation or a picture that led to it, files, a program.

A feature takes part where its name is among the `features` of the draft, and not a line of it runs elsewhere. Its
module has `before_record`, which checks what a draft says of it and puts what was done in its place, `recorded`, which
writes down that the draft became an example, or both.
"""

import importlib
from collections.abc import Set
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from dynabench.collection.schemas import ExampleIn
from dynabench.people.accounts.tables import Person
from dynabench.rounds import arms
from dynabench.tasks import TaskConfig

if TYPE_CHECKING:
    from dynabench.collection.drafts import Draft
    from dynabench.collection.targets import Verdict

MODULES = {
    "media": "dynabench.collection.media_forms",
    "suggestion": "dynabench.collection.assisting.suggestion_outcomes",
    "assistant": "dynabench.collection.assisting.suggestion_outcomes",
    "conversation": "dynabench.collection.chat.sending",
    "drawing": "dynabench.collection.drawing.sending",
    "program": "dynabench.collection.programs",
    "judge": "dynabench.collection.judge_models",
    "seed": "dynabench.collection.seeds",
    "near_duplicates": "dynabench.collection.near_duplicates",
}
"""Modules of features, in the order in which they take part."""
BEFORE = ("media", "suggestion", "conversation", "drawing")
AFTER = ("assistant", "conversation", "program", "media", "judge", "seed", "near_duplicates")


def features_of(config: TaskConfig, body: ExampleIn, handout: Any) -> frozenset[str]:
    """Return the features that take part in a draft on a handout; the latter is a row of `statements.GIVEN`."""
    names = config.features
    if handout.arms:
        if not arms.asks(handout.arms, handout.handout_arm):
            names -= {"conversation"}
        if arms.assisted(handout.arms, handout.handout_arm):
            names |= {"assistant"}
    present = {"suggestion": body.suggestion is not None, "program": body.program, "seed": handout.handout_seed_id}
    if any(present.values()):
        names |= {name for name, value in present.items() if value}
    return names


@cache
def _module(name: str) -> Any:
    return importlib.import_module(MODULES[name])


def before_record(
    features: Set[str], session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Return the draft with what was done in the place of its number or digest, and members of a `Draft` about it.

    Raises `Invalid` for what was not done on this handout.
    """
    members: dict[str, Any] = {}
    for name in BEFORE if features else ():
        if name in features:
            body, more = _module(name).before_record(session, person, config, body, handout)
            members |= more
    return body, members


def recorded(session: Session, draft: "Draft", verdict: "Verdict", example_id: int) -> dict[str, Any]:
    """Let the features of a draft write down that it became an example; returns members of its outcome."""
    members: dict[str, Any] = {}
    for name in AFTER if draft.features else ():
        if name in draft.features:
            members |= _module(name).recorded(session, draft, verdict, example_id) or {}
    return members
