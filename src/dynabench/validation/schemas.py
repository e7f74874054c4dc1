"""Requests and responses of the validation API."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from dynabench.collection.statistics import ExampleFigures, RoundStatistics, Target
from dynabench.kit.schemas import StrictModel
from dynabench.stats.rates import ErrorRates, Rate
from dynabench.validation.places import CheckItem
from dynabench.validation.service import Ballot, Outcome

Source = Literal["person", "expert", "owner", "program"]


class NextItemIn(StrictModel):
    """A request for the next item."""

    round: int | None = Field(None, ge=1, le=2**31 - 1, description="Only from this round; any round if left out.")


class ItemOut(BaseModel):
    """An example to check. Who wrote it and what the models said is not told before the vote, unless that is judged."""

    example_id: int
    round: int
    mode: Literal["judge", "answer"] = Field(description="judge: vote on `answer`; answer: answer it yourself, blind.")
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any] = Field({}, description="The author's answer; left out where it is to be answered blind.")
    said: list[dict[str, Any]] = Field(
        [],
        description="The models' answers, where the vote says of them: correct, that the model errs; incorrect, not.",
    )
    ask: list[dict[str, Any]] = Field(description="Fields that may be sent beside the vote, with when they apply.")
    expires_at: datetime = Field(description="How long your place is held.")

    @classmethod
    def of(cls, item: CheckItem) -> "ItemOut":
        """As JSON; the claim is absent, not null, where the validator must not know it."""
        claim: dict[str, Any] = {} if item.answer is None else {"answer": item.answer}
        asked_fields = item.config.validation.ask if item.mode == "judge" else []
        return cls(
            example_id=item.example_id,
            round=item.round,
            mode=item.mode,
            context=item.context,
            input=item.input,
            said=list(item.model_answers),
            ask=[field.public() for field in asked_fields],
            expires_at=item.expires_at,
            **claim,
        )


class BallotIn(BaseModel):
    """A vote, with the fields that the task asks for as further members; or a blind answer."""

    model_config = ConfigDict(extra="allow")

    vote: Literal["correct", "incorrect", "flagged"] | None = None
    answer: dict[str, Any] | None = Field(None, description="Your own answer, where the item's mode is `answer`.")
    as_owner: bool = Field(False, description="Decide at once, as an owner of the task.")
    active_seconds: float | None = Field(
        None, ge=0, le=10_000_000, description="The time for which you worked on it, as your program measured it."
    )

    expires_at: AwareDatetime | None = Field(
        None,
        description="The `expires_at` of the item that you answer: if another window of yours answered it and got a new"
        " one under the same number, the vote is refused.",
    )

    def ballot(self) -> Ballot:
        """As the service takes it."""
        return Ballot(
            self.vote, self.answer, dict(self.model_extra or {}), self.as_owner, self.active_seconds, self.expires_at
        )


class RevealedPredictionOut(BaseModel):
    """A target's answer, shown once the validator has voted."""

    model: str
    answer: dict[str, Any]
    probabilities: dict[str, Any] | None
    fooled: bool | None


class VoteOutcomeOut(BaseModel):
    """The state of the example after the vote, and the facts that were hidden before it."""

    id: int = Field(description="The vote.")
    example_id: int
    vote: Literal["correct", "incorrect", "flagged"] = Field(description="What it counts as; for a blind answer too.")
    verdict: Literal["pending", "correct", "incorrect", "flagged", "disputed"]
    votes: int = Field(description="How many votes stand.")
    answer: dict[str, Any] = Field(description="What its author claims.")
    predictions: list[RevealedPredictionOut]

    @classmethod
    def of(cls, outcome: Outcome) -> "VoteOutcomeOut":
        """As JSON."""
        return cls(
            id=outcome.id,
            example_id=outcome.example_id,
            vote=outcome.vote,
            verdict=outcome.verdict,
            votes=outcome.votes,
            answer=outcome.content.answer,
            predictions=[
                RevealedPredictionOut(
                    model=row.model, answer=row.answer, probabilities=row.probabilities, fooled=row.errs
                )
                for row in outcome.predictions
            ],
        )


class UndoneOut(BaseModel):
    """The state of the example without the vote."""

    id: int = Field(description="The vote that counts no more.")
    verdict: Literal["pending", "correct", "incorrect", "flagged", "disputed"]
    votes: int


class ErrorRateOut(BaseModel):
    """A share with its 95 % interval; all null where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int = Field(description="What the share is of.")

    @classmethod
    def of(cls, rate: Rate) -> "ErrorRateOut":
        """As JSON."""
        return cls(value=rate.value, low=rate.low, high=rate.high, n=rate.n)


class RatesOut(BaseModel):
    """The three error rates under one kind of interval."""

    mer: ErrorRateOut
    vmer: ErrorRateOut
    vmer_resolved: ErrorRateOut

    @classmethod
    def of(cls, rates: ErrorRates) -> "RatesOut":
        """As JSON."""
        return cls(
            mer=ErrorRateOut.of(rates.mer),
            vmer=ErrorRateOut.of(rates.vmer),
            vmer_resolved=ErrorRateOut.of(rates.vmer_resolved),
        )


class FiguresOut(RatesOut):
    """Figures of a set of examples.

    The rates have Wilson intervals; `clustered` allows for the likeness of one author's examples.
    """

    examples: int
    fooled: int
    validated_fooled: int = Field(description="Fooled, and found correct.")
    resolved_fooled: int = Field(description="Fooled, with any final verdict.")
    unknown: int = Field(description="Nobody knows (yet) whether a model was fooled; these are in no rate.")
    retracted: int
    hidden: int
    people: int
    clustered: RatesOut

    @staticmethod
    def members(figures: ExampleFigures) -> dict[str, Any]:
        """The members by name."""
        counts = figures.counts
        return {
            "examples": counts.examples,
            "fooled": counts.fooled,
            "validated_fooled": counts.validated,
            "resolved_fooled": counts.resolved,
            "unknown": counts.unknown,
            "retracted": figures.retracted,
            "hidden": figures.hidden,
            "people": figures.people,
            "clustered": RatesOut.of(figures.clustered),
            "mer": ErrorRateOut.of(figures.rates.mer),
            "vmer": ErrorRateOut.of(figures.rates.vmer),
            "vmer_resolved": ErrorRateOut.of(figures.rates.vmer_resolved),
        }


class TargetFiguresOut(FiguresOut):
    """The figures of one model that was asked: an example fooled it where its own answer is wrong."""

    model: str
    version: str
    vmer_is_lower_bound: bool = Field(
        description="Whether examples that fooled this model, but not all targets together, are not checked."
    )


class StatisticsOut(FiguresOut):
    """A round's figures. Examples by programs are in `by.source` alone unless asked for."""

    task: str
    round: int
    human_accuracy: ErrorRateOut = Field(description="Share of blind answers that agree with the claim; by item.")
    human_model_gap: ErrorRateOut = Field(description="Human accuracy minus the targets' accuracy on the same items.")
    targets: list[TargetFiguresOut] = Field(
        description="Each model's own figures; the figures above are those of all targets together."
    )
    by: dict[str, dict[str, FiguresOut]] = Field(
        description="By `source`, `start`, `day` (UTC) and `arm`; arms without models are in the last alone."
    )

    @classmethod
    def from_statistics(
        cls,
        task: str,
        number: int,
        statistics: RoundStatistics,
        targets: Mapping[Target, ExampleFigures],
        lower_bound: bool,
    ) -> "StatisticsOut":
        """As JSON; `lower_bound` says whether the targets' own vMER can only be higher."""
        by = {
            name: {value: FiguresOut(**FiguresOut.members(figures)) for value, figures in groups.items()}
            for name, groups in statistics.by.items()
        }
        return cls(
            task=task,
            round=number,
            human_accuracy=ErrorRateOut.of(statistics.human_accuracy),
            human_model_gap=ErrorRateOut.of(statistics.human_model_gap),
            targets=[
                TargetFiguresOut(
                    model=model, version=version, vmer_is_lower_bound=lower_bound, **FiguresOut.members(figures)
                )
                for (model, version), figures in targets.items()
            ],
            by=by,
            **FiguresOut.members(statistics.total),
        )
