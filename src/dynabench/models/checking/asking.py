"""The steps that ask a loaded model: answers, batches, repetition, speed, strips."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

from dynabench.language import Amount, _, joined
from dynabench.models import samples
from dynabench.models.checking.memory import resident
from dynabench.models.checking.probe import Probe, difference
from dynabench.models.checking.report import State
from dynabench.models.checking.trial import REMEDIES, Failed, Trial, failed, told
from dynabench.models.client import EXPLAIN_SECONDS
from dynabench.settings import get_settings

SHOWN = 3
"""Samples named in a message."""
DRAWN = 2
"""Samples that a model is asked to draw: each is paid for, and drawn otherwise every time."""
WIDE = 0.02
"""Differences of probabilities that people would see."""


async def ask(trial: Trial) -> None:
    """The steps that ask the model; all are tried where single samples fail, none where none is answered."""
    draws = trial.model.card.returns == "pictures"
    trial.samples = samples.of(trial.config)[: DRAWN if draws else None]
    probe = Probe(trial.model)
    try:
        for name, work in STEPS.items():
            if draws and name != "answers":
                trial.add(name, "skipped", _("each picture is drawn anew, and paid for"))
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
            broken[index] = told(error)
            if not trial.outputs and len(broken) == SHOWN:  # it answers nothing; every further try may cost a minute
                break
    if broken:
        some = [joined(": ", (trial.samples[index].told(), broken[index])) for index in list(broken)[:SHOWN]]
        n = len(broken) + len(trial.outputs)
        message = joined("\n", (_("%(some)s of %(n)s samples have no valid answer", some=len(broken), n=n), *some))
        raise Failed(message, REMEDIES["answers"], broken={trial.samples[i].told(): why for i, why in broken.items()})
    said = {str(output.answer[probe.card.answer]) for output in trial.outputs.values()}
    message = _("all %(n)s samples, %(kinds)s different answers", n=len(trial.outputs), kinds=len(said))
    if len(said) == 1:
        remedy = _("It says the same each time: is it trained?")
        trial.add("answers", "warning", joined(": ", (message, said.pop()[:40])), remedy)
    else:
        trial.add("answers", "ok", message)


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
    _compared(trial, "batches", _("alone, in a batch and in another order"), moved, widest)


async def _repeats(trial: Trial, probe: Probe) -> None:
    again = [(index, await probe.alone(trial.samples[index].inputs)) for index in sorted(trial.outputs)[:SHOWN]]
    found = [(index, *difference(probe.card, trial.outputs[index], output)) for index, output in again]
    moved = [index for index, same, _ in found if not same]
    _compared(trial, "repeats", _("when asked again"), moved, max(gap for *_, gap in found))


def _compared(trial: Trial, name: str, when: str, moved: Sequence[int], gap: float) -> None:
    """Another label is a failure between batches and a warning between repetitions; other probabilities a warning."""
    changed = [trial.samples[index].told() for index in moved]
    state: State = "warning" if moved or gap > WIDE else "ok"
    message, why = _("the same answers %(when)s (within %(gap)s)", when=when, gap=f"{gap:.1g}"), name
    if moved:
        differ = _("%(n)s answers differ %(when)s", n=len(moved), when=when)
        message = joined("\n", [differ, *changed[:SHOWN]])
    elif gap > WIDE:
        message = _("probabilities differ by up to %(gap)s %(when)s", gap=f"{gap:.3g}", when=when)
    if name == "batches" and any(step.state != "ok" for step in trial.steps if step.name == "repeats"):
        why = "repeats"  # what changes by itself cannot be blamed on the batch
    elif name == "batches" and moved:
        state = "failed"
    trial.add(name, state, message, "" if state == "ok" else REMEDIES[why], difference=round(gap, 6), changed=changed)


async def _speed(trial: Trial, probe: Probe) -> None:
    rows = [trial.samples[index].inputs for index in sorted(trial.outputs) if not trial.samples[index].awkward]
    found = await probe.speed(rows or [trial.samples[min(trial.outputs)].inputs], trial.seconds)
    limit = probe.card.seconds or get_settings().answer_seconds
    memory = resident()
    message = _(
        "p50 %(p50)s ms, p95 %(p95)s ms; %(rate)s answers/s in batches of 16",
        p50=Amount(found.p50, ".1f"),
        p95=Amount(found.p95, ".1f"),
        rate=Amount(found.rate, ".0f"),
    )
    if memory is not None:
        message = _("%(speed)s; %(size)s MB resident", speed=message, size=Amount(memory / 1e6, ".0f"))
    details = {**asdict(found), "limit_ms": limit * 1000, "resident_bytes": memory}
    if found.p95 > limit * 1000:
        told_limit = message + "\n" + _("annotators wait %(limit)s s at most", limit=f"{limit:g}")
        trial.add("speed", "failed", told_limit, REMEDIES["speed"], **details)
    else:
        trial.add("speed", "ok", message, **details)


async def _strips(trial: Trial, probe: Probe) -> None:
    """Each method on a plain sample, the first also on an awkward one; only the first where others bill each call."""
    if not probe.card.methods:
        why = _("it cannot say which words it looked at")
        trial.add("strips", "warning", why, _("Most backends can; see its kind."))
        return
    answered = sorted(trial.outputs, key=lambda index: (trial.samples[index].awkward, index))
    asked = [(method, answered[0]) for method in probe.card.methods[: None if probe.card.inside else 1]]
    if probe.card.inside and len(answered) > 1:
        short = [index for index in answered if len(str(trial.samples[index].inputs)) < 400]
        asked.append((probe.card.methods[0], (short or answered)[-1]))
    took: dict[str, float] = {}
    for method, index in asked:
        seconds = (await probe.explain(trial.samples[index].inputs, method))[1]
        took[method] = round(max(seconds, took.get(method, 0.0)), 3)
    message = joined(
        ", ",
        [
            _("%(method)s %(seconds)s s", method=method, seconds=Amount(seconds, ".2f"))
            for method, seconds in took.items()
        ],
    )
    slow = [method for method, seconds in took.items() if seconds > EXPLAIN_SECONDS]
    if slow:
        trial.add("strips", "warning", message, REMEDIES["strips"], seconds=took)
    else:
        trial.add("strips", "ok", message, seconds=took)


STEPS: dict[str, Callable[[Trial, Probe], Awaitable[None]]] = {
    "answers": _answers,
    "repeats": _repeats,
    "batches": _batches,
    "speed": _speed,
    "strips": _strips,
}
