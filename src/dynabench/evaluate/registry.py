"""Where modules are found: in this package by file name, in plug-ins by the names they give, in files by path."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

from dynabench import plugins as plugged
from dynabench.evaluate.module import Comparison, Kind, Measurement, Metric, Module

FOLDERS: dict[str, Kind] = {"metrics": "metric", "measurements": "measurement", "comparisons": "comparison"}
Place = tuple[Kind, str, str]  # kind, name, and `package.module` or `package.module:Class`


def shipped() -> dict[str, dict[str, str]]:
    """By kind and name where each module of this package lies."""
    here = Path(__file__).parent
    return {
        kind: {path.stem: f"{__package__}.{folder}.{path.stem}" for path in sorted((here / folder).glob("[a-z]*.py"))}
        for folder, kind in FOLDERS.items()
    }


def builtin() -> Iterator[tuple[Kind, str]]:
    """Kind and name of each module of this package, without importing any."""
    return ((kind, name) for ours, (kind, name, _) in _all() if ours)


def plugins() -> Iterator[tuple[Kind, str]]:
    """Kind and name of each module that a plug-in brings, without importing any."""
    return ((kind, name) for ours, (kind, name, _) in _all() if not ours)


def _all() -> Iterator[tuple[bool, Place]]:
    found = plugged.installed().brings("dynabench_evaluation_modules", _places)
    return ((plugin == plugged.OURS, place) for plugin, place in found.values())


def _places(given: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, Place]]:
    known = {kind: kind for kind in FOLDERS.values()}
    for its, modules in given.items():
        if its not in known:
            raise ValueError(f"no kind {its!r}; there are {', '.join(known)}")
        for name, place in modules.items():
            if not isinstance(place, str):
                raise TypeError(f"{name} is {place!r}, not the name of a Python module")
            yield f"{its}/{name}", (known[its], name, place)


def find(path: str, kind: str | None = None) -> type[Module]:
    """The class of the module called `path`, or in the Python file (or folder with a file of its name) at `path`.

    Raises ValueError, with the nearest names, where there is none.
    """
    if kind is not None and kind not in FOLDERS.values():
        raise ValueError(f"no kind {kind!r}; there are {', '.join(FOLDERS.values())}")
    for _, (its, name, place) in _all():
        if name == path and kind in (None, its):
            return _brought(its, place)
    file = Path(path)
    file = file / f"{file.name}.py" if file.is_dir() else file
    if file.suffix == ".py" and file.is_file():
        return _only_class(_imported(file))
    raise ValueError(_unknown(path, kind))


def _brought(kind: Kind, place: str) -> type[Module]:
    """The class at `package.module` or `package.module:Class`. Raises ValueError where it is of another kind, or where
    there is no such Python module."""
    name, _, cls = place.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):  # a library that it imports
            raise
        raise ValueError(f"the plug-in's module {place} is not there ({error})") from None
    found = _only_class(getattr(module, cls) if cls else module)
    if found.kind != kind:
        raise ValueError(f"{place} is a {found.kind}, not a {kind}")
    return found


def _unknown(path: str, kind: str | None) -> str:
    from difflib import get_close_matches

    names = [name for its, name in builtin() if kind in (None, its)]
    near = get_close_matches(path.rpartition("/")[2], names, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "list_evaluation_modules() names all"
    return f"no {kind or 'module'} is called {path!r}, and no file is there; {hint}"


def _imported(file: Path) -> ModuleType:
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
