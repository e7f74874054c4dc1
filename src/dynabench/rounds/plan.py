"""The plan of a round: when it collects, how much, by whom, and on which contexts. Pure: no database, no clock."""

from collections.abc import Mapping
from datetime import UTC
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from dynabench.kit.errors import Invalid, validation_message
from dynabench.kit.language import Phrase, _

Count = Annotated[int, Field(ge=1, le=10_000_000)]
Moment = Annotated[AwareDatetime, AfterValidator(lambda at: at.astimezone(UTC).replace(microsecond=0))]
PartName = Literal["arms", "goals", "limits", "audience", "contexts"]
PARTS: tuple[PartName, ...] = get_args(PartName)
"""What a clone may take over beside the targets."""


class Part(BaseModel):
    """A part of a plan; unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class Goals(Part):
    """The wanted numbers of examples in a round: all, those that fooled, and of these those that are verified."""

    examples: Count | None = None
    fooled: Count | None = None
    verified: Count | None = None


class Limits(Part):
    """The most examples that a person may write in the round, and on one UTC day of it.

    Retracted examples count.
    """

    per_person: Count | None = None
    per_day: Count | None = None


class Audience(Part):
    """The people who may write examples in a round; owners always may.

    `anyone`: all people. `invited`: people who are named or came by a link.
    `experts`: people with that role.
    `qualified`: people with at least `verified` verified examples of the task.
    """

    kind: Literal["anyone", "invited", "experts", "qualified"] = "anyone"
    verified: Count | None = None

    @model_validator(mode="after")
    def _qualification(self) -> "Audience":
        if (self.kind == "qualified") != (self.verified is not None):
            raise ValueError(_("Give the number of verified examples only if the plan requires them."))
        return self


class Plan(Part):
    """A round opens and closes by itself at the moments given. `sampling` names a sampler, by default the task's.

    `contexts` are `all` of the task's or the few that were `chosen` for the round. `programs` says whether they may
    propose examples: they may unless an owner says otherwise, since all go through one door and one validation.
    """

    opens_at: Moment | None = None
    closes_at: Moment | None = None
    goals: Goals = Goals()
    limits: Limits = Limits()
    audience: Audience = Audience()
    sampling: Annotated[str, Field(max_length=60)] | None = None
    contexts: Literal["all", "chosen"] = "all"
    programs: bool = True

    @model_validator(mode="after")
    def _in_order(self) -> "Plan":
        if self.opens_at and self.closes_at and self.closes_at <= self.opens_at:
            raise ValueError(_("The round must close after it opens."))
        return self

    def document(self) -> dict[str, Any]:
        """As JSON, without what is as usual."""
        return self.model_dump(mode="json", exclude_defaults=True)


def parse_plan(raw: Mapping[str, Any]) -> Plan:
    """A plan from JSON; raises `Invalid` under dotted names such as `limits.per_day`."""
    try:
        return Plan.model_validate(raw)
    except ValidationError as error:
        raise Invalid(
            {_name(problem["loc"]): _sentence(validation_message(problem)) for problem in error.errors()}
        ) from None


def _name(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path)) or "closes_at"  # what is wrong with the whole is the order of its dates


def _sentence(message: str) -> str:
    if isinstance(message, Phrase):
        return message if message.endswith(".") else message + "."
    text = message.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def changed_parts(before: Plan, after: Plan) -> list[str]:
    """The names of what differs."""
    return [name for name in Plan.model_fields if getattr(before, name) != getattr(after, name)]
