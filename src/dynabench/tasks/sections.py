"""Sections of a config beside its fields: annotators, validation, releases, training, harms, the assistant."""

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, StringConstraints, model_validator
from pydantic.dataclasses import dataclass

from dynabench.kit.language import _
from dynabench.tasks.fields import AnyField, Choice, Text
from dynabench.tasks.section import LANGUAGE_CODE, Line, Markdown, Name, Section, Setting

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


Annotators = Literal["anyone", "invited"]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class InstructionTexts:
    """Instructions for people before they write or check; markdown, which the pages sanitise."""

    create: Annotated[Markdown, Setting(description="For annotators: what to write and what counts.")] = ""
    validate: Annotated[Markdown, Setting(description="For validators: how to decide.")] = ""
    tips: Annotated[
        tuple[Line, ...],
        Setting(max_length=8, description="For annotators: what tends to fool the model, a few words each; markdown."),
    ] = ()

    @property
    def briefing(self) -> str:
        """Return all that annotators read, as one text."""
        return "\n\n".join([self.create, *(["What tends to work: " + "; ".join(self.tips) + "."] if self.tips else [])])


LanguageCode = Annotated[str, StringConstraints(pattern=LANGUAGE_CODE.pattern)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Instructions(InstructionTexts):
    """Instructions in one language, or in several: then these are those of the first of `by_language`."""

    by_language: Annotated[
        dict[LanguageCode, InstructionTexts],
        Setting(max_length=50, description="The same by ISO 639 code, the first for readers of other languages."),
    ] = field(default_factory=dict)

    def in_order(self, language: str) -> list[tuple[str, InstructionTexts]]:
        """Return the instructions by language, those for a reader of `language` first; one, without a code, for all."""
        if not self.by_language:
            return [("", self)]
        return sorted(self.by_language.items(), key=lambda pair: pair[0] != language)


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
            raise ValueError(_("A starting point is listed twice."))
        if ("prompt" in self.kinds) != bool(self.prompt):
            raise ValueError(
                _("Give both the starting point prompt and a mapping such as prompt: {statement: prompt}, or neither.")
            )
        return self


class PerturbSettings(Section):
    """Annotators may edit an earlier example of theirs minimally, so that its answer changes."""

    flip: Name = Setting(description="The answer field, a choice, that has to change.")


class OutputSettings(Section):
    """Values that models return beside their answer."""

    probabilities: bool = Setting(True, description="Models return a probability for each option, and people see them.")


class ControlSettings(Section):
    """Shares of control items among what validators check, and the consequence of too few right answers.

    Those of the newest version of the config count, also in rounds that are open.
    """

    gold: float = Setting(0.0, ge=0, le=0.5, description="Share of gold items, whose right vote is known.")
    attention: float = Setting(0.0, ge=0, le=0.5, description="Share of attention checks, whose text says the vote.")
    repeat: float = Setting(0.0, ge=0, le=0.5, description="Share of the validator's own votes, asked again.")
    threshold: float = Setting(0.7, gt=0, le=1, description="Least share of right answers to gold and attention.")
    least: int = Setting(10, ge=1, le=1000, description="Answers to them before the share is looked at.")
    below: Literal["warn", "pause", "review"] = Setting(
        "review",
        description="Below the threshold: warn tells the validator; pause hands nothing more out until an owner lifts "
        "it; review asks an owner to look. The validator and the owners are told each time.",
    )

    @model_validator(mode="after")
    def _half_at_most(self) -> "ControlSettings":
        if self.share > 0.5:
            raise ValueError(_("gold, attention and repeat together are at most 0.5: validators are there to check."))
        return self

    @property
    def share(self) -> float:
        """The share of all controls together."""
        return self.gold + self.attention + self.repeat


class ValidationSettings(Section):
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
    controls: ControlSettings | None = Setting(None, description="Control items among what validators check.")

    @model_validator(mode="before")
    @classmethod
    def _cap_from_votes(cls, raw: Any) -> Any:
        """Without a cap of its own, a config that asks for more than 5 votes stops at them."""
        if isinstance(raw, dict) and type(raw.get("votes")) is int and "adjudicate_up_to" not in raw:
            return {**raw, "adjudicate_up_to": max(raw["votes"], 5)}
        return raw

    @model_validator(mode="after")
    def _cap_above_votes(self) -> "ValidationSettings":
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

    primary: Name = Setting("accuracy", description="The metric that a board is sorted by.")
    report: list[Name] = Setting([], max_length=20, description="Metrics that are shown beside it.")
    costs: list[Name] = Setting([], max_length=10, description="What a model costs: throughput, memory.")
    perturb: list[Name] = Setting([], max_length=10, description="Kinds of perturbed copies: fairness, robustness.")


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
            raise ValueError(_("train, dev, test and hidden are shares that must add up to 1."))
        if len(set(self.disjoint)) < len(self.disjoint):
            raise ValueError(_("disjoint has a duplicate entry."))
        return self


Pool = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,60}[a-z0-9]$")]
LONGEST = 8
"""Words or characters of an n-gram."""


class Learner(Section):
    """The learner that is trained on every set in the same way: a linear classifier over weighted n-grams (tf-idf)."""

    name: Literal["logistic_regression", "linear_svc"] = Setting(
        "logistic_regression", description="The classifier, by scikit-learn's name; linear_svc has no probabilities."
    )
    units: Literal["words", "characters"] = Setting("words", description="What n-grams are made of.")
    ngrams: list[int] = Setting([1, 2], min_length=2, max_length=2, description="The shortest and the longest n-grams.")
    c: float = Setting(1.0, gt=0, le=1e6, description="The inverse strength of the L2 penalty.")
    balanced: bool = Setting(False, description="Each label weighs the same, however many rows have it.")
    seed: int = Setting(7, ge=0, lt=2**32, description="Of whatever is drawn at random, the random baseline too.")

    @model_validator(mode="after")
    def _ordered(self) -> "Learner":
        if not 1 <= self.ngrams[0] <= self.ngrams[1] <= LONGEST:
            raise ValueError(_("n-grams have 1 to %(longest)s parts, shortest first, such as [1, 2].", longest=LONGEST))
        return self


class Training(Section):
    """People submit training sets; the platform trains one fixed learner on each and scores it on the task's data."""

    pool: Pool = Setting(description="Name of the task's public dataset whose rows people choose from, by their uid.")
    rows: int = Setting(ge=2, le=100_000, description="How many rows a training set may have at most.")
    own_rows: bool = Setting(False, description="People may send rows of their own beside those of the pool.")
    learner: Learner = Setting(default_factory=Learner)


def training_problems(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    """Yield path and message of what a linear text classifier cannot do in the task."""
    if config.training is None:
        return
    if len(config.answer) != 1 or not isinstance(config.answer[0], Choice):
        yield "training", _("Training needs a single answer field of type choice.")
    inputs = [*config.model_context, *config.input]
    if others := [field.name for field in inputs if not isinstance(field, Text)]:
        yield "training", _("Training reads only texts, and %(others)s is not text.", others=", ".join(others))
    if config.training.learner.name == "linear_svc" and config.output.probabilities:
        yield "training.learner.name", _("linear_svc has no probabilities: also set output: {probabilities: false}.")


Value = Annotated[str, StringConstraints(min_length=1, max_length=200)]


PROMPT = """\
An author tries to write a text that people understand but that a classifier reads wrongly.
{given}
What the text must be: {goal}
What they have written so far: {draft}
Texts that fooled a classifier before:
{examples}

Write {number} different short texts for them to choose from: one on each line, without numbers or quotation marks.
"""
