"""Predictors of texts' labels, tags and spans.

The conventions are those of the question-answering pipeline of transformers 4: passages longer than a window
of 384 tokens are read in windows that overlap by 128, probabilities are taken among the passage's tokens and
the first token, a span's score is the product of its ends' probabilities, an answer has at most 15 tokens and
covers whole words.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.evaluator.predictors.base import NetworkPredictor, PredictedBatch, tokens_of


class TextLabelPredictor(NetworkPredictor):
    """The likeliest label of each text (or pair) and its probability."""

    auto = "AutoModelForSequenceClassification"

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Tokenize texts, or dictionaries of `text` and `text_pair`."""
        if not inputs or isinstance(inputs[0], str):
            return self.encoded(list(inputs))
        return self.encoded([pair["text"] for pair in inputs], [pair["text_pair"] for pair in inputs])

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the tokens of each row."""
        return [len(row["input_ids"]) for row in encoded]

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return labels with probabilities of each row."""
        if self.model.config.pad_token_id is None and len({len(row["input_ids"]) for row in rows}) > 1:
            answers = [self._label_rows([row])[0] for row in rows]  # without a padding token, rows cannot be filled up
        else:
            answers = self._label_rows(rows)
        return PredictedBatch(answers, tokens_of(rows))

    def _label_rows(self, rows: list[Any]) -> list[Any]:
        return label_probabilities(self.model(**self.padded(rows)).logits, self.labels, self.whole)


def label_probabilities(logits: Any, labels: Sequence[str], whole: bool = False) -> list[Any]:
    """Return `{label, score}` of the largest of the logits (n, labels), or with `whole` a list of all labels.

    Scores are probabilities; one logit alone goes through a sigmoid.
    """
    chances = logits.float().sigmoid() if logits.shape[-1] == 1 else logits.float().softmax(-1)
    if whole:
        rows = chances.tolist()
        return [[{"label": label, "score": score} for label, score in zip(labels, row, strict=True)] for row in rows]
    scores, places = chances.max(-1)
    return [
        {"label": labels[place], "score": score} for score, place in zip(scores.tolist(), places.tolist(), strict=True)
    ]


class Tagger(NetworkPredictor):
    """Tags of all tokens with the places, in characters, where the tokens begin.

    Tokens beyond the limit are not read.
    """

    auto = "AutoModelForTokenClassification"

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Tokenize texts. Raises ValueError for a tokenizer that does not know the places of its tokens."""
        if not getattr(self.processor, "is_fast", False):
            raise ValueError("tags are matched with words by place: use a fast tokenizer, which knows places")
        return self.encoded(list(inputs), return_offsets_mapping=True, return_special_tokens_mask=True)

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Tokens."""
        return [len(row["input_ids"]) for row in encoded]

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """For each row `{entity, start}` of each token that is part of the text."""
        chosen = self.model(**self.padded(rows, "right")).logits.argmax(-1).tolist()
        answers = [
            [
                {"entity": self.labels[tag], "start": int(place[0])}
                for tag, place, special in zip(tags, row["offset_mapping"], row["special_tokens_mask"], strict=False)
                if not special
            ]
            for row, tags in zip(rows, chosen, strict=True)
        ]
        return PredictedBatch(answers, tokens_of(rows))


WINDOW, OVERLAP, QUESTION, ANSWER = 384, 128, 64, 15
PASSAGE = 1  # the passage is the second text
Floats = NDArray[np.floating[Any]]


class SpanReader(NetworkPredictor):
    """The likeliest span of each passage; with `impossible`, an empty one where "no answer" is likelier."""

    auto = "AutoModelForQuestionAnswering"
    impossible = False

    def answer_settings(self) -> bool:
        """Return whether "no answer" is allowed."""
        return self.impossible

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Tokenize dictionaries of `question` and `context`; rows become windows over the context.

        Raises ValueError for a tokenizer that does not know the places of tokens.
        """
        if not getattr(self.processor, "is_fast", False):
            raise ValueError("answers are found by place: use a fast tokenizer, which knows places")
        size = min(self.limit() or WINDOW, WINDOW)
        questions = self._shortened([item["question"] for item in inputs], min(QUESTION, size // 3))
        encoding = self.processor(
            questions,
            [item["context"] for item in inputs],
            truncation="only_second",
            max_length=size,
            stride=min(OVERLAP, size // 3),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        rows: list[dict[str, Any]] = [{"context": item["context"], "windows": []} for item in inputs]
        model_reads = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoding]
        for number, owner in enumerate(encoding["overflow_to_sample_mapping"]):
            window = {name: encoding[name][number] for name in model_reads}
            window["spans"] = _word_spans(encoding, number)
            rows[owner]["windows"].append(window)
        return rows

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the tokens of all windows of each row."""
        return [tokens_of(row["windows"]) for row in encoded]

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return `{answer, score, start, end, no_answer}`.

        The text, its place, and the probability that there is none.
        """
        windows = [window for row in rows for window in row["windows"]]
        ends: list[tuple[Floats, Floats]] = []
        for start in range(0, len(windows), len(rows)):
            batch = windows[start : start + len(rows)]
            output = self.model(**self.padded(batch, "right"))
            ends += zip(output.start_logits.float().cpu().numpy(), output.end_logits.float().cpu().numpy(), strict=True)
        logits = iter(ends)
        answers = [self._answer(row, [next(logits) for _ in row["windows"]]) for row in rows]
        return PredictedBatch(answers, tokens_of(windows))

    def _answer(self, row: dict[str, Any], logits: list[tuple[Floats, Floats]]) -> dict[str, Any]:
        first = self.processor.cls_token_id
        nothing = 1.0
        candidates: list[tuple[float, int, int]] = []
        for window, (starts, ends) in zip(row["windows"], logits, strict=True):
            null = window["input_ids"].index(first) if first in window["input_ids"] else None
            none, span = best_span(starts, ends, window["spans"], null)
            nothing = min(nothing, none)
            candidates += [span] if span else []
        score, start, end = max(candidates, key=lambda span: span[0], default=(0.0, 0, 0))
        if self.impossible and nothing > score:
            score, start, end = nothing, 0, 0
        text = row["context"][start:end]
        return {"answer": text, "score": score, "start": start, "end": end, "no_answer": nothing}

    def _shortened(self, questions: list[str], most: int) -> list[str]:
        """Questions of at most `most` tokens, so that a window has room for the passage."""
        places = self.processor(questions, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        pairs = zip(questions, places["offset_mapping"], strict=True)
        return [text if len(ends) <= most else text[: ends[most - 1][1]] for text, ends in pairs]


def best_span(
    starts: Floats, ends: Floats, spans: Sequence[tuple[int, int] | None], null: int | None
) -> tuple[float, tuple[float, int, int] | None]:
    """Return the probability of no answer, and the likeliest span as (score, start, end), if there is a passage.

    `starts` and `ends` are logits (T,); `spans` has the characters of each token's word, None outside the passage;
    `null` is the token that stands for no answer. `start` and `end` are places of characters.
    """
    inside = np.array([span is not None for span in spans])
    allowed = inside.copy()
    if null is not None:
        allowed[null] = True
    if not inside.any():
        return 1.0, None
    first, last = (_softmax(logits[: len(spans)], allowed) for logits in (starts, ends))
    none = float(first[null] * last[null]) if null is not None else 0.0
    scores = np.triu(np.outer(first * inside, last * inside))
    scores = np.tril(scores, ANSWER - 1)
    start, end = np.unravel_index(int(scores.argmax()), scores.shape)
    begin, stop = spans[int(start)], spans[int(end)]
    if begin is None or stop is None:  # all probability is on no answer
        return none, None
    return none, (float(scores[start, end]), begin[0], stop[1])


def _softmax(logits: Floats, allowed: NDArray[np.bool_]) -> Floats:
    shifted = np.where(allowed, logits.astype(float) - logits[allowed].max(), -np.inf)
    weights = np.exp(shifted)
    chances: Floats = weights / weights.sum()
    return chances


def _word_spans(encoding: Any, number: int) -> list[tuple[int, int] | None]:
    """For each token of a window the characters of the word that it is part of; None outside the passage."""
    places, owners, words = encoding["offset_mapping"][number], encoding.sequence_ids(number), encoding.word_ids(number)
    word_span: dict[Any, tuple[int, int]] = {}
    keys = [word if word is not None else -1 - at for at, word in enumerate(words)]
    for key, (start, end), owner in zip(keys, places, owners, strict=True):
        if owner == PASSAGE:
            low, high = word_span.get(key, (start, end))
            word_span[key] = (min(low, start), max(high, end))
    return [word_span[key] if owner == PASSAGE else None for key, owner in zip(keys, owners, strict=True)]
