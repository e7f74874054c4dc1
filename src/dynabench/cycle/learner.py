"""The child process that trains one candidate and checks it as submissions are checked.

`registry.trial_process` starts it and defines its messages. The process ends with its worker, and a lock on
its folder lets one process train there at a time, so that a worker that restarts after a crash has the folder
to itself.
"""

import fcntl
import time
from pathlib import Path
from typing import Any

from dynabench.cycle import training
from dynabench.cycle.training import RoundRelease
from dynabench.kit.child_process import ParentChannel
from dynabench.kit.errors import Problem
from dynabench.kit.language import _, phrase_document
from dynabench.kit.settings import get_settings
from dynabench.models import model_check
from dynabench.models.check_report import StepState, in_words
from dynabench.models.training.run import retrain
from dynabench.tasks import TaskConfig


def train_and_check(request: dict[str, Any], report_step: Any) -> dict[str, Any]:
    """Train the candidate that `request` describes into `<folder>/model`, check it, and return the report.

    A finished training is not repeated, and an unfinished one goes on from its checkpoints.
    """
    config, folder = TaskConfig.parse(request["config"]), Path(request["folder"])
    released = [RoundRelease(**item) for item in request["released"]]
    begun = time.monotonic()
    report_step("reading")
    try:
        mix = training.build_mix(get_settings(), config, released, request["outside"])
        retrain(
            mix,
            folder / "model",
            name=request["name"],
            method=request["method"],
            base=request["base"],
            seed=request["seed"],
            epochs=request["epochs"],
            minutes=request["minutes"],
            checkpoints=folder / "checkpoints",
            progress=lambda stage, share, remark: report_step(f"{stage} {share:.0%} {remark}".strip()),
        )
    except Problem as problem:
        return {"passed": False, "reason": phrase_document(problem.detail) or problem.detail}
    rows, seconds = sum(len(part.rows) for part in mix.parts), time.monotonic() - begun
    report_step("checking")
    check_result = model_check.check(folder / "model", config, lambda name: report_step(f"checking: {name}"), 0.2)
    first = next((step for step in check_result.steps if step.state == StepState.FAILED), None)
    reason = _("%(step)s: %(told)s", step=in_words(first.name), told=in_words(first.told)) if first else ""
    return {
        "passed": first is None,
        "reason": phrase_document(reason) or reason,
        "rows": rows,
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Read the request from the parent process, train the candidate, and send the report."""
    parent = ParentChannel()
    request = parent.receive()
    folder = Path(request["folder"])
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        parent.send({"report": train_and_check(request, lambda text: parent.send({"step": text}))})


if __name__ == "__main__":
    main()
