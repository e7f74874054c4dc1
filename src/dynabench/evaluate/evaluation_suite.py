"""Suites: several evaluations of one model."""

import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.evaluate.evaluator import evaluator
from dynabench.evaluate.evaluator.data import DataTable, load_data


@dataclass(frozen=True)
class SubTask:
    """One evaluation: a task, its data, and the arguments of `compute` (`args_for_task`).

    `data_preprocessor` gets each row as a dictionary and returns the changed row, or the columns to change.
    """

    task_type: str
    data: Any = None
    subset: str | None = None
    split: str | None = None
    data_preprocessor: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None
    args_for_task: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, kind in (("task_type", str), ("subset", str | None), ("split", str | None)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name} must be a text, not {getattr(self, name)!r}")
        if self.data is None:
            raise ValueError("data must be rows, columns, a data set, a path or a name")
        if self.data_preprocessor is not None and not callable(self.data_preprocessor):
            raise ValueError(f"data_preprocessor must be a function, not {self.data_preprocessor!r}")
        if self.args_for_task is not None and not isinstance(self.args_for_task, Mapping):
            raise ValueError(f"args_for_task must be a dictionary, not {self.args_for_task!r}")

    @property
    def name(self) -> str:
        """The name of the data, with its subset."""
        dataset_name = getattr(getattr(self.data, "info", None), "dataset_name", None) or type(self.data).__name__
        named = str(self.data if isinstance(self.data, str | Path) else dataset_name)
        return f"{named}/{self.subset}" if self.subset else named

    def run(self, model_or_pipeline: Any) -> dict[str, Any]:
        """Return the result of `compute`, with `task_name` and `data_preprocessor`."""
        arguments: dict[str, Any] = {**(self.args_for_task or {}), "model_or_pipeline": model_or_pipeline}
        if self.data_preprocessor is None:
            arguments.update(data=self.data, subset=self.subset, split=self.split)
        else:
            arguments["data"] = _preprocess(load_data(self.data, self.subset, self.split), self.data_preprocessor)
        preprocessor_text = None if self.data_preprocessor is None else str(self.data_preprocessor)
        return {
            **evaluator(self.task_type).compute(**arguments),
            "task_name": self.name,
            "data_preprocessor": preprocessor_text,
        }


class EvaluationSuite:
    """Evaluations that belong together: a subclass sets `suite` to a list of `SubTask`, or the caller passes one."""

    suite: Sequence[SubTask] = ()

    def __init__(self, name: str, suite: Sequence[SubTask] | None = None) -> None:
        self.name = name
        if suite is not None:
            self.suite = suite

    @staticmethod
    def load(
        path: str | Path, download_mode: Any = None, revision: Any = None, download_config: Any = None
    ) -> "EvaluationSuite":
        """Run a Python file (or the file in the folder of its name) and return an instance of its class `Suite`.

        `download_mode`, `revision` and `download_config` are accepted for existing code; nothing is downloaded.
        Raises ValueError where there is no such file or class.
        """
        file = Path(path)
        file = file / f"{file.name}.py" if file.is_dir() else file
        if file.suffix != ".py" or not file.is_file():
            raise ValueError(f"there is no suite at {path}: give the path of a Python file with a class Suite")
        spec = importlib.util.spec_from_file_location(f"dynabench_suite_{file.stem}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        suite_class = getattr(module, "Suite", None)
        if not inspect.isclass(suite_class) or not issubclass(suite_class, EvaluationSuite):
            raise ValueError(f"{file} has no class Suite(EvaluationSuite)")
        return suite_class(file.stem)

    def run(self, model_or_pipeline: Any) -> list[dict[str, Any]]:
        """Return the result of each task, in order. Raises ValueError for a suite without tasks."""
        if not self.suite:
            raise ValueError(f"the suite {self.name} has no tasks: set suite to a list with at least one SubTask")
        return [task.run(model_or_pipeline) for task in self.suite]

    def __repr__(self) -> str:
        return f"EvaluationSuite(name={self.name!r}, tasks={[task.name for task in self.suite]})"


def _preprocess(table: DataTable, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> DataTable:
    names = list(table.columns)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*table.columns.values(), strict=True)]
    changed = [{**row, **change(dict(row))} for row in rows]
    columns = {name: [row[name] for row in changed] for name in changed[0]}
    return DataTable(columns, table.classes, table.untyped, table.name)
