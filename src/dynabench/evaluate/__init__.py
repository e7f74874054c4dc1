"""The evaluation library: metrics, measurements, comparisons and the evaluator.

The names are those of Hugging Face `evaluate`, so that code moves over by changing the import. Nothing here opens a
connection or writes a file unless it is asked to.
"""

from typing import TYPE_CHECKING, Any

from dynabench.evaluate.loading import inspect_evaluation_module, list_evaluation_modules, load
from dynabench.evaluate.module import Comparison, Measurement, Metric, Module

if TYPE_CHECKING:
    import dynabench.evaluate.visualization as visualization
    from dynabench.evaluate.combining import CombinedEvaluations, combine
    from dynabench.evaluate.comparing import compare
    from dynabench.evaluate.evaluation_suite import EvaluationSuite, SubTask
    from dynabench.evaluate.evaluator import evaluator
    from dynabench.evaluate.results import save

EvaluationModule = Module
LAZY_IMPORTS = {
    "CombinedEvaluations": "combining",
    "EvaluationSuite": "evaluation_suite",
    "SubTask": "evaluation_suite",
    "combine": "combining",
    "compare": "comparing",
    "evaluator": "evaluator",
    "save": "results",
    "visualization": "",
}
__all__ = [
    "CombinedEvaluations",
    "Comparison",
    "EvaluationModule",
    "EvaluationSuite",
    "Measurement",
    "Metric",
    "Module",
    "SubTask",
    "combine",
    "compare",
    "evaluator",
    "inspect_evaluation_module",
    "list_evaluation_modules",
    "load",
    "save",
    "visualization",
]


def __getattr__(name: str) -> Any:
    """Import on first access the names whose modules need more than NumPy."""
    if name not in LAZY_IMPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{LAZY_IMPORTS[name] or name}")
    attribute = getattr(module, name) if LAZY_IMPORTS[name] else module
    globals()[name] = attribute  # a submodule of the same name must not take its place
    return attribute
