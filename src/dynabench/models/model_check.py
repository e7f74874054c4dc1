"""Checks a model for a task by the code that will run it: found, read, loaded, fit, answers, batches, speed, strips."""

import asyncio
import math
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from dynabench.kit.process_memory import family_bytes
from dynabench.kit.settings import get_settings
from dynabench.models import check_report, samples, validity
from dynabench.models.backends.base import Backend
from dynabench.models.check_opening import OPENING_STEPS, _opening, _step
from dynabench.models.check_report import (
    REMEDIES,
    Failed,
    ModelCheckReport,
    Progress,
    StepState,
    Trial,
    describe_error,
    failed,
)
from dynabench.models.host.engine import Engine
from dynabench.models.host.repository import Repository
from dynabench.models.protocol import EXPLAIN_SECONDS, Attribution, ModelCard, ModelOutput
from dynabench.tasks.config import TaskConfig

BATCH = 16
CALLS = 60
"""Calls of one measurement at most."""
PATIENCE = 60.0
"""Seconds after which a call is given up here, whatever annotators would have to wait."""
SAME = 2e-3
"""By how much a probability may differ between two batches; below it, rounding in another order explains it."""


@dataclass(frozen=True)
class CallSpeed:
    """Milliseconds of single calls once warm, answers a second in batches of 16, and how many calls that took."""

    p50: float
    p95: float
    rate: float
    calls: int


class Probe:
    """A loaded model behind lanes of its own. Use within one event loop, and close it."""

    def __init__(self, model: Backend) -> None:
        self.model = model
        self.card: ModelCard = model.card
        self._engine = Engine(Repository([]))

    async def alone(self, inputs: dict[str, str]) -> ModelOutput:
        """The checked answer to a call of its own; raises `Problem` where there is none."""
        return (await self.batch([inputs]))[0]

    async def batch(self, rows: Sequence[dict[str, str]]) -> list[ModelOutput]:
        """The checked answers to calls that arrive together."""
        try:
            async with asyncio.timeout(PATIENCE):
                outputs = await self._engine.predict(self.model, rows)
        except TimeoutError as error:
            raise validity.Broken(check_report.SILENT % {"name": self.card.name, "seconds": f"{PATIENCE:g}"}) from error
        return validity.check_outputs(self.card, rows, outputs)

    async def explain(self, inputs: dict[str, str], method: str) -> tuple[Attribution, float]:
        """The strip of the model's answer by `method`, and the seconds it took; raises `Problem`."""
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                attribution = await self._engine.attribute(self.model, inputs, None, method)
        except TimeoutError as error:
            raise validity.Broken(check_report.UNENDED % {"method": method, "seconds": f"{PATIENCE:g}"}) from error
        if fault := wrong_strip(self.card, inputs, attribution):
            raise validity.Broken(check_report.WRONG_STRIP % {"method": method, "wrong": fault})
        return attribution, time.perf_counter() - begun

    async def speed(self, rows: Sequence[dict[str, str]], seconds: float) -> CallSpeed:
        """Return the speed at which plain inputs are answered, alone and in batches.

        Each is measured for `seconds`; models that others bill get fewer calls.
        """
        least, most = (5, CALLS) if self.card.inside else (3, 3)
        waits: list[float] = []
        begun = time.perf_counter()
        while len(waits) < least or (len(waits) < most and time.perf_counter() < begun + seconds):
            since = time.perf_counter()
            await self.batch([rows[len(waits) % len(rows)]])
            waits.append((time.perf_counter() - since) * 1000)
        together = [rows[index % len(rows)] for index in range(BATCH)]
        batches, begun = 0, time.perf_counter()
        while batches == 0 or (self.card.inside and time.perf_counter() < begun + seconds):
            await self.batch(together)
            batches += 1
        rate = batches * BATCH / (time.perf_counter() - begun)
        p50, p95 = (round(float(np.quantile(waits, share)), 2) for share in (0.5, 0.95))
        return CallSpeed(p50, p95, round(rate, 1), len(waits) + batches * BATCH)

    async def close(self) -> None:
        """End the lanes; the model stays open."""
        await self._engine.close()


def difference(card: ModelCard, first: ModelOutput, second: ModelOutput) -> tuple[bool, float]:
    """Return whether two answers are the same, and the largest difference of their probabilities.

    Two labels that are equally likely up to `SAME` count as the same answer.
    """
    before, after = first.probabilities or {}, second.probabilities or {}
    gap = max((abs(before.get(name, 0.0) - after.get(name, 0.0)) for name in {*before, *after}), default=0.0)
    same = bool(first.answer[card.answer] == second.answer[card.answer])
    tie = gap <= SAME and len(before) > 1 and float(np.ptp(sorted(before.values())[-2:])) <= 2 * SAME
    return same or tie, gap


def wrong_strip(card: ModelCard, inputs: dict[str, str], attribution: Attribution) -> str:
    """Return the first error in the words of an attribution; empty if there is none."""
    for name, words in attribution.fields.items():
        if name not in card.inputs:
            return check_report.NO_INPUT % {"name": repr(name)}
        text, end = inputs[name], 0
        for word in words:
            if word.start < end or text[word.start : word.end] != word.text or not word.text:
                return check_report.OTHER_WORD % {"word": repr(word.text), "start": word.start, "name": repr(name)}
            if not math.isfinite(word.weight) or abs(word.weight) > 1 + 1e-6:
                return check_report.WRONG_WEIGHT % {"word": repr(word.text), "weight": word.weight}
            end = word.end
    lacking = [name for name in card.inputs if name not in card.images and name not in attribution.fields]
    return check_report.UNWEIGHED % {"names": ", ".join(lacking)} if lacking else ""


SHOWN_SAMPLES = 3
"""Samples named in a message."""
DRAWN = 2
"""Samples that a model is asked to draw: each is paid for, and drawn otherwise every time."""
STRIPS = 3
"""Times that a strip is made before it is called slow."""
WIDE = 0.02
"""Differences of probabilities that people would see."""


async def ask(trial: Trial) -> None:
    """The steps that ask the model; all are tried where single samples fail, none where none is answered."""
    draws = trial.model.card.returns == "pictures"
    trial.samples = samples.sample_inputs(trial.config)[: DRAWN if draws else None]
    probe = Probe(trial.model)
    try:
        for name, work in ASKING_STEPS.items():
            if draws and name != "answers":
                trial.add(name, StepState.SKIPPED, check_report.PAID)
                continue
            trial.progress(name)
            try:
                await work(trial, probe)
            except Exception as error:
                failed(trial, name, error)
            if not trial.outputs:
                return
    finally:
        await probe.close()


async def _answers(trial: Trial, probe: Probe) -> None:
    broken: dict[int, str] = {}
    for index, sample in enumerate(trial.samples):
        try:
            trial.outputs[index] = await probe.alone(sample.inputs)
        except Exception as error:
            broken[index] = describe_error(error)
            # it answers nothing; every further try may cost a minute
            if not trial.outputs and len(broken) == SHOWN_SAMPLES:
                break
    if broken:
        some = "\n".join(
            f"{trial.samples[index].summary_line()}: {broken[index]}" for index in list(broken)[:SHOWN_SAMPLES]
        )
        counts = {"broken": len(broken), "samples": len(broken) + len(trial.outputs)}
        message = f"{check_report.BROKEN % counts}\n{some}"
        raise Failed(
            message, REMEDIES["answers"], broken={trial.samples[i].summary_line(): why for i, why in broken.items()}
        )
    answers = {str(output.answer[probe.card.answer]) for output in trial.outputs.values()}
    counts = {"samples": len(trial.outputs), "answers": len(answers)}
    if len(answers) == 1:
        trial.add(
            "answers",
            StepState.WARNING,
            check_report.SAME % {**counts, "answer": answers.pop()[:40]},
            check_report.UNTRAINED,
        )
    else:
        trial.add("answers", StepState.OK, check_report.ANSWERED % counts)


async def _batches(trial: Trial, probe: Probe) -> None:
    """Asked together and in reverse, each sample must be answered as it was alone."""
    order = sorted(trial.outputs)
    widest, moved = 0.0, []
    for way in (order, order[::-1]):
        outputs = await probe.batch([trial.samples[index].inputs for index in way])
        for index, output in zip(way, outputs, strict=True):
            same, gap = difference(probe.card, trial.outputs[index], output)
            widest = max(widest, gap)
            moved += [] if same or index in moved else [index]
    _compared(trial, "batches", check_report.ALONE, moved, widest)


async def _repeats(trial: Trial, probe: Probe) -> None:
    again = [(index, await probe.alone(trial.samples[index].inputs)) for index in sorted(trial.outputs)[:SHOWN_SAMPLES]]
    differences = [(index, *difference(probe.card, trial.outputs[index], output)) for index, output in again]
    moved = [index for index, same, _ in differences if not same]
    _compared(trial, "repeats", check_report.AGAIN, moved, max(gap for *_, gap in differences))


def _compared(trial: Trial, name: str, when: str, moved: Sequence[int], gap: float) -> None:
    """Another label is a failure between batches and a warning between repetitions; other probabilities a warning."""
    changed = [trial.samples[index].summary_line() for index in moved]
    state = StepState.WARNING if moved or gap > WIDE else StepState.OK
    message, why = check_report.EQUAL % {"when": when, "gap": f"{gap:.1g}"}, name
    if moved:
        message = "\n".join([check_report.MOVED % {"answers": len(moved), "when": when}, *changed[:SHOWN_SAMPLES]])
    elif gap > WIDE:
        message = check_report.WIDE % {"gap": f"{gap:.3g}", "when": when}
    if name == "batches" and any(step.state != StepState.OK for step in trial.steps if step.name == "repeats"):
        why = "repeats"  # what changes by itself cannot be blamed on the batch
    elif name == "batches" and moved:
        state = StepState.FAILED
    trial.add(
        name, state, message, "" if state == StepState.OK else REMEDIES[why], difference=round(gap, 6), changed=changed
    )


async def _speed(trial: Trial, probe: Probe) -> None:
    rows = [trial.samples[index].inputs for index in sorted(trial.outputs) if not trial.samples[index].awkward]
    speed = await probe.speed(rows or [trial.samples[min(trial.outputs)].inputs], trial.seconds)
    limit = probe.card.seconds or get_settings().answer_seconds
    memory = family_bytes()
    figures = {"half": f"{speed.p50:.1f}", "most": f"{speed.p95:.1f}", "rate": f"{speed.rate:.0f}"}
    figures["megabytes"] = f"{(memory or 0) / 1e6:.0f}"
    message = (check_report.SPEED if memory is None else check_report.SPEED_RESIDENT) % figures
    details = {**asdict(speed), "limit_ms": limit * 1000, "resident_bytes": memory}
    if speed.p95 > limit * 1000:
        told_limit = f"{message}\n{check_report.LIMIT % {'seconds': f'{limit:g}'}}"
        trial.add("speed", StepState.FAILED, told_limit, REMEDIES["speed"], **details)
    else:
        trial.add("speed", StepState.OK, message, **details)


async def _strips(trial: Trial, probe: Probe) -> None:
    """Each method on a plain sample, the first also on an awkward one; only the first where others bill each call."""
    if not probe.card.methods:
        trial.add("strips", StepState.WARNING, check_report.WORDLESS, check_report.MOST_CAN)
        return
    answered = sorted(trial.outputs, key=lambda index: (trial.samples[index].awkward, index))
    attempts = [(method, answered[0]) for method in probe.card.methods[: None if probe.card.inside else 1]]
    if probe.card.inside and len(answered) > 1:
        short = [index for index in answered if len(str(trial.samples[index].inputs)) < 400]
        attempts.append((probe.card.methods[0], (short or answered)[-1]))
    took: dict[str, float] = {}
    for method, index in attempts:
        seconds = await _quickest(probe, trial.samples[index].inputs, method)
        took[method] = round(max(seconds, took.get(method, 0.0)), 3)
    message = ", ".join(f"{method} {seconds:.2f} s" for method, seconds in took.items())
    slow = [method for method, seconds in took.items() if seconds > EXPLAIN_SECONDS]
    if slow:
        trial.add("strips", StepState.WARNING, message, REMEDIES["strips"], seconds=took)
    else:
        trial.add("strips", StepState.OK, message, seconds=took)


async def _quickest(probe: Probe, inputs: dict[str, str], method: str) -> float:
    """Seconds that a strip takes; one that seems slow is made again where that is free, since the machine may have
    been busy with something else meanwhile."""
    seconds: list[float] = []
    while not seconds or (seconds[-1] > EXPLAIN_SECONDS and probe.card.inside and len(seconds) < STRIPS):
        seconds.append((await probe.explain(inputs, method))[1])
    return min(seconds)


ASKING_STEPS: dict[str, Callable[[Trial, Probe], Awaitable[None]]] = {
    "answers": _answers,
    "repeats": _repeats,
    "batches": _batches,
    "speed": _speed,
    "strips": _strips,
}


SECONDS = 1.0
"""How long each figure of speed is measured."""


def check(
    model: str | Path, config: TaskConfig, progress: Progress = lambda name: None, seconds: float = SECONDS
) -> ModelCheckReport:
    """Try the model of a folder, zip, installed name, hub id or address against the task's samples.

    Never raises for what is wrong with the model: that is what the report tells. `progress` hears each step's name.
    """
    trial = Trial(config, seconds, progress)
    with tempfile.TemporaryDirectory(prefix="dynabench-check-", ignore_cleanup_errors=True) as scratch:
        going = all(_step(trial, name, work) for name, work in _opening(str(model), Path(scratch)).items())
        if going:
            try:
                asyncio.run(ask(trial))
            finally:
                if close := getattr(trial.model, "close", None):
                    close()
    done = {step.name for step in trial.steps}
    for name in (*OPENING_STEPS, *ASKING_STEPS):
        if name not in done:
            trial.add(name, StepState.SKIPPED, check_report.NOT_REACHED)
    card = trial.card
    return ModelCheckReport(
        str(model), config.id, card.name if card else "", card.version if card else "", (*trial.steps,)
    )
