"""Conversations as the author and programs see them."""

import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from dynabench.collection.chat import service
from dynabench.collection.chat.tables import ChatTurnState, Conversation, ReplyState, Turn
from dynabench.kit.schemas import StrictModel
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
        return self.state == ChatTurnState.ANSWERED and any(reply.state != ReplyState.DONE for reply in self.replies)


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
    conversation = service.open_on(session, handout_id)
    if conversation is None:
        return ChatView(None, handout_id, list(SIDES[:models]), [], uuid.uuid4().hex)
    return conversation_view(conversation)


def conversation_view(conversation: Conversation) -> ChatView:
    """Return a conversation as its annotator sees it."""
    turns = [_turn(turn) for turn in conversation.turns]
    return ChatView(
        conversation.id, conversation.handout_id, list(SIDES[: len(conversation.sides)]), turns, uuid.uuid4().hex
    )


def _turn(turn: Turn) -> TurnView:
    lost = turn.state == ChatTurnState.WRITING and not service.writing(turn)
    return TurnView(
        number=turn.number,
        said=turn.said,
        state="answered" if lost else turn.state,
        attempt=turn.attempt,
        replies=[
            ReplyView(SIDES[reply.side], reply.text, _state(reply.state, lost), reply.rating) for reply in turn.replies
        ],
        choice=turn.choice,
        continued=None if turn.continued is None else SIDES[turn.continued],
    )


def _state(state: str, lost: bool) -> str:
    return "cut_off" if lost and state == ReplyState.WRITING else state


def transcript(conversation: Conversation) -> dict[str, Any]:
    """The conversation as the field's value: turns that are over, by sides."""
    turns = [turn for turn in conversation.turns if turn.state == ChatTurnState.CHOSEN]
    return {
        "turns": [
            {
                "said": turn.said,
                "replies": [{"text": reply.text, "rating": reply.rating} for reply in turn.replies],
                "choice": turn.choice,
                "continued": turn.continued,
            }
            for turn in turns
        ]
    }


Side = Literal["A", "B", "C", "D", "E", "F"]


class ConversationIn(StrictModel):
    """On which handout to talk: `handout` of the context that was given last."""

    handout: int = Field(ge=1, le=2**53)


class MessageIn(StrictModel):
    """The annotator's message in the next turn."""

    said: str = Field(max_length=8000)


class ChoiceIn(StrictModel):
    """A side, `tie`, or `bad` where no reply is any good; ratings by side where the task asks for them."""

    choice: Side | Literal["tie", "bad"]
    ratings: dict[Side, Annotated[int, Field(ge=1, le=10)]] = Field({})


class ReplyOut(BaseModel):
    """One side's reply so far; `state` is `writing`, `done`, `stopped`, `failed` or `cut_off`."""

    model_config = ConfigDict(from_attributes=True)

    side: str
    text: str
    state: str
    rating: int | None


class ExchangeOut(BaseModel):
    """One turn: `writing`, `answered` (a choice is due) or `chosen`; `continued` is the side that it went on from."""

    model_config = ConfigDict(from_attributes=True)

    number: int
    said: str
    state: str
    attempt: int
    replies: list[ReplyOut]
    choice: str
    continued: str | None


class ConversationOut(BaseModel):
    """A conversation without any model's name. `due` is what it waits for: `said`, `replies` or `choice`."""

    id: int
    handout: int
    sides: list[str]
    turns: list[ExchangeOut]
    due: str

    @classmethod
    def of(cls, view: ChatView) -> "ConversationOut":
        """From what its author sees."""
        turns = [ExchangeOut.model_validate(turn) for turn in view.turns]
        return cls(id=view.id or 0, handout=view.handout, sides=view.sides, turns=turns, due=view.due)


class PreferenceOut(BaseModel):
    """One model: `strength` is the logarithm of its Bradley-Terry strength, 0 the mean of all models.

    `rank` is a place or an interval of places, `bad` how often no reply of its turn was any good, `rating` the mean of
    so many `ratings`.
    """

    model: str
    version: str
    strength: float
    low: float | None
    high: float | None
    rank: str
    wins: int
    losses: int
    ties: int
    bad: int
    rating: float | None
    ratings: int


class PreferencesOut(BaseModel):
    """The board of a task's conversations: `wins[i][j]` says how often model i was preferred to model j.

    Intervals (95 %) are from samples of whole `resampled`: people, or conversations where people are few.
    """

    task: str
    rounds: list[int]
    models: list[PreferenceOut]
    wins: list[list[int]]
    ties: list[list[int]]
    comparisons: int
    conversations: int
    people: int
    resampled: Literal["people", "conversations"]
