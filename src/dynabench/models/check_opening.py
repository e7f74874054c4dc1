"""Open a model folder step by step for a check: find, describe, install, fit, load."""

import time
from collections.abc import Callable
from pathlib import Path

from dynabench.kit.process_memory import family_bytes
from dynabench.models import catalog, check_report, kinds, spec, validity
from dynabench.models.check_report import (
    REMEDIES,
    Failed,
    StepState,
    Trial,
    failed,
)


def _opening(reference: str, scratch: Path) -> dict[str, Callable[[Trial], None]]:
    def find(trial: Trial) -> None:
        _find(trial, reference, scratch)

    return {"found": find} | OPENING_STEPS


def _step(trial: Trial, name: str, work: Callable[[Trial], None]) -> bool:
    """Do one step; True unless it failed."""
    trial.progress(name)
    try:
        work(trial)
    except Exception as error:
        failed(trial, name, error)
    return trial.steps[-1].state != StepState.FAILED


def _find(trial: Trial, reference: str, scratch: Path) -> None:
    from dynabench.models import references

    trial.folder = references.folder_for(reference, trial.config, scratch)
    files = [path for path in trial.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    message = check_report.FILES % {"files": len(files), "megabytes": f"{size / 1e6:.1f}"}
    trial.add("found", StepState.OK, message, files=len(files), bytes=size)


def _described(trial: Trial) -> None:
    assert trial.folder is not None
    details = spec.read(trial.folder)
    trial.card = card = spec.card(trial.folder)
    reads = ", ".join(card.inputs)
    message = check_report.DESCRIBED % {
        "name": details.name,
        "kind": details.kind,
        "inputs": reads,
        "answer": card.answer,
    }
    lacking = [name for name in ("summary", "data") if not getattr(details, name)]
    if lacking:
        remedy = check_report.LACKING_BOTH if len(lacking) > 1 else check_report.LACKING % {"lacking": lacking[0]}
        trial.add("model.yaml", StepState.WARNING, message, remedy, kind=details.kind)
    else:
        trial.add("model.yaml", StepState.OK, message, kind=details.kind)


def _installed(trial: Trial) -> None:
    assert trial.card is not None
    kinds.kind(trial.card.kind).opener()
    trial.add("installed", StepState.OK, check_report.NEEDED % {"kind": trial.card.kind})


def _fits(trial: Trial) -> None:
    assert trial.card is not None
    if wrong := validity.answer_problems(trial.config, trial.card):
        raise Failed(" ".join(wrong.values()), REMEDIES["fits the task"], fields=wrong)
    if unsaid := validity.unanswered_options(trial.config, trial.card):
        message = check_report.UNSAID % {"unsaid": ", ".join(unsaid)}
        trial.add("fits the task", StepState.WARNING, message, check_report.ALLOWED, unsaid=unsaid)
    else:
        trial.add("fits the task", StepState.OK, check_report.FITTING % {"task": trial.config.id})


def _loads(trial: Trial) -> None:
    assert trial.folder is not None
    before, begun = family_bytes(), time.perf_counter()
    trial.model = catalog.open_model(trial.folder)
    took = round(time.perf_counter() - begun, 2)
    after = family_bytes()
    grown = max(after - before, 0) if after is not None and before is not None else None
    form = check_report.LOADED if grown is None else check_report.LOADED_GROWN
    message = form % {"seconds": f"{took:.2f}", "megabytes": f"{(grown or 0) / 1e6:.0f}"}
    trial.add("loads", StepState.OK, message, seconds=took, grown_bytes=grown, resident_bytes=after)


OPENING_STEPS: dict[str, Callable[[Trial], None]] = {
    "model.yaml": _described,
    "installed": _installed,
    "fits the task": _fits,
    "loads": _loads,
}
