"""The parts of a task's config other than its fields."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, model_validator
from pydantic.dataclasses import dataclass

from dynabench.kit.language import _
from dynabench.tasks.fields import AnyField
from dynabench.tasks.section import Line, Markdown, Name, Section, Setting

Word = Name
Annotators = Literal["anyone", "invited"]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Instructions:
    """Instructions for people before they write or check; markdown, which the pages sanitise."""

    create: Annotated[Markdown, Setting(description="For annotators: what to write and what counts.")] = ""
    validate: Annotated[Markdown, Setting(description="For validators: how to decide.")] = ""


class Start(Section):
    """Ways in which an annotator's input begins."""

    kinds: list[Literal["blank", "prompt", "seed"]] = Setting(
        ["blank"],
        min_length=1,
        max_length=3,
        description="blank: an empty field; prompt: a text of the context to edit; seed: an earlier or supplied "
        "example, shown with what the models say of it, to be changed a little.",
    )
    assign: Literal["random"] = Setting("random", description="How one of several kinds is assigned.")
    prompt: dict[Name, Name] = Setting({}, description="For kind prompt: input field -> context field it begins with.")

    @model_validator(mode="after")
    def _prompt_says_what(self) -> "Start":
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError(_("A kind of start is listed twice."))
        if ("prompt" in self.kinds) != bool(self.prompt):
            raise ValueError(_("The kind prompt and a mapping such as prompt: {statement: prompt} go together."))
        return self


class PerturbSettings(Section):
    """Annotators may edit an earlier example of theirs minimally, so that its answer changes."""

    flip: Name = Setting(description="The answer field, a choice, that has to change.")


class OutputSettings(Section):
    """Values that models return beside their answer."""

    probabilities: bool = Setting(True, description="Models return a probability for each option, and people see them.")


class Validation(Section):
    """Settings of validation: how other people check an example."""

    mode: Literal["judge", "answer", "mixed"] = Setting(
        "judge", description="judge: vote on the claim; answer: answer blind, agreement is the vote; mixed: both."
    )
    blind_share: float = Setting(
        0.5, ge=0, le=1, description="For mixed: share of validations that are answered blind."
    )
    votes: int = Setting(2, ge=1, le=25, description="So many votes that agree decide.")
    adjudicate_up_to: int = Setting(5, ge=1, le=51, description="After a disagreement ask for up to so many votes.")
    also_not_fooled: bool = Setting(False, description="Examples that fooled no model are checked as well.")
    ask: list[AnyField] = Setting([], max_length=20, description="What a validator is asked beside the vote.")

    @model_validator(mode="before")
    @classmethod
    def _cap_from_votes(cls, raw: Any) -> Any:
        """Without a cap of its own, a config that asks for more than 5 votes stops at them."""
        if isinstance(raw, dict) and type(raw.get("votes")) is int and "adjudicate_up_to" not in raw:
            return {**raw, "adjudicate_up_to": max(raw["votes"], 5)}
        return raw

    @model_validator(mode="after")
    def _cap_above_votes(self) -> "Validation":
        if self.adjudicate_up_to < self.votes:
            raise ValueError(_("adjudicate_up_to is below votes."))
        return self


class ContextSettings(Section):
    """The way in which the next context is drawn."""

    sampling: Literal[
        "least_used", "uniform", "least_fooled", "failed_validation", "unseen", "weighted", "most_uncertain"
    ] = Setting("least_used", description="A round's plan may draw in another way.")


class MetricSettings(Section):
    """Metrics by which models of the task are scored."""

    primary: Word = Setting("accuracy", description="The metric that a board is sorted by.")
    report: list[Word] = Setting([], max_length=20, description="Metrics that are shown beside it.")
    costs: list[Word] = Setting([], max_length=10, description="What a model costs: throughput, memory.")
    perturb: list[Word] = Setting([], max_length=10, description="Kinds of perturbed copies: fairness, robustness.")


class SubmissionSettings(Section):
    """Limits of the models that a person may submit for the task within 24 hours."""

    per_day: int = Setting(3, ge=1, le=1000, description="Those that pass their check; others do not count.")
    attempts: int = Setting(30, ge=1, le=10_000, description="All that are sent or tried again, passed or not.")


class DataSettings(Section):
    """Terms of use of the examples."""

    licence: Line = Setting("CC-BY-4.0", description="SPDX identifier of the licence that annotators agree to.")


class NearDuplicateSettings(Section):
    """Treatment of an example that is nearly the same as an earlier one by another author, or on another context."""

    do: Literal["nothing", "tell", "flag"] = Setting(
        "nothing", description="tell: its author is told; flag: owners find it under the label near-duplicate."
    )
    similarity: float = Setting(0.8, ge=0.5, le=1, description="From which Jaccard similarity on, of letter groups.")


class ReleaseSettings(Section):
    """Division of the examples of a round when it is released."""

    train: float = Setting(0.7, ge=0, le=1, description="Share of the verified examples to train on.")
    dev: float = Setting(0.1, ge=0, le=1, description="Share to choose models on.")
    test: float = Setting(0.1, ge=0, le=1, description="Share to test on, which everybody may read.")
    hidden: float = Setting(0.1, ge=0, le=1, description="Share to test on that nobody ever reads.")
    disjoint: list[Literal["writers", "contexts"]] = Setting(
        ["writers", "contexts"],
        max_length=2,
        description="What no two of train, dev and test share. Where that leaves too few to test on, the last gives "
        "way, and the release says so.",
    )
    unverified: Literal["apart", "train"] = Setting(
        "apart", description="Examples that nobody decided on: in a file of their own, or to train on as well."
    )
    near_duplicate: float = Setting(
        0.8, ge=0.5, le=1, description="Texts at least so similar stay together (Jaccard of groups of 4 characters)."
    )
    seed: int = Setting(0, ge=0, le=2**31 - 1, description="All that is drawn follows from it.")

    @model_validator(mode="after")
    def _shares_make_a_whole(self) -> "ReleaseSettings":
        if abs(self.train + self.dev + self.test + self.hidden - 1) > 1e-6:
            raise ValueError(_("train, dev, test and hidden are shares of one whole: they must add up to 1."))
        if len(set(self.disjoint)) < len(self.disjoint):
            raise ValueError(_("disjoint lists something twice."))
        return self
