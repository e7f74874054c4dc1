"""The choice of a control that a person sees in place of the next example, and its content.

A control stands under the number of the example that would have come next, and that example's place is held. So number,
page and waiting time are those of any example. The choice is stored when the place is handed out first: asking again
gives the same.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.rounds.tables import Context
from dynabench.tasks import TaskConfig
from dynabench.tasks.sections import ControlSettings
from dynabench.validation.controls import queries
from dynabench.validation.controls.tables import ControlItem, ControlKind, ControlPlace
from dynabench.validation.queries import predictions

APART = 10
"""A vote is asked again only after so many later votes of the same person."""
CANDIDATES = 50
"""Own votes of which one is drawn to be asked again."""
TRIES = 5
"""Items that are looked at until one fits the round's version of the config."""
_random = random.SystemRandom()  # a validator cannot compute what is drawn


@dataclass(frozen=True)
class ModelAnswer:
    """A model's answer that a file gave with an item, as the page after the vote shows it."""

    model: str
    version: str
    answer: dict[str, Any]
    probabilities: dict[str, Any] | None
    errs: bool | None


@dataclass(frozen=True)
class ShownContent:
    """The content that a validator sees: of the example of that number, or of a control in its place.

    `example` is the example that the content is from; None for an item with values of its own.
    """

    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any]
    predictions: Sequence[Any]
    example: Example | None


@dataclass(frozen=True)
class Validator:
    """A person who asks for the next example: the id, the languages named, and the examples of the person's teams."""

    person_id: int
    languages: Sequence[str] = ()
    own_team: Collection[int] = ()


def read_content(session: Session, item_id: int | None, shown_id: int | None) -> ShownContent:
    """Return the content of a control: of the example `shown_id`, else the item's own values."""
    if shown_id is not None:
        return example_content(session, session.get_one(Example, shown_id))
    item = session.get_one(ControlItem, item_id)
    answers = [
        ModelAnswer(
            str(row.get("model", "")), str(row.get("version", "")), row["answer"], row.get("probabilities"),
            row.get("fooled"),
        )
        for row in item.predictions
    ]  # fmt: skip
    return ShownContent(item.context, item.input, item.answer, answers, None)


def example_content(session: Session, example: Example, *, with_answers: bool = True) -> ShownContent:
    """Return the content of an example, with the models' answers unless nobody looks at them."""
    context = session.get_one(Context, example.context_id)
    answers = session.scalars(predictions(example.id)).all() if with_answers else ()
    return ShownContent(context.values, example.input, example.answer, answers, example)


def draw_control(
    session: Session,
    validator: Validator,
    settings: ControlSettings,
    config: TaskConfig,
    round_id: int,
    example_id: int,
    mode: str,
) -> tuple[ControlPlace, str] | None:
    """Draw whether a control takes the place of an example, and which; store it, and return it with its mode.

    None where the example itself is shown: mostly, and where no control is left for this person.
    """
    kind = draw_kind(settings, _random.random())
    if kind is None:
        return None
    place = ControlPlace(example_id=example_id, person_id=validator.person_id, kind=kind)
    if kind == ControlKind.REPEAT:
        votes = session.scalars(queries.repeatable_votes(validator.person_id, round_id, APART, CANDIDATES)).all()
        if not votes:
            return None
        earlier = _random.choice(votes)
        place.shown_id, place.repeated_id = earlier.example_id, earlier.id
        mode = "judge" if earlier.blind_answer is None else "answer"
    else:
        item = _draw_item(session, validator, config, kind)
        if item is None:
            return None
        place.item_id, place.shown_id = item.id, item.example_id
    session.add(place)
    session.flush()
    return place, mode


def draw_kind(settings: ControlSettings, drawn: float) -> ControlKind | None:
    """Return the kind of control that a number from 0 to 1 stands for, None for the example itself."""
    above = 0.0
    for kind in ControlKind:
        above += getattr(settings, kind)
        if drawn < above:
            return kind
    return None


def _draw_item(session: Session, validator: Validator, config: TaskConfig, kind: ControlKind) -> ControlItem | None:
    statement = queries.unseen_items(
        config.id, validator.person_id, kind, validator.own_team, validator.languages, TRIES
    )
    items = session.scalars(statement).all()
    return next((item for item in items if _fits(session, config, item)), None)


def _fits(session: Session, config: TaskConfig, item: ControlItem) -> bool:
    """Return whether the content has the fields of the round's version of the config."""
    content = read_content(session, item.id, item.example_id)
    try:
        context = config.clean_context(content.context)
        written = config.clean_input(content.input, context)
        config.clean_answer(content.answer, context=context, input=written)
    except errors.Invalid:
        return False
    return True
