"""Trials: child processes within limits of time and memory, which take nothing else along when they die.

A module of its own, since the web process loads no engine of jobs.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.kit.child_process import ChildProcess, MessageTooLarge
from dynabench.kit.language import _

REPORT = 8 * 2**20
"""Bytes of a report."""
STEP_LENGTH = 100


@dataclass(frozen=True)
class TrialLimits:
    """Seconds and bytes of memory that a trial may take."""

    seconds: float
    memory: int


@dataclass
class TrialOutcome:
    """The outcome of a trial: its report, or `code` and `reason` of its failure; and the last lines of its log."""

    report: dict[str, Any] | None = None
    code: str = ""
    reason: str = ""
    log: list[str] = field(default_factory=list)
    step: str = ""


class _Cancelled(Exception):
    pass


def run_trial(
    request: Mapping[str, Any],
    limits: TrialLimits,
    report_step: Callable[[str], object],
    stopped: Callable[[], bool],
    env: Mapping[str, str],
    module: str = "dynabench.benchmark.registry.trial",
) -> TrialOutcome:
    """Run the trial that `request` describes in a child process of `module`.

    The child is sent `request` with its `memory`, and answers `{"step": name}` as it goes on, then `{"report": ...}`.
    `report_step` gets the step each second; when `stopped` returns true, the trial is ended.
    """
    outcome = TrialOutcome()
    due = time.monotonic() + 1

    def tick() -> None:
        nonlocal due
        if time.monotonic() > due:
            due = time.monotonic() + 1
            report_step(outcome.step)
            if stopped():
                raise _Cancelled

    until = time.monotonic() + limits.seconds
    with ChildProcess(module, memory=limits.memory, env=env) as child:
        try:
            child.send({**request, "memory": limits.memory})
            while outcome.report is None:
                message = child.receive(until, tick, REPORT)
                if "report" in message:
                    outcome.report = message["report"]
                else:
                    outcome.step = str(message.get("step", ""))[:STEP_LENGTH]
        except TimeoutError:
            time_message = _("The check was stopped after %(seconds)s s.", seconds=f"{limits.seconds:g}")
            outcome.code, outcome.reason = "timeout", time_message
        except _Cancelled:
            outcome.code, outcome.reason = "cancelled", _("Cancelled.")
        except MessageTooLarge as large:
            time_message = _("The answer has %(size)s bytes; the limit is %(most)s.", size=large.size, most=large.most)
            outcome.code, outcome.reason = "crashed", time_message
        except (OSError, EOFError):
            death = child.death()
            outcome.code, outcome.reason = death.code, death.reason
    outcome.log = child.log
    return outcome
