"""Classes as JSON."""

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field

from dynabench.kit.schemas import Page, StrictModel

MOST_STUDENTS = 300
GoalCount = Annotated[int, Field(ge=1, le=10_000)]
StudentName = Annotated[str, Field(max_length=200, description="A name that the teacher knows; nobody else reads it.")]


class ClassGoals(StrictModel):
    """The goals of each student; a goal that is left out is none."""

    examples: GoalCount | None = None
    fooled: GoalCount | None = None
    verified: GoalCount | None = None
    votes: GoalCount | None = None


class ClassIn(StrictModel):
    """A new class."""

    name: str = Field(max_length=200)
    task: str = Field(max_length=60)
    round: int | None = Field(None, ge=1, le=10**6, description="One round of the task; else the class works on all.")
    assignment: str = Field("", max_length=4000, description="Markdown that the students read.")
    goals: ClassGoals = ClassGoals()
    due_at: AwareDatetime | None = None
    places: int = Field(40, ge=1, le=MOST_STUDENTS, description="The most students.")


class ClassChangeIn(StrictModel):
    """Changes of a class; what is left out stays."""

    name: str | None = Field(None, max_length=200)
    assignment: str | None = Field(None, max_length=4000)
    goals: ClassGoals | None = None
    due_at: AwareDatetime | None = None
    places: int | None = Field(None, ge=1, le=MOST_STUDENTS)
    open: bool | None = Field(None, description="False closes the class to new students.")


class ClassOut(BaseModel):
    """A class, for its teacher; students read it without the join code."""

    id: int
    name: str
    task: str
    round: int | None
    open: bool
    join_code: str | None
    assignment: str
    goals: ClassGoals
    due_at: datetime | None
    places: int
    students: int
    created_at: datetime


class ClassList(Page[ClassOut]):
    """Classes, newest first."""


class StudentOut(BaseModel):
    """A student's work in a class."""

    person: int
    name: str
    username: str
    joined_at: datetime
    examples: int
    fooled: int
    verified: int
    votes: int
    minutes: float | None = Field(description="Measured time of work; null where no page measured any.")
    grade: float | None = Field(
        description="The mean share of the goals that is reached, 0 to 100; null without goals."
    )
    leaving: bool = Field(description="The student was removed, and the account is about to be deleted.")


class StudentList(Page[StudentOut]):
    """The students of a class, by name."""


class JoinClassIn(StrictModel):
    """The code of a class, and the student's name in it."""

    code: str = Field(max_length=40)
    name: StudentName
    agree: bool = Field(False, description="Consent to the terms and the data licence; needed for a new account.")


class ClassReturnIn(StrictModel):
    """A student's personal code."""

    code: str = Field(max_length=60)


class JoinedClassOut(BaseModel):
    """The result of joining: `code` and `token` are shown this once, and null for people with an account."""

    id: int
    username: str
    code: str | None
    token: str | None


class StudentCodeOut(BaseModel):
    """A student's new personal code, shown this once."""

    code: str


class ClassResetIn(StrictModel):
    """The end of a class's students: their accounts are deleted."""

    withdraw_examples: bool = Field(False, description="Also withdraw their examples that are in no release.")
    confirm: str = Field(max_length=200, description="The name of the class.")
