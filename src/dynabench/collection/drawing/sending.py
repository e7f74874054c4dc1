"""A picture that is sent in: which model drew it of which words, and what the models stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.drawing import service
from dynabench.collection.drawing.tables import Sheet
from dynabench.collection.schemas import ExampleIn
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.client import Answer
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig

OTHER_WORDS = _("This was drawn of other words: “%s”. Write these again, or have pictures drawn of the new ones.")


@dataclass(frozen=True)
class Drawn:
    """A sheet of which a picture was chosen: what its models stand for, and which of them drew that picture."""

    answers: tuple[Answer, ...]
    picked: tuple[bool, ...]


def taken(
    session: Session,
    person_id: int,
    config: TaskConfig,
    handout_id: int,
    input: Mapping[str, Any],
    context: Mapping[str, Any],
) -> tuple[dict[str, Any], Drawn]:
    """The input with the picture as it was stored, and who drew it.

    Raises `Invalid` beside the field where the picture was not drawn on this handout, or of other words.
    """
    field = service.drawn_in(config)
    name, held = f"input.{field.name}", field.reference(input.get(field.name))
    digest = held["media"] if held else ""
    words = config.clean_words(input, context)
    found = [
        sheet for sheet in service.sheets(session, person_id, handout_id) if digest and _side(sheet, digest) is not None
    ]
    if not found:
        raise errors.Invalid({name: field.missing})
    sheet = next((each for each in found if each.words == words), None)
    if sheet is None:
        said = " · ".join(str(text) for text in found[0].words.values())
        raise errors.Invalid({name: OTHER_WORDS % (said if len(said) <= 300 else f"{said[:299]}…")})
    side = _side(sheet, digest)
    picture = next(each for each in sheet.sides[side or 0]["pictures"] if each["media"] == digest)
    answers = [
        Answer(each["model"], each["version"], {"drawn": each["pictures"], **config.claims}, None, each["ms"])
        for each in sheet.sides
    ]
    picked = tuple(number == side for number in range(len(answers)))
    return {**input, field.name: picture}, Drawn(tuple(answers), picked)


def _side(sheet: Sheet, digest: str) -> int | None:
    """The number of the model that drew a picture."""
    drew = (
        number for number, side in enumerate(sheet.sides) if any(each["media"] == digest for each in side["pictures"])
    )
    return next(drew, None)


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Put the stored picture in the place of its digest."""
    input, drawn = taken(session, person.id, config, handout.handout_id, body.input, handout.context)
    return body.model_copy(update={"input": input}), {"drawn": drawn}
