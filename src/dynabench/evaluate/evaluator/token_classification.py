"""Token classification: a tag for each word."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import EvaluationInputs, Evaluator
from dynabench.evaluate.evaluator.classifying import load_predictor
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.resolving import PredictorParts


class TokenClassificationEvaluator(Evaluator):
    """Rows are lists of words with a list of tags. Words are joined by `join_by`; a word's tag is its first token's.

    A word without a token at its beginning (it was cut off, or has no tokens) is tagged "O".
    """

    metric = "seqeval"
    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "tokens", "label_column": "ner_tags", "join_by": " "}
    pipeline_options: ClassVar[Mapping[str, Any]] = {"ignore_labels": []}

    def inputs(self, question: EvaluationInputs) -> Sequence[str]:
        """Texts."""
        return [question["join_by"].join(words) for words in self._words(question)]

    def network(self, parts: PredictorParts, question: EvaluationInputs) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.tagger import Tagger

        return load_predictor(Tagger, parts, parts.tokenizer, "AutoTokenizer")  # type: ignore[no-any-return]

    def references(self, question: EvaluationInputs) -> dict[str, Any]:
        """Tags as texts. Raises ValueError for numbers without names, and for other than a tag for each word."""
        classes, tag_rows = question.classes("label_column"), []
        rows = zip(self._words(question), question.column("label_column"), strict=True)
        for row, (words, tags) in enumerate(rows):
            listed = _as_list(tags, question["label_column"], row)
            if len(listed) != len(words):
                raise ValueError(f"row {row} has {len(words)} words and {len(listed)} tags; give a tag for each word")
            tag_rows.append([_tag_name(tag, classes, row) for tag in listed])
        return {"references": tag_rows}

    def predictions(self, answers: list[Any], question: EvaluationInputs, predictor: Predictor) -> dict[str, Any]:
        """Tags of words."""
        rows = zip(answers, self._words(question), strict=True)
        return {
            "predictions": [
                word_tags(answer, words, question["join_by"], row) for row, (answer, words) in enumerate(rows)
            ]
        }

    def _words(self, question: EvaluationInputs) -> list[list[str]]:
        column = question.column("input_column")
        return [_as_list(words, question["input_column"], row) for row, words in enumerate(column)]


def word_tags(answer: Any, words: Sequence[str], join_by: str, row: int) -> list[str]:
    """Return the tag of each word, from the tokens' `{entity, start}`, or from a list of tags as it is."""
    if isinstance(answer, list | tuple) and len(answer) == len(words) and all(isinstance(tag, str) for tag in answer):
        return list(answer)
    tokens = list(answer)
    if not all(isinstance(token, Mapping) and "entity" in token and token.get("start") is not None for token in tokens):
        raise ValueError(
            f"row {row}: an answer is a tag for each word, or tokens with entity and start, not {answer!r}"
        )
    tags, token_index, start = [], 0, 0
    for word in words:
        while token_index < len(tokens) and tokens[token_index]["start"] < start:
            token_index += 1
        begins = token_index < len(tokens) and tokens[token_index]["start"] == start
        tags.append(tokens[token_index]["entity"] if begins else "O")
        start += len(word) + len(join_by)
    return tags


def _as_list(values: Any, name: str, row: int) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{name}: row {row} is {values!r}; give words and tags as lists")
    return list(values)


def _tag_name(tag: Any, classes: Sequence[str] | None, row: int) -> str:
    if isinstance(tag, str):
        return tag
    if not classes:
        raise ValueError(f"row {row} has the tag {tag!r} and the data does not name its classes; give tags as texts")
    if not 0 <= int(tag) < len(classes):
        raise ValueError(f"row {row} has the tag {tag!r}, the data names {len(classes)} classes")
    return str(classes[int(tag)])
