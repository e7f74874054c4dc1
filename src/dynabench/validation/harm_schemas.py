"""Responses of the API about the harms that models did."""

from pydantic import BaseModel

from dynabench.collection.figure_schemas import FigureRateOut


class HarmOut(BaseModel):
    """Attempts of one kind: `count` of the model's attempts, with the share and its interval clustered by writer.

    `depth` is that of the option in its tree; a branch counts what is below it too.
    """

    value: str
    label: str
    depth: int
    count: int
    rate: FigureRateOut


class HarmfulOut(BaseModel):
    """One model: attempts of people to have it do harm.

    Of `attempts`, `claimed` are harmful as their writers say, `harmful` were found so by others, `waiting` are claimed
    and not decided yet.
    """

    model: str
    version: str
    attempts: int
    writers: int
    claimed: int
    waiting: int
    harmful: HarmOut
    categories: list[HarmOut]
    severities: list[HarmOut]


class HarmsOut(BaseModel):
    """The harms that a task's models were found to do, the least harmful model first."""

    task: str
    rounds: list[int]
    models: list[HarmfulOut]
