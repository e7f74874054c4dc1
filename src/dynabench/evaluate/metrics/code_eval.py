"""Programs run against their tests, and pass@k.

Source: Chen et al., Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021), equation 1.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynabench.evaluate.columns import Floats, Numbers, RowColumn, Texts, Tokens
from dynabench.evaluate.module import Metric
from dynabench.evaluate.program_sandbox import ProgramLimits, run_programs
from dynabench.evaluate.states import Rows, Sums

KS = (1, 10, 100)


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Floats:
    """The unbiased estimate 1 - C(n - c, k) / C(n, k) of each problem, shape of `n`; NaN where n < k."""
    tried, passed = np.broadcast_arrays(np.asarray(n, float), np.asarray(c, float))
    none = np.ones(tried.shape)
    for step in range(k):
        none *= np.clip(tried - passed - step, 0, None) / np.maximum(tried - step, 1)
    result: Floats = np.where(tried < k, np.nan, 1 - none)
    return result


def pass_at_k_table(n: ArrayLike, c: ArrayLike, ks: Sequence[int]) -> Floats:
    """`pass_at_k` of each problem for each k, shape (problems, len(ks))."""
    return np.stack([pass_at_k(n, c, k) for k in ks], -1)


def means_by_name(means: Floats, ks: Sequence[int]) -> dict[str, Floats]:
    """Return means over problems, shape (..., len(ks)), by name, without each k that exceeds a problem's programs.

    Raises ValueError where no k is left.
    """
    whole = {f"pass@{k}": means[..., place] for place, k in enumerate(ks) if not np.isnan(means[..., place]).all()}
    if not whole:
        raise ValueError(f"each k of {list(ks)} is more than some problem's number of programs; give a smaller k")
    return whole


def check_ks(k: int | Sequence[int]) -> tuple[int, ...]:
    """Return `k` as whole numbers from 1. Raises ValueError for anything else."""
    ks = tuple(k) if isinstance(k, Sequence | np.ndarray) else (k,)
    if not ks or not all(isinstance(item, int | np.integer) and item >= 1 for item in ks):
        raise ValueError(f"k is {k!r}; give whole numbers from 1, such as [1, 10]")
    return tuple(int(item) for item in ks)


Outcome = tuple[int, int | None]  # how many passed, of how many


class AttemptOutcomes(RowColumn):
    """The number of attempts at each problem that passed, or a list with True or False for each attempt."""

    dtype = "int or list of bool"
    text = "number of attempts that passed, or a list that says of each attempt whether it passed"

    def _row(self, item: Any, where: str) -> Outcome:
        if isinstance(item, list | tuple | np.ndarray):
            array = np.asarray(item)
            if array.ndim != 1 or not len(array) or not np.isin(array, (0, 1)).all():
                raise ValueError(f"{where} is {item!r}; give a list that says True or False of each attempt")
            return int(array.sum()), len(array)
        if (
            isinstance(item, bool)
            or not isinstance(item, int | float | np.number)
            or not 0 <= item < 2**53
            or float(item) % 1
        ):
            raise ValueError(f"{where} is {item!r}; give how many attempts passed, or a list of whether each did")
        return int(item), None


class PassAtK(Metric, name="pass_at_k"):
    """Probability that one of k attempts at a problem passes."""

    columns = {"correct": AttemptOutcomes()}
    optional = {"total": Numbers()}

    def update(self, correct: list[Outcome], total: Floats | None = None, *, k: int | Sequence[int] = KS) -> Sums:
        """The estimate of each problem for each k."""
        pairs = [_attempts(outcome, row, total) for row, outcome in enumerate(correct)]
        passed, tried = np.array(pairs, np.int64).reshape(-1, 2).T
        return Sums(pass_at_k_table(tried, passed, check_ks(k)))

    def formula(self, total: Floats, *, k: int | Sequence[int] = KS) -> dict[str, Floats]:
        """Means over problems."""
        return means_by_name(total[..., :-1] / np.maximum(total[..., -1:], 1), check_ks(k))


def _attempts(outcome: Outcome, row: int, total: Floats | None) -> tuple[int, int]:
    passed, tried = outcome
    if tried is None and total is None:
        raise ValueError(f"correct: row {row} is a number; say in total how many attempts were made, or give a list")
    stated = None if total is None else float(total[row])
    if tried is not None and stated not in (None, tried):
        raise ValueError(f"total: row {row} says {stated:g}, but correct lists {tried} attempts")
    attempts = stated if tried is None else tried
    if attempts is None or attempts % 1 or not max(passed, 1) <= attempts < 2**53:
        raise ValueError(f"row {row} says that {passed} of {attempts:g} passed; give whole numbers, from 1 attempt")
    return passed, int(attempts)


REFUSAL = (
    "code_eval runs the programs that it is given, which nobody may have read. They run in processes of their own with "
    "limits, but use a machine that you can lose. To go on pass allow_code=True, or set HF_ALLOW_CODE_EVAL=1 in the "
    "environment."
)


class CodeEval(Metric, name="code_eval"):
    """Probability that one of k generated programs passes the tests."""

    columns = {"predictions": Tokens(), "references": Texts()}

    def update(
        self,
        predictions: list[list[str]],
        references: list[str],
        *,
        k: int | Sequence[int] = KS,
        num_workers: int = 4,
        timeout: float = 3.0,
        memory: int = 1024,
        allow_code: bool | None = None,
    ) -> Rows:
        """Run all programs.

        Return the estimate of each problem for each k, and the outcome of each of its programs.
        """
        if not (os.environ.get("HF_ALLOW_CODE_EVAL") == "1" if allow_code is None else allow_code):
            raise ValueError(REFUSAL)
        for row, programs in enumerate(predictions):
            if not programs:
                raise ValueError(f"predictions: row {row} has no program; give at least one, perhaps ''")
        ks = check_ks(k)
        jobs = [
            f"{program}\n{test}"
            for candidates, test in zip(predictions, references, strict=True)
            for program in candidates
        ]
        run_outcomes = iter(run_programs(jobs, ProgramLimits(timeout, memory << 20), num_workers))
        problem_outcomes = np.empty(len(predictions), object)
        problem_outcomes[:] = [[next(run_outcomes) for _ in programs] for programs in predictions]
        counts = np.array([(len(program), program.count("passed")) for program in problem_outcomes], np.int64)
        return Rows((pass_at_k_table(counts[:, 0], counts[:, 1], ks), problem_outcomes))

    def formula(self, total: tuple[Floats, Any], *, k: int | Sequence[int] = KS) -> dict[str, Floats]:
        """Means over problems."""
        return means_by_name(total[0].mean(-2), check_ks(k))

    def result(self, state: Rows, **options: Any) -> dict[str, Any]:
        """Return pass@k, and the outcome of each program."""
        results = [
            [
                {"task_id": task, "passed": outcome == "passed", "result": outcome, "completion_id": place}
                for place, outcome in enumerate(programs)
            ]
            for task, programs in enumerate(state.columns[1])
        ]
        return {**super().result(state, **options), "results": results}

    def per_example(self, state: Any, *, k: int | Sequence[int] = KS, **options: Any) -> dict[str, Any]:
        """The estimate of each problem."""
        ks = check_ks(k)
        return {name: state.columns[0][:, ks.index(int(name[5:]))] for name in self.formula(state.total(), k=k)}

    def compatible(self, result: dict[str, Any]) -> tuple[dict[str, float], dict[int, list[tuple[int, Any]]]]:
        """Return (pass@k, results): by problem the list of (number of the program, its outcome)."""
        rates = {key: value for key, value in result.items() if key != "results"}
        by_problem = {
            task: [(entry["completion_id"], entry) for entry in programs]
            for task, programs in enumerate(result["results"])
        }
        return rates, by_problem
