"""Registry of modules: files of this package, names from plug-ins, and Python files by path."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from dynabench.evaluate.module import Comparison, Kind, Measurement, Metric, Module
from dynabench.kit import plugins as plugged

FOLDERS: dict[str, Kind] = {"metrics": "metric", "measurements": "measurement", "comparisons": "comparison"}
FAMILIES = {
    "metrics/class_scores": {"f1": "F1", "precision": "Precision", "recall": "Recall"},
    "metrics/error_rates": {"cer": "Cer", "wer": "Wer"},
    "metrics/chrf": {"chrf": "Chrf", "chrf_plus_plus": "ChrfPlusPlus"},
    "metrics/mean_errors": {"mae": "Mae", "mape": "Mape", "mase": "Mase", "mse": "Mse", "smape": "Smape"},
    "metrics/calibration_errors": {
        "expected_calibration_error": "ExpectedCalibrationError",
        "maximum_calibration_error": "MaximumCalibrationError",
    },
    "metrics/correlations": {"pearsonr": "Pearsonr", "spearmanr": "Spearmanr"},
    "metrics/glue": {"glue": "Glue", "indic_glue": "IndicGlue", "super_glue": "SuperGlue", "xnli": "Xnli"},
}
"""The Python files with several modules, and the class of each."""
ModuleEntry = tuple[Kind, str, str]  # kind, name, and `package.module` or `package.module:Class`


def shipped_modules() -> dict[str, dict[str, str]]:
    """Return the module path of each module of this package, by kind and name."""
    return {kind: dict(sorted(_shipped(folder))) for folder, kind in FOLDERS.items()}


def _shipped(folder: str) -> Iterator[tuple[str, str]]:
    for path in (Path(__file__).parent / folder).glob("[a-z]*.py"):
        place = f"{__package__}.{folder}.{path.stem}"
        if family := FAMILIES.get(f"{folder}/{path.stem}"):
            yield from ((name, f"{place}:{cls}") for name, cls in family.items())
        else:
            yield path.stem, place


def builtin_modules() -> Iterator[tuple[Kind, str]]:
    """Return kind and name of each module of this package, without importing any."""
    return ((kind, name) for ours, (kind, name, _) in _all() if ours)


def plugin_modules() -> Iterator[tuple[Kind, str]]:
    """Return kind and name of each module from plug-ins, without importing any."""
    return ((kind, name) for ours, (kind, name, _) in _all() if not ours)


def _all() -> Iterator[tuple[bool, ModuleEntry]]:
    entries = plugged.installed().brings("dynabench_evaluation_modules", _locations)
    return ((plugin == plugged.OURS, place) for plugin, place in entries.values())


def _locations(brought: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, ModuleEntry]]:
    kinds = {kind: kind for kind in FOLDERS.values()}
    for kind_name, modules in brought.items():
        if kind_name not in kinds:
            raise ValueError(f"no kind {kind_name!r}; there are {', '.join(kinds)}")
        for name, module_path in modules.items():
            if not isinstance(module_path, str):
                raise TypeError(f"{name} is {module_path!r}, not the name of a Python module")
            yield f"{kind_name}/{name}", (kinds[kind_name], name, module_path)


def find_module(path: str, kind: str | None = None) -> type[Module]:
    """Return the class of the module called `path`, or in the Python file (or folder with such a file) at `path`.

    A file with several modules is followed by a colon and the class: `class_scores.py:Recall`. Raises ValueError, with
    the nearest names, where there is none.
    """
    if kind is not None and kind not in FOLDERS.values():
        raise ValueError(f"no kind {kind!r}; there are {', '.join(FOLDERS.values())}")
    for _, (entry_kind, name, place) in _all():
        if name == path and kind in (None, entry_kind):
            return _load_class(entry_kind, place)
    start, mark, cls = path.rpartition(".py:")
    file = Path(f"{start}.py" if mark else path)
    file = file / f"{file.name}.py" if file.is_dir() else file
    if file.suffix == ".py" and file.is_file():
        return _only_class(_import_file(file), cls if mark else "")
    raise ValueError(_unknown(path, kind))


def _load_class(kind: Kind, place: str) -> type[Module]:
    """The class at `package.module` or `package.module:Class`. Raises ValueError where it is of another kind, or where
    there is no such Python module."""
    name, _, cls = place.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):  # a library that it imports
            raise
        raise ValueError(f"the plug-in's module {place} is not there ({error})") from None
    module_class = _only_class(module, cls)
    if module_class.kind != kind:
        raise ValueError(f"{place} is a {module_class.kind}, not a {kind}")
    return module_class


def _unknown(path: str, kind: str | None) -> str:
    from difflib import get_close_matches

    names = [name for its, name in builtin_modules() if kind in (None, its)]
    near = get_close_matches(path.rpartition("/")[2], names, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "list_evaluation_modules() names all"
    return f"no {kind or 'module'} is called {path!r}, and no file is there; {hint}"


def _import_file(file: Path) -> ModuleType:
    name = file.stem.replace(".", "_")  # with a dot it would be a part of a package
    if name in sys.modules or importlib.util.find_spec(name) is not None:  # taken by an installed package
        name = f"dynabench_module_{name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    spec.loader.exec_module(module)
    return module


def classes_in(module: ModuleType) -> list[type[Module]]:
    """Return the public classes of modules that a Python module defines."""
    return [
        item
        for name, item in vars(module).items()
        if inspect.isclass(item)
        and issubclass(item, Metric | Measurement | Comparison)
        and item.__module__ == module.__name__
        and not name.startswith("_")
    ]


def _only_class(module: ModuleType, name: str = "") -> type[Module]:
    """The class of this name, or else the public class of the file. Raises ValueError unless there is just one."""
    if name:
        named: type[Module] | None = getattr(module, name, None)
        if named is None:
            raise ValueError(f"{module.__name__} has no class {name}")
        return named
    classes = classes_in(module)
    if len(classes) != 1:
        hint = (
            f"; name one of {', '.join(cls.__name__ for cls in classes)} after the file and a colon" if classes else ""
        )
        raise ValueError(f"{module.__name__} needs one public class of a module, it has {len(classes)}{hint}")
    return classes[0]
