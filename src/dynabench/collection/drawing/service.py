"""The rules of drawing: who may have pictures drawn, of what, and how often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.collection import eligibility
from dynabench.collection.handout_storage import own_handout
from dynabench.collection.handout_tables import Handout
from dynabench.collection.schemas import ExampleIn
from dynabench.kit import errors
from dynabench.kit.db import Base, Key, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts
from dynabench.models.client import Answer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people, plan
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Drawing


class Sheet(Base):
    """The pictures that all models of a handout drew of the same words.

    `words` are the input's texts by field; `sides` one `{model, version, ms, pictures}` a model, its pictures as
    references to stored files. `key` tells a request that was sent again.
    """

    __tablename__ = "sheets"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"))
    words: Mapped[dict[str, Any]]
    sides: Mapped[list[Any]]
    key: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        UniqueConstraint("person_id", "key"),
        Index("ix_sheets_handout", "handout_id", "id"),
    )


@dataclass(frozen=True)
class DrawingRequest:
    """A request for drawings.

    `words` are as they were written, `inputs` as models get them, `targets` pairs of model and version.
    `sheet` is what the same request had drawn before.
    """

    task_id: str
    handout_id: int
    person_id: int
    field: Drawing
    words: dict[str, Any]
    inputs: dict[str, Any]
    targets: tuple[tuple[str, str], ...]
    key: str
    sheet: Sheet | None = None


@dataclass(frozen=True)
class Side:
    """The pictures of one model: stored files with their facts, and the time that it took, in milliseconds."""

    model: str
    version: str
    ms: float
    pictures: tuple[tuple[str, MediaFacts], ...]

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        drawn = [{"media": digest, **facts.document()} for digest, facts in self.pictures]
        return {"model": self.model, "version": self.version, "ms": self.ms, "pictures": drawn}


def want(
    session: Session, settings: Settings, person: Person, task_id: str, handout_id: int, input: Any, key: str
) -> DrawingRequest:
    """Check what a person would have drawn on a handout of theirs.

    Raises `Invalid` with keys such as `input.prompt`, `Conflict` where it was drawn as often as the task allows.
    """
    people.require_seat(session, person, task_id)
    current = rounds.open_round_of(session, task_id)
    handout = own_handout(session, person, current, handout_id)
    config = rounds.config_of(session, current.version_id)
    field = drawn_in(config)
    eligibility.admit(session, person, current)
    words, inputs = _words(session, config, field, handout, input)
    targets = tuple(plan.targets_of_arm(current, handout.arm))
    request = DrawingRequest(
        task_id, handout.id, person.id, field, words, inputs, targets, key, _again(session, person, key)
    )
    if request.sheet is not None:
        if (request.sheet.handout_id, request.sheet.words) != (handout.id, words):
            raise errors.Conflict(_("This key was used for other pictures. Use a new key each time."))
        return request
    media.check_daily_limit(session, settings, person.id)
    _refuse_spent(session, request)
    return request


def keep(session: Session, request: DrawingRequest, sides: Sequence[Side]) -> Sheet:
    """Write down what was drawn; the sheet of the same request, where another one was quicker."""
    session.get_one(Handout, request.handout_id, with_for_update=True)
    person = session.get_one(Person, request.person_id)
    if earlier_sheet := _again(session, person, request.key):
        return earlier_sheet
    _refuse_spent(session, request)
    for digest, facts in (picture for side in sides for picture in side.pictures):
        media.record_upload(session, request.task_id, request.person_id, digest, facts, "drawn")
    sheet = Sheet(handout_id=request.handout_id, person_id=request.person_id, words=request.words, key=request.key)
    sheet.sides = [side.document() for side in sides]
    session.add(sheet)
    session.flush()
    return sheet


def drawn_in(config: TaskConfig) -> Drawing:
    """The task's field that models draw; `Conflict` where it has none."""
    if config.drawing is None:
        raise errors.Conflict(_("This task has no drawing."))
    return config.drawing


def sheets(session: Session, person_id: int, handout_id: int) -> Sequence[Sheet]:
    """All that was drawn for a person on a handout, newest first: a walk of its index entries."""
    theirs = (Sheet.handout_id == handout_id, Sheet.person_id == person_id)
    return session.scalars(select(Sheet).where(*theirs).order_by(Sheet.id.desc())).all()


def forget(session: Session, person_id: int) -> None:
    """Delete a person's sheets; what they sent in stands in their examples."""
    session.execute(delete(Sheet).where(Sheet.person_id == person_id).execution_options(synchronize_session=False))


def _words(
    session: Session, config: TaskConfig, field: Drawing, handout: Handout, input: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    context = session.get_one(Context, handout.context_id).values
    words = config.clean_words(input, context)
    inputs = {name: value for name, value in config.model_inputs(context, words).items() if name != field.name}
    return words, inputs


def _again(session: Session, person: Person, key: str) -> Sheet | None:
    return session.scalar(select(Sheet).where(Sheet.person_id == person.id, Sheet.key == key))


def _refuse_spent(session: Session, request: DrawingRequest) -> None:
    times = session.scalar(select(func.count()).where(Sheet.handout_id == request.handout_id)) or 0
    if times >= request.field.attempts:
        raise errors.Conflict(
            _(
                "You have used all %(times)s drawings for this context. Choose a picture or ask for another context.",
                times=times,
            )
        )


OTHER_WORDS = _("These pictures were drawn for other words: “%s”. Use these words again or have new pictures drawn.")


@dataclass(frozen=True)
class Drawn:
    """A sheet of which a picture was chosen: what its models stand for, and which of them drew that picture."""

    answers: tuple[Answer, ...]
    picked: tuple[bool, ...]


def resolve_picture(
    session: Session,
    person_id: int,
    config: TaskConfig,
    handout_id: int,
    input: Mapping[str, Any],
    context: Mapping[str, Any],
) -> tuple[dict[str, Any], Drawn]:
    """Return the input with the picture as it was stored, and the models that drew its sheet.

    Raises `Invalid` beside the field where the picture was not drawn on this handout, or of other words.
    """
    field = drawn_in(config)
    name, held = f"input.{field.name}", field.reference(input.get(field.name))
    digest = held["media"] if held else ""
    words = config.clean_words(input, context)
    with_picture = [
        sheet for sheet in sheets(session, person_id, handout_id) if digest and _side(sheet, digest) is not None
    ]
    if not with_picture:
        raise errors.Invalid({name: field.missing})
    sheet = next((candidate for candidate in with_picture if candidate.words == words), None)
    if sheet is None:
        drawn_words = " · ".join(str(text) for text in with_picture[0].words.values())
        raise errors.Invalid(
            {name: OTHER_WORDS % (drawn_words if len(drawn_words) <= 300 else f"{drawn_words[:299]}…")}
        )
    side = _side(sheet, digest)
    picture = next(drawn for drawn in sheet.sides[side or 0]["pictures"] if drawn["media"] == digest)
    answers = [
        Answer(drawer["model"], drawer["version"], {"drawn": drawer["pictures"], **config.claims}, None, drawer["ms"])
        for drawer in sheet.sides
    ]
    picked = tuple(number == side for number in range(len(answers)))
    return {**input, field.name: picture}, Drawn(tuple(answers), picked)


def _side(sheet: Sheet, digest: str) -> int | None:
    drew = (
        number
        for number, side in enumerate(sheet.sides)
        if any(picture["media"] == digest for picture in side["pictures"])
    )
    return next(drew, None)


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Put the stored picture in the place of its digest."""
    input, drawn = resolve_picture(session, person.id, config, handout.handout_id, body.input, handout.context)
    return body.model_copy(update={"input": input}), {"drawn": drawn}
