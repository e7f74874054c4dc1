"""Training of LoRA adapters and their heads over the shared encoder: classifiers, and extractors of answers."""

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from torch.nn.functional import cross_entropy

from dynabench.kit.errors import Invalid
from dynabench.models import encoder
from dynabench.models.backends.body import Head, SpanHead, pad
from dynabench.models.backends.pieces import CLS, SEP, Pieces, Reading, encode, read_passage
from dynabench.models.runtime import trains_in_bf16
from dynabench.models.training.recipes import Adapter, Recipe
from dynabench.models.training.rows import TrainingQuestion, TrainingRow

Progress = Callable[[float, float], None]
"""Called with the share done (0 to 1) and the current loss."""

E = TypeVar("E", bound=Any)
"""Training inputs of any kind, each with its `pieces` and with what it `allowed`."""

TARGETS = ["query", "key", "value", "dense"]
POOL = 50
"""Batches that are drawn together and sorted by length, so that a batch holds inputs of like length."""


@dataclass(frozen=True)
class TrainingLimits:
    """The limits at which training stops, at the first that is reached; None leaves it to the recipe's epochs."""

    epochs: float | None = None
    minutes: float | None = None


def device() -> torch.device:
    """A graphics processor where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class Trained:
    """The trained parts and what they cost."""

    encoder: Any
    head: nn.Module
    seconds: float
    epochs: float
    examples: int


def train(recipe: Recipe, rows: Sequence[Any], seed: int, limits: TrainingLimits, progress: Progress) -> Trained:
    """Train a classifier on rows, or an extractor on questions, as `recipe.adapter` says.

    Deterministic on a processor for a seed, a thread count and no time limit; quicker on a graphics processor.
    """
    torch.manual_seed(seed)
    rng = random.Random(seed)
    settings = recipe.adapter
    body = with_adapter(settings)
    width = body.config.hidden_size
    head: nn.Module
    examples: Sequence[Any]
    if recipe.kind == "extractor":
        head = SpanHead(width)
        examples = [example for question in rows if (example := mark_answer(question, recipe.max_length))]
        if not examples:
            raise Invalid({"train": "No question has its answer within one window."})
    else:
        head = Head(width, len(recipe.labels), settings.head_dropout)
        examples = examples_of(rows, recipe.inputs, recipe.labels, recipe.max_length)

    body.to(device())
    head.to(device())

    def loss(batch: Sequence[Any]) -> torch.Tensor:
        if recipe.kind == "extractor":
            return span_loss(head_outputs(body, head, batch), batch, settings.smoothing)
        thinned = [_thinned(example, settings.word_dropout, rng) for example in batch]
        return label_loss(head_outputs(body, head, thinned), thinned, settings.smoothing)

    plan = TrainingSchedule(examples, settings, limits, rng)
    fit([*(p for p in body.parameters() if p.requires_grad), *head.parameters()], plan, settings, loss, progress)
    return Trained(body.eval(), head.eval(), plan.seconds, plan.seen / len(examples), plan.seen)


def with_adapter(settings: Adapter) -> Any:
    """The encoder with an untrained adapter on all its linear layers, ready to be trained."""
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=TARGETS,
        bias="none",
    )
    return get_peft_model(encoder.load(settings.attention), config).train()


def fit(
    parameters: Sequence[nn.Parameter],
    plan: "TrainingSchedule[E]",
    settings: Adapter,
    loss_of: Callable[[Sequence[E]], torch.Tensor],
    progress: Progress,
) -> None:
    """Train `parameters` on the plan's batches; they end as their last values or as a mean of late ones."""
    optimizer = Optimizer(parameters, settings)
    mean = Mean(parameters)
    while (done := plan.done) < 1:
        loss = optimizer.step(loss_of(plan.batch()), done)
        if plan.done > 1 - settings.average:
            mean.add()
        progress(min(plan.done, 1.0), loss)
    if settings.average:
        mean.apply()


class Optimizer:
    """AdamW with linear warm-up, a cosine down to a hundredth of the learning rate, and clipped gradients."""

    def __init__(self, parameters: Sequence[nn.Parameter], settings: Adapter) -> None:
        self.inner = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self._parameters, self._settings = parameters, settings

    def step(self, loss: torch.Tensor, done: float) -> float:
        """Learn from the loss of a batch when a share `done` of the training is over; return the loss."""
        warmup = self._settings.warmup
        factor = done / warmup if done < warmup else 0.5 * (1 + math.cos(math.pi * (done - warmup) / (1 - warmup)))
        for group in self.inner.param_groups:
            group["lr"] = self._settings.learning_rate * max(factor, 0.01)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self.inner.step()
        self.inner.zero_grad(set_to_none=True)
        return float(loss.detach())


class Mean:
    """The running mean of some parameters' values."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self._parameters = list(parameters)
        self._means = [torch.zeros_like(p) for p in self._parameters]
        self._count = 0

    @torch.no_grad()
    def add(self) -> None:
        """Take the present values into the mean."""
        self._count += 1
        for mean, parameter in zip(self._means, self._parameters, strict=True):
            mean.lerp_(parameter, 1 / self._count)

    @torch.no_grad()
    def apply(self) -> None:
        """Set the parameters to the mean; without any values taken they stay."""
        if self._count:
            for mean, parameter in zip(self._means, self._parameters, strict=True):
                parameter.copy_(mean)


@dataclass(frozen=True)
class TrainingInput:
    """One training input: pieces, label index, and a mask (labels,) that is 0 where a label was no choice."""

    pieces: Pieces
    label: int
    allowed: tuple[bool, ...]


def examples_of(
    rows: Sequence[TrainingRow], inputs: Sequence[str], labels: Sequence[str], max_length: int
) -> list[TrainingInput]:
    """Rows as they are trained on."""
    pieces = encode([row.inputs for row in rows], inputs, max_length)
    return [
        TrainingInput(p, labels.index(row.label), allowed(row, labels)) for p, row in zip(pieces, rows, strict=True)
    ]


def allowed(row: TrainingRow, labels: Sequence[str]) -> tuple[bool, ...]:
    """Return for each label whether the row's annotators could choose it."""
    return tuple(not row.among or name in row.among for name in labels)


@dataclass(frozen=True)
class Marked:
    """One training input: a window of pieces, in which the passage has `count` pieces from `at` on, and the answer's
    first and last piece, counted from there. It is window number `window` of the `question`'s passage.
    """

    pieces: Pieces
    at: int
    count: int
    first: int
    last: int
    question: TrainingQuestion
    window: int
    allowed: tuple[bool, ...] = ()


def mark_answer(question: TrainingQuestion, max_length: int) -> Marked | None:
    """The window in whose middle the answer stands best; None where no window holds all of it."""
    question_text, passage = question.inputs.values()
    reading = read_passage(question_text, passage, max_length)
    place = _place(reading, question.start, question.start + len(question.answers[0]))
    if place is None:
        return None
    first, last = place
    holding = [at for at, w in enumerate(reading.windows) if w.first <= first and last < w.first + w.count]
    if not holding:
        return None
    margins = {at: min(first - w.first, w.first + w.count - last) for at, w in enumerate(reading.windows)}
    chosen = max(holding, key=margins.__getitem__)
    window = reading.windows[chosen]
    slim = Pieces(window.pieces.ids, window.pieces.types, (), ())  # tens of thousands are kept: no words with them
    return Marked(slim, window.at, window.count, first - window.first, last - window.first, question, chosen)


def _place(reading: Reading, start: int, end: int) -> tuple[int, int] | None:
    """First and last piece of the words that characters `start` to `end` of the passage touch."""
    touched = [
        piece
        for piece, word in enumerate(reading.word)
        if reading.words[word].start < end and start < reading.words[word].end
    ]
    return (touched[0], touched[-1]) if touched else None


class TrainingSchedule(Generic[E]):
    """The order of the batches, and the share of the training that is done.

    All rows come first, then those with all labels to choose from.
    """

    def __init__(self, examples: Sequence[E], settings: Adapter, limits: TrainingLimits, rng: random.Random) -> None:
        full = [example for example in examples if all(example.allowed)]
        scale = limits.epochs / (settings.epochs + settings.final_epochs) if limits.epochs else 1.0
        first, final = scale * settings.epochs * len(examples), scale * settings.final_epochs * len(full)
        self.seen = 0
        self._planned = max(first + final, 1.0)
        self._switch = first / self._planned
        self._batches = [_batches(part, settings.batch, rng) for part in (examples, full or examples)]
        self._started = time.monotonic()
        self._limit = 60 * limits.minutes if limits.minutes else None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def done(self) -> float:
        """Share of the examples seen or of the time used, whichever is larger."""
        return max(self.seen / self._planned, self.seconds / self._limit if self._limit else 0.0)

    def batch(self) -> list[E]:
        """The next batch."""
        batch = next(self._batches[self.done >= self._switch])
        self.seen += len(batch)
        return batch


def _batches(examples: Sequence[E], size: int, rng: random.Random) -> Iterator[list[E]]:
    """Batches for ever: shuffled anew each epoch, sorted by length within pools, pools' batches shuffled."""
    while True:
        yield from shuffled(examples, size, rng)


def shuffled(examples: Sequence[E], size: int, rng: random.Random) -> Iterator[list[E]]:
    """The batches of one epoch."""
    order = list(examples)
    rng.shuffle(order)
    for start in range(0, len(order), size * POOL):
        pool = sorted(order[start : start + size * POOL], key=lambda example: len(example.pieces))
        batches = [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(batches)
        yield from batches


def _thinned(example: TrainingInput, share: float, rng: random.Random) -> TrainingInput:
    """Half of the time, the example without a random share of its pieces, so that deletions are nothing unheard of."""
    if not share or rng.random() < 0.5:
        return example
    old = example.pieces
    indices = [i for i, piece in enumerate(old.ids) if piece in (CLS, SEP) or rng.random() >= share]
    thin = Pieces(
        tuple(old.ids[i] for i in indices),
        tuple(old.types[i] for i in indices),
        tuple(old.owner[i] for i in indices),
        old.words,
    )
    return TrainingInput(thin, example.label, example.allowed)


def head_outputs(body: Any, head: nn.Module, batch: Sequence[Any]) -> torch.Tensor:
    """Return the head's output for a batch's `pieces`, on the device that the head is on."""
    device = next(head.parameters()).device
    ids, types, mask = (part.to(device) for part in pad([example.pieces for example in batch]))
    with torch.autocast(device.type, torch.bfloat16, enabled=trains_in_bf16(device.type)):
        states = body(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
    logits: torch.Tensor = head(states.float(), mask)
    return logits


def label_loss(logits: torch.Tensor, batch: Sequence[Any], smoothing: float) -> torch.Tensor:
    """Mean cross entropy of logits (B, labels) for a batch of what has a `label` and the labels `allowed`."""
    allowed = torch.tensor([example.allowed for example in batch], device=logits.device)
    # A label that was no choice gets a large negative logit rather than -inf, so that smoothing stays finite.
    logits = torch.where(allowed, logits, logits.detach().amin(-1, keepdim=True) - 8.0)
    labels = torch.tensor([example.label for example in batch], device=logits.device)
    return cross_entropy(logits, labels, label_smoothing=smoothing)


def span_loss(logits: torch.Tensor, batch: Sequence[Marked], smoothing: float = 0.0) -> torch.Tensor:
    """Mean of the cross entropies of start and end, among each window's passage pieces, of logits (B, T, 2)."""
    at, count, first, last = torch.tensor(
        [(example.at, example.count, example.first, example.last) for example in batch], device=logits.device
    ).T
    place = torch.arange(logits.shape[1], device=logits.device)[None, :, None]  # (1, T, 1)
    outside = (place < at[:, None, None]) | (place >= (at + count)[:, None, None])
    log_shares = logits.masked_fill(outside, -torch.inf).log_softmax(1)
    right = torch.stack([at + first, at + last], 1)[:, None]  # (B, 1, 2)
    losses = -log_shares.gather(1, right).squeeze(1)
    if smoothing:
        spread = -log_shares.masked_fill(outside, 0.0).sum(1) / count[:, None]
        losses = (1 - smoothing) * losses + smoothing * spread
    return losses.mean()


def save(trained: Trained, folder: Path) -> None:
    """Write `adapter/` and `head.safetensors` in half precision: half the size, the same answers."""
    from safetensors.torch import load_file, save_file

    target = folder / "adapter"
    trained.encoder.cpu().save_pretrained(target)
    (target / "README.md").unlink(missing_ok=True)
    config = json.loads((target / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = encoder.HUB_ID  # not the folder that it was found in on this machine
    config["target_modules"] = sorted(config["target_modules"])  # a set, in another order each time
    (target / "adapter_config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    weights = target / "adapter_model.safetensors"
    for path, tensors in (
        (weights, load_file(weights)),
        (folder / "head.safetensors", trained.head.cpu().state_dict()),
    ):
        save_file({name: value.half().contiguous() for name, value in tensors.items()}, path)
        path.chmod(0o644)
