"""The hall of fame as JSON."""

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page
from dynabench.recognition.profiles.schemas import ProfileRateOut


class HallRowOut(BaseModel):
    """A person of the hall of fame."""

    rank: int | None = Field(description="Null where there are too few examples for a rank.")
    name: str
    written: int
    fooled: int
    verified: int
    mer: ProfileRateOut
    vmer: ProfileRateOut


class HallOut(Page[HallRowOut]):
    """A page of the hall of fame, best first."""

    least_examples: int = Field(description="Examples with a known outcome that a rank needs.")
