"""What is to be run: all that decides the outcome, but the data."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

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

    def __post_init__(self) -> None:
        if min(self.rounds, self.seeds, self.each, self.each_test, self.start, self.test, self.tries) < 1:
            raise Invalid({"plan": "Rounds, seeds, examples, rows and tries are at least 1."})
        if self.later < self.rounds * self.each_test:
            raise Invalid({"later": f"{self.later} rows are too few for {self.rounds} rounds of {self.each_test}."})

    def keep(self, folder: Path) -> None:
        """Write the plan into its folder; raises `Conflict` where another one was begun there.

        More seeds may be asked of a folder than at first: earlier ones stay as they are.
        """
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "plan.json"
        if file.is_file() and _without_seeds(json.loads(file.read_text("utf-8"))) != _without_seeds(asdict(self)):
            raise Conflict(f"{folder} holds a simulation with another plan; name another folder.")
        unfinished = file.with_suffix(".part")
        unfinished.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")
        unfinished.replace(file)


def _without_seeds(plan: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in plan.items() if name != "seeds"}
