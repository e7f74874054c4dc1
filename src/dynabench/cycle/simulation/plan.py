"""What is to be run: all that decides the outcome, but the data."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dynabench.cycle.simulation import methods
from dynabench.errors import Conflict, Invalid

ARMS = {
    "random": "random",
    "uncertain": "uncertain",
    "adversarial": "adversarial",
    "mixed": "half adversarial",
    "fixed": "no retraining",
}
"""Every arm and what it is called; `random` is what the others are compared with."""


@dataclass(frozen=True)
class Plan:
    """One task's experiment. Numbers count rows; `tries` is how often an adversary tries before giving up."""

    task: str
    rounds: int = 20
    seeds: int = 3
    each: int = 60
    """New training examples of an arm in a round."""
    each_test: int = 20
    """Examples of an arm's round that are kept for testing later models."""
    start: int = 300
    """Rows that the first target is trained on."""
    test: int = 2000
    development: int = 600
    later: int = 2000
    """Rows of the pool from which the test parts of rounds are chosen."""
    tries: int = 5
    pool: str = ""
    suite: str = ""
    method: str = "heads"
    """How models are made, a name in `methods.METHODS`."""
    arms: tuple[str, ...] = tuple(ARMS)
    """Which arms there are, in the order of `ARMS`."""
    candidates: int = 0
    """At most so many rows to choose training examples from; 0: all that are left."""

    def __post_init__(self) -> None:
        if strangers := set(self.arms) - set(ARMS):
            raise Invalid({"arms": f"{', '.join(sorted(strangers))}: one of {', '.join(ARMS)} each."})
        object.__setattr__(self, "arms", tuple(arm for arm in ARMS if arm in self.arms))
        if min(self.rounds, self.seeds, self.each, self.each_test, self.start, self.test, self.tries) < 1:
            raise Invalid({"plan": "Rounds, seeds, examples, rows and tries are at least 1."})
        if not {"random", "adversarial"} <= set(self.arms):
            raise Invalid({"arms": "random and adversarial are compared, so both are needed."})
        methods.kind(self.method)
        if self.candidates < 0:
            raise Invalid({"candidates": "0, for all that are left, or more."})
        if self.later < self.rounds * self.each_test:
            raise Invalid({"later": f"{self.later} rows are too few for {self.rounds} rounds of {self.each_test}."})

    def keep(self, folder: Path) -> None:
        """Write the plan into its folder; raises `Conflict` where another one was begun there.

        More seeds may be asked of a folder than at first: earlier ones stay as they are.
        """
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "plan.json"
        if file.is_file() and replace(Plan.read(file), seeds=self.seeds) != self:
            raise Conflict(f"{folder} holds a simulation with another plan; name another folder.")
        unfinished = file.with_suffix(".part")
        unfinished.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")
        unfinished.replace(file)

    @classmethod
    def read(cls, file: Path) -> "Plan":
        """The plan that was kept in `file`."""
        held = json.loads(file.read_text("utf-8"))
        return cls(**{**held, "arms": tuple(held.get("arms", ARMS))})
