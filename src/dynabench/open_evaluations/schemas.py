"""Documents of the JSON API about open evaluations."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.open_evaluations.board import OpenBoard
from dynabench.open_evaluations.planning import OpenPlan
from dynabench.open_evaluations.service import VisibleEvaluation


class DatasetFileOut(BaseModel):
    """An uploaded file; `dataset` names it in the choices of an open evaluation."""

    dataset: str = Field(examples=["file:0d3c9e0c-5b7a-4d0e-9a52-5d0c4b1f6a11"])
    name: str
    rows: int


class RemoteDatasetIn(StrictModel):
    """A dataset of the hub that the operator chose; what is empty is chosen by its card."""

    dataset: str = Field(max_length=200, examples=["remote:owner/name"])
    config: str = Field("", max_length=100)
    split: str = Field("", max_length=100)
    revision: str = Field("", max_length=100, description="A branch, tag or commit.")


class RemoteDownloadOut(BaseModel):
    """A download: `state` is `queued`, `running`, `done`, or `failed` with the `reason`.

    `config`, `split` and `revision` (a commit) are the chosen ones; with them in its choices an evaluation reads these
    rows. Downloads stay for 30 days after their last use.
    """

    dataset: str
    state: str
    open: bool = Field(description="True while it goes on.")
    reason: str
    bytes: int = Field(description="Of all files of the split; 0 before their list is there.")
    downloaded: int
    config: str
    split: str
    revision: str
    configs: list[str]
    splits: list[str]


class FittingModelOut(BaseModel):
    """A model that can answer the rows: the role that each of its inputs reads, and what its labels mean."""

    model: str
    version: str
    inputs: dict[str, str]
    labels: dict[str, str]
    unmatched_labels: list[str]
    fits: bool


class RunEstimateOut(BaseModel):
    """Expected seconds and price of all models; `guessed` where some model was never measured."""

    rows: int
    seconds: float
    price: float | None
    guessed: bool


class PlanOut(BaseModel):
    """A plan: the choices with all guesses filled in, what is wrong by field, and the models that fit."""

    choices: dict[str, Any]
    query: str = Field(description="The choices as the query of the page's address.")
    title: str
    edition: str
    rows: int | None
    columns: list[str]
    labels: list[str]
    sample: list[dict[str, Any]] = Field(description="The first rows as models get them, with the right answers.")
    candidates: list[FittingModelOut]
    estimate: RunEstimateOut | None
    problems: dict[str, str]

    @classmethod
    def of(cls, plan: OpenPlan) -> "PlanOut":
        """Return a plan as a document."""
        candidates = [
            FittingModelOut(
                model=item.reference, version=item.card.version, inputs=dict(item.inputs),
                labels=dict(item.labels.meanings), unmatched_labels=list(item.labels.unmatched), fits=item.labels.fits,
            )
            for item in plan.candidates
        ]  # fmt: skip
        estimate = plan.estimate
        return cls(
            choices=plan.choices.model_dump(),
            query=plan.choices.query(),
            title=plan.source.title,
            edition=plan.source.edition,
            rows=plan.rows,
            columns=plan.preview.columns,
            labels=plan.labels,
            sample=[{"inputs": dict(row.inputs), "answers": [answer["answer"] for answer in row.answers]}
                    for row in plan.sample],
            candidates=candidates,
            estimate=RunEstimateOut(rows=estimate.rows, seconds=estimate.seconds, price=estimate.price,
                                 guessed=estimate.guessed) if estimate else None,
            problems=plan.problems,
        )  # fmt: skip


class OpenModelOut(RowModel):
    """One model of an open evaluation, and how far it is."""

    number: int
    reference: str
    version: str
    state: str
    code: str
    reason: str
    rows_done: int
    seconds: float
    cost: float | None
    labels: dict[str, str]


class OpenEvaluationOut(BaseModel):
    """An open evaluation; `choices` are for its author alone, since they name the source."""

    id: int
    task: str
    title: str
    edition: str
    state: str
    reason: str
    rows: int
    refused: int
    report: list[str]
    listed: bool
    own: bool
    created_at: datetime
    ended_at: datetime | None
    models: list[OpenModelOut]
    choices: dict[str, Any] | None

    @classmethod
    def of(cls, seen: VisibleEvaluation) -> "OpenEvaluationOut":
        """Return an open evaluation as its viewer sees it."""
        row = seen.evaluation
        models = [OpenModelOut.model_validate(model) for model in seen.models]
        if not seen.own:
            models = [model.model_copy(update={"reason": ""}) for model in models]
        return cls(
            id=row.id, task=row.kind, title=row.title, edition=row.edition, state=row.state,
            reason=row.reason if seen.own else "", rows=row.rows, refused=row.refused,
            report=row.report if seen.own else [], listed=row.listed, own=seen.own, created_at=row.created_at,
            ended_at=row.ended_at, models=models, choices=row.choices if seen.own else None,
        )  # fmt: skip


class OpenScoreOut(BaseModel):
    """One number of one metric for one model, with its 95 % interval."""

    model: str
    metric: str
    key: str
    value: float
    low: float | None
    high: float | None
    n: int


class ModelPairOut(RowModel):
    """The first model's score minus the second's on the main metric, with its 95 % interval over the same samples."""

    first: str
    second: str
    value: float
    low: float
    high: float
    differs: bool


class BoardOut(BaseModel):
    """The scores of an open evaluation, best model first, and paired differences on the metric `main`."""

    main: str
    scores: list[OpenScoreOut]
    pairs: list[ModelPairOut]

    @classmethod
    def of(cls, board: OpenBoard) -> "BoardOut":
        """Return a board as a document."""
        scores = [
            OpenScoreOut(model=line.model.reference, **{
                name: getattr(score, name) for name in ("metric", "key", "value", "low", "high", "n")
            })
            for line in board.lines
            for score in line.scores
            if score is not None
        ]  # fmt: skip
        main = board.columns[board.main].title if board.columns else ""
        return cls(main=main, scores=scores, pairs=[ModelPairOut.model_validate(pair) for pair in board.pairs])


class OpenRecordOut(RowModel):
    """A signed record: the document and its Ed25519 signature over canonical JSON."""

    document: dict[str, Any]
    signature: str


class OpenEvaluationPage(Page[OpenEvaluationOut]):
    """Open evaluations, newest first."""


class CardEntryOut(RowModel):
    """Results of one model on a card: in the registry, or in a repository of the hub by a commit or a pull request."""

    model: int
    place: str
    target: str = Field(description="The model's name in the registry; the evaluated model's for a repository.")
    state: str
    revision: str
    pull: int
    made_at: datetime


class CardEntryPage(Page[CardEntryOut]):
    """The cards that have results of one evaluation."""


class PublicationIn(StrictModel):
    """The repository for the predictions; a usual name where `name` is empty."""

    name: str = Field("", max_length=96)
    private: bool = True


class PublicationOut(BaseModel):
    """The dataset on the hub that holds the predictions."""

    repository: str = Field(examples=["ada/open-evaluation-7-predictions"])
    private: bool
