"""The best of several outputs: one of them, a tie, or none."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.section import Name, Setting, refuse_keys

TIE_CHOICE, ALL_BAD_CHOICE = "tie", "all_bad"


class ComparisonField(Field):
    """The best of the outputs in `of`: `{choice, order}`; `choice` is a field that `of` names, `tie` or `all_bad`.

    Each person sees the outputs in an order of their own; `order` is the one that was shown.
    """

    type: Literal["comparison"] = "comparison"
    of: list[Name] = Setting(min_length=2, max_length=9, description="Fields of context or input that are compared.")
    tie: bool = Setting(True, description="“Tie” may be chosen.")
    all_bad: bool = Setting(True, description="“All are bad” may be chosen.")

    missing: ClassVar[str] = _("Choose one of the outputs.")
    no_answer: ClassVar[str] = "is none of the outputs"

    @model_validator(mode="after")
    def _names_are_free(self) -> "ComparisonField":
        for index, name in enumerate(self.of):
            if name in (TIE_CHOICE, ALL_BAD_CHOICE):
                refuse_keys({f"of.{index}": _("“%(name)s” is a reserved choice: rename the field.", name=name)})
            if name in self.of[:index]:
                refuse_keys({f"of.{index}": _("The field “%(name)s” is listed twice.", name=name)})
        return self

    @property
    def values(self) -> list[str]:
        """The possible choices."""
        return [*self.of, *([TIE_CHOICE] if self.tie else []), *([ALL_BAD_CHOICE] if self.all_bad else [])]

    def references(self) -> Sequence[FieldReference]:
        """The outputs, of any type."""
        return [FieldReference(f"of.{index}", name, text=False) for index, name in enumerate(self.of)]

    @property
    def drawn_over(self) -> Sequence[str]:
        """The outputs: beside it they would tell which is which."""
        return self.of

    def check(self, raw: object, beside: Values) -> dict[str, Any] | None:
        """Return the choice, with the order in which the outputs were shown, if it is in the value."""
        if raw == "":
            return None
        answer = {"choice": raw} if isinstance(raw, str) else raw
        if not isinstance(answer, Mapping) or not {"choice"} <= set(answer) <= {"choice", "order"}:
            raise FieldError(_("A comparison is an object with choice and optionally order."))
        if answer["choice"] not in self.values:
            raise FieldError(self.missing)
        if "order" not in answer:
            return {"choice": answer["choice"]}
        if not self._is_order(answer["order"]):
            raise FieldError(_("The order must list each output once."))
        return {"choice": answer["choice"], "order": list(answer["order"])}

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From the radio button under `name` and the order under `name.order`."""
        choice = self.from_form(posted.get(name, ()))
        order = posted.get(f"{name}.order", [""])[0]
        return {"choice": choice, "order": order.split()} if isinstance(choice, str) and choice and order else choice

    def order(self, beside: Values, value: object, viewer: object) -> list[str]:
        """Return the outputs in the order for `viewer`: as in `value`, else drawn for this person and these outputs.

        The same person sees the same outputs in the same order each time.
        """
        stored_order = value.get("order") if isinstance(value, Mapping) else None
        if isinstance(stored_order, list) and self._is_order(stored_order):
            return stored_order
        seed_text = json.dumps([self.name, *(beside.get(name) for name in sorted(self.of))], default=str)
        return sorted(self.of, key=lambda name: hashlib.sha256(f"{viewer} {name} {seed_text}".encode()).digest())

    def _is_order(self, order: object) -> bool:
        return isinstance(order, list) and all(isinstance(n, str) for n in order) and sorted(order) == sorted(self.of)

    def choice(self, value: object) -> Any:
        """Return the choice in `value`, which may be the choice alone, as models give it."""
        return value.get("choice") if isinstance(value, Mapping) else value

    def same(self, first: Any, second: Any) -> bool:
        """The same choice, in whichever order it was made."""
        return bool(self.choice(first) == self.choice(second))

    def comparable(self) -> Sequence[str] | None:
        """Return the possible choices."""
        return self.values

    def is_answer(self, value: object) -> bool:
        """Return whether it is a possible choice."""
        return self.choice(value) in self.values

    def samples(self) -> list[Any]:
        """Each choice."""
        return [{"choice": value} for value in self.values]

    def in_words(self, value: Any) -> str:
        """The output's name."""
        choice = self.choice(value)
        words = {None: "", TIE_CHOICE: "Tie", ALL_BAD_CHOICE: "Both bad" if len(self.of) == 2 else "All bad"}
        return words[choice] if choice in words else str(choice).replace("_", " ").capitalize()

    def json_schema(self) -> JsonSchema:
        """A choice and an order of the outputs."""
        order = {
            "type": "array",
            "items": {"enum": list(self.of)},
            "minItems": len(self.of),
            "maxItems": len(self.of),
            "uniqueItems": True,
        }
        return {
            "type": "object",
            "properties": {"choice": {"enum": self.values}, "order": order},
            "required": ["choice"],
            "additionalProperties": False,
        }
