"""The process in which a candidate is trained and then checked as a submission is.

`registry.trial_process` runs it, and says what it is sent and answers. It ends when the worker does, and one at a time
trains in a folder, so that a worker that is begun anew after a crash finds nobody else there.
"""

import fcntl
import time
from pathlib import Path
from typing import Any

from dynabench.cycle import sources
from dynabench.cycle.sources import Released
from dynabench.errors import Problem
from dynabench.kit.child_process import ParentChannel
from dynabench.language import _, kept
from dynabench.models import checking
from dynabench.models.check_words import in_words
from dynabench.models.checking.report import StepState
from dynabench.models.training.retraining import retrain
from dynabench.settings import get_settings
from dynabench.tasks import TaskConfig


def learn(given: dict[str, Any], say: Any) -> dict[str, Any]:
    """Train the candidate that `given` describes into `<folder>/model`, and check it; the report.

    What was trained before is found there, what was begun goes on.
    """
    config, folder = TaskConfig.parse(given["config"]), Path(given["folder"])
    released = [Released(**each) for each in given["released"]]
    begun = time.monotonic()
    say("reading")
    try:
        made = sources.mix(get_settings(), config, released, given["outside"])
        retrain(
            made,
            folder / "model",
            name=given["name"],
            method=given["method"],
            base=given["base"],
            seed=given["seed"],
            epochs=given["epochs"],
            minutes=given["minutes"],
            checkpoints=folder / "checkpoints",
            progress=lambda stage, share, remark: say(f"{stage} {share:.0%} {remark}".strip()),
        )
    except Problem as problem:
        return {"passed": False, "reason": kept(problem.detail) or problem.detail}
    rows, seconds = sum(len(part.rows) for part in made.parts), time.monotonic() - begun
    say("checking")
    found = checking.check(folder / "model", config, lambda name: say(f"checking: {name}"), 0.2)
    first = next((step for step in found.steps if step.state == StepState.FAILED), None)
    reason = _("%(step)s: %(told)s", step=in_words(first.name), told=in_words(first.told)) if first else ""
    return {"passed": first is None, "reason": kept(reason) or reason, "rows": rows, "seconds": round(seconds, 2)}


def main() -> None:
    """Do what the parent asks for."""
    parent = ParentChannel()
    given = parent.receive()
    folder = Path(given["folder"])
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        parent.send({"report": learn(given, lambda text: parent.send({"step": text}))})


if __name__ == "__main__":
    main()
