"""JSON schemas of programs that propose examples."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dynabench.collection.figure_schemas import FigureRateOut

Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\s\x00-\x1f](?:[^\x00-\x1f]*[^\s\x00-\x1f])?$")]
Told = Annotated[str, Field(max_length=500)] | bool | int | Annotated[float, Field(allow_inf_nan=False)] | None


class Program(BaseModel):
    """The program that wrote an example, and what the example took it: `queries` to models, and `cost` in dollars."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    version: Name = "0"
    queries: int = Field(0, ge=0, le=10**9)
    cost: float = Field(0.0, ge=0, le=10**6, allow_inf_nan=False)


class ProgramIn(Program):
    """The program that proposes an example; `facts` are what else it tells, such as `similarity` or `strategy`."""

    facts: dict[Annotated[str, Field(max_length=60)], Told | Annotated[list[Told], Field(max_length=50)]] = Field(
        {}, max_length=20
    )


class ProgramRow(BaseModel):
    """One version of a program in a round. `queries_per_fooled` and `cost_per_validated`, in dollars, are null where
    there is nothing to divide by.
    """

    name: str
    version: str
    examples: int
    fooled: int
    validated: int
    resolved: int
    unknown: int
    people: int
    mer: FigureRateOut
    vmer: FigureRateOut
    queries: int
    cost: float
    queries_per_fooled: float | None
    cost_per_validated: float | None


class ComparedOut(BaseModel):
    """A rate of people, clustered by annotator, of programs, by example, and the first minus the second."""

    people: FigureRateOut
    programs: FigureRateOut
    difference: FigureRateOut


class ProgramsOut(BaseModel):
    """The programs of a round, best first: validated fooling examples, then fooling ones, then fewest examples.

    `mer` and `vmer` compare people with programs.
    """

    items: list[ProgramRow]
    mer: ComparedOut
    vmer: ComparedOut
