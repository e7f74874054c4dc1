"""Which of several outputs is best: one of them, a tie, or none."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Reference, Values
from dynabench.tasks.section import Name, Setting, refuse

TIE, ALL_BAD = "tie", "all_bad"


class Comparison(Field):
    """The best of the outputs in `of`: `{choice, order}`; `choice` is a field that `of` names, `tie` or `all_bad`.

    Each person sees the outputs in an order of their own; `order` is the one that was shown.
    """

    type: Literal["comparison"] = "comparison"
    of: list[Name] = Setting(min_length=2, max_length=9, description="Fields of context or input that are compared.")
    tie: bool = Setting(True, description="“Equally good” may be chosen.")
    all_bad: bool = Setting(True, description="“All are bad” may be chosen.")

    missing: ClassVar[str] = _("Choose one of the outputs.")
    no_answer: ClassVar[str] = "is none of the outputs"

    @model_validator(mode="after")
    def _names_are_free(self) -> "Comparison":
        for index, name in enumerate(self.of):
            if name in (TIE, ALL_BAD):
                refuse(
                    {f"of.{index}": _("“%(name)s” is a choice of its own: call the field something else.", name=name)}
                )
            if name in self.of[:index]:
                refuse({f"of.{index}": _("The field “%(name)s” is listed twice.", name=name)})
        return self

    @property
    def values(self) -> list[str]:
        """What may be chosen."""
        return [*self.of, *([TIE] if self.tie else []), *([ALL_BAD] if self.all_bad else [])]

    def references(self) -> Sequence[Reference]:
        """The outputs, of any type."""
        return [Reference(f"of.{index}", name, text=False) for index, name in enumerate(self.of)]

    @property
    def drawn_over(self) -> Sequence[str]:
        """The outputs: beside it they would tell which is which."""
        return self.of

    def check(self, raw: object, beside: Values) -> dict[str, Any] | None:
        """The choice, with the order if one was told."""
        if raw == "":
            return None
        told = {"choice": raw} if isinstance(raw, str) else raw
        if not isinstance(told, Mapping) or not {"choice"} <= set(told) <= {"choice", "order"}:
            raise FieldError(_("A comparison is an object with choice and, if you like, order."))
        if told["choice"] not in self.values:
            raise FieldError(self.missing)
        if "order" not in told:
            return {"choice": told["choice"]}
        if not self._is_order(told["order"]):
            raise FieldError(_("The order names each of the outputs once."))
        return {"choice": told["choice"], "order": list(told["order"])}

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From the radio button under `name` and the order under `name.order`."""
        choice = self.from_form(posted.get(name, ()))
        order = posted.get(f"{name}.order", [""])[0]
        return {"choice": choice, "order": order.split()} if isinstance(choice, str) and choice and order else choice

    def order(self, beside: Values, value: object, who: object) -> list[str]:
        """The outputs as they are shown to `who`: as in `value`, else in an order drawn for this person and these
        outputs, the same each time."""
        told = value.get("order") if isinstance(value, Mapping) else None
        if isinstance(told, list) and self._is_order(told):
            return told
        shown = json.dumps([self.name, *(beside.get(name) for name in sorted(self.of))], default=str)
        return sorted(self.of, key=lambda name: hashlib.sha256(f"{who} {name} {shown}".encode()).digest())

    def _is_order(self, order: object) -> bool:
        return isinstance(order, list) and all(isinstance(n, str) for n in order) and sorted(order) == sorted(self.of)

    def choice(self, value: object) -> Any:
        """What is chosen in `value`, which may be the choice alone, as models give it."""
        return value.get("choice") if isinstance(value, Mapping) else value

    def same(self, first: Any, second: Any) -> bool:
        """The same choice, in whichever order it was made."""
        return bool(self.choice(first) == self.choice(second))

    def comparable(self) -> Sequence[str] | None:
        """What may be chosen."""
        return self.values

    def is_answer(self, value: object) -> bool:
        """Whether it may be chosen."""
        return self.choice(value) in self.values

    def samples(self) -> list[Any]:
        """Each choice."""
        return [{"choice": value} for value in self.values]

    def in_words(self, value: Any) -> str:
        """The output's name."""
        choice = self.choice(value)
        told = {None: "", TIE: "Equally good", ALL_BAD: "All are bad"}
        return told[choice] if choice in told else str(choice).replace("_", " ").capitalize()

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
