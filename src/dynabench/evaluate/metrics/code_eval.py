"""Programs run against their tests."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts, Tokens
from dynabench.evaluate.module import Metric
from dynabench.evaluate.programs.passing import KS, check_ks, means_by_name, pass_at_k_table
from dynabench.evaluate.programs.sandbox import ProgramLimits, run_programs
from dynabench.evaluate.states import Rows

REFUSAL = (
    "code_eval runs the programs that it is given, which nobody may have read. They run in processes of their own with "
    "limits, but use a machine that you can lose. To go on pass allow_code=True, or set HF_ALLOW_CODE_EVAL=1 in the "
    "environment."
)


class CodeEval(Metric):
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
