"""Requests and responses of the JSON API of boards and of the views around them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from dynabench.kit.schemas import StrictModel

Slug = Annotated[str, Path(pattern=r"^[a-z0-9_-]{1,40}$")]
Format = Literal["csv", "json", "parquet"]
Step = Annotated[int, Field(ge=0, le=5, strict=True)]
Named = Annotated[str, StringConstraints(max_length=62)]
After = Annotated[str, Query(max_length=100, description="The `next` of the page before.")]
Three = Field(min_length=3, max_length=3)


class WeightsIn(StrictModel):
    """Steps from 0 to 5 by metric and by dataset; what is not named keeps the task's default."""

    metrics: dict[Named, Step] = Field({}, max_length=100)
    datasets: dict[Named, Step] = Field({}, max_length=500)
    form: Literal["guarded", "exact"] = "guarded"


class SnapshotIn(StrictModel):
    """A board to freeze."""

    title: str = Field("", max_length=200)
    weights: WeightsIn = WeightsIn()


class ForkIn(StrictModel):
    """Weights to keep under a name."""

    title: str = Field(min_length=1, max_length=200)
    note: str = Field("", max_length=1000)
    weights: WeightsIn = WeightsIn()


class ForkChange(StrictModel):
    """The changes to a fork; members left out stay as they are."""

    title: str | None = Field(None, min_length=1, max_length=200)
    note: str | None = Field(None, max_length=1000)
    weights: WeightsIn | None = None


class SnapshotRow(BaseModel):
    """A snapshot in a list; `digest` is the SHA-256 of its document."""

    slug: str
    task: str
    title: str
    digest: str
    by: str
    made_at: datetime


class SnapshotPage(BaseModel):
    """Snapshots of a task, newest first."""

    items: list[SnapshotRow]
    next: str | None


class ForkOut(BaseModel):
    """A board with a reader's own weights."""

    slug: str
    task: str
    title: str
    note: str
    weights: dict[str, Any]
    by: str
    made_at: datetime


class ForkList(BaseModel):
    """The boards of their own that people keep of a task, newest first, at most 100."""

    items: list[ForkOut]
    next: str | None = None


class LedgerLine(BaseModel):
    """One submission; `nth` of its submitter's to this task. What the caller may not know is empty."""

    id: int
    made_at: datetime
    name: str
    submitter: str
    nth: int | None
    kind: str
    state: str
    visibility: str
    withdrawn_at: datetime | None
    datasets: int


class LedgerOut(BaseModel):
    """All submissions of a task, newest first, withdrawn ones too."""

    items: list[LedgerLine]
    next: str | None = None


class RanksOut(BaseModel):
    """Rank intervals and tie groups by row, with the 95 % interval of each score."""

    ranks: dict[str, Annotated[list[int], Three]]
    scores: dict[str, Annotated[list[float | None], Three]]


class ReportIn(StrictModel):
    """Results of others: `document` as JSON (Papers with Code's tables, or an object with `model-index`), or as text
    with a model card's front matter; `source` is the address where they are published."""

    source: str = Field(min_length=1, max_length=520)
    document: list[Any] | dict[str, Any] | Annotated[str, StringConstraints(max_length=2 * 1024 * 1024)]


class ReportChange(StrictModel):
    """A request to take an import back, or to undo that."""

    removed: bool


class ReportOut(BaseModel):
    """An import; `left_out` results could not be read, the first 50 of `why` say what of them."""

    id: int
    form: str
    source: str
    results: int
    left_out: int
    why: list[str]
    digest: str
    made_at: datetime
    removed_at: datetime | None


class ResultOut(BaseModel):
    """A result that others report and nobody measured here; `report` is null for what a model's own card says.

    `on` and `measure` name the dataset and the metric of this board that it seems to be of, empty where there is none.
    """

    model: str
    dataset: str
    metric: str
    value: str
    number: float | None
    source: str
    link: str
    date: str
    report: int | None
    origin: str
    on: str
    measure: str


class ReportedOut(BaseModel):
    """Results that others report of a task's models, and the imports they come from, newest first."""

    items: list[ResultOut]
    reports: list[ReportOut]
    next: str | None = None


class FromObject(BaseModel):
    """A schema that is made of an object of a board with members of the same names."""

    model_config = ConfigDict(from_attributes=True)


class EntrantOut(FromObject):
    """An entrant on the board; `model` is null where it may not be known."""

    id: int
    label: str
    model: Annotated[str | None, BeforeValidator(lambda name: name or None)]
    withdrawn: bool


class CellOut(FromObject):
    """A score with its 95 % interval, null where nothing is known of its spread."""

    value: float
    low: float | None
    high: float | None
    n: int


class RateCellOut(FromObject):
    """A share with its 95 % interval, null where nothing was counted."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class DifferenceOut(BaseModel):
    """The first one's score minus the second's on one dataset; `better` is `a`, `b`, or null where it is not known."""

    metric: str
    dataset: str
    a: CellOut
    b: CellOut
    difference: float
    low: float | None
    high: float | None
    test: str | None
    p: float | None
    corrected_p: float | None
    better: str | None


class ComparisonOut(BaseModel):
    """Two entrants side by side; `conclusion` is about the primary metric."""

    a: EntrantOut
    b: EntrantOut
    conclusion: str
    differences: list[DifferenceOut]


class EntrantAnswerOut(BaseModel):
    """One entrant's answer."""

    answer: dict[str, str]
    right: bool


class ComparedRowOut(BaseModel):
    """A row that both answered."""

    uid: str
    inputs: dict[str, str]
    reference: dict[str, str]
    tags: list[str]
    a: EntrantAnswerOut
    b: EntrantAnswerOut


class ExamplesOut(BaseModel):
    """Rows of a public dataset, and how many both, one or none answered right (`tally`)."""

    dataset: str
    tally: dict[str, int]
    items: list[ComparedRowOut]
    next: str | None


class MatrixCellOut(BaseModel):
    """An entrant's score in one column; `vmer` is the model's own in rounds against this version of it."""

    dataset: str
    score: CellOut | None
    vmer: RateCellOut | None


class MatrixLineOut(BaseModel):
    """An entrant's line; `trend` is the change per round."""

    entrant: EntrantOut
    cells: list[MatrixCellOut]
    overall: CellOut | None
    trend: CellOut | None


class MatrixOut(BaseModel):
    """Models by datasets, of one metric."""

    metric: str
    discount: float
    datasets: list[dict[str, Any]]
    items: list[MatrixLineOut]


class SliceLineOut(BaseModel):
    """An entrant's score on a whole dataset, and its scores on slices of it."""

    entrant: EntrantOut
    whole: CellOut | None
    slices: dict[str, CellOut]


class SlicesOut(BaseModel):
    """Models by the slices of a dataset, of one metric; `others` smaller slices are left out."""

    metric: str
    dataset: str
    slices: list[str]
    others: int
    items: list[SliceLineOut]


class PointOut(FromObject):
    """An entrant's two scores."""

    entrant: EntrantOut
    x: CellOut
    y: CellOut
    dominated: bool


class ParetoOut(BaseModel):
    """Two measures against each other, on one dataset or (null) over all."""

    x: str
    y: str
    dataset: str | None
    items: list[PointOut]
    left_out: int


class BestScoreOut(FromObject):
    """The best score so far: -1 is the first model's, 0 is people's."""

    entrant: EntrantOut
    at: Annotated[str, BeforeValidator(datetime.isoformat)]
    score: float
    saturation: float


class StandingOut(BaseModel):
    """People beside models in one round."""

    round: int
    dataset: str | None
    human: RateCellOut
    gap: RateCellOut
    best: EntrantOut | None
    score: CellOut | None
    behind: RateCellOut
    steps: list[BestScoreOut]


class StandingsOut(BaseModel):
    """People beside models, by round."""

    items: list[StandingOut]


class TransferOut(BaseModel):
    """The errors that models share.

    `shares[i][j]` is the share of the rows that fool model i which fool model j too; `counts[k]` is the
    number of rows that fool k models.
    """

    dataset: str
    models: list[EntrantOut]
    order: list[int]
    error_rates: list[float]
    shares: list[list[float | None]]
    counts: list[int]
    mean: float | None
    rows: int


class LeaderOut(BaseModel):
    """An entrant on a dataset; `tied` where the data do not tell it from the best."""

    entrant: EntrantOut
    score: CellOut
    tied: bool


class BestOut(BaseModel):
    """The best entrants on a dataset, and its hardest slices."""

    dataset: str
    metric: str
    items: list[LeaderOut]
    others: int
    slices: list[dict[str, Any]]


class EntryOut(BaseModel):
    """All that one entrant scored: `scores` by dataset and metric, `slices` by dataset and tag."""

    task: str
    entrant: EntrantOut
    tries: int | None
    scores: dict[str, dict[str, CellOut]]
    slices: dict[str, dict[str, CellOut]]


class ModelScoresOut(BaseModel):
    """A model's entries that you may see."""

    items: list[EntryOut]
