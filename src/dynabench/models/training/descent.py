"""Training by gradient descent, with checkpoints and early stopping."""

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import torch
from torch import nn

from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.training import adapter, mixing
from dynabench.models.training.learning import (
    Checkpoints,
    Clock,
    Course,
    DevelopmentResult,
    Learned,
    LearningSettings,
    Progress,
)
from dynabench.models.training.mixing import Mix, MixPart
from dynabench.models.training.recipes import Adapter

EVALUATIONS = 2
"""An epoch."""
SECONDS = 60.0
"""Between checkpoints, where evaluations are further apart."""
CHUNK = 64
"""Development rows that are answered at once."""

Examples = Sequence[Any]
"""Inputs as a network reads them, each with its `pieces`."""


class Network(ABC):
    """The network that is trained: its parameters, its loss on a batch, the way it is written."""

    kind: ClassVar[str]
    plan: Adapter
    """Epochs, batches and rates."""

    @abstractmethod
    def modules(self) -> Mapping[str, nn.Module]:
        """Its parts; what needs a gradient in them is trained."""

    @abstractmethod
    def read(self, rows: Sequence[Any]) -> Examples:
        """Rows as it reads them, without those that it cannot learn from."""

    @abstractmethod
    def loss(self, batch: Examples) -> torch.Tensor:
        """Return the network's loss on a batch."""

    @abstractmethod
    def judge(self, batch: Examples) -> tuple[float, float]:
        """The summed score and cross entropy of a batch; nothing is learnt."""

    @abstractmethod
    def save(self, folder: Path) -> dict[str, Any]:
        """Write the weights; what `model.yaml` has to say under `options`."""

    def parameters(self) -> dict[str, nn.Parameter]:
        """Return the parameters that are trained, by name."""
        return {
            f"{name}.{inner}": value
            for name, module in self.modules().items()
            for inner, value in module.named_parameters()
            if value.requires_grad
        }

    def to(self, device: torch.device) -> None:
        """Move all of it."""
        for module in self.modules().values():
            module.to(device)

    def mode(self, training: bool) -> None:
        """Set the network to learn, or to answer where `training` is false."""
        for module in self.modules().values():
            module.train(training)


class Descent:
    """One run: the weights, the optimizer and the place in the plan, all of which a checkpoint holds."""

    def __init__(self, network: Network, parts: Sequence[MixPart], dev: Examples, settings: LearningSettings) -> None:
        """`parts` have examples as rows; the network is on its device."""
        self.network, self.parts, self.dev, self.settings = network, parts, dev, settings
        self.parameters = network.parameters()
        self.optimizer = adapter.Optimizer(list(self.parameters.values()), network.plan)
        self.step, self.seen = 0, 0
        self.course, self.best = Course(settings.patience), dict[str, torch.Tensor]()
        self.stride = len(self._batches(0))
        self.steps = max(1, round((settings.epochs or network.plan.epochs) * self.stride))
        self.every = max(1, -(-self.stride // EVALUATIONS))
        self.clock = Clock()

    def run(self, checkpoints: Checkpoints, progress: Progress) -> None:
        """Train to the end of the plan, of the patience or of the time; then the weights are the best."""
        self._take_up(checkpoints.load())
        saved = self.clock.seconds
        batches = self._batches(self.step // self.stride)
        while self.step < self.steps and not self.course.over:
            loss = self._learn(batches[self.step % self.stride])
            self.step += 1
            late = self.clock.past(self.settings.minutes)
            if evaluated := (late or self.step % self.every == 0 or self.step == self.steps):
                self._evaluate()
            if evaluated or self.clock.seconds - saved > SECONDS:
                checkpoints.keep(self._state())
                saved = self.clock.seconds
            progress("training", self.step / self.steps, self._remark(loss))
            if late:
                break
            if self.step % self.stride == 0:
                batches = self._batches(self.step // self.stride)
        self._set(self.best)
        progress("training", 1.0, self._remark(-self.course.best[1].gain))

    def _remark(self, loss: float) -> str:
        dev = f", dev {self.course.best[1].score:.3f}" if self.course.evaluations else ""
        return f"loss {loss:.3f}{dev}"

    def _batches(self, epoch: int) -> list[list[Any]]:
        drawn = mixing.epoch(self.parts, self.settings.seed, epoch)
        rng = Random(f"{self.settings.seed} order {epoch}")
        examples = [self.parts[part].rows[row] for part, row in drawn]
        return list(adapter.shuffled(examples, self.network.plan.batch, rng))

    def _learn(self, batch: Examples) -> float:
        self.network.mode(training=True)
        loss = self.optimizer.step(self.network.loss(batch), self.step / self.steps)
        self.seen += len(batch)
        return loss

    def _evaluate(self) -> None:
        self.network.mode(training=False)
        order = sorted(self.dev, key=lambda example: len(example.pieces))
        with torch.no_grad():
            sums = [self.network.judge(order[start : start + CHUNK]) for start in range(0, len(order), CHUNK)]
        score, lost = (sum(values) / len(order) for values in zip(*sums, strict=True))
        if self.course.add(round(self.step / self.stride, 3), DevelopmentResult(round(score, 6), round(-lost, 6))):
            self.best = {name: value.detach().clone() for name, value in self.parameters.items()}

    @torch.no_grad()
    def _set(self, values: Mapping[str, torch.Tensor]) -> None:
        for name, value in values.items():
            self.parameters[name].copy_(value)

    def _state(self) -> bytes:
        file = io.BytesIO()
        torch.save(
            {
                "step": self.step,
                "seen": self.seen,
                "seconds": self.clock.seconds,
                "course": self.course.as_rows(),
                "now": {name: value.detach() for name, value in self.parameters.items()},
                "best": self.best,
                "optimizer": self.optimizer.inner.state_dict(),
                "drawn": torch.get_rng_state(),
                "drawn on device": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            },
            file,
        )
        return file.getvalue()

    def _take_up(self, state: bytes | None) -> None:
        if state is None:
            return
        saved = torch.load(io.BytesIO(state), map_location="cpu", weights_only=True)
        self.step, self.seen, self.clock = saved["step"], saved["seen"], Clock(saved["seconds"])
        self.course = Course.of(self.settings.patience, saved["course"])
        self._set(saved["now"])
        self.best = {name: value.to(self.parameters[name].device) for name, value in saved["best"].items()}
        self.optimizer.inner.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["drawn"])
        if saved["drawn on device"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(saved["drawn on device"])


def learn(mix: Mix, settings: LearningSettings, folder: Path, checkpoints: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    descent = run_descent(mix, settings, checkpoints, progress)
    network = descent.network
    options = network.save(folder)
    plan = network.plan
    part = {"full": "All weights", "head": "The head alone"}.get(
        settings.method, f"LoRA of rank {plan.rank} on all linear layers"
    )
    description = (
        f"{part} of {settings.origin}, batches of {plan.batch} of like length, AdamW at {plan.learning_rate:g} with "
        f"warm-up and cosine over {descent.steps / descent.stride:.1f} epochs, label smoothing {plan.smoothing:g}, "
        f"{'bf16 autocast' if runtime.trains_in_bf16(adapter.device().type) else 'fp32'}, "
        f"on {'a graphics processor' if adapter.device().type == 'cuda' else 'a processor'}"
    )
    ended = descent.course.over and descent.step < descent.steps
    return Learned(network.kind, description, descent.course, descent.clock.seconds, descent.seen, ended, options)


def run_descent(mix: Mix, settings: LearningSettings, checkpoints: Checkpoints, progress: Progress) -> Descent:
    """A run that is over: its network is the best found, on the device that it was trained on."""
    import torch

    torch.set_num_threads(runtime.cores())
    torch.manual_seed(settings.seed)
    network = _network(mix, settings)
    network.to(adapter.device())
    parts = [replace(part, rows=network.read(part.rows)) for part in mix.parts]
    dev = network.read(mix.dev)
    if not any(part.rows for part in parts) or not dev:
        raise Invalid({"train": "No row is left to train on, or none to choose on: give more, or a development set."})
    descent = Descent(network, parts, dev, settings)
    descent.run(checkpoints, progress)
    return descent


def _network(mix: Mix, settings: LearningSettings) -> Network:
    from dynabench.models.training import networks

    if len(mix.inputs) > 2 or (mix.spans and len(mix.inputs) != 2):
        raise Invalid({"method": "It reads one or two texts, and finds spans in the second of two."})
    begun = settings.begun
    start = Path(settings.base).expanduser() if begun else None
    encoded = settings.shared or (begun is not None and begun.kind in ("adapter", "extractor"))
    if mix.spans:
        if not encoded:
            raise Invalid({"base": "Spans are learnt over the shared encoder alone: name it, or an extractor over it."})
        return networks.SpanFinder(mix, start, frozen=settings.method == "head")
    if settings.method == "lora" and encoded:
        return networks.Labelling(mix, start)
    return networks.Sequences(mix, settings)
