"""Training of an extractor: a LoRA adapter and a span head that learn where answers begin and end."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from dynabench.kit.errors import Invalid
from dynabench.models.backends.body import SpanHead
from dynabench.models.backends.pieces import Pieces, Reading, read_passage
from dynabench.models.training.adapter import Limits, Plan, Progress, Trained, fit, said, with_adapter
from dynabench.models.training.questions import Question
from dynabench.models.training.recipes import Recipe


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
    question: Question
    window: int
    allowed: tuple[bool, ...] = ()


def train(recipe: Recipe, questions: Sequence[Question], seed: int, limits: Limits, progress: Progress) -> Trained:
    """Train on `questions` as `recipe.adapter` says; deterministic for a seed, a thread count and no time limit."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    settings = recipe.adapter
    body = with_adapter(settings)
    head = SpanHead(body.config.hidden_size)
    examples = [example for question in questions if (example := marked(question, recipe.max_length))]
    if not examples:
        raise Invalid({"train": "No question has its answer within one window."})
    parameters = [p for p in body.parameters() if p.requires_grad] + list(head.parameters())
    plan = Plan(examples, settings, limits, rng)
    fit(parameters, plan, settings, lambda batch: loss_of(body, head, batch, settings.smoothing), progress)
    return Trained(body.eval(), head.eval(), plan.seconds, plan.seen / len(examples), plan.seen)


def marked(question: Question, max_length: int) -> Marked | None:
    """The window in whose middle the answer stands best; None where no window holds all of it."""
    asked, passage = question.inputs.values()
    reading = read_passage(asked, passage, max_length)
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


def loss_of(body: Any, head: nn.Module, batch: Sequence[Marked], smoothing: float = 0.0) -> torch.Tensor:
    """Mean of the cross entropies of start and end, among each window's passage pieces."""
    logits = said(body, head, batch)
    losses = [
        cross_entropy(
            logits[row, example.at : example.at + example.count].T,
            torch.tensor([example.first, example.last], device=logits.device),
            label_smoothing=smoothing,
        )
        for row, example in enumerate(batch)
    ]
    return torch.stack(losses).mean()
