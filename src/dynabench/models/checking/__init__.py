"""Checks a model for a task by the code that will run it: found, read, loaded, fit, answers, batches, speed, strips."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dynabench.language import Amount, _, joined
from dynabench.models import catalog, fit, kinds, spec
from dynabench.models.checking import asking
from dynabench.models.checking.memory import resident
from dynabench.models.checking.report import Report
from dynabench.models.checking.trial import REMEDIES, Failed, Progress, Trial, failed
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
            trial.add(name, "skipped", _("not reached"))
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
    return trial.steps[-1].state != "failed"


def _find(trial: Trial, reference: str, scratch: Path) -> None:
    from dynabench.models import references

    trial.folder = references.folder_for(reference, trial.config, scratch)
    files = [path for path in trial.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    trial.add(
        "found",
        "ok",
        _("%(n)s files, %(size)s MB", n=len(files), size=Amount(size / 1e6, ".1f")),
        files=len(files),
        bytes=size,
    )


def _described(trial: Trial) -> None:
    assert trial.folder is not None
    details = spec.read(trial.folder)
    trial.card = card = spec.card(trial.folder)
    message = _(
        "%(name)s is of kind %(kind)s, reads %(inputs)s, answers %(answer)s",
        name=details.name,
        kind=details.kind,
        inputs=", ".join(card.inputs),
        answer=card.answer,
    )
    lacking = [name for name in ("summary", "data") if not getattr(details, name)]
    if lacking:
        remedy = _(
            "Say %(what)s in model.yaml: people choose models by what they are and learnt from.",
            what=lacking[0] if len(lacking) == 1 else _("%(one)s and %(other)s", one=lacking[0], other=lacking[1]),
        )
        trial.add("model.yaml", "warning", message, remedy, kind=details.kind)
    else:
        trial.add("model.yaml", "ok", message, kind=details.kind)


def _installed(trial: Trial) -> None:
    assert trial.card is not None
    kinds.kind(trial.card.kind).opener()
    trial.add("installed", "ok", _("all that models of kind %(kind)s need", kind=trial.card.kind))


def _fits(trial: Trial) -> None:
    assert trial.card is not None
    if wrong := fit.problems(trial.config, trial.card):
        raise Failed(joined(" ", wrong.values()), REMEDIES["fits the task"], fields=wrong)
    if unsaid := fit.unsaid(trial.config, trial.card):
        remedy = _("That is allowed; such examples fool it always.")
        told = _("it never answers %(labels)s", labels=", ".join(unsaid))
        trial.add("fits the task", "warning", told, remedy, unsaid=unsaid)
    else:
        trial.add("fits the task", "ok", _("inputs, answer and labels are those of %(task)s", task=trial.config.id))


def _loads(trial: Trial) -> None:
    assert trial.folder is not None
    before, begun = resident(), time.perf_counter()
    trial.model = catalog.open_model(trial.folder)
    took = round(time.perf_counter() - begun, 2)
    after = resident()
    grown = max(after - before, 0) if after is not None and before is not None else None
    message = _("in %(seconds)s s", seconds=Amount(took, ".2f"))
    if grown is not None:
        message = _("%(loaded)s, %(size)s MB more memory", loaded=message, size=Amount(grown / 1e6, ".0f"))
    trial.add("loads", "ok", message, seconds=took, grown_bytes=grown, resident_bytes=after)


_STEPS: dict[str, Callable[[Trial], None]] = {
    "model.yaml": _described,
    "installed": _installed,
    "fits the task": _fits,
    "loads": _loads,
}
