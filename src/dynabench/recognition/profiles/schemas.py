"""Profiles as JSON."""

from datetime import date

from pydantic import BaseModel, Field

from dynabench.kit.schemas import RowModel
from dynabench.recognition.badges.schemas import AwardOut
from dynabench.recognition.records import TaskRecord


class ProfileRateOut(RowModel):
    """A share with its 95% Wilson interval; `n` is what it is a share of, and all else null where that is 0."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class TaskRecordOut(BaseModel):
    """A person's contributions to a task: examples written, those that fooled a model, those of them that people
    found correct, and votes on other people's examples."""

    task: str
    written: int
    fooled: int
    verified: int
    checked: int
    mer: ProfileRateOut
    vmer: ProfileRateOut

    @classmethod
    def of_record(cls, task_id: str, record: TaskRecord) -> "TaskRecordOut":
        """Return the counts of one task with their rates."""
        return cls(
            task=task_id,
            written=record.counts.examples,
            fooled=record.counts.fooled,
            verified=record.counts.validated,
            checked=record.checked,
            mer=ProfileRateOut.model_validate(record.rates.mer),
            vmer=ProfileRateOut.model_validate(record.rates.vmer),
        )


class ActiveDayOut(BaseModel):
    """A day with contributions."""

    day: date
    written: int
    checked: int


class ProfileOut(BaseModel):
    """A person's profile."""

    name: str
    public: bool = Field(description="False where you alone see it.")
    tasks: list[TaskRecordOut]
    days: list[ActiveDayOut] = Field(description="Days of the last twelve weeks with contributions, UTC.")
    badges: list[AwardOut]
