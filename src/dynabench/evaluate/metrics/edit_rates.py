"""Edit rates of words and characters: WER, CER and TER.

The search for moves is greedy, with the limits and the order of choice of Tercom as sacrebleu has them: so
numbers agree with both. Sources: Snover et al. 2006; sacrebleu's metric ter for the limits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import ceil, floor
from typing import Any, ClassVar, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from dynabench.evaluate.columns import Column, Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import flatten_references
from dynabench.evaluate.states import Rows, Sums
from dynabench.evaluate.tokens import tercom_tokenizer, tokenize_all
from dynabench.evaluate.values import ratio


class Edits(NamedTuple):
    """One shortest alignment: units that agree, and edits that turn the reference into the prediction."""

    hits: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        """The edit distance."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def length(self) -> int:
        """Units of the reference."""
        return self.hits + self.substitutions + self.deletions


Count = Callable[[str, str], Edits]
KINDS = ("substitutions", "deletions", "insertions", "hits")


def edit_counts(reference: Sequence[Any], prediction: Sequence[Any]) -> Edits:
    """Return the edits between two sequences of hashable units (Levenshtein 1966; each edit costs 1)."""
    from rapidfuzz.distance import Levenshtein

    if reference == prediction:
        return Edits(len(reference), 0, 0, 0)
    tags = [step.tag for step in Levenshtein.editops(reference, prediction)]
    deletions = tags.count("delete")
    substitutions = tags.count("replace")
    hits = len(reference) - deletions - substitutions
    return Edits(hits, substitutions, deletions, len(tags) - deletions - substitutions)


def word_errors(reference: str, prediction: str) -> Edits:
    """The edits between the words of two texts; words are what white space separates."""
    return edit_counts(reference.split(), prediction.split())


def character_errors(reference: str, prediction: str) -> Edits:
    """The edits between the characters of two texts, without white space at their ends."""
    return edit_counts(reference.strip(), prediction.strip())


def error_state(predictions: list[str], references: list[str], count: Count, concatenate: bool) -> Sums | Rows:
    """Edits of each row, (n, 4); or the texts themselves where all rows are to be aligned as one."""
    if concatenate:
        return Rows((np.array(references, object), np.array(predictions, object)))
    pairs = zip(references, predictions, strict=True)
    return Sums(np.array([count(true, predicted) for true, predicted in pairs], np.int64).reshape(-1, 4))


def error_rate(total: Any, name: str, count: Count, between: str) -> dict[str, Floats]:
    """The error rate under `name` and the number of each edit, from a total of `error_state`, shape (...,).

    Nothing can be divided by an empty reference: each unit inserted there counts as one whole error, as in jiwer.
    """
    sums = _joined(total, count, between) if isinstance(total, tuple) else total
    hits, substitutions, deletions, insertions = np.moveaxis(sums[..., :4], -1, 0)
    errors = substitutions + deletions + insertions
    return {
        name: ratio(errors, np.maximum(hits + substitutions + deletions, 1)),
        "substitutions": substitutions,
        "deletions": deletions,
        "insertions": insertions,
        "hits": hits,
    }


class ErrorRate(Metric):
    """Edits for each unit of the references; `count` counts edits of units, `between` joins texts."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Texts(), "references": Texts()}
    count: Count
    between: ClassVar[str]

    def update(self, predictions: list[str], references: list[str], *, concatenate_texts: bool = False) -> Sums | Rows:
        """Hits, substitutions, deletions and insertions of each row."""
        return error_state(predictions, references, self.count, concatenate_texts)

    def formula(self, total: Any) -> dict[str, Floats]:
        """Errors / units of the references."""
        return error_rate(total, self.card.outputs[0].name, self.count, self.between)

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """The rate, and counts as whole numbers."""
        scores = super().result(state, **options)
        return {key: int(value) if key in KINDS else value for key, value in scores.items()}

    def compatible(self, result: dict[str, Any]) -> float:
        """The bare rate."""
        rate: float = result[self.card.outputs[0].name]
        return rate


def _joined(texts: tuple[Any, ...], count: Count, between: str) -> Floats:
    """The edits between all references and all predictions, each as one text; (..., n) becomes (..., 4)."""
    references, predictions = texts
    if references.ndim > 1:
        return np.stack([_joined(pair, count, between) for pair in zip(references, predictions, strict=True)])
    whole = [between.join(text.strip() for text in column) for column in (references, predictions)]
    return np.array(count(*whole), float)


class Wer(ErrorRate, name="wer"):
    """Word errors for each word of the references."""

    count = staticmethod(word_errors)
    between = " "


class Cer(ErrorRate, name="cer"):
    """Character errors for each character of the references."""

    count = staticmethod(character_errors)
    between = ""


MAX_BLOCK = 10  # words that move together
MAX_DISTANCE = 50  # words that they move
MAX_TRIED = 1000  # moves that are tried for a pair of texts
BEAM = 25  # cells on each side of the diagonal that a distance looks at
FAR = 1 << 50


def count_edits(predicted: Sequence[str], right: Sequence[str]) -> int:
    """Return the fewest edits found that turn the predicted words into the right ones; moving a block is one edit."""
    code: dict[str, int] = {}
    start, goal = ("".join([chr(code.setdefault(word, len(code))) for word in words]) for words in (predicted, right))
    off = beam_distance(start, goal)
    if off < 2 or not set(start) & set(goal):
        return off
    moves = tried = 0
    places: dict[str, list[int]] = {}
    for place, word in enumerate(goal):
        places.setdefault(word, []).append(place)
    while True:
        gain, moved, tried = _best_move(start, goal, places, tried)
        if tried >= MAX_TRIED or gain <= 0:
            return moves + beam_distance(start, goal)
        moves, start = moves + 1, moved


def beam_distance(start: str, goal: str, known_rows: Sequence[list[int]] = ()) -> int:
    """Return the Levenshtein distance within the beam; a character stands for a word. `known_rows`: see `_costs`."""
    off = Levenshtein.distance(start, goal)
    if off + abs(len(start) - len(goal)) <= 2 * (BEAM - 2):  # no best path leaves the beam
        return int(off)
    return _costs(start, goal, known_rows)[-1][-1] if goal else len(start)


def _best_move(start: str, goal: str, places: dict[str, list[int]], tried: int) -> tuple[int, str, int]:
    """Gain of the best move, the words after it, and the number of moves tried so far."""
    costs = _costs(start, goal)
    align, wrong_right, wrong_said = _aligned(costs, start, goal)
    before, best, after = costs[-1][-1], (0, 0, 0, 0), ""
    gains: dict[str, int] = {}
    for here, goal_start, size in _equal_blocks(start, goal, places):
        if wrong_said[here + size] == wrong_said[here] or wrong_right[goal_start + size] == wrong_right[goal_start]:
            continue  # one of the two is right already
        if here <= align[goal_start] < here + size:
            continue
        targets = [0] if goal_start == 0 else [align[goal_start - 1] + 1]
        targets += [align[place] + 1 for place in range(goal_start, goal_start + size)]
        previous = -1
        for target in targets:
            if target == previous:
                continue
            previous = target
            moved = _moved(start, here, size, target)
            if moved not in gains:
                gains[moved] = before - beam_distance(moved, goal, costs[: min(here, target) + 1])
            tried += 1
            rank = (gains[moved], size, -here, -target)
            if not after or rank > best:
                best, after = rank, moved
        if tried >= MAX_TRIED:
            break
    return best[0], after, tried


def _equal_blocks(start: str, goal: str, places: dict[str, list[int]]) -> Iterator[tuple[int, int, int]]:
    """Starts of equal blocks of words in both texts, with their length."""
    for here, word in enumerate(start):
        for goal_place in places.get(word, ()):
            if abs(goal_place - here) > MAX_DISTANCE:
                continue
            for size in range(1, min(MAX_BLOCK, len(start) - here, len(goal) - goal_place) + 1):
                if start[here + size - 1] != goal[goal_place + size - 1]:
                    break
                yield here, goal_place, size


def _moved(words: str, here: int, size: int, target: int) -> str:
    block = words[here : here + size]
    if target < here:
        return words[:target] + block + words[target:here] + words[here + size :]
    end = target if target > here + size else target + size
    return words[:here] + words[here + size : end] + block + words[end:]


def _costs(start: str, goal: str, known_rows: Sequence[list[int]] = ()) -> list[list[int]]:
    """Distances of all beginnings of `start` to all of `goal`, within the beam; the first ones may be `known`."""
    slope = len(goal) / len(start) if start else 1.0
    width = BEAM if slope / 2 <= BEAM else ceil(slope / 2 + BEAM)
    rows = list(known_rows) or [list(range(len(goal) + 1))]
    above = rows[-1]
    for i, word in enumerate(start[len(rows) - 1 :], len(rows)):
        middle = floor(i * slope)
        low, high = max(middle - width, 0), min(middle + width, len(goal) + 1)
        row = [FAR] * (len(goal) + 1)
        left_cost = FAR
        for j in range(low, high if i < len(start) else len(goal) + 1):
            cost = above[j] + 1
            if j:
                put = above[j - 1] + (word != goal[j - 1])
                cost = min(put, cost, left_cost + 1)
            row[j] = left_cost = cost
        rows.append(row)
        above = row
    return rows


def _aligned(costs: list[list[int]], start: str, goal: str) -> tuple[list[int], list[int], list[int]]:
    """The word of `start` that each word of `goal` is aligned to (-1: before the first).

    And, for the goal and for the start, how many words before each place are wrong. Of equally good paths the one
    that replaces rather than leaves out, and leaves out rather than puts in, seen from the end.
    """
    i, j = len(start), len(goal)
    align = [0] * j
    goal_errors, predicted_errors = [1] * j, [1] * i
    while i or j:
        put = costs[i - 1][j - 1] + (start[i - 1] != goal[j - 1]) if i and j else FAR
        if i and j and put == costs[i][j]:
            i, j = i - 1, j - 1
            align[j] = i
            goal_errors[j] = predicted_errors[i] = int(start[i] != goal[j])
        elif i and costs[i - 1][j] + 1 == costs[i][j]:
            i -= 1
        else:
            j -= 1
            align[j] = i - 1
    return align, list(accumulate(goal_errors, initial=0)), list(accumulate(predicted_errors, initial=0))


class Ter(Metric, name="ter"):
    """Edits that turn predictions into their references, for each word; moving a block of words is one edit."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
    ) -> Sums:
        """Edits to the nearest reference and mean length of the references, shape (n, 2)."""
        texts, owners = flatten_references(references)
        split = tercom_tokenizer(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
        predicted, right = tokenize_all(predictions, split), tokenize_all(texts, split)
        return Sums(_rows(predicted, right, owners.tolist()))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The rate of sums of shape (..., 3)."""
        number, length = total[..., 0], total[..., 1]
        rate = np.where(length > 0, ratio(number, length), number > 0)
        return {"score": 100 * rate, "num_edits": number.astype(np.int64), "ref_length": length}


def _rows(predicted: Sequence[Sequence[str]], right: Sequence[Sequence[str]], owners: Sequence[int]) -> Floats:
    fewest = np.full(len(predicted), np.inf)
    lengths, sizes = np.zeros(len(predicted)), np.zeros(len(predicted))
    for row, words in zip(owners, right, strict=True):
        fewest[row] = min(fewest[row], count_edits(predicted[row], words))
        lengths[row] += len(words)
        sizes[row] += 1
    return np.stack([fewest, lengths / sizes], 1)
