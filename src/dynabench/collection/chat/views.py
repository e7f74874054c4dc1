"""A conversation as its author sees it, and as it is kept in an example: by sides, without any model's name."""

import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.chat import service
from dynabench.collection.chat.tables import ChatTurnState, Conversation, ReplyState, Turn
from dynabench.tasks.fields.chat import SIDES


@dataclass(frozen=True)
class ReplyView:
    """One side's reply to a turn so far."""

    side: str
    text: str
    state: str
    rating: int | None


@dataclass(frozen=True)
class TurnView:
    """One turn: `writing`, `answered` or `chosen`; `continued` is the side that the conversation went on from."""

    number: int
    said: str
    state: str
    attempt: int
    replies: list[ReplyView]
    choice: str
    continued: str | None

    @property
    def broken(self) -> bool:
        """True if a reply is cut off, has failed or was stopped, so that the annotator may ask for it again."""
        return self.state == ChatTurnState.ANSWERED and any(each.state != ReplyState.DONE for each in self.replies)


@dataclass(frozen=True)
class ChatView:
    """A conversation that goes on: `id` is None before the first turn, `key` belongs to the next one."""

    id: int | None
    handout: int
    sides: list[str]
    turns: list[TurnView]
    key: str

    @property
    def last(self) -> TurnView | None:
        """The last turn."""
        return self.turns[-1] if self.turns else None

    @property
    def due(self) -> str:
        """The next thing that the conversation waits for: `said`, `replies` or `choice`."""
        if self.last is None or self.last.state == ChatTurnState.CHOSEN:
            return "said"
        return "replies" if self.last.state == ChatTurnState.WRITING else "choice"


def view(session: Session, handout_id: int, models: int) -> ChatView:
    """Return the conversation on a hand-out as its annotator sees it, with this number of models.

    It is empty where no conversation has begun.
    """
    found = service.open_on(session, handout_id)
    if found is None:
        return ChatView(None, handout_id, list(SIDES[:models]), [], uuid.uuid4().hex)
    return of(found)


def of(found: Conversation) -> ChatView:
    """Return a conversation as its annotator sees it."""
    turns = [_turn(turn) for turn in found.turns]
    return ChatView(found.id, found.handout_id, list(SIDES[: len(found.sides)]), turns, uuid.uuid4().hex)


def _turn(turn: Turn) -> TurnView:
    lost = turn.state == ChatTurnState.WRITING and not service.writing(turn)
    return TurnView(
        number=turn.number,
        said=turn.said,
        state="answered" if lost else turn.state,
        attempt=turn.attempt,
        replies=[
            ReplyView(SIDES[each.side], each.text, _state(each.state, lost), each.rating) for each in turn.replies
        ],
        choice=turn.choice,
        continued=None if turn.continued is None else SIDES[turn.continued],
    )


def _state(state: str, lost: bool) -> str:
    return "cut_off" if lost and state == ReplyState.WRITING else state


def transcript(found: Conversation) -> dict[str, Any]:
    """The conversation as the field's value: turns that are over, by sides."""
    turns = [turn for turn in found.turns if turn.state == ChatTurnState.CHOSEN]
    return {
        "turns": [
            {
                "said": turn.said,
                "replies": [{"text": each.text, "rating": each.rating} for each in turn.replies],
                "choice": turn.choice,
                "continued": turn.continued,
            }
            for turn in turns
        ]
    }
