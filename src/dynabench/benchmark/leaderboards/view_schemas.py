"""Responses of the JSON API for the views around a board."""

from typing import Any

from pydantic import BaseModel


class EntrantOut(BaseModel):
    """Somebody on the board; `model` is null where it may not be known."""

    id: int
    label: str
    model: str | None
    withdrawn: bool


class CellOut(BaseModel):
    """A score with its 95 % interval, null where nothing is known of its spread."""

    value: float
    low: float | None
    high: float | None
    n: int


class RateCellOut(BaseModel):
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


class PointOut(BaseModel):
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


class BestScoreOut(BaseModel):
    """The best score so far: -1 is the first model's, 0 is people's."""

    entrant: EntrantOut
    at: str
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
