"""Token classification: words of the last input that belong together, with what they are (names, places...)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.evaluator.predictors.texts import Tagger
from dynabench.models.backends.architectures import gradients, labels, weights
from dynabench.models.backends.architectures.base import Architecture, computed, portions, refuse
from dynabench.models.backends.base import softmax
from dynabench.models.backends.transformers import Options
from dynabench.models.protocol import Card, Inputs, Output
from dynabench.models.spec import Spec
from dynabench.models.words import Word, first_words

WORDS = 3000
OVERLAP = 32
"""Tokens that a window of a long text shares with the next."""
OUTSIDE = ("O", "OUTSIDE", "")
PREFIXES = ("B-", "I-", "E-", "S-", "L-", "U-")


class TokenClassifier(Architecture):
    """Tags of words, by each word's first token, as such models are trained; neighbours of one kind become a span.

    Tags follow IOB2 or its relatives, or are plain labels; `O` is no answer (Ramshaw and Marcus, 1995).
    """

    auto = "AutoModelForTokenClassification"
    predictor = Tagger

    def __init__(self, card: Card, details: Spec, options: Options, parts: weights.Parts) -> None:
        super().__init__(card, details, options, parts)
        fast = getattr(self.run.processor, "is_fast", False)
        refuse(not fast, weights="Spans are found by place, which only fast tokenizers know: save tokenizer.json.")
        self.kinds = [None if tag.upper() in OUTSIDE else _bare(tag) for tag in self.run.labels]
        named = list(dict.fromkeys(kind for kind in self.kinds if kind is not None))
        self.meant = dict(zip(named, labels.matched(named, card.labels, options.labels), strict=True))

    @classmethod
    def fits(cls, card: Card, options: Options) -> None:
        """See `Architecture`."""
        refuse(card.returns != "tags", returns="A token-classification model returns tags.")
        refuse(len(card.inputs) != 1 or bool(card.images), inputs="It reads one text.")
        refuse(not card.labels, labels="Name what spans can be, such as PER and LOC.")

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`: windows over the text, with the word of each token."""
        text = inputs[self.card.inputs[-1]]
        said = first_words(text, WORDS)
        if not said:
            return [], 1
        size = self.limit()
        found = self.run.processor(
            [text[: said[-1].end]],
            truncation=True,
            max_length=size,
            stride=min(OVERLAP, size // 3),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in found]
        rows = []
        for number in range(len(found["input_ids"])):
            owner = gradients.owners(found["offset_mapping"][number], found.sequence_ids(number), [said])
            row = {name: found[name][number] for name in names}
            rows.append({**row, "word": [None if one is None else one[1] for one in owner], "words": said})
        return rows, sum(len(row["input_ids"]) for row in rows)

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[Output]:
        """See `Architecture`."""
        windows = [window for row in rows for window in row]
        sizes = [len(window["input_ids"]) for window in windows]
        said: dict[int, Any] = {}
        for part in portions(sizes, self.room):
            with computed(len(part), sizes[part[0]]):
                logits = self.model(**self.run.padded([windows[at] for at in part], "right")).logits.float()
            said.update(zip(part, softmax(logits.cpu().numpy()), strict=True))
        chances = iter([said[at] for at in range(len(windows))])
        texts = [inputs[self.card.inputs[-1]] for inputs in batch]
        return [self._output(row, [next(chances) for _ in row], text) for row, text in zip(rows, texts, strict=True)]

    def _output(self, row: Any, chances: Sequence[Any], text: str) -> Output:
        """Spans, and how likely each span's label is, by text; of two windows the later one reads a word with more
        before it, the earlier one with more behind it: the surer counts."""
        known: dict[int, tuple[float, int]] = {}
        for window, said in zip(row, chances, strict=True):
            firsts = {word: at for at, word in reversed(list(enumerate(window["word"]))) if word is not None}
            for word, at in firsts.items():
                tag = int(np.argmax(said[at]))
                known[word] = max(known.get(word, (0.0, 0)), (float(said[at][tag]), tag))
        spans, likely = self._spans(row[0]["words"] if row else [], known, text)
        return Output({self.card.answer: spans}, likely)

    def _spans(self, words: Sequence[Word], known: Any, text: str) -> tuple[list[dict[str, Any]], dict[str, float]]:
        spans: list[dict[str, Any]] = []
        chances: list[list[float]] = []
        before = None
        for number in range(len(words)):
            chance, tag = known.get(number, (1.0, -1))
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
