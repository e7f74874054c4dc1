"""A conversation that is sent in: it becomes what its author wrote, and what each model said in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from dynabench.collection.chat import schemas
from dynabench.collection.chat.tables import Conversation
from dynabench.collection.schemas import ExampleIn
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.client import Answer
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields.chat import SIDES, Chat

if TYPE_CHECKING:
    from dynabench.collection.drafts import Draft
    from dynabench.collection.targets import TargetVerdict


@dataclass(frozen=True)
class Conversed:
    """A conversation that is over: what its models stand for, by side, and which sides the author's claim is about."""

    id: int
    answers: tuple[Answer, ...]
    picked: tuple[bool, ...]


def embed_transcript(
    session: Session, person_id: int, config: TaskConfig, handout_id: int, input: Mapping[str, Any]
) -> tuple[dict[str, Any], Conversed]:
    """The input with the transcript in the place of the conversation's number, and the conversation.

    Raises `Invalid` beside the field where the number is none of the author's, or something is still due.
    """
    chat = config.chat
    assert chat is not None
    name, raw = f"input.{chat.name}", input.get(chat.name)
    number = str(raw) if type(raw) in (int, str) else ""
    conversation = (
        session.get(Conversation, int(number)) if number.isascii() and number.isdecimal() and len(number) < 16 else None
    )
    if conversation is None or (conversation.person_id, conversation.handout_id) != (person_id, handout_id):
        raise errors.Invalid(
            {name: _("%(missing)s Give the number of one of your conversations.", missing=chat.missing)}
        )
    if conversation.example_id is not None:
        raise errors.Conflict(
            _("This conversation was already submitted. Start a new one."), example=conversation.example_id
        )
    value = schemas.transcript(conversation)
    if len(value["turns"]) < len(conversation.turns):
        raise errors.Invalid({name: _("Finish the last turn first: wait for the replies and choose the best one.")})
    return {**input, chat.name: value}, _conversed(conversation, chat, value)


def _conversed(conversation: Conversation, chat: Chat, value: Mapping[str, Any]) -> Conversed:
    """Return the conversation with the answer that each side stands for.

    The claim is about the reply that was picked last; after a tie it is about all replies.
    """
    last = value["turns"][-1] if value["turns"] else {"choice": "", "continued": None}
    chosen = str(last["choice"]) if last["choice"] in tuple(SIDES) else ""
    answers, picked = [], []
    for side, (model, version) in enumerate(conversation.sides):
        times = [turn.replies[side].whole_ms or 0.0 for turn in conversation.turns]
        claimed_answer = {"side": SIDES[side], **chat.claims}
        answers.append(Answer(model, version, claimed_answer, None, round(sum(times) / max(len(times), 1), 1)))
        picked.append(chosen in ("", SIDES[side]))
    return Conversed(conversation.id, tuple(answers), tuple(picked))


def finish(session: Session, conversation_id: int, example_id: int) -> None:
    """The conversation became this example; `Conflict` where it became another one meanwhile."""
    open_one = (Conversation.id == conversation_id, Conversation.example_id.is_(None))
    updated_ids = session.execute(
        update(Conversation).where(*open_one).values(example_id=example_id).returning(Conversation.id)
    )
    if updated_ids.scalar_one_or_none() is None:
        raise errors.Conflict(_("This conversation was already submitted. Start a new one."))


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Put the transcript in the place of the conversation's number."""
    input, conversed = embed_transcript(session, person.id, config, handout.handout_id, body.input)
    return body.model_copy(update={"input": input}), {"conversed": conversed}


def recorded(session: Session, draft: "Draft", verdict: "TargetVerdict", example_id: int) -> None:
    """Write down that a conversation became this example."""
    if draft.conversed is not None:
        finish(session, draft.conversed.id, example_id)
