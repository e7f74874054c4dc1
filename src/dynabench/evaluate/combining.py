"""Several modules combined into one that computes all of them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dynabench.evaluate.loading import load
from dynabench.evaluate.module import Module


class CombinedEvaluations:
    """Modules that get the same rows. Made by `combine`."""

    def __init__(
        self, evaluations: Sequence[str | Module] | Mapping[str, str | Module], force_prefix: bool = False
    ) -> None:
        """Combine modules, or names to load.

        The keys of a mapping are the prefixes of result keys that modules share.
        """
        named = isinstance(evaluations, Mapping)
        modules = evaluations.values() if isinstance(evaluations, Mapping) else evaluations
        self.evaluation_modules = [
            load(evaluation) if isinstance(evaluation, str) else evaluation for evaluation in modules
        ]
        if not self.evaluation_modules:
            raise ValueError("nothing to combine: give at least one module")
        names = [str(key) for key in evaluations] if named else [module.name for module in self.evaluation_modules]
        self.evaluation_module_names = _disambiguate(names)
        self.force_prefix = force_prefix

    def add(self, **row: Any) -> None:
        """Add one row to all modules: `add(prediction=..., reference=...)`."""
        for module in self.evaluation_modules:
            module.add(**row)

    def add_batch(self, **columns: Any) -> None:
        """Add a batch to all modules: `add_batch(predictions=..., references=...)`."""
        for module in self.evaluation_modules:
            module.add_batch(**columns)

    def compute(self, **arguments: Any) -> dict[str, Any]:
        """Return the results of all modules in one dictionary.

        Each module gets the columns, and the options that it knows; options of a single module are passed when it is
        loaded: `combine([load("f1", average="macro"), "accuracy"])`. A key that two modules share gets the module's
        name as a prefix. Raises TypeError for an option that no module knows.
        """
        return self.compute_of(lambda module: {}, **arguments)

    def compute_of(self, columns_of: Callable[[Module], Mapping[str, Any]], **arguments: Any) -> dict[str, Any]:
        """Compute as `compute` does, with further columns for each module: probabilities or labels, for example."""
        shared = {"interval", "resamples", "method", "seed", "per_example"}
        accepted = [{*module.columns, *module.optional, *module.options_known()} for module in self.evaluation_modules]
        stray = [name for name in arguments if name not in shared and not any(name in names for names in accepted)]
        if stray:
            raise TypeError(f"none of {', '.join(self.evaluation_module_names)} takes {', '.join(stray)}")
        results = [
            module.compute(
                **{**columns_of(module), **{name: value for name, value in arguments.items() if name in names | shared}}
            )
            for module, names in zip(self.evaluation_modules, accepted, strict=True)
        ]
        return self._merged(results)

    def _merged(self, results: list[Any]) -> dict[str, Any]:
        keyed = [
            result if isinstance(result, dict) else {name: result}
            for name, result in zip(self.evaluation_module_names, results, strict=True)
        ]
        times = Counter(key for result in keyed for key in result)
        merged: dict[str, Any] = {}
        for name, result in zip(self.evaluation_module_names, keyed, strict=True):
            prefixed = {key: f"{name}_{key}" if self.force_prefix or times[key] > 1 else key for key in result}
            for key, value in result.items():
                if key in ("interval", "per_example") and isinstance(value, dict):
                    inner = {prefixed.get(inner_key, inner_key): part for inner_key, part in value.items()}
                    merged.setdefault(key, {}).update(inner)
                else:
                    merged[prefixed[key]] = value
        return merged


def combine(
    evaluations: Sequence[str | Module] | Mapping[str, str | Module], force_prefix: bool = False
) -> CombinedEvaluations:
    """Return several modules (or names to load) that compute together on the same rows."""
    return CombinedEvaluations(evaluations, force_prefix)


def _disambiguate(names: list[str]) -> list[str]:
    times = Counter(names)
    seen: Counter[str] = Counter()
    unique_names = []
    for name in names:
        unique_names.append(f"{name}_{seen[name]}" if times[name] > 1 else name)
        seen[name] += 1
    return unique_names
