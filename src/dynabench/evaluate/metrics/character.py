"""CharacTER."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.plain_values import to_plain
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Rows, Sums

AGGREGATES = ("mean", "sum", "median")


class Character(Metric):
    """Character edits after moving phrases to their place."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str], *, aggregate: str = "mean") -> Sums | Rows:
        """The score of each row."""
        if aggregate not in AGGREGATES:
            raise ValueError(f"no aggregate {aggregate!r}; there are {', '.join(AGGREGATES)}")
        scores = np.array([character(*pair) for pair in zip(predictions, references, strict=True)])
        return Rows((scores,)) if aggregate == "median" else Sums(scores)

    def formula(self, total: Any, *, aggregate: str = "mean") -> dict[str, Floats]:
        """Mean, sum or median of the rows' scores."""
        if aggregate == "median":
            return {"cer_score": np.median(total[0], axis=-1)}
        return {"cer_score": total[..., 0] if aggregate == "sum" else ratio(total[..., 0], total[..., 1])}

    def result(self, state: Any, *, return_all_scores: bool = False, **options: Any) -> dict[str, Any]:
        """Return the aggregate, and with `return_all_scores` the score of each row."""
        aggregated = super().result(state, **options)
        return (
            {**aggregated, "cer_scores": to_plain(self.per_example(state)["cer_score"])}
            if return_all_scores
            else aggregated
        )

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """The score of each row."""
        return {"cer_score": state.columns[0] if isinstance(state, Rows) else state.rows[:, 0]}


def character(prediction: str, reference: str) -> float:
    """CharacTER of one translation, from 0 to 1."""
    from rapidfuzz.distance import Levenshtein

    predicted, true = prediction.split(), reference.split()
    if predicted == true:
        return 0.0
    if not predicted:
        return 1.0
    moved = _apply_moves(predicted, true)
    text = " ".join(moved)
    return min(1.0, (Levenshtein.distance(text, " ".join(true)) + _shift_cost(predicted, moved)) / len(text))


def _apply_moves(predicted: list[str], true: list[str]) -> list[str]:
    """The predicted words after all moves that bring them nearer to the reference, the best move first."""
    from rapidfuzz.distance import Levenshtein

    number: dict[str, int] = {word: place for place, word in enumerate(sorted({*predicted, *true}))}
    words = [number[word] for word in predicted]
    goal = [number[word] for word in true]
    distance_left = Levenshtein.distance(words, goal)
    while distance_left:
        tried = [(Levenshtein.distance(candidate, goal), candidate) for candidate in _moves(words, goal)]
        nearest = min((distance for distance, _ in tried), default=distance_left)
        if nearest >= distance_left:
            break
        # of equally good moves the last in the order of words, which numbers keep, as the reference implementation has
        distance_left, words = nearest, max(candidate for distance, candidate in tried if distance == nearest)
    names = sorted(number)
    return [names[word] for word in words]


def _moves(words: list[int], goal: list[int]) -> Iterator[list[int]]:
    """The words with one phrase moved to a place where the goal has it."""
    places: dict[int, list[int]] = {}
    for place, word in enumerate(goal):
        places.setdefault(word, []).append(place)
    for start, word in enumerate(words):
        for place in places.get(word, ()):
            if place == start:
                continue
            length = 1
            while words[start + length : start + length + 1] == goal[place + length : place + length + 1] != []:
                length += 1
            rest = words[:start] + words[start + length :]
            yield rest[:place] + words[start : start + length] + rest[place:]


def _shift_cost(before: list[str], after: list[str]) -> float:
    """The mean word length of each phrase that stands elsewhere `after` the moves."""
    cost, place = 0.0, 0
    while place < len(after):
        length = 1
        if before[place] != after[place] and before[place] in after[place + 1 :]:
            index = after.index(before[place], place + 1)
            while index + length < len(after) and before[place + length] == after[index + length]:
                length += 1
            cost += sum(map(len, before[place : place + length])) / length
        place += length
    return cost
