"""Models that read: classification of texts and of their words, and answers found in a passage."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, stack

from dynabench.evaluate.evaluator.predictors.texts import (
    OVERLAP,
    PASSAGE,
    WINDOW,
    SpanReader,
    Tagger,
    TextLabelPredictor,
    best_span,
)
from dynabench.kit.errors import Invalid
from dynabench.models import words
from dynabench.models.backends.architectures import base, gradients
from dynabench.models.backends.architectures.base import Architecture, computed, portions, refuse
from dynabench.models.backends.base import output, softmax
from dynabench.models.backends.encoder_gradients import log_odds
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.transformers import TransformersOptions
from dynabench.models.kinds import GRADIENTS
from dynabench.models.protocol import SPAN_PARTS, Attribution, Inputs, ModelCard, ModelOutput
from dynabench.models.spec import Spec
from dynabench.models.words import Word, first_words


def matched(own: Sequence[str], task_labels: Sequence[str], label_mapping: Mapping[str, str]) -> list[int]:
    """For each of the model's labels the number of the task's label that it means, shape (len(own),).

    Raises `Invalid` with both sides when one of either has no counterpart.
    """
    folded = {_fold(label): number for number, label in enumerate(task_labels)}
    exact = {label: number for number, label in enumerate(task_labels)}
    label_numbers = [_meant(label, exact, folded, label_mapping) for label in own]
    strangers = [label for label, number in zip(own, label_numbers, strict=True) if number is None]
    missing = [label for number, label in enumerate(task_labels) if number not in label_numbers]
    unknown = [name for name in label_mapping if name not in own]
    if strangers or missing or unknown:
        raise Invalid({"options.labels": _describe_mismatch(own, task_labels, strangers, missing, unknown)})
    return [number for number in label_numbers if number is not None]


def gathered(logits: Tensor, meant: Sequence[int], count: int) -> Tensor:
    """Logits (B, count) of the task's labels from those of the model's (B, len(meant)).

    Where several of the model's labels mean one of the task's, their probabilities add up.
    """
    if list(meant) == list(range(count)):
        return logits
    columns = []
    for label in range(count):
        places = [place for place, number in enumerate(meant) if number == label]
        columns.append(torch.logsumexp(logits[:, places], -1) if len(places) > 1 else logits[:, places[0]])
    return torch.stack(columns, -1)


def _meant(
    label: str, exact: Mapping[str, int], folded: Mapping[str, int], label_mapping: Mapping[str, str]
) -> int | None:
    if label in label_mapping:
        return exact.get(label_mapping[label])
    return exact.get(label, folded.get(_fold(label)))


def _fold(label: str) -> str:
    return label.strip().casefold().replace("_", " ").replace("-", " ")


def _describe_mismatch(
    own: Sequence[str],
    task_labels: Sequence[str],
    strangers: Sequence[str],
    missing: Sequence[str],
    unknown: Sequence[str],
) -> str:
    parts = [f"The model's labels are {_listed(own)}, the task's {_listed(task_labels)}"]
    if strangers:
        parts.append(f"{_listed(strangers)} of the model's mean none of the task's")
    if missing:
        parts.append(f"{_listed(missing)} of the task's are meant by none of the model's")
    if unknown:
        parts.append(f"{_listed(unknown)}, which options.labels names, are none of the model's")
    example = f"{{{(strangers or own or ['LABEL_0'])[0]}: {(missing or task_labels or ['label'])[0]}}}"
    return f"{'; '.join(parts)}. Say which means which, as in labels: {example}."


def _listed(labels: Sequence[str]) -> str:
    beginning = ", ".join(labels[:12])
    return f"{beginning} and {len(labels) - 12} more" if len(labels) > 12 else beginning or "none"


class SequenceClassifier(Architecture):
    """The probability of each label, by softmax."""

    auto = "AutoModelForSequenceClassification"
    predictor = TextLabelPredictor

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        config = self.model.config
        several = config.problem_type == "multi_label_classification" or config.num_labels == 1
        message = "It gives one number, or one for each of labels that may hold together; a choice of one is needed."
        refuse(several, weights=message)
        self.meant = matched(self.run.labels, card.labels, options.labels)

    @classmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """See `Architecture`."""
        refuse(card.returns != "label", returns="A text-classification model returns a label.")
        refuse(len(card.inputs) > 2 or bool(card.images), inputs="It reads one or two texts.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`; what exceeds the model is cut, of two texts from the longer."""
        texts = [[inputs[name]] for name in self.card.inputs]
        row = self.run.encoded(*texts, max_length=self.limit(), truncation=True)[0]
        return row, len(row["input_ids"])

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """See `Architecture`."""
        outputs: dict[int, ModelOutput] = {}
        sizes = [len(row["input_ids"]) for row in rows]
        # The model needs a padding token too: decoders look for the last token before the padding.
        can_pad = self.run.processor.pad_token_id is not None and self.model.config.pad_token_id is not None
        room = self.room if can_pad else 1
        for part in portions(sizes, room):
            with computed(len(part), sizes[part[0]]):
                logits = self.model(**self.run.padded([rows[row] for row in part])).logits.float()
                logits = gathered(logits, self.meant, len(self.card.labels)).cpu().numpy()
            outputs.update((row, output(self.card, row_logits)) for row, row_logits in zip(part, logits, strict=True))
        return [outputs[row] for row in range(len(rows))]

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """By gradients, towards the log-odds of the label against all others."""
        if method not in GRADIENTS:
            return None
        refuse(label not in self.card.labels, label=f"One of {', '.join(self.card.labels)}.")
        texts = [[inputs[name]] for name in self.card.inputs]
        cut = {"max_length": self.limit(), "truncation": True}
        encoding = self.run.processor(*texts, return_offsets_mapping=True, verbose=False, **cut)
        limit = self.limit()
        field_words = tuple(tuple(words.first_words(inputs[name], limit)) for name in self.card.inputs)
        ids = encoding["input_ids"][0]
        owner = gradients.owners(encoding["offset_mapping"][0], encoding.sequence_ids(0), field_words)
        row = {name: values[0] for name, values in encoding.items() if name != "offset_mapping"}
        subject = gradients.ExplanationSubject(
            label,
            self.run.padded([row]),
            partial(self._value, number=self.card.labels.index(label)),
            self.card.inputs,
            Pieces(tuple(ids), (0,) * len(ids), owner, field_words),
            gradients.blank_of(self.run.processor),
        )
        return gradients.explain(self.twin, subject, method)

    def _value(self, model_output: Any, number: int) -> torch.Tensor:
        return log_odds(gathered(model_output.logits.float(), self.meant, len(self.card.labels)), number)


WORDS = 3000
STRIDE = 32
"""Tokens that a window of a long text shares with the next."""
OUTSIDE = ("O", "OUTSIDE", "")
PREFIXES = ("B-", "I-", "E-", "S-", "L-", "U-")


class TokenClassifier(Architecture):
    """Tags of words, by each word's first token, as such models are trained; neighbours of one kind become a span.

    Tags follow IOB2 or its relatives, or are plain labels; `O` is no answer (Ramshaw and Marcus, 1995).
    """

    auto = "AutoModelForTokenClassification"
    predictor = Tagger

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        fast = getattr(self.run.processor, "is_fast", False)
        refuse(not fast, weights="Spans are found by place, which only fast tokenizers know: save tokenizer.json.")
        self.kinds = [None if tag.upper() in OUTSIDE else _bare(tag) for tag in self.run.labels]
        named = list(dict.fromkeys(kind for kind in self.kinds if kind is not None))
        self.meant = dict(zip(named, matched(named, card.labels, options.labels), strict=True))

    @classmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """See `Architecture`."""
        refuse(card.returns != "tags", returns="A token-classification model returns tags.")
        refuse(len(card.inputs) != 1 or bool(card.images), inputs="It reads one text.")
        refuse(not card.labels, labels="Name what spans can be, such as PER and LOC.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`: windows over the text, with the word of each token."""
        text = inputs[self.card.inputs[-1]]
        text_words = first_words(text, WORDS)
        if not text_words:
            return [], 1
        size = self.limit()
        encoding = self.run.processor(
            [text[: text_words[-1].end]],
            truncation=True,
            max_length=size,
            stride=min(STRIDE, size // 3),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoding]
        rows = []
        for number in range(len(encoding["input_ids"])):
            owner = gradients.owners(encoding["offset_mapping"][number], encoding.sequence_ids(number), [text_words])
            row = {name: encoding[name][number] for name in names}
            rows.append(
                {
                    **row,
                    "word": [None if word_owner is None else word_owner[1] for word_owner in owner],
                    "words": text_words,
                }
            )
        return rows, sum(len(row["input_ids"]) for row in rows)

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """See `Architecture`."""
        windows = [window for row in rows for window in row]
        sizes = [len(window["input_ids"]) for window in windows]
        chances_by_window: dict[int, Any] = {}
        for part in portions(sizes, self.room):
            with computed(len(part), sizes[part[0]]):
                logits = self.model(**self.run.padded([windows[at] for at in part], "right")).logits.float()
            chances_by_window.update(zip(part, softmax(logits.cpu().numpy()), strict=True))
        chances = iter([chances_by_window[at] for at in range(len(windows))])
        texts = [inputs[self.card.inputs[-1]] for inputs in batch]
        return [self._output(row, [next(chances) for _ in row], text) for row, text in zip(rows, texts, strict=True)]

    def _output(self, row: Any, chances: Sequence[Any], text: str) -> ModelOutput:
        """Spans, and how likely each span's label is, by text; of two windows the later one reads a word with more
        before it, the earlier one with more behind it: the surer counts."""
        tag_by_word: dict[int, tuple[float, int]] = {}
        for window, window_chances in zip(row, chances, strict=True):
            firsts = {word: at for at, word in reversed(list(enumerate(window["word"]))) if word is not None}
            for word, at in firsts.items():
                tag = int(np.argmax(window_chances[at]))
                tag_by_word[word] = max(tag_by_word.get(word, (0.0, 0)), (float(window_chances[at][tag]), tag))
        spans, likely = self._spans(row[0]["words"] if row else [], tag_by_word, text)
        return ModelOutput({self.card.answer: spans}, likely)

    def _spans(
        self, words: Sequence[Word], tag_by_word: Any, text: str
    ) -> tuple[list[dict[str, Any]], dict[str, float]]:
        spans: list[dict[str, Any]] = []
        chances: list[list[float]] = []
        before = None
        for number in range(len(words)):
            chance, tag = tag_by_word.get(number, (1.0, -1))
            kind = self.kinds[tag] if tag >= 0 else None
            word, own = words[number], self.run.labels[tag] if tag >= 0 else ""
            if kind is not None and kind == before and not own.startswith(("B-", "S-", "U-")):
                spans[-1].update(end=word.end, text=text[spans[-1]["start"] : word.end])
                chances[-1].append(chance)
            elif kind is not None:
                label = self.card.labels[self.meant[kind]]
                spans.append({"start": word.start, "end": word.end, "text": word.text, "label": label})
                chances.append([chance])
            before = kind
        likely = {span["text"]: round(min(chance), 6) for span, chance in zip(spans, chances, strict=True)}
        return spans, likely


def _bare(tag: str) -> str:
    return tag[2:] if tag.startswith(PREFIXES) else tag


"""Words of a passage that are read."""


class Extractor(Architecture):
    """Reads a question and a passage, in this order, a long passage in windows that overlap."""

    auto = "AutoModelForQuestionAnswering"
    predictor = SpanReader

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        self.run.impossible = options.no_answer
        fast = getattr(self.run.processor, "is_fast", False)
        refuse(not fast, weights="Answers are found by place, which only fast tokenizers know: save tokenizer.json.")

    @classmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """See `Architecture`."""
        refuse(card.returns != "spans", returns="A question-answering model returns spans.")
        refuse(len(card.inputs) != 2 or bool(card.images), inputs="It reads two texts, question and passage.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`: windows, with the question before each."""
        question, passage = (inputs[name] for name in self.card.inputs)
        passage_words = words.first_words(passage, WORDS)
        if not passage_words:
            return None, 1
        row = self.run.encode([{"question": question, "context": passage[: passage_words[-1].end]}])[0]
        return row, sum(len(window["input_ids"]) for window in row["windows"])

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """See `Architecture`; a passage without words has no answer."""
        outputs = dict.fromkeys(range(len(rows)), ModelOutput({self.card.answer: []}, {}))
        sizes = [max((len(window["input_ids"]) for window in row["windows"]), default=1) if row else 1 for row in rows]
        for part in portions(sizes, self.room):
            mine = [row for row in part if rows[row] is not None]
            with computed(len(mine), sizes[part[0]]):
                answers = self.run.predict([rows[row] for row in mine]).answers if mine else []
            outputs.update((row, self._output(answer, batch[row])) for row, answer in zip(mine, answers, strict=True))
        return [outputs[row] for row in range(len(rows))]

    def _output(self, answer: Any, inputs: Inputs) -> ModelOutput:
        passage = inputs[self.card.inputs[PASSAGE]]
        start, end = answer["start"], answer["end"]
        if start == end:
            return ModelOutput({self.card.answer: []}, {})
        chance = {passage[start:end]: round(min(answer["score"], 1.0), 6)}
        return ModelOutput({self.card.answer: [{"start": start, "end": end, "text": passage[start:end]}]}, chance)

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
        explanation = gradients.ExplanationSubject(
            label, self.run.padded([window]), value, self.card.inputs, pieces, blank
        )
        return gradients.explain(self.twin, explanation, method)

    def _window(self, row: Any) -> int:
        """The number of the window whose best span is the answer."""
        best = (0.0, 0)
        for number, window in enumerate(row["windows"]):
            with computed(1, WINDOW):
                output = self.model(**self.run.padded([window]))
            starts, ends = (logits[0].float().cpu().numpy() for logits in (output.start_logits, output.end_logits))
            ids, first = window["input_ids"], self.run.processor.cls_token_id
            _, span = best_span(starts, ends, window["spans"], ids.index(first) if first in ids else None)
            best = max(best, (span[0] if span else 0.0, -number))
        return -best[1]

    def _pieces(self, inputs: Inputs, number: int, window: Any) -> Pieces:
        """The window's tokens by the words of question and passage."""
        question, passage = (inputs[name] for name in self.card.inputs)
        words_by_field = tuple(tuple(words.first_words(text, WORDS)) for text in (question, passage))
        size = min(self.run.limit() or WINDOW, WINDOW)
        [short] = self.run._shortened([question], min(64, size // 3))
        encoded = self.run.processor(
            [short],
            [passage[: words_by_field[PASSAGE][-1].end]],
            truncation="only_second",
            max_length=size,
            stride=min(OVERLAP, size // 3),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        ids = window["input_ids"]
        owner = gradients.owners(encoded["offset_mapping"][number], encoded.sequence_ids(number), words_by_field)
        return Pieces(tuple(ids), (0,) * len(ids), owner, words_by_field)


def _odds(output: Any, inside: Sequence[int], side: int, place: int) -> Tensor:
    """Log-odds (B,) of one of the passage's tokens against its others."""
    logits = stack([output.start_logits, output.end_logits], -1).float()
    return log_odds(logits[:, list(inside), side], place)
