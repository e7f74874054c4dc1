"""Exact test of whether a share differs between two parts that were drawn at random from one pool.

Source: Fisher, The Design of Experiments (1935), chapter 2: given all rows, the number of right ones in one
part is hypergeometric, whatever the model is like. Nothing is estimated, so the test is exact for parts of
any size.
"""

from math import exp, lgamma


def random_split_p_value(right: int, rows: int, other_right: int, other_rows: int) -> float:
    """Return the probability that a random division puts at least `right` of all right rows among the first `rows`.

    One-sided, exact. Small where the first part is answered better than the second for another reason than the
    division. Raises ValueError for counts that are no counts of right rows.
    """
    if not (0 <= right <= rows and 0 <= other_right <= other_rows):
        raise ValueError(f"{right} of {rows} and {other_right} of {other_rows} are no counts of right rows")
    total, whole = right + other_right, rows + other_rows
    most = min(total, rows)
    every = _log_choose(whole, rows)
    chances = (exp(_log_choose(total, k) + _log_choose(whole - total, rows - k) - every) for k in range(right, most + 1)
               if rows - k <= whole - total)  # fmt: skip
    return min(sum(chances), 1.0)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
