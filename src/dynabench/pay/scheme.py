"""The payment scheme of a round: what work earns, limits, the guard of hourly pay, budget and approval.

Amounts stand in the document as decimals of its currency (`"0.50"`) and are read as whole minor units.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from dynabench.kit.errors import Invalid, validation_errors
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.pay.money import Money, check_currency, decimal_text, parse_amount

LONGEST_DOCUMENT = 20_000


def _decimal_text(value: object) -> object:
    """A number of YAML or JSON as the decimal that was written; Python writes the shortest that reads the same."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return f"{Decimal(str(value)):f}"
    return value


Amount = Annotated[str, BeforeValidator(_decimal_text), Field(max_length=30, pattern=r"^[0-9]+(\.[0-9]+)?$")]
"""An amount of the scheme's currency, as a decimal."""
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]


class BasePay(StrictModel):
    """An amount for taking part, once per person, after so many accepted examples and votes."""

    amount: Amount
    examples: Annotated[int, Field(ge=0, le=10_000)] = 0
    votes: Annotated[int, Field(ge=0, le=10_000)] = 0

    @model_validator(mode="after")
    def _some_work(self) -> Self:
        if not self.examples and not self.votes:
            raise ValueError(_("Say after how many examples or votes the base is earned."))
        return self


class ConfidenceBonus(StrictModel):
    """A bonus for a verified fooling example whose targets were at least so sure of their wrong answers."""

    amount: Amount
    at_least: Share = 0.9


class TargetsBonus(StrictModel):
    """A bonus for each target beyond the first that a verified example fooled."""

    amount: Amount


class Bonuses(StrictModel):
    """Bonuses by difficulty; none is paid for an example that people fail as often as models."""

    confidence: ConfidenceBonus | None = None
    targets: TargetsBonus | None = None


class PayCaps(StrictModel):
    """The most that one person earns in the round, and the most examples and votes of theirs that are paid."""

    amount: Amount | None = None
    examples: Count | None = None
    votes: Count | None = None


class HourlyGuard(StrictModel):
    """The least hourly pay, and the consequence for people below it: a warning to the owner, or a top-up."""

    wage: Amount
    action: Literal["warn", "top_up"] = "warn"


class Scheme(StrictModel):
    """A round's payment scheme.

    `paid_examples` says which examples earn `per_example`: all but those found unfit (`unless_flagged`), or also not
    those found incorrect (`unless_incorrect`). `blind_answers` is the number of blind answers from which an example
    counts as hard for people, too, where people fail as often as the models.
    """

    currency: Annotated[str, AfterValidator(check_currency)]
    base: BasePay | None = None
    per_example: Amount | None = None
    paid_examples: Literal["unless_flagged", "unless_incorrect"] = "unless_flagged"
    per_fooling: Amount | None = None
    per_vote: Amount | None = None
    per_blind_answer: Amount | None = None
    bonus: Bonuses = Bonuses()
    blind_answers: Annotated[int, Field(ge=1, le=100)] = 2
    caps: PayCaps = PayCaps()
    guard: HourlyGuard | None = None
    budget: Amount | None = None
    approval_limit: Amount | None = None

    @model_validator(mode="after")
    def _amounts_of_the_currency(self) -> Self:
        for _name, text in self.amounts():
            parse_amount(text, self.currency)
        if self.budget is not None and self.minor(self.budget) == 0:
            raise ValueError(_("A budget of 0 pays for nothing. Leave it out for none."))
        return self

    def amounts(self) -> list[tuple[str, str]]:
        """Return the amounts that the scheme sets, by dotted name."""
        plain = ("per_example", "per_fooling", "per_vote", "per_blind_answer", "budget", "approval_limit")
        pairs: list[tuple[str, str | None]] = [(name, getattr(self, name)) for name in plain]
        parts: tuple[tuple[str, Any, str], ...] = (
            ("base", self.base, "amount"),
            ("bonus.confidence", self.bonus.confidence, "amount"),
            ("bonus.targets", self.bonus.targets, "amount"),
            ("caps", self.caps, "amount"),
            ("guard", self.guard, "wage"),
        )
        pairs += [(f"{name}.{field}", getattr(part, field)) for name, part, field in parts if part is not None]
        return [(name, text) for name, text in pairs if text is not None]

    def minor(self, text: str | None) -> int:
        """Return an amount of this scheme in minor units; 0 for None."""
        return 0 if text is None else parse_amount(text, self.currency)

    def money(self, text: str | None) -> Money:
        """Return an amount of this scheme as money; 0 for None."""
        return Money(self.minor(text), self.currency)

    def document(self) -> dict[str, Any]:
        """Return the scheme as JSON, without what is as usual, amounts with all their decimal places."""
        raw = self.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        for name, text in self.amounts():
            part, keys = raw, name.split(".")
            for key in keys[:-1]:
                part = part[key]
            part[keys[-1]] = decimal_text(self.minor(text), self.currency)
        return raw

    @property
    def has_bonus(self) -> bool:
        """True where some bonus may be earned."""
        return self.bonus != Bonuses()


def parse_scheme(raw: object) -> Scheme:
    """Return a scheme from JSON; raise `Invalid` under dotted names such as `caps.amount`."""
    if not isinstance(raw, Mapping):
        raise Invalid({"scheme": _("Give an object with at least a currency.")})
    try:
        return Scheme.model_validate(dict(raw))
    except ValidationError as error:
        raise Invalid(validation_errors(error, "scheme")) from None


def read_scheme(source: str) -> Scheme:
    """Return the scheme that a text in YAML or JSON describes; raise `Invalid`."""
    if len(source) > LONGEST_DOCUMENT:
        raise Invalid({"scheme": _("A scheme has at most %(longest)s characters.", longest=f"{LONGEST_DOCUMENT:,}")})
    try:
        raw = yaml.load(source, _PlainLoader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Invalid({"scheme": _("This is no YAML: %(problem)s", problem=str(error)[:200])}) from None
    return parse_scheme(raw)


def write_scheme(document: Mapping[str, Any]) -> str:
    """Return a scheme's document as YAML, in the order of its members."""
    ordered = {name: document[name] for name in Scheme.model_fields if name in document}
    return yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True)


class _PlainLoader(yaml.SafeLoader):
    """Reads decimals as they are written: `0.10` stays `0.10`."""


def _read_decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    text = str(loader.construct_scalar(node))
    return Decimal(text) if text.replace(".", "", 1).isdigit() else text


_PlainLoader.add_constructor("tag:yaml.org,2002:float", _read_decimal)
