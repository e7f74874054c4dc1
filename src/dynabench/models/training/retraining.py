"""Training on a mix: from rows of several sources to a model folder with its card.

The same mix, settings, threads and libraries give the same weights, also when the run was killed and begun again.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from dynabench.kit.errors import Conflict, Invalid
from dynabench.models import catalog, encoder, spec
from dynabench.models.training import mixing, questions, report, scoring
from dynabench.models.training.learning import (
    EXTRACTOR,
    METHODS,
    METHODS_OF_SPANS,
    Checkpoints,
    Learned,
    Method,
    Progress,
    Settings,
)
from dynabench.models.training.mixing import Guarded, Mix

RECORD = "training.json"
"""What a model was trained on and how, for programs; the card is for people."""
_LEARNERS = {"ngram": "ngram", "head": "head", "lora": "descent", "full": "descent"}


def retrain(
    mix: Mix,
    out: Path,
    *,
    name: str,
    method: Method = "lora",
    base: str = "",
    seed: int = 0,
    epochs: float | None = None,
    patience: int = 2,
    minutes: float | None = None,
    checkpoints: Path | None = None,
    progress: Progress = lambda stage, share, remark: None,
) -> spec.Spec:
    """Train on `mix` and write the model folder `out`; where it holds this very model already, nothing is done.

    Without a `base` labels are learnt from the shared encoder on, spans from the shipped extractor on. A run that was
    killed goes on from `checkpoints`. Raises `Invalid` for what cannot be learnt so, `Conflict` when
    `out` holds something else, `NotFound` or `Unavailable` for a base that is not there.
    """
    first = str(catalog.BUILTIN / EXTRACTOR) if mix.spans else encoder.HUB_ID
    settings = Settings(method, base or first, seed, epochs, patience, minutes)
    _check(settings, mix)
    progress("reading", 0.0, "")
    ready = mixing.guarded(mix, seed)
    run = _run(ready, settings, name)
    kept = Checkpoints(checkpoints, run)
    if (found := _finished(out, run)) is not None:
        kept.clear()
        return found
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        learner = import_module(f"dynabench.models.training.{'descent' if mix.spans else _LEARNERS[method]}")
        learned: Learned = learner.learn(ready.mix, settings, part, kept, progress)
        details = _described(ready, settings, learned, name, run, part, progress)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    if out.exists():
        out.rmdir()
    part.rename(out)
    kept.clear()
    return details


def _check(settings: Settings, mix: Mix) -> None:
    if settings.method not in METHODS:
        raise Invalid({"method": f"One of {', '.join(METHODS)}."})
    if settings.patience < 1:
        raise Invalid({"patience": "One evaluation without a better one is the least."})
    if settings.epochs is not None and settings.epochs <= 0:
        raise Invalid({"epochs": "More than none."})
    if mix.spans and settings.method not in METHODS_OF_SPANS:
        raise Invalid({"method": f"Spans are learnt by {' or '.join(METHODS_OF_SPANS)}."})
    if settings.method in ("head", "ngram") and not settings.shared and not mix.spans:
        raise Invalid({"base": f"{settings.method} has no other base; take lora or full."})


def _run(ready: Guarded, settings: Settings, name: str) -> str:
    """The SHA-256 of everything that decides what is written."""
    chosen = json.dumps(asdict(settings) | {"base": settings.origin})
    return hashlib.sha256(f"{name}\n{chosen}\n{ready.digest()}".encode()).hexdigest()


def _finished(out: Path, run: str) -> spec.Spec | None:
    """The model of this very run, if it lies there; raises `Conflict` for anything else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    try:
        if json.loads((out / RECORD).read_text(encoding="utf-8"))["run"] == run:
            return spec.read(out)
    except (OSError, ValueError, KeyError):
        pass
    raise Conflict(f"{out} is not empty.")


def _described(
    ready: Guarded, settings: Settings, learned: Learned, name: str, run: str, folder: Path, progress: Progress
) -> spec.Spec:
    """Score the weights in the folder as the host loads them, and write `model.yaml`, the record and the card."""
    mix = ready.mix
    details = spec.Spec(
        name=name,
        task=mix.task,
        kind=learned.kind,
        inputs=list(mix.inputs),
        answer=mix.answer,
        labels=list(mix.labels),
        options=learned.options,
        languages=list(mix.languages),
        licence=report.licence(mix, settings),
        summary=f"Trained on {', '.join(part.name for part in mix.parts)} ({settings.method}).",
        data=[part.name for part in mix.parts],
        seed=settings.seed,
        max_length=mix.max_length,
    )
    record = report.record(ready, settings, learned) | {"run": run}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    spec.write(folder, details)
    details.scores.update(_scores(mix, folder, progress))
    spec.write(folder, details)
    (folder / spec.README).write_text(report.mix_card(details, ready, settings, learned), encoding="utf-8")
    return details


def _scores(mix: Mix, folder: Path, progress: Progress) -> Mapping[str, spec.Score | spec.SpanScore]:
    score = questions.score_questions if mix.spans else scoring.score
    model = catalog.open_model(folder)
    try:
        return {
            name: score(model, rows, lambda share, name=name: progress(name, share, ""))  # type: ignore[arg-type,misc]
            for name, rows in {"dev": mix.dev, **mix.tests}.items()
            if rows
        }
    finally:
        model.close()  # type: ignore[attr-defined]
