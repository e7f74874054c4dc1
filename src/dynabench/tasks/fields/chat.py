"""A conversation with language models: messages of a person, replies of each model, and the chosen replies."""

from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Line, Name, Setting

SIDES = "ABCDEF"
TIE_CHOICE, BAD_CHOICE = "tie", "bad"


class Chat(Field):
    """A conversation of several turns with the round's models, whose names stay hidden until it is done.

    Values are `{"turns": [{"said", "replies": [{"text", "rating"}], "choice", "continued"}]}`: replies by side, A
    first; `choice` is a side, `tie`, `bad` (none of them) or empty where there is one model; `continued` is the
    number of the reply that the conversation continued with, null where the turn was left out.
    """

    type: Literal["chat"] = "chat"
    min_turns: int = Setting(1, ge=1, le=50, description="Turns before the conversation can be sent.")
    max_turns: int = Setting(10, ge=1, le=50, description="Turns at most.")
    max_length: int = Setting(2000, ge=1, le=8000, description="Characters of what a person says in a turn.")
    max_tokens: int = Setting(256, ge=1, le=4096, description="Tokens of a reply at most.")
    rate: int = Setting(0, ge=0, le=10, description="Each reply is rated from 1 to this; 0 for no ratings.")
    tie: bool = Setting(True, description="People may say that replies are equally good.")
    bad: bool = Setting(True, description="People may say that no reply is any good.")
    system: Line = Setting("", description="What all models are told before the conversation.")
    claims: dict[Name, str] = Setting(
        {},
        max_length=10,
        description="Answers that models stand for by replying, such as category: none. A model is fooled where the "
        "annotator's answer differs from it.",
    )

    missing: ClassVar[str] = _("Chat with the models first.")
    no_answer: ClassVar[str] = "is no conversation"
    brief: ClassVar[bool] = False

    @model_validator(mode="after")
    def _turns_in_order(self) -> "Chat":
        if self.min_turns > self.max_turns:
            raise ValueError(_("min_turns is above max_turns."))
        return self

    def check(self, raw: object, beside: Values) -> dict[str, Any]:
        """The stored form. Raises FieldError where it is no conversation, or too long or short for the task."""
        turns = raw.get("turns") if isinstance(raw, dict) else None
        if not isinstance(turns, list) or not all(_is_turn(turn) for turn in turns):
            raise FieldError(_("This is not a conversation. Chat with the models on the page or through the API."))
        if len({len(turn["replies"]) for turn in turns}) > 1:
            raise FieldError(_("Each turn needs a reply from each model."))
        if len(turns) < self.min_turns:
            raise FieldError(
                _("The conversation needs at least %(min_turns)s turns.", min_turns=self.min_turns)
                if self.min_turns > 1
                else self.missing
            )
        if len(turns) > self.max_turns:
            raise FieldError(_("The conversation may have at most %(max_turns)s turns.", max_turns=self.max_turns))
        return {"turns": [_known_keys(turn) for turn in turns]}

    def json_schema(self) -> JsonSchema:
        """See `Field`."""
        reply = _object(text={"type": "string"}, rating={"type": ["integer", "null"], "minimum": 1, "maximum": 10})
        turn = _object(
            said={"type": "string"},
            replies={"type": "array", "items": reply, "minItems": 1, "maxItems": len(SIDES)},
            choice={"enum": ["", *SIDES, TIE_CHOICE, BAD_CHOICE]},
            continued={"type": ["integer", "null"], "minimum": 0},
        )
        turns = {"type": "array", "items": turn, "minItems": self.min_turns, "maxItems": self.max_turns}
        return _object(turns=turns)

    def serialise(self, value: Any) -> Any:
        """Return the conversation as a text for a model, with the replies that the person continued with."""
        if not isinstance(value, dict):
            return value
        lines = []
        for turn in value["turns"]:
            if turn["continued"] is not None:
                lines += [f"User: {turn['said']}", f"Assistant: {turn['replies'][turn['continued']]['text']}"]
        return "\n\n".join(lines)

    def in_words(self, value: Any) -> str:
        """Return the first message of the person."""
        return str(value["turns"][0]["said"]) if isinstance(value, dict) and value.get("turns") else ""

    @staticmethod
    def sides(value: Any) -> list[str]:
        """The names of the sides, A first."""
        return list(SIDES[: len(value["turns"][0]["replies"])]) if value and value["turns"] else []


def _is_turn(turn: object) -> bool:
    if not isinstance(turn, dict) or not isinstance(turn.get("said"), str) or not turn["said"].strip():
        return False
    replies, continued = turn.get("replies"), turn.get("continued")
    if not isinstance(replies, list) or not 1 <= len(replies) <= len(SIDES):
        return False
    if not all(isinstance(item, dict) and isinstance(item.get("text"), str) for item in replies):
        return False
    ratings = [item["rating"] for item in replies if item.get("rating") is not None]
    rated = all(type(item) is int and 1 <= item <= 10 for item in ratings)
    is_valid_continuation = continued is None or (type(continued) is int and 0 <= continued < len(replies))
    return (
        rated
        and is_valid_continuation
        and turn.get("choice", "") in ("", *SIDES[: len(replies)], TIE_CHOICE, BAD_CHOICE)
    )


def _known_keys(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn without unknown keys."""
    return {
        "said": turn["said"],
        "replies": [{"text": reply["text"], "rating": reply.get("rating")} for reply in turn["replies"]],
        "choice": turn.get("choice", ""),
        "continued": turn.get("continued"),
    }


def _object(**properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
