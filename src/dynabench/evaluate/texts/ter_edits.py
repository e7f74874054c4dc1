"""Edits of TER: words inserted, deleted and replaced, and blocks of words moved.

The search for moves is greedy, with the limits and the order of choice of Tercom as sacrebleu has them: so
numbers agree with both. Sources: Snover et al. 2006; sacrebleu's metric ter for the limits.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import ceil, floor

from rapidfuzz.distance import Levenshtein

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
