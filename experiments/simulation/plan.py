"""The plan of an experiment: everything that decides its outcome, except the data."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dynabench.kit.errors import Conflict, Invalid
from experiments.simulation import training_methods

ARMS = {
    "random": "random",
    "uncertain": "uncertain",
    "adversarial": "adversarial",
    "mixed": "half adversarial",
    "fixed": "no retraining",
}
"""The arms and their names in reports; every other arm is compared with `random`."""
OPTION_NAMES = {"examples": "each", "test_examples": "each_test"}
"""Fields of the plan whose option of the command line, and key in stored plans, has another name."""


@dataclass(frozen=True)
class ExperimentPlan:
    """The plan of one task's experiment. All sizes are numbers of rows."""

    task: str
    rounds: int = 20
    seeds: int = 3
    examples: int = 60
    """New training examples of an arm in a round."""
    test_examples: int = 20
    """Examples of an arm's round that later models are tested on."""
    start: int = 300
    """Rows that the first target is trained on."""
    test: int = 2000
    development: int = 600
    later: int = 2000
    """Rows of the pool from which the rounds' test examples are chosen."""
    tries: int = 5
    """Tries of an adversary before it gives up."""
    pool: str = ""
    suite: str = ""
    method: str = "heads"
    """How models are trained, a name in `training_methods.METHODS`."""
    arms: tuple[str, ...] = tuple(ARMS)
    """The arms to run, in the order of `ARMS`."""
    candidates: int = 0
    """Largest number of rows to choose training examples from; 0: all rows that no other part needs."""

    def __post_init__(self) -> None:
        if unknown := set(self.arms) - set(ARMS):
            raise Invalid({"arms": f"{', '.join(sorted(unknown))}: one of {', '.join(ARMS)} each."})
        object.__setattr__(self, "arms", tuple(arm for arm in ARMS if arm in self.arms))
        sizes = (self.rounds, self.seeds, self.examples, self.test_examples, self.start, self.test, self.tries)
        if min(sizes) < 1:
            raise Invalid({"plan": "Rounds, seeds, examples, rows and tries are at least 1."})
        if not {"random", "adversarial"} <= set(self.arms):
            raise Invalid({"arms": "random and adversarial are compared, so both are needed."})
        training_methods.find_method(self.method)
        if self.candidates < 0:
            raise Invalid({"candidates": "0, for all rows that no other part needs, or more."})
        if self.later < self.rounds * self.test_examples:
            raise Invalid({"later": f"{self.later} rows are too few for {self.rounds} rounds of {self.test_examples}."})

    def as_options(self) -> dict[str, object]:
        """Return the values by the names of the command line's options, with underscores."""
        return {OPTION_NAMES.get(name, name): value for name, value in asdict(self).items()}

    def store(self, folder: Path) -> None:
        """Write the plan into its folder.

        More seeds than at first may be asked for: the earlier ones stay as they are. Raises `Conflict` where the folder
        has another plan.
        """
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "plan.json"
        if file.is_file() and replace(ExperimentPlan.read(file), seeds=self.seeds) != self:
            raise Conflict(f"{folder} holds a simulation with another plan; name another folder.")
        unfinished = file.with_suffix(".part")
        unfinished.write_text(json.dumps(self.as_options(), indent=1) + "\n", "utf-8")
        unfinished.replace(file)

    @classmethod
    def read(cls, file: Path) -> "ExperimentPlan":
        """Read a stored plan."""
        values = json.loads(file.read_text("utf-8"))
        field_names = {option: name for name, option in OPTION_NAMES.items()}
        values = {field_names.get(option, option): value for option, value in values.items()}
        return cls(**{**values, "arms": tuple(values.get("arms", ARMS))})
