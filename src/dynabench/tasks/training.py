"""Tasks in which people choose training data: the learner that is trained on every set, and the limits of a set."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import StringConstraints, model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields import Choice, Text
from dynabench.tasks.section import Section, Setting

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

Pool = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,60}[a-z0-9]$")]
LONGEST = 8
"""Words or characters of an n-gram."""


class Learner(Section):
    """The learner that is trained on every set in the same way: a linear classifier over weighted n-grams (tf-idf)."""

    name: Literal["logistic_regression", "linear_svc"] = Setting(
        "logistic_regression", description="The classifier, by scikit-learn's name; linear_svc has no probabilities."
    )
    units: Literal["words", "characters"] = Setting("words", description="What n-grams are made of.")
    ngrams: list[int] = Setting([1, 2], min_length=2, max_length=2, description="The shortest and the longest n-grams.")
    c: float = Setting(1.0, gt=0, le=1e6, description="The inverse strength of the L2 penalty.")
    balanced: bool = Setting(False, description="Each label weighs the same, however many rows have it.")
    seed: int = Setting(7, ge=0, lt=2**32, description="Of whatever is drawn at random, the random baseline too.")

    @model_validator(mode="after")
    def _ordered(self) -> "Learner":
        if not 1 <= self.ngrams[0] <= self.ngrams[1] <= LONGEST:
            raise ValueError(
                _("n-grams have 1 to %(longest)s parts, the shortest first, such as [1, 2].", longest=LONGEST)
            )
        return self


class Training(Section):
    """People submit training sets; the platform trains one fixed learner on each and scores it on the task's data."""

    pool: Pool = Setting(description="Name of the task's public dataset whose rows people choose from, by their uid.")
    rows: int = Setting(ge=2, le=100_000, description="How many rows a training set may have at most.")
    own_rows: bool = Setting(False, description="People may send rows of their own beside those of the pool.")
    learner: Learner = Setting(default_factory=Learner)


def training_problems(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    """Yield path and message of what a linear text classifier cannot do in the task."""
    if config.training is None:
        return
    if len(config.answer) != 1 or not isinstance(config.answer[0], Choice):
        yield "training", _("What is trained answers one choice: give the task one answer field of this type.")
    inputs = [*config.model_context, *config.input]
    if others := [field.name for field in inputs if not isinstance(field, Text)]:
        yield "training", _("What is trained reads texts alone, and %(others)s is none.", others=", ".join(others))
    if config.training.learner.name == "linear_svc" and config.output.probabilities:
        yield "training.learner.name", _("linear_svc has no probabilities: say output: {probabilities: false} as well.")
