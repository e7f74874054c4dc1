"""CharacTER and CharCut: character edits after moving phrases.

Source: Lardilleux and Lepage, CHARCUT: Human-Targeted Character-Based MT Evaluation with Loose Differences,
IWSLT 2017.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows, Sums
from dynabench.evaluate.values import ratio, to_plain

AGGREGATES = ("mean", "sum", "median")


class Character(Metric, name="character"):
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


SHORTEST = 3  # characters that a shared piece must have, unless both texts begin or end with it
WORDS = re.compile(r"(\W)")
RUNS = re.compile(r"(\w+)")


@dataclass(frozen=True, order=True)
class Match:
    """A piece of text that both texts contain: its start in each, and its characters."""

    first: int
    second: int
    text: str


@dataclass(frozen=True)
class Units:
    """A text as units (words, or characters) with the place of each, and the units with which a piece may begin."""

    units: Sequence[str | int]
    places: Sequence[int]
    starts: Sequence[int]


Shared = dict[str, tuple[list[int], list[int]]]  # places of each piece in both texts


def charcut_cost(first: str, second: str) -> int:
    """Return the number of characters deleted, inserted and moved; at most the length of both texts."""
    if first == second:
        return 0
    matches, total = _matches(first, second)
    unmoved = _in_order(matches)
    for match in set(matches) - unmoved:
        # the shorter a piece, the less far it may move before it counts as deleted and inserted
        total += len(match.text) * (1 if math.exp(min(len(match.text), 99)) >= _distance(match, unmoved) else 2)
    return min(total, len(first) + len(second))


def _matches(first: str, second: str) -> tuple[list[Match], int]:
    """Pieces that cover both texts, the longest first, and how many characters of both they leave."""
    pieces = _shared(_by_words(first), _by_words(second), ends=True)
    pieces |= _shared(_by_characters(first, 1), _by_characters(second, -1), ends=False)
    ranked = sorted(
        pieces.items(),
        key=lambda piece: (-len(piece[0]), len(piece[1][0]) == len(piece[1][1]), sum(map(len, piece[1])), piece[1][0]),
    )
    free = bytearray(b"\1") * len(first), bytearray(b"\1") * len(second)
    matches = []
    for text, places in ranked:
        size = len(text)
        while True:
            open_ = [_open(where, size, mask) for where, mask in zip(places, free, strict=True)]
            if None in open_:
                break
            first_place, other = (place or 0 for place in open_)
            matches.append(Match(first_place, other, text))
            for place, mask in zip((first_place, other), free, strict=True):
                mask[place : place + size] = bytes(size)
    return matches, sum(map(sum, free))


def _open(places: list[int], size: int, mask: bytearray) -> int | None:
    """The first place where nothing is covered yet."""
    return next((place for place in places if mask.find(0, place, place + size) < 0), None)


def _by_words(text: str) -> Units:
    """Words, and each other character by itself."""
    units = [unit for unit in WORDS.split(text) if unit]
    places = [0]
    for unit in units:
        places.append(places[-1] + len(unit))
    return Units(units, places[:-1], range(len(units)))


def _by_characters(text: str, sign: int) -> Units:
    """Each word with what stands before and after it, parted by a number that the other text does not have.

    What stands between two words comes twice, but no piece begins with it where it ends a part.
    """
    runs = RUNS.split(text)
    runs = ["", runs[0], ""] if len(runs) == 1 else runs
    begins = [0]
    for run in runs:
        begins.append(begins[-1] + len(run))
    units: list[str | int] = []
    places: list[int] = []
    starts: list[int] = []
    for part in range(0, len(runs) - 2, 2):
        if part:
            units.append(part * sign)
            places.append(-1)
        cut = begins[part + 2] - begins[part]
        starts.extend(range(len(units), len(units) + cut))
        units.extend(text[begins[part] : begins[part + 3]])
        places.extend(range(begins[part], begins[part + 3]))
    return Units(units, places, starts)


def _shared(first: Units, second: Units, ends: bool) -> Shared:
    """All pieces that both have of enough characters; with `ends` also shorter ones at both beginnings or ends."""
    shared_pieces: Shared = {}
    todo = [("", list(first.starts), list(second.starts), 0)]
    while todo:
        text, first_starts, second_starts, size = todo.pop()
        mine, its = _next(first.units, first_starts, size), _next(second.units, second_starts, size)
        for unit in mine.keys() & its.keys():
            first_next, other, longer = mine[unit], its[unit], f"{text}{unit}"
            todo.append((longer, first_next, other, size + 1))
            last = len(first.units) - size - 1, len(second.units) - size - 1
            if len(longer) >= SHORTEST:
                shared_pieces[longer] = [first.places[at] for at in first_next], [second.places[at] for at in other]
            elif ends and first_next[0] == other[0] == 0:
                shared_pieces[longer] = [0], [0]
            elif ends and (first_next[-1], other[-1]) == last:
                shared_pieces[longer] = [first.places[last[0]]], [second.places[last[1]]]
    return shared_pieces


def _next(units: Sequence[str | int], starts: list[int], size: int) -> dict[str | int, list[int]]:
    """The starts by which unit comes `size` later."""
    starts_by_unit: dict[str | int, list[int]] = {}
    for start in starts:
        if start + size < len(units):
            starts_by_unit.setdefault(units[start + size], []).append(start)
    return starts_by_unit


def _in_order(matches: list[Match]) -> set[Match]:
    """Those that need not move: the longest run that is the same in both texts, then the same on its left and right."""
    ordered = sorted(matches)
    rank = {match: place for place, match in enumerate(sorted(matches, key=lambda match: match.second))}
    places = [rank[match] for match in ordered]
    sizes = [len(match.text) for match in ordered]
    return {ordered[at] for at in _runs(places, sizes)}


def _runs(places: list[int], sizes: list[int]) -> Iterator[int]:
    todo = [(0, len(places), 0, len(places))]
    while todo:
        low, high, under, over = todo.pop()
        best = (0, 0, 0)  # characters, begin, number of matches
        at = low
        while at < high:
            if not under <= places[at] < over:
                at += 1
                continue
            count = 1
            while at + count < high and places[at + count] == places[at] + count < over:
                count += 1
            weight = sum(sizes[at : at + count])
            if weight > best[0]:
                best = weight, at, count
            at += count
        _, begin, count = best
        if count:
            yield from range(begin, begin + count)
            todo.append((low, begin, under, places[begin]))
            todo.append((begin + count, high, places[begin] + count, over))


def _distance(match: Match, unmoved: set[Match]) -> int:
    """Characters between a match that moves and the farthest end of those it moves across."""
    crossed = sorted(other for other in unmoved if (other.first < match.first) != (other.second < match.second))
    if crossed[0].first < match.first:
        return match.first - crossed[0].first
    return crossed[-1].first + len(crossed[-1].text) - match.first - len(match.text)


class CharcutMt(Metric, name="charcut_mt"):
    """Characters that differ or moved, after finding long common pieces."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Cost and length of each row."""
        pairs = [(predicted.strip(), true.strip()) for predicted, true in zip(predictions, references, strict=True)]
        return Sums(np.array([(charcut_cost(*pair), sum(map(len, pair))) for pair in pairs], np.int64).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Costs / lengths."""
        return {"charcut_mt": ratio(total[..., 0], total[..., 1])}
