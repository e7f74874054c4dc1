"""Annotator quality as JSON: estimates of a task or round, the rule of its verdicts, and disputed examples."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from sqlalchemy.orm import Session

from dynabench.kit.api import After, Db, Limit
from dynabench.kit.schemas import RowModel, StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs, scope
from dynabench.quality import adjudication, service, verdict_rules
from dynabench.rounds.schemas import Number
from dynabench.stats.verdict import VerdictRule
from dynabench.validation.validators_api import VoteShareOut

router = APIRouter(prefix="/api/v1", tags=["validation"], dependencies=[Depends(scope("manage"))])

RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1, description="Only votes in this round.")]


class ValidatorEstimateOut(RowModel):
    """The estimates of one validator."""

    id: int = Field(validation_alias="person_id")
    name: str
    votes: int
    accuracy: VoteShareOut = Field(description="Expected share of right votes, with Wilson's interval.")
    weight: float = Field(description="Log-odds that a vote adds to its label under the weighted rule.")
    confusion: dict[str, dict[str, float]] = Field(description="Probability of each vote, by the true label.")
    evidence: dict[str, float] = Field(description="Expected number of examples with each true label.")


class FieldAgreementOut(RowModel):
    """Krippendorff's alpha of one field with its 95 % interval; null where it is not defined."""

    field: str = Field(description="vote, ask.NAME (a question beside the vote) or answer.NAME (blind answers).")
    label: str
    scale: Literal["nominal", "ordinal", "interval"]
    alpha: float | None
    low: float | None
    high: float | None
    examples: int = Field(description="Examples with two answers or more.")
    answers: int


class QualityOut(RowModel):
    """The stored estimates of a task or round; `at` is null before the first computation."""

    at: datetime | None
    running: bool = Field(description="True while the worker computes them.")
    votes: int
    examples: int
    validators: list[ValidatorEstimateOut]
    agreement: list[FieldAgreementOut]


class RuleEffectOut(RowModel):
    """Changes that a rule would make now."""

    examples: int = Field(description="Examples with votes.")
    verdicts: int = Field(description="Verdicts that would change.")
    reopened: int = Field(description="Examples among them that would wait for votes again.")
    moves: dict[str, int] = Field(description="How many verdicts, by the old and the new one, separated by a space.")


class RuleStateOut(RowModel):
    """The rule of a round, how far verdicts have followed it, and what each rule would change."""

    rule: VerdictRule
    at: datetime | None
    running: bool
    examples: int
    verdicts: int
    weighted_effect: RuleEffectOut | None
    plain_effect: RuleEffectOut | None
    changeable: bool


class RuleIn(StrictModel):
    """The rule to choose."""

    rule: VerdictRule


def _quality_out(stored: service.StoredEstimates) -> QualityOut:
    estimates = stored.estimates or service.estimate_nothing()
    validators = [
        ValidatorEstimateOut(
            person_id=row.person_id,
            name=stored.names.get(row.person_id, ""),
            votes=row.votes,
            accuracy=VoteShareOut.model_validate(row.accuracy),
            weight=row.weight,
            confusion=row.confusion,
            evidence=row.evidence,
        )
        for row in estimates.validators
    ]
    return QualityOut(
        at=stored.at,
        running=stored.in_progress,
        votes=estimates.votes,
        examples=estimates.examples,
        validators=validators,
        agreement=[FieldAgreementOut.model_validate(row) for row in estimates.agreement],
    )


@router.get("/tasks/{task}/quality")
@needs("manage")
async def read_quality(db: Db, task: str, person: Member, number: RoundNumber = None) -> QualityOut:
    """Estimates of validators and agreement of a task, or of one of its rounds (owners, moderators)."""
    return _quality_out(await db.aread(service.read_estimates, person, task, number))


@router.post("/tasks/{task}/quality", status_code=202)
@needs("manage")
async def compute_quality(db: Db, task: str, person: Member) -> QualityOut:
    """Have the worker compute the estimates anew (owners, moderators). Twice changes nothing."""

    def write(session: Session) -> QualityOut:
        service.request_estimates(session, person, task)
        return _quality_out(service.read_estimates(session, person, task))

    return await db.awrite(write)


@router.get("/tasks/{task}/rounds/{n}/rule")
@needs("manage")
async def read_verdict_rule(db: Db, task: str, n: Number, person: Member) -> RuleStateOut:
    """The rule by which a round's votes decide, and what each rule would change (owners, moderators)."""
    return RuleStateOut.model_validate(await db.aread(verdict_rules.read_rule, person, task, n))


@router.put("/tasks/{task}/rounds/{n}/rule", status_code=202)
@needs("manage")
async def choose_verdict_rule(db: Db, task: str, n: Number, body: RuleIn, person: Member) -> RuleStateOut:
    """Choose the rule of an open or closed round (owners); `weighted` again takes the newest weights.

    Verdicts follow soon.
    """

    def write(session: Session) -> RuleStateOut:
        verdict_rules.choose_rule(session, person, task, n, body.rule)
        return RuleStateOut.model_validate(verdict_rules.read_rule(session, person, task, n))

    return await db.awrite(write)


class SideVoteOut(RowModel):
    """One vote on a side of a case, without the validator's name."""

    blind_answer: dict[str, Any] | None
    values: dict[str, Any] = Field(description="Answers to the task's questions beside the vote.")


class DisputedCaseOut(RowModel):
    """An example whose votes differ, with the votes by label."""

    example: int
    round: int
    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any] = Field(description="The author's.")
    explanation: dict[str, Any] | None
    sides: dict[str, list[SideVoteOut]]


class AdjudicationIn(StrictModel):
    """The decision of an expert on an example."""

    verdict: Literal["correct", "incorrect", "flagged"]
    reason: str = Field(max_length=4000, description="At most 500 characters; experts and owners read it.")


class AdjudicationOut(RowModel):
    """A decision of an expert."""

    id: int
    example_id: int
    verdict: str
    reason: str
    at: datetime
    revoked_at: datetime | None


def _case_out(case: adjudication.DisputedCase) -> DisputedCaseOut:
    seen = case.seen
    return DisputedCaseOut(
        example=seen.example.id,
        round=seen.round.number,
        context=seen.config.shown_context(seen.context.values),
        input=seen.example.input,
        answer=seen.example.answer,
        explanation=seen.explanation,
        sides={label: [SideVoteOut.model_validate(vote) for vote in votes] for label, votes in case.sides.items()},
    )


@router.get("/tasks/{task}/adjudications")
@needs("manage")
async def list_disputed(
    db: Db,
    task: str,
    person: Member,
    which: Annotated[Literal["disputed", "split"], Query()] = "disputed",
    before: After = None,
    limit: Limit = 20,
) -> list[DisputedCaseOut]:
    """Examples whose validators disagree, newest first, below the example `before` (experts, moderators, owners)."""

    def read(session: Session) -> list[DisputedCaseOut]:
        return list(map(_case_out, adjudication.list_cases(session, person, task, which, before, limit)))

    return await db.aread(read)


@router.post("/examples/{id}/adjudications", status_code=201)
@needs("manage")
async def decide(db: Db, id: RowId, body: AdjudicationIn, person: Member) -> AdjudicationOut:
    """Decide about an example in place of its votes (experts, moderators, owners)."""
    return AdjudicationOut.model_validate(
        await db.awrite(adjudication.decide_case, person, id, body.verdict, body.reason)
    )


@router.delete("/tasks/{task}/adjudications/{decision}")
@needs("manage")
async def revoke(db: Db, task: str, decision: RowId, person: Member) -> AdjudicationOut:
    """Take a decision back (its expert, or an owner); the votes decide again."""
    return AdjudicationOut.model_validate(await db.awrite(adjudication.revoke_decision, person, task, decision))
