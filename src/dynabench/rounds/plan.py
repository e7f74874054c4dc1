"""The plan of a round: dates, goals, limits, and the arms that people are drawn into."""

import math
import random
import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, AwareDatetime, Field, ValidationError, model_validator
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.kit.errors import Invalid, validation_message
from dynabench.kit.language import Phrase, _
from dynabench.kit.schemas import StrictModel
from dynabench.rounds.tables import Assignment, Round
from dynabench.tasks import TaskConfig

Count = Annotated[int, Field(ge=1, le=10_000_000)]
Moment = Annotated[AwareDatetime, AfterValidator(lambda at: at.astimezone(UTC).replace(microsecond=0))]
PartName = Literal["arms", "goals", "limits", "audience", "contexts"]
PARTS: tuple[PartName, ...] = get_args(PartName)
"""What a clone may take over beside the targets."""


class PlanPart(StrictModel):
    """A part of a plan; unknown members are refused."""


class Goals(PlanPart):
    """The wanted numbers of examples in a round: all, those that fooled, and of these those that are verified."""

    examples: Count | None = None
    fooled: Count | None = None
    verified: Count | None = None


class AuthorLimits(PlanPart):
    """The most examples that a person may write in the round, and on one UTC day of it.

    Retracted examples count.
    """

    per_person: Count | None = None
    per_day: Count | None = None


class Audience(PlanPart):
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


class PlannedRound(PlanPart):
    """A round opens and closes by itself at the moments given. `sampling` names a sampler, by default the task's.

    `contexts` are `all` of the task's or the few that were `chosen` for the round. `programs` says whether they may
    propose examples: they may unless an owner says otherwise, since all go through one door and one validation.
    `seeds` are those that do not fool the targets yet (`not_fooling`), or `all`. `model_text` says whether authors may
    send text that a language model wrote: `allowed`, `declared` on the form, or `forbidden`.
    """

    opens_at: Moment | None = None
    closes_at: Moment | None = None
    goals: Goals = Goals()
    limits: AuthorLimits = AuthorLimits()
    audience: Audience = Audience()
    sampling: Annotated[str, Field(max_length=60)] | None = None
    contexts: Literal["all", "chosen"] = "all"
    programs: bool = True
    seeds: Literal["not_fooling", "all"] = "not_fooling"
    model_text: Literal["allowed", "declared", "forbidden"] = "allowed"

    @model_validator(mode="after")
    def _in_order(self) -> "PlannedRound":
        if self.opens_at and self.closes_at and self.closes_at <= self.opens_at:
            raise ValueError(_("The round must close after it opens."))
        return self

    def document(self) -> dict[str, Any]:
        """As JSON, without what is as usual."""
        return self.model_dump(mode="json", exclude_defaults=True)


def parse_plan(raw: Mapping[str, Any]) -> PlannedRound:
    """A plan from JSON; raises `Invalid` under dotted names such as `limits.per_day`."""
    try:
        return PlannedRound.model_validate(raw)
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


def changed_parts(before: PlannedRound, after: PlannedRound) -> list[str]:
    """The names of what differs."""
    return [name for name in PlannedRound.model_fields if getattr(before, name) != getattr(after, name)]


Arm = dict[str, Any]
Target = tuple[str, str]  # model and version

KEYS = {"name", "share", "targets", "start", "assistant"}
ASSIGN = ("item", "person")
MOST_ARMS = 20
LONGEST_BLOCK = 60  # places of a block at most; shares that fit none so long are drawn one by one
SHORTEST_BLOCK = 4  # a shorter block would let people guess the arm that comes next
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def clean_arms(raw: object, config: TaskConfig | None = None) -> list[Arm]:
    """Arms as they are stored; `share` is 1 and `targets` is `round` where left out. Raises Invalid under `arms`.

    With a `config` a start must be one that the task knows; `blank` is one always.
    """
    if not isinstance(raw, list | tuple):
        raise Invalid({"arms": _("Give a list of arms.")})
    if len(raw) > MOST_ARMS:
        raise Invalid({"arms": _("A round has at most %(most)s arms.", most=MOST_ARMS)})
    problems: dict[str, str] = {}
    arms = [_arm(f"arms.{index}", entry, config, problems) for index, entry in enumerate(raw)]
    names = [arm["name"] for arm in arms]
    for index, name in enumerate(names):
        if name in names[:index]:
            problems.setdefault(f"arms.{index}.name", _("Another arm has this name."))
    if problems:
        raise Invalid(problems)
    return arms


def _arm(path: str, raw: object, config: TaskConfig | None, problems: dict[str, str]) -> Arm:
    document = raw if isinstance(raw, dict) else {}
    name, share, targets = document.get("name"), document.get("share", 1), document.get("targets", "round")
    start, assistant = document.get("start"), document.get("assistant", False)
    if not isinstance(raw, dict) or document.keys() - KEYS:
        problems[path] = _("An arm is an object with some of %(value)s.", value=", ".join(sorted(KEYS)))
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        problems[f"{path}.name"] = _("Use up to 40 lowercase letters, digits, hyphens and underscores.")
    if not isinstance(share, int | float) or isinstance(share, bool) or not math.isfinite(share) or share <= 0:
        problems[f"{path}.share"] = _("Give a number above 0.")
    if targets not in ("round", "none") and not _models(targets):
        problems[f"{path}.targets"] = _("Choose round (the round's models), none, or name other models.")
    elif targets == "none" and config is not None and config.chat is not None:
        problems[f"{path}.targets"] = _("This task is a conversation and needs models: choose round or name others.")
    elif targets == "none" and config is not None and config.drawing is not None:
        problems[f"{path}.targets"] = _("In this task models draw: choose round or name others.")
    if start is not None and start not in _starts(config):
        problems[f"{path}.start"] = _("Choose one of %(value)s, or leave it out.", value=", ".join(_starts(config)))
    if not isinstance(assistant, bool):
        problems[f"{path}.assistant"] = _("Choose true or false.")
    arm = {"name": name, "share": share, "targets": targets}
    return arm | ({} if start is None else {"start": start}) | ({"assistant": True} if assistant else {})


def _models(targets: object) -> bool:
    """Return whether `targets` is a list of model versions."""
    return (
        isinstance(targets, list)
        and bool(targets)
        and all(
            isinstance(entry, dict)
            and entry.keys() == {"model", "version"}
            and all(isinstance(part, str) for part in entry.values())
            for entry in targets
        )
    )


def _starts(config: TaskConfig | None) -> list[str]:
    if config is None:
        return ["blank", "prompt", "seed"]
    return ["blank", *(kind for kind in config.start.kinds if kind != "blank")]


def draw_arm(arms: Sequence[Arm], key: str, place: int) -> Arm | None:
    """The arm at a `place`, from 0, of the random sequence that `key` stands for; None for a plain round.

    The sequence is made of blocks in each of which every arm comes as often as its share says, shuffled: so arms stay
    balanced whenever collection ends. It is always the same for the same arms and key.
    """
    if not arms:
        return None
    block = [*_block(tuple(arm["share"] for arm in arms))]
    if not block:
        return random.Random(f"{key}:{place}").choices(arms, [arm["share"] for arm in arms])[0]
    number, within = divmod(place, len(block))
    random.Random(f"{key}:{number}").shuffle(block)
    return arms[block[within]]


@lru_cache(1000)
def _block(shares: tuple[float, ...]) -> tuple[int, ...]:
    """The places of the arms in a block, in order: the shortest block that gives each its share within a hundredth of
    it; none where no block of `BLOCK` places does."""
    total = sum(shares)
    for size in range(len(shares), LONGEST_BLOCK + 1):
        counts = [round(share / total * size) for share in shares]
        near = all(
            abs(count - share / total * size) <= share / total * size / 100
            for count, share in zip(counts, shares, strict=True)
        )
        if near and sum(counts) == size:
            return tuple(arm for arm, count in enumerate(counts) for _ in range(count * -(-SHORTEST_BLOCK // size)))
    return ()


def asks_models(arms: Sequence[Arm], name: str) -> bool:
    """Return whether models are asked in the arm called `name`; in a plain round they are."""
    return name not in arms_without_targets(arms)


def targets_in(arms: Sequence[Arm], name: str, targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """The models that are asked in the arm called `name` of a round with these `targets`; in a plain round all."""
    chosen = next((arm["targets"] for arm in arms if arm["name"] == name), "round")
    if isinstance(chosen, str):
        return () if chosen == "none" else targets
    return tuple((target["model"], target["version"]) for target in chosen)


def targets_of_arm(round_: Round, name: str) -> tuple[Target, ...]:
    """The models that are asked in the arm called `name` of a round."""
    return targets_in(round_.arms, name, tuple((target.model, target.version) for target in round_.targets))


def offers_assistant(arms: Sequence[Arm], name: str) -> bool:
    """Return whether help with writing is offered in the arm called `name`."""
    return any(arm["name"] == name and arm.get("assistant", False) for arm in arms)


def arms_without_targets(arms: Sequence[Arm]) -> frozenset[str]:
    """Names of the arms in which no model is asked: rates of models leave their examples out."""
    return frozenset(arm["name"] for arm in arms if arm["targets"] == "none")


def assign_arm(session: Session, round_: Round, person_id: int, handouts: int) -> Arm | None:
    """The arm for what a person is handed out now in a round; None in a plain one. `given` counts what they had so far.

    Where arms are assigned by person the first time decides, and is recorded: whatever they do, it stays. Else each
    person has a balanced sequence of their own.
    """
    if not round_.arms:
        return None
    if round_.assign == "item":
        return draw_arm(round_.arms, f"{round_.seed}:{person_id}", handouts)
    assignment = session.get(Assignment, (round_.id, person_id)) or _assign(session, round_, person_id)
    return next((arm for arm in round_.arms if arm["name"] == assignment.arm), None)


def _assign(session: Session, round_: Round, person_id: int) -> Assignment:
    """The next place of the round's sequence; newcomers of a moment take their places one after the other."""
    session.execute(select(Round.id).where(Round.id == round_.id).with_for_update(key_share=True))
    if assignment := session.get(Assignment, (round_.id, person_id)):  # the same person's other window was first
        return assignment
    place = session.scalar(select(func.count()).select_from(Assignment).where(Assignment.round_id == round_.id)) or 0
    arm = draw_arm(round_.arms, str(round_.seed), place)
    new = Assignment(round_id=round_.id, person_id=person_id, arm=arm["name"] if arm else "", place=place)
    session.add(new)
    session.flush()
    return new
