"""Extractive question answering: where in the last input the answer stands, in code points."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import Tensor, stack

from dynabench.evaluate.evaluator.predictors.texts import OVERLAP, PASSAGE, WINDOW, SpanReader, best_span
from dynabench.models import words
from dynabench.models.attribution.gradient import log_odds
from dynabench.models.backends.architectures import base, gradients
from dynabench.models.backends.architectures.base import Architecture, computed, portions, refuse
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.transformers import Options
from dynabench.models.kinds import GRADIENTS
from dynabench.models.protocol import SPAN_PARTS, Attribution, Card, Inputs, Output
from dynabench.models.spec import Spec

WORDS = 3000
"""Words of a passage that are read."""


class Extractor(Architecture):
    """Reads a question and a passage, in this order, a long passage in windows that overlap."""

    auto = "AutoModelForQuestionAnswering"
    predictor = SpanReader

    def __init__(self, card: Card, details: Spec, options: Options, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        self.run.impossible = options.no_answer
        fast = getattr(self.run.processor, "is_fast", False)
        refuse(not fast, weights="Answers are found by place, which only fast tokenizers know: save tokenizer.json.")

    @classmethod
    def fits(cls, card: Card, options: Options) -> None:
        """See `Architecture`."""
        refuse(card.returns != "spans", returns="A question-answering model returns spans.")
        refuse(len(card.inputs) != 2 or bool(card.images), inputs="It reads two texts, question and passage.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`: windows, with the question before each."""
        question, passage = (inputs[name] for name in self.card.inputs)
        said = words.first_words(passage, WORDS)
        if not said:
            return None, 1
        row = self.run.encode([{"question": question, "context": passage[: said[-1].end]}])[0]
        return row, sum(len(window["input_ids"]) for window in row["windows"])

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[Output]:
        """See `Architecture`; a passage without words has no answer."""
        found = dict.fromkeys(range(len(rows)), Output({self.card.answer: []}, {}))
        sizes = [max((len(window["input_ids"]) for window in row["windows"]), default=1) if row else 1 for row in rows]
        for part in portions(sizes, self.room):
            mine = [row for row in part if rows[row] is not None]
            with computed(len(mine), sizes[part[0]]):
                said = self.run.predict([rows[row] for row in mine]).answers if mine else []
            found.update((row, self._output(one, batch[row])) for row, one in zip(mine, said, strict=True))
        return [found[row] for row in range(len(rows))]

    def _output(self, said: Any, inputs: Inputs) -> Output:
        passage = inputs[self.card.inputs[PASSAGE]]
        start, end = said["start"], said["end"]
        if start == end:
            return Output({self.card.answer: []}, {})
        chance = {passage[start:end]: round(min(said["score"], 1.0), 6)}
        return Output({self.card.answer: [{"start": start, "end": end, "text": passage[start:end]}]}, chance)

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """By gradients, towards the log-odds among all places of the passage, within the window in which the answer was
        read, of the answer's beginning there (`label` is `start`) or ending there (`end`).
        """
        if method not in GRADIENTS:
            return None
        refuse(label not in SPAN_PARTS, label=f"One of {', '.join(SPAN_PARTS)}.")
        row, _ = self.encode(inputs)
        answer = self.answer([row], [inputs])[0].answer[self.card.answer]
        if not answer:
            return Attribution(method, label, {name: [] for name in self.card.inputs})
        number = self._window(row)
        window = row["windows"][number]
        inside = [at for at, span in enumerate(window["spans"]) if span is not None]
        ends = [at for at in inside if window["spans"][at][SPAN_PARTS.index(label)] == answer[0][label]]
        place = inside.index(ends[0] if label == "start" else ends[-1])
        value = partial(_odds, inside=inside, side=SPAN_PARTS.index(label), place=place)
        pieces = self._pieces(inputs, number, window)
        blank = gradients.blank_of(self.run.processor)
        asked = gradients.Asked(label, self.run.padded([window]), value, self.card.inputs, pieces, blank)
        return gradients.explain(self.twin, asked, method)

    def _window(self, row: Any) -> int:
        """The number of the window whose best span is the answer."""
        best = (0.0, 0)
        for number, window in enumerate(row["windows"]):
            with computed(1, WINDOW):
                said = self.model(**self.run.padded([window]))
            starts, ends = (one[0].float().cpu().numpy() for one in (said.start_logits, said.end_logits))
            ids, first = window["input_ids"], self.run.processor.cls_token_id
            _, span = best_span(starts, ends, window["spans"], ids.index(first) if first in ids else None)
            best = max(best, (span[0] if span else 0.0, -number))
        return -best[1]

    def _pieces(self, inputs: Inputs, number: int, window: Any) -> Pieces:
        """The window's tokens by the words of question and passage."""
        question, passage = (inputs[name] for name in self.card.inputs)
        said = tuple(tuple(words.first_words(text, WORDS)) for text in (question, passage))
        size = min(self.run.limit() or WINDOW, WINDOW)
        [short] = self.run._shortened([question], min(64, size // 3))
        found = self.run.processor(
            [short],
            [passage[: said[PASSAGE][-1].end]],
            truncation="only_second",
            max_length=size,
            stride=min(OVERLAP, size // 3),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        ids = window["input_ids"]
        owner = gradients.owners(found["offset_mapping"][number], found.sequence_ids(number), said)
        return Pieces(tuple(ids), (0,) * len(ids), owner, said)


def _odds(said: Any, inside: Sequence[int], side: int, place: int) -> Tensor:
    """Log-odds (B,) of one of the passage's tokens against its others."""
    logits = stack([said.start_logits, said.end_logits], -1).float()
    return log_odds(logits[:, list(inside), side], place)
