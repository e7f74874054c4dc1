"""Learning a mix by gradient descent: adapters over the shared encoder, or models of the transformers library."""

from dataclasses import replace
from pathlib import Path

from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.training.descent import Descent, Network, device
from dynabench.models.training.learning import Checkpoints, Learned, Progress, Settings
from dynabench.models.training.mixing import Mix


def learn(mix: Mix, settings: Settings, folder: Path, kept: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    descent = descended(mix, settings, kept, progress)
    network = descent.network
    options = network.save(folder)
    plan = network.plan
    what = {"full": "All weights", "head": "The head alone"}.get(
        settings.method, f"LoRA of rank {plan.rank} on all linear layers"
    )
    told = (
        f"{what} of {settings.origin}, batches of {plan.batch} of like length, AdamW at {plan.learning_rate:g} with "
        f"warm-up and cosine over {descent.steps / descent.stride:.1f} epochs, label smoothing {plan.smoothing:g}, "
        f"{'bf16 autocast' if runtime.trains_in_bf16(device().type) else 'fp32'}, "
        f"on {'a graphics processor' if device().type == 'cuda' else 'a processor'}"
    )
    ended = descent.course.over and descent.step < descent.steps
    return Learned(network.kind, told, descent.course, descent.clock.seconds, descent.seen, ended, options)


def descended(mix: Mix, settings: Settings, kept: Checkpoints, progress: Progress) -> Descent:
    """A run that is over: its network is the best found, on the device that it was trained on."""
    import torch

    torch.set_num_threads(runtime.cores())
    torch.manual_seed(settings.seed)
    network = _network(mix, settings)
    network.to(device())
    parts = [replace(part, rows=network.read(part.rows)) for part in mix.parts]
    dev = network.read(mix.dev)
    if not any(part.rows for part in parts) or not dev:
        raise Invalid({"train": "No row is left to train on, or none to choose on: give more, or a development set."})
    descent = Descent(network, parts, dev, settings)
    descent.run(kept, progress)
    return descent


def _network(mix: Mix, settings: Settings) -> Network:
    from dynabench.models.training import networks, sequences

    if len(mix.inputs) > 2 or (mix.spans and len(mix.inputs) != 2):
        raise Invalid({"method": "It reads one or two texts, and finds spans in the second of two."})
    begun = settings.begun
    start = Path(settings.base).expanduser() if begun else None
    encoded = settings.shared or (begun is not None and begun.kind in ("adapter", "extractor"))
    if mix.spans:
        if not encoded:
            raise Invalid({"base": "Spans are learnt over the shared encoder alone: name it, or an extractor over it."})
        return networks.Finding(mix, start, frozen=settings.method == "head")
    if settings.method == "lora" and encoded:
        return networks.Labelling(mix, start)
    return sequences.Sequences(mix, settings)
