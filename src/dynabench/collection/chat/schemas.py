"""JSON schemas of conversations."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dynabench.collection.chat.views import ChatView

Side = Literal["A", "B", "C", "D", "E", "F"]


class ConversationIn(BaseModel):
    """On which handout to talk: `handout` of the context that was given last."""

    model_config = ConfigDict(extra="forbid")

    handout: int = Field(ge=1, le=2**53)


class MessageIn(BaseModel):
    """The annotator's message in the next turn."""

    model_config = ConfigDict(extra="forbid")

    said: str = Field(max_length=8000)


class ChoiceIn(BaseModel):
    """A side, `tie`, or `bad` where no reply is any good; ratings by side where the task asks for them."""

    model_config = ConfigDict(extra="forbid")

    choice: Side | Literal["tie", "bad"]
    ratings: dict[Side, Annotated[int, Field(ge=1, le=10)]] = {}


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
        turns = [ExchangeOut.model_validate(each) for each in view.turns]
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
