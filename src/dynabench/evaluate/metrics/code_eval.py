"""Programs run against their tests."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts, Tokens
from dynabench.evaluate.module import Metric
from dynabench.evaluate.programs.passing import KS, checked, estimates, named
from dynabench.evaluate.programs.sandbox import Limits, outcomes
from dynabench.evaluate.states import Rows

REFUSED = (
    "code_eval runs the programs that it is given, which nobody may have read. They run in processes of their own with "
    "limits, but use a machine that you can lose. To go on pass allow_code=True, or set HF_ALLOW_CODE_EVAL=1 in the "
    "environment."
)


class CodeEval(Metric):
    """How likely one of k generated programs passes the tests."""

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
        """Runs all programs. The estimate of each problem for each k, and what became of its programs."""
        if not (os.environ.get("HF_ALLOW_CODE_EVAL") == "1" if allow_code is None else allow_code):
            raise ValueError(REFUSED)
        for row, programs in enumerate(predictions):
            if not programs:
                raise ValueError(f"predictions: row {row} has no program; give at least one, perhaps ''")
        ks = checked(k)
        jobs = [f"{one}\n{test}" for many, test in zip(predictions, references, strict=True) for one in many]
        told = iter(outcomes(jobs, Limits(timeout, memory << 20), num_workers))
        found = np.empty(len(predictions), object)
        found[:] = [[next(told) for _ in programs] for programs in predictions]
        counts = np.array([(len(one), one.count("passed")) for one in found], np.int64)
        return Rows((estimates(counts[:, 0], counts[:, 1], ks), found))

    def formula(self, total: tuple[Floats, Any], *, k: int | Sequence[int] = KS) -> dict[str, Floats]:
        """Means over problems."""
        return named(total[0].mean(-2), checked(k))

    def result(self, state: Rows, **options: Any) -> dict[str, Any]:
        """pass@k, and what became of each program."""
        results = [
            [
                {"task_id": task, "passed": told == "passed", "result": told, "completion_id": place}
                for place, told in enumerate(programs)
            ]
            for task, programs in enumerate(state.columns[1])
        ]
        return {**super().result(state, **options), "results": results}

    def per_example(self, state: Any, *, k: int | Sequence[int] = KS, **options: Any) -> dict[str, Any]:
        """The estimate of each problem."""
        ks = checked(k)
        return {name: state.columns[0][:, ks.index(int(name[5:]))] for name in self.formula(state.total(), k=k)}

    def compatible(self, result: dict[str, Any]) -> tuple[dict[str, float], dict[int, list[tuple[int, Any]]]]:
        """(pass@k, results): by problem the list of (number of the program, what became of it)."""
        rates = {key: value for key, value in result.items() if key != "results"}
        told = {
            task: [(one["completion_id"], one) for one in programs] for task, programs in enumerate(result["results"])
        }
        return rates, told
