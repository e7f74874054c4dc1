"""Several modules as one."""

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
        """Modules, or names to load; in a mapping, the key is the prefix of keys that several modules share."""
        named = isinstance(evaluations, Mapping)
        chosen = evaluations.values() if isinstance(evaluations, Mapping) else evaluations
        self.evaluation_modules = [load(one) if isinstance(one, str) else one for one in chosen]
        if not self.evaluation_modules:
            raise ValueError("nothing to combine: give at least one module")
        names = [str(key) for key in evaluations] if named else [module.name for module in self.evaluation_modules]
        self.evaluation_module_names = _told_apart(names)
        self.force_prefix = force_prefix

    def add(self, **row: Any) -> None:
        """Remember one row: `add(prediction=..., reference=...)`."""
        for module in self.evaluation_modules:
            module.add(**row)

    def add_batch(self, **columns: Any) -> None:
        """Remember a batch: `add_batch(predictions=..., references=...)`."""
        for module in self.evaluation_modules:
            module.add_batch(**columns)

    def compute(self, **given: Any) -> dict[str, Any]:
        """The results of all modules in one dictionary.

        Each module gets the columns, and those of the options that it knows; options of one module alone are given
        when it is loaded: `combine([load("f1", average="macro"), "accuracy"])`. A key that two modules share gets the
        module's name before it. Raises TypeError for an option that no module knows.
        """
        return self.compute_of(lambda module: {}, **given)

    def compute_of(self, columns_of: Callable[[Module], Mapping[str, Any]], **given: Any) -> dict[str, Any]:
        """The same, where each module has columns of its own: probabilities or labels, for example."""
        shared = {"interval", "resamples", "method", "seed", "per_example"}
        known = [{*module.columns, *module.optional, *module.options_known()} for module in self.evaluation_modules]
        stray = [name for name in given if name not in shared and not any(name in names for names in known)]
        if stray:
            raise TypeError(f"none of {', '.join(self.evaluation_module_names)} takes {', '.join(stray)}")
        results = [
            module.compute(
                **{**columns_of(module), **{name: value for name, value in given.items() if name in names | shared}}
            )
            for module, names in zip(self.evaluation_modules, known, strict=True)
        ]
        return self._merged(results)

    def _merged(self, results: list[Any]) -> dict[str, Any]:
        keyed = [
            result if isinstance(result, dict) else {name: result}
            for name, result in zip(self.evaluation_module_names, results, strict=True)
        ]
        times = Counter(key for result in keyed for key in result)
        found: dict[str, Any] = {}
        for name, result in zip(self.evaluation_module_names, keyed, strict=True):
            prefixed = {key: f"{name}_{key}" if self.force_prefix or times[key] > 1 else key for key in result}
            for key, value in result.items():
                if key in ("interval", "per_example") and isinstance(value, dict):
                    inner = {prefixed.get(one, one): part for one, part in value.items()}
                    found.setdefault(key, {}).update(inner)
                else:
                    found[prefixed[key]] = value
        return found


def combine(
    evaluations: Sequence[str | Module] | Mapping[str, str | Module], force_prefix: bool = False
) -> CombinedEvaluations:
    """Several modules (or names to load) that compute together on the same rows."""
    return CombinedEvaluations(evaluations, force_prefix)


def _told_apart(names: list[str]) -> list[str]:
    times = Counter(names)
    seen: Counter[str] = Counter()
    apart = []
    for name in names:
        apart.append(f"{name}_{seen[name]}" if times[name] > 1 else name)
        seen[name] += 1
    return apart
