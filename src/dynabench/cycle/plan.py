"""The plan of a turn: which candidates learn from what, how one is promoted, and what the next round is like."""

from datetime import datetime
from typing import Annotated, Any, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from dynabench import errors
from dynabench.language import _

Method = Literal["lora", "full", "head", "ngram"]
Rule = Literal["fooling", "recency", "worst_round"]
Short = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,19}$")]
Weight = Annotated[float, Field(gt=0, le=1000)]
MOST = 16
"""Candidates of a turn, each seed counted."""
LONGEST = 64 * 1024


class Part(BaseModel):
    """A section of the plan: no key that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Candidate(Part):
    """A way to train, once with each of its seeds; `base` is another encoder for `lora` and `full`.

    For answers that are spans `method` is `lora` or `head`, from the shipped extractor on.
    """

    name: Short
    method: Method = "lora"
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1, max_length=8)] = [0]
    base: Annotated[str, Field(max_length=200)] = ""
    epochs: Annotated[float, Field(gt=0, le=1000)] | None = None
    minutes: Annotated[float, Field(gt=0, le=10_000)] | None = None


class Outside(Part):
    """Rows from elsewhere: a dataset of the task that is not hidden, at the version that is newest as the turn begins.

    What is trained on does not test any more: its board is no evidence for the candidates.
    """

    dataset: Annotated[str, Field(min_length=1, max_length=100)]
    weight: Weight = 1.0


class Train(Part):
    """What candidates learn from: the train parts of the releases of the round and of its ancestors.

    A round that is k generations older than the newest counts (1 - `discount`)**k, times its own weight in `weights`
    (by number, as text). `outside` comes besides.
    """

    discount: Annotated[float, Field(ge=0, lt=1)] = 0.0
    weights: dict[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}$")], Weight] = {}
    outside: Annotated[list[Outside], Field(max_length=20)] = []


class Promote(Part):
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


class Next(Part):
    """The round that comes: opened at once, or only drafted. `parents` are rounds that it follows beside this one."""

    open: bool = True
    ensemble: Literal["any", "majority", "all"] = "any"
    parents: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=16)] = []


class Plan(Part):
    """A whole turn. `release` changes the config's rules of releases; `anyway` releases in spite of warnings.

    `moment` dates what the turn makes instead of the moment at which it was asked for, so that a turn can be repeated
    elsewhere to the byte.
    """

    candidates: Annotated[list[Candidate], Field(min_length=1, max_length=MOST)] = [Candidate(name="lora")]
    train: Train = Train()
    promote: Promote = Promote()
    next: Next = Next()
    release: dict[str, Any] = {}
    anyway: bool = False
    moment: AwareDatetime | None = None

    @model_validator(mode="after")
    def _few(self) -> "Plan":
        names = [each.name for each in self.candidates]
        if len(set(names)) < len(names):
            raise ValueError("Two candidates have one name.")
        if sum(len(set(each.seeds)) for each in self.candidates) > MOST:
            raise ValueError(f"A turn trains {MOST} models at most, each seed counted.")
        return self

    def at(self, asked: datetime) -> datetime:
        """The moment that the turn's products bear."""
        return self.moment or asked

    def runs(self) -> list[tuple[Candidate, int]]:
        """Each candidate with each of its seeds, in the plan's order."""
        return [(each, seed) for each in self.candidates for seed in dict.fromkeys(each.seeds)]


def read(document: Any) -> Plan:
    """The plan that a document describes. Raises `Invalid` by dotted path."""
    try:
        return Plan.model_validate(document or {})
    except ValidationError as problem:
        wrong = {
            ".".join(map(str, each["loc"])) or "plan": each["msg"].removeprefix("Value error, ")
            for each in problem.errors()
        }
        raise errors.Invalid(wrong) from None


def parse(text: str) -> Plan:
    """The plan that YAML or JSON `text` holds; an empty one is the plan as it is by default. Raises `Invalid`."""
    if len(text) > LONGEST:
        raise errors.Invalid({"plan": _("A plan has %(longest)s KiB at most.", longest=LONGEST // 1024)})
    try:
        return read(yaml.safe_load(text))
    except (yaml.YAMLError, RecursionError) as problem:
        raise errors.Invalid({"plan": _("This is not valid YAML: %(problem)s", problem=str(problem)[:300])}) from None
