"""Token classification: a tag for each token."""

from collections.abc import Sequence
from typing import Any

from dynabench.evaluate.evaluator.predictors.base import BatchAnswers
from dynabench.evaluate.evaluator.predictors.network import NetworkPredictor, tokens_of


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

    def predict(self, rows: list[Any]) -> BatchAnswers:
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
        return BatchAnswers(answers, tokens_of(rows))
