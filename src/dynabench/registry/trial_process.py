"""A trial, which is a child process within limits of time and memory: what dies there takes nothing else along."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dynabench.kit.child_process import ChildProcess, MessageTooLarge
from dynabench.language import _

REPORT = 8 * 2**20
"""Bytes of a report."""
STEP_LENGTH = 100


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes of memory that a trial may take."""

    seconds: float
    memory: int


@dataclass
class TrialOutcome:
    """How a trial ended: its report, or `code` and `reason` why there is none; the last lines of its log."""

    report: dict[str, Any] | None = None
    code: str = ""
    reason: str = ""
    log: list[str] = field(default_factory=list)
    step: str = ""


class _Cancelled(Exception):
    pass


def run_trial(
    given: Mapping[str, Any],
    limits: Limits,
    heard: Callable[[str], object],
    stopped: Callable[[], bool],
    env: Mapping[str, str],
    module: str = "dynabench.registry.trial",
) -> TrialOutcome:
    """Do the trial that `given` describes, in a child that runs `module`.

    The child is sent `given` with its `memory`, and answers `{"step": name}` as it goes on, then `{"report": ...}`.
    `heard` gets the step each second; where `stopped` says so, the trial is ended.
    """
    outcome = TrialOutcome()
    due = time.monotonic() + 1

    def tick() -> None:
        nonlocal due
        if time.monotonic() > due:
            due = time.monotonic() + 1
            heard(outcome.step)
            if stopped():
                raise _Cancelled

    until = time.monotonic() + limits.seconds
    with ChildProcess(module, memory=limits.memory, env=env) as child:
        try:
            child.send({**given, "memory": limits.memory})
            while outcome.report is None:
                message = child.receive(until, tick, REPORT)
                if "report" in message:
                    outcome.report = message["report"]
                else:
                    outcome.step = str(message.get("step", ""))[:STEP_LENGTH]
        except TimeoutError:
            told = _("The check took longer than %(seconds)s s and was ended.", seconds=f"{limits.seconds:g}")
            outcome.code, outcome.reason = "timeout", told
        except _Cancelled:
            outcome.code, outcome.reason = "cancelled", _("It was cancelled.")
        except MessageTooLarge as large:
            told = _("It answered with %(size)s bytes, of %(most)s at most.", size=large.size, most=large.most)
            outcome.code, outcome.reason = "crashed", told
        except (OSError, EOFError):
            death = child.death()
            outcome.code, outcome.reason = death.code, death.reason
    outcome.log = child.log
    return outcome
