"""Learning a mix by gradient descent: adapters over the shared encoder, or models of the transformers library."""

from dataclasses import replace
from pathlib import Path

from dynabench.errors import Invalid
from dynabench.models import runtime, spec
from dynabench.models.training.descent import Descent, Network, device
from dynabench.models.training.learning import Checkpoints, Learned, Progress, Settings
from dynabench.models.training.mixing import Mix


def learn(mix: Mix, settings: Settings, folder: Path, kept: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
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
    options = network.save(folder)
    plan = network.plan
    what = "All weights" if settings.method == "full" else f"LoRA of rank {plan.rank} on all linear layers"
    told = (
        f"{what} of {_named(settings)}, batches of {plan.batch} of like length, AdamW at {plan.learning_rate:g} with "
        f"warm-up and cosine over {descent.steps / descent.stride:.1f} epochs, label smoothing {plan.smoothing:g}, "
        f"bf16 autocast, on {'a graphics processor' if device().type == 'cuda' else 'a processor'}"
    )
    ended = descent.course.over and descent.step < descent.steps
    return Learned(network.kind, told, descent.course, descent.clock.seconds, descent.seen, ended, options)


def _named(settings: Settings) -> str:
    folder = Path(settings.base).expanduser()
    return spec.read(folder).name if (folder / spec.FILE).is_file() else settings.base


def _network(mix: Mix, settings: Settings) -> Network:
    from dynabench.models.training import networks, sequences

    folder = Path(settings.base).expanduser()
    encoded = (folder / spec.FILE).is_file() and spec.read(folder).kind in ("adapter", "extractor")
    adapted = settings.method == "lora" and (settings.shared or encoded)
    if len(mix.inputs) > 2 or (mix.spans and len(mix.inputs) != 2):
        raise Invalid({"method": "It reads one or two texts, and finds spans in the second of two."})
    if adapted:
        start = None if settings.shared else folder
        return networks.Finding(mix, start) if mix.spans else networks.Labelling(mix, start)
    if mix.spans:
        raise Invalid({"method": "Spans are learnt by lora over the shared encoder alone."})
    return sequences.Sequences(mix, settings)
