"""JSON schemas of a round's arms, and of judgements compared with verdicts."""

from pydantic import BaseModel, Field

from dynabench.collection.arm_figures import ArmLine
from dynabench.collection.assisting.figures import Helped
from dynabench.collection.calibration import Calibration
from dynabench.collection.figure_schemas import FigureRateOut
from dynabench.rounds.schemas import ArmOut
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.rates import Rate


class EstimateOut(BaseModel):
    """A number with its 95 % interval, clustered by person; `p` is corrected for the number of arms."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None = None

    @classmethod
    def of(cls, found: ClusteredEstimate) -> "EstimateOut":
        """As JSON."""
        return cls(value=found.value, low=found.low, high=found.high, p=found.p)


class ArmFiguresOut(BaseModel):
    """The figures of one arm."""

    arm: ArmOut
    people: int
    examples: int
    unknown: int = Field(description="Nobody knows (yet) whether a model was fooled; these are in no rate of it.")
    mer: FigureRateOut
    vmer: FigureRateOut
    verified: FigureRateOut = Field(description="Found correct, of all with a final verdict.")
    seconds: EstimateOut = Field(description="Per example.")
    from_first: dict[str, EstimateOut] = Field(description="Differences from the first arm, by measure.")

    @classmethod
    def of(cls, line: ArmLine) -> "ArmFiguresOut":
        """As JSON."""
        rates = {name: rate_out(rate) for name, rate in line.rates.items()}
        differences = {name: EstimateOut.of(each) for name, each in line.from_first.items()}
        return cls(
            arm=ArmOut.model_validate(line.arm),
            people=line.people,
            examples=line.examples,
            unknown=line.unknown,
            seconds=EstimateOut.of(line.seconds),
            from_first=differences,
            **rates,
        )


class HelpedArmOut(BaseModel):
    """Counts of examples by outcome of suggestions, in an arm that offers help with writing."""

    arm: str
    examples: int
    accepted: int
    edited: int
    ignored: int
    unasked: int = Field(description="Its author had seen no suggestion.")
    mer_used: FigureRateOut = Field(
        description="Of those that a suggestion was used for, which people choose themselves."
    )
    mer_unused: FigureRateOut


class AssistanceOut(BaseModel):
    """Arms with help with writing against those without."""

    items: list[HelpedArmOut]
    with_help: FigureRateOut
    without: FigureRateOut
    difference: EstimateOut

    @classmethod
    def of(cls, found: Helped) -> "AssistanceOut":
        """As JSON."""
        items = [
            HelpedArmOut(
                arm=line.arm,
                examples=line.examples,
                mer_used=rate_out(line.mer["used"]),
                mer_unused=rate_out(line.mer["unused"]),
                **line.outcomes,
            )
            for line in found.lines
        ]
        rates = {"with_help": rate_out(found.with_help), "without": rate_out(found.without)}
        return cls(items=items, difference=EstimateOut.of(found.difference), **rates)


class ArmsOut(BaseModel):
    """The arms of a round in their order; `assistance` where some offer help with writing."""

    items: list[ArmFiguresOut]
    assistance: AssistanceOut | None = None


class CalibrationOut(BaseModel):
    """Judgements beside verdicts: how often who judges (`annotator` or `model`) is found right."""

    judge: str
    model: str
    both: int = Field(description="Judged wrong and found wrong.")
    judged_only: int
    found_only: int
    neither: int
    agreement: FigureRateOut
    precision: FigureRateOut
    recall: FigureRateOut

    @classmethod
    def of(cls, found: Calibration) -> "CalibrationOut":
        """As JSON."""
        counts = {name: getattr(found, name) for name in ("both", "judged_only", "found_only", "neither")}
        rates = {name: rate_out(getattr(found, name)) for name in ("agreement", "precision", "recall")}
        return cls(judge=found.judge, model=found.model, **counts, **rates)


def rate_out(rate: Rate) -> FigureRateOut:
    """A rate as JSON."""
    return FigureRateOut(value=rate.value, low=rate.low, high=rate.high)
