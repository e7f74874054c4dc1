"""Where modules are found: in this package by file name, in other packages by entry point, in files by path."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from dynabench.evaluate.module import Comparison, Kind, Measurement, Metric, Module

FOLDERS: dict[str, Kind] = {"metrics": "metric", "measurements": "measurement", "comparisons": "comparison"}
GROUP = "dynabench.evaluate"  # of the entry points by which packages bring modules of their own


def builtin() -> Iterator[tuple[Kind, str]]:
    """Kind and name of each module of this package, without importing any."""
    here = Path(__file__).parent
    for folder, kind in FOLDERS.items():
        for path in sorted((here / folder).glob("[a-z]*.py")):
            yield kind, path.stem


def plugins() -> Iterator[tuple[Kind, str]]:
    """Kind and name of each module of other packages; finding the kind imports it."""
    for point in entry_points(group=GROUP):
        yield _only_class(point.load()).kind, point.name


def find(path: str, kind: str | None = None) -> type[Module]:
    """The class of the module called `path`, or in the Python file (or folder with a file of its name) at `path`.

    Raises ValueError, with the nearest names, where there is none.
    """
    if kind is not None and kind not in FOLDERS.values():
        raise ValueError(f"no kind {kind!r}; there are {', '.join(FOLDERS.values())}")
    for folder, its in FOLDERS.items():
        if kind in (None, its) and (its, path) in set(builtin()):
            return _only_class(importlib.import_module(f"dynabench.evaluate.{folder}.{path}"))
    for point in entry_points(group=GROUP, name=path):
        return _only_class(point.load())
    file = Path(path)
    file = file / f"{file.name}.py" if file.is_dir() else file
    if file.suffix == ".py" and file.is_file():
        return _only_class(_imported(file))
    raise ValueError(_unknown(path, kind))


def _unknown(path: str, kind: str | None) -> str:
    from difflib import get_close_matches

    names = [name for its, name in builtin() if kind in (None, its)]
    near = get_close_matches(path.rpartition("/")[2], names, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "list_evaluation_modules() names all"
    return f"no {kind or 'module'} is called {path!r}, and no file is there; {hint}"


def _imported(file: Path) -> ModuleType:
    name = f"dynabench_module_{file.stem}" if file.stem in sys.modules else file.stem
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    spec.loader.exec_module(module)
    return module


def _only_class(found: ModuleType | type[Module]) -> type[Module]:
    """The public class of a module's file. Raises ValueError unless there is just one."""
    if inspect.isclass(found):
        return found
    own = [
        item
        for name, item in vars(found).items()
        if inspect.isclass(item)
        and issubclass(item, Metric | Measurement | Comparison)
        and item.__module__ == found.__name__
        and not name.startswith("_")
    ]
    if len(own) != 1:
        raise ValueError(f"{found.__name__} needs one public class of a module, it has {len(own)}")
    return own[0]
