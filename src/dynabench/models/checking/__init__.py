"""Checks a model for a task by the code that will run it: found, read, loaded, fit, answers, batches, speed, strips."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dynabench.kit.process_memory import family_bytes
from dynabench.models import catalog, fit, kinds, spec
from dynabench.models import check_words as words
from dynabench.models.checking import asking
from dynabench.models.checking.report import REMEDIES, Failed, Progress, Report, StepState, Trial, failed
from dynabench.tasks.config import TaskConfig

SECONDS = 1.0
"""How long each figure of speed is measured."""


def check(
    model: str | Path, config: TaskConfig, progress: Progress = lambda name: None, seconds: float = SECONDS
) -> Report:
    """Try the model of a folder, zip, installed name, hub id or address against the task's samples.

    Never raises for what is wrong with the model: that is what the report tells. `progress` hears each step's name.
    """
    trial = Trial(config, seconds, progress)
    with tempfile.TemporaryDirectory(prefix="dynabench-check-", ignore_cleanup_errors=True) as scratch:
        going = all(_step(trial, name, work) for name, work in _opening(str(model), Path(scratch)).items())
        if going:
            try:
                asyncio.run(asking.ask(trial))
            finally:
                if close := getattr(trial.model, "close", None):
                    close()
    done = {step.name for step in trial.steps}
    for name in (*_STEPS, *asking.STEPS):
        if name not in done:
            trial.add(name, StepState.SKIPPED, words.NOT_REACHED)
    found = trial.card
    return Report(str(model), config.id, found.name if found else "", found.version if found else "", (*trial.steps,))


def _opening(reference: str, scratch: Path) -> dict[str, Callable[[Trial], None]]:
    def find(trial: Trial) -> None:
        _find(trial, reference, scratch)

    return {"found": find} | _STEPS


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
    message = words.FILES % {"files": len(files), "megabytes": f"{size / 1e6:.1f}"}
    trial.add("found", StepState.OK, message, files=len(files), bytes=size)


def _described(trial: Trial) -> None:
    assert trial.folder is not None
    details = spec.read(trial.folder)
    trial.card = card = spec.card(trial.folder)
    reads = ", ".join(card.inputs)
    message = words.DESCRIBED % {"name": details.name, "kind": details.kind, "inputs": reads, "answer": card.answer}
    lacking = [name for name in ("summary", "data") if not getattr(details, name)]
    if lacking:
        remedy = words.LACKING_BOTH if len(lacking) > 1 else words.LACKING % {"lacking": lacking[0]}
        trial.add("model.yaml", StepState.WARNING, message, remedy, kind=details.kind)
    else:
        trial.add("model.yaml", StepState.OK, message, kind=details.kind)


def _installed(trial: Trial) -> None:
    assert trial.card is not None
    kinds.kind(trial.card.kind).opener()
    trial.add("installed", StepState.OK, words.NEEDED % {"kind": trial.card.kind})


def _fits(trial: Trial) -> None:
    assert trial.card is not None
    if wrong := fit.problems(trial.config, trial.card):
        raise Failed(" ".join(wrong.values()), REMEDIES["fits the task"], fields=wrong)
    if unsaid := fit.unsaid(trial.config, trial.card):
        message = words.UNSAID % {"unsaid": ", ".join(unsaid)}
        trial.add("fits the task", StepState.WARNING, message, words.ALLOWED, unsaid=unsaid)
    else:
        trial.add("fits the task", StepState.OK, words.FITTING % {"task": trial.config.id})


def _loads(trial: Trial) -> None:
    assert trial.folder is not None
    before, begun = family_bytes(), time.perf_counter()
    trial.model = catalog.open_model(trial.folder)
    took = round(time.perf_counter() - begun, 2)
    after = family_bytes()
    grown = max(after - before, 0) if after is not None and before is not None else None
    form = words.LOADED if grown is None else words.LOADED_GROWN
    message = form % {"seconds": f"{took:.2f}", "megabytes": f"{(grown or 0) / 1e6:.0f}"}
    trial.add("loads", StepState.OK, message, seconds=took, grown_bytes=grown, resident_bytes=after)


_STEPS: dict[str, Callable[[Trial], None]] = {
    "model.yaml": _described,
    "installed": _installed,
    "fits the task": _fits,
    "loads": _loads,
}
