"""A tag for each word."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dynabench.evaluate.evaluator.base import Evaluator, Question
from dynabench.evaluate.evaluator.classifying import built
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.resolving import Parts


class TokenClassificationEvaluator(Evaluator):
    """Rows are lists of words with a list of tags. Words are joined by `join_by`; a word's tag is its first token's.

    A word at whose beginning no token stands (it was cut off, or has no tokens) is tagged "O".
    """

    metric = "seqeval"
    defaults: ClassVar[Mapping[str, Any]] = {"input_column": "tokens", "label_column": "ner_tags", "join_by": " "}
    pipeline_options: ClassVar[Mapping[str, Any]] = {"ignore_labels": []}

    def inputs(self, question: Question) -> Sequence[str]:
        """Texts."""
        return [question["join_by"].join(words) for words in self._words(question)]

    def network(self, parts: Parts, question: Question) -> Predictor:
        """See `Evaluator`."""
        from dynabench.evaluate.evaluator.predictors.tagger import Tagger

        return built(Tagger, parts, parts.tokenizer, "AutoTokenizer")  # type: ignore[no-any-return]

    def references(self, question: Question) -> dict[str, Any]:
        """Tags as texts. Raises ValueError for numbers without names, and for other than a tag for each word."""
        classes, found = question.classes("label_column"), []
        rows = zip(self._words(question), question.column("label_column"), strict=True)
        for row, (words, tags) in enumerate(rows):
            listed = _listed(tags, question["label_column"], row)
            if len(listed) != len(words):
                raise ValueError(f"row {row} has {len(words)} words and {len(listed)} tags; give a tag for each word")
            found.append([_named(tag, classes, row) for tag in listed])
        return {"references": found}

    def predictions(self, answers: list[Any], question: Question, predictor: Predictor) -> dict[str, Any]:
        """Tags of words."""
        rows = zip(answers, self._words(question), strict=True)
        return {
            "predictions": [tags_of(said, words, question["join_by"], row) for row, (said, words) in enumerate(rows)]
        }

    def _words(self, question: Question) -> list[list[str]]:
        column = question.column("input_column")
        return [_listed(words, question["input_column"], row) for row, words in enumerate(column)]


def tags_of(said: Any, words: Sequence[str], join_by: str, row: int) -> list[str]:
    """The tag of each word, from the tokens' `{entity, start}`, or from a list of tags as it is."""
    if isinstance(said, list | tuple) and len(said) == len(words) and all(isinstance(tag, str) for tag in said):
        return list(said)
    tokens = list(said)
    if not all(isinstance(token, Mapping) and "entity" in token and token.get("start") is not None for token in tokens):
        raise ValueError(f"row {row}: an answer is a tag for each word, or tokens with entity and start, not {said!r}")
    tags, at, start = [], 0, 0
    for word in words:
        while at < len(tokens) and tokens[at]["start"] < start:
            at += 1
        begins = at < len(tokens) and tokens[at]["start"] == start
        tags.append(tokens[at]["entity"] if begins else "O")
        start += len(word) + len(join_by)
    return tags


def _listed(values: Any, name: str, row: int) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise ValueError(f"{name}: row {row} is {values!r}; give words and tags as lists")
    return list(values)


def _named(tag: Any, classes: Sequence[str] | None, row: int) -> str:
    if isinstance(tag, str):
        return tag
    if not classes:
        raise ValueError(f"row {row} has the tag {tag!r} and the data does not name its classes; give tags as texts")
    if not 0 <= int(tag) < len(classes):
        raise ValueError(f"row {row} has the tag {tag!r}, the data names {len(classes)} classes")
    return str(classes[int(tag)])
