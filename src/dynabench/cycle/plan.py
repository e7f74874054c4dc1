"""The plan of a turn: what the candidates are and train on, the rule of promotion, and the next round."""

from datetime import datetime
from typing import Annotated, Any, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from dynabench.kit import errors
from dynabench.kit.language import _

Method = Literal["lora", "full", "head", "ngram"]
Rule = Literal["fooling", "recency", "worst_round"]
Short = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,19}$")]
Weight = Annotated[float, Field(gt=0, le=1000)]
MAX_CANDIDATES = 16
"""Candidates of a turn, each seed counted."""
MAX_PLAN_CHARACTERS = 64 * 1024


class PlanSection(BaseModel):
    """A section of the plan; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Candidate(PlanSection):
    """A way to train, once with each of its seeds; `base` is another encoder for `lora` and `full`.

    For answers that are spans `method` is `lora` or `head`, from the shipped extractor on.
    """

    name: Short
    method: Method = "lora"
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1, max_length=8)] = [0]
    base: Annotated[str, Field(max_length=200)] = ""
    epochs: Annotated[float, Field(gt=0, le=1000)] | None = None
    minutes: Annotated[float, Field(gt=0, le=10_000)] | None = None


class OutsideDataset(PlanSection):
    """A dataset of the task that candidates train on besides the rounds, at its newest version when the turn begins.

    A hidden dataset is refused. A dataset that is trained on is no evidence for the candidates any more.
    """

    dataset: Annotated[str, Field(min_length=1, max_length=100)]
    weight: Weight = 1.0


class TrainingPlan(PlanSection):
    """The training data of candidates: the train parts of the releases of the round and of its ancestors.

    A round that is k generations older than the newest counts (1 - `discount`)**k, times its own weight in
    `weights` (by number, as text). The datasets in `outside` are added.
    """

    discount: Annotated[float, Field(ge=0, lt=1)] = 0.0
    weights: dict[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}$")], Weight] = {}
    outside: Annotated[list[OutsideDataset], Field(max_length=20)] = []


class PromotionRule(PlanSection):
    """The rule by which a candidate takes the targets' place (`promotion`).

    `surely` asks that the interval of the gain lies above 0, not the gain alone. `most_lost` is what a candidate may
    lose at most in its mean over all rounds. On neutral data, by default all datasets of the task that come from no
    round and have 30 rows, it may not be worse for sure (one-sided, 5 %) on any, nor lose more than `neutral_lost` in
    the mean over them; `neutral_sure` asks that the loss on each is below that for sure. `neutral` names the datasets;
    an empty list switches the guard off. The best `most` candidates that pass become targets, `with_present` beside
    those of now.
    """

    by: Rule = "recency"
    discount: Annotated[float, Field(ge=0, lt=1)] = 0.0
    surely: bool = True
    most_lost: Annotated[float, Field(ge=0, le=1)] = 0.02
    neutral: Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=100)] | None = None
    neutral_lost: Annotated[float, Field(ge=0, le=1)] = 0.02
    neutral_sure: bool = False
    most: Annotated[int, Field(ge=1, le=8)] = 1
    with_present: bool = False


class NextRoundPlan(PlanSection):
    """The next round: opened at once, or only drafted. `parents` are rounds that it follows besides the turn's
    round."""

    open: bool = True
    ensemble: Literal["any", "majority", "all"] = "any"
    parents: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=16)] = []


class TurnPlan(PlanSection):
    """A whole turn. `release` changes the config's rules of releases; `anyway` releases in spite of warnings.

    `moment` dates what the turn makes instead of the moment at which it was asked for, so that a turn can be repeated
    elsewhere to the byte.
    """

    candidates: Annotated[list[Candidate], Field(min_length=1, max_length=MAX_CANDIDATES)] = [Candidate(name="lora")]
    train: TrainingPlan = TrainingPlan()
    promote: PromotionRule = PromotionRule()
    next: NextRoundPlan = NextRoundPlan()
    release: dict[str, Any] = {}
    anyway: bool = False
    moment: AwareDatetime | None = None

    @model_validator(mode="after")
    def _few(self) -> "TurnPlan":
        names = [candidate.name for candidate in self.candidates]
        if len(set(names)) < len(names):
            raise ValueError("Two candidates have one name.")
        if sum(len(set(candidate.seeds)) for candidate in self.candidates) > MAX_CANDIDATES:
            raise ValueError(f"A turn trains {MAX_CANDIDATES} models at most, each seed counted.")
        return self

    def at(self, requested_at: datetime) -> datetime:
        """Return the time that the turn's products bear: the plan's moment, else the time of the request."""
        return self.moment or requested_at

    def runs(self) -> list[tuple[Candidate, int]]:
        """Return each candidate with each of its seeds, in the plan's order."""
        return [(candidate, seed) for candidate in self.candidates for seed in dict.fromkeys(candidate.seeds)]


def read_plan(document: Any) -> TurnPlan:
    """Return the plan that a document describes. Raises `Invalid` with the dotted path of each bad key."""
    try:
        return TurnPlan.model_validate(document or {})
    except ValidationError as problem:
        wrong = {
            ".".join(map(str, problem_entry["loc"])) or "plan": problem_entry["msg"].removeprefix("Value error, ")
            for problem_entry in problem.errors()
        }
        raise errors.Invalid(wrong) from None


def parse_plan(text: str) -> TurnPlan:
    """Return the plan that YAML or JSON `text` holds; an empty text is the default plan. Raises `Invalid`."""
    if len(text) > MAX_PLAN_CHARACTERS:
        raise errors.Invalid(
            {"plan": _("A plan can have at most %(longest)s KiB.", longest=MAX_PLAN_CHARACTERS // 1024)}
        )
    try:
        return read_plan(yaml.safe_load(text))
    except (yaml.YAMLError, RecursionError) as problem:
        raise errors.Invalid({"plan": _("This is not valid YAML: %(problem)s", problem=str(problem)[:300])}) from None
