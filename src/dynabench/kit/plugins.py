"""The plug-ins in use: the platform's own parts first, then those of installed packages.

A package names its plug-in in an entry point of the group `dynabench`; `dynabench.kit.hooks` says what a plug-in may
bring. A plug-in that cannot be loaded or used is left out, logged and listed with the reason by `dynabench plugin
list`; all others go on working.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from pluggy import PluginManager

from dynabench.kit import hooks

BUILTIN = "dynabench.builtin"
"""Our own plug-in; named, not imported, since it knows every layer and the lowest ones ask here."""
OURS = "dynabench"
HOOKS = tuple(name for name in vars(hooks) if name.startswith("dynabench_"))

T = TypeVar("T")
Named = Callable[[Any], Iterable[tuple[str, T]]]
log = logging.getLogger(__name__)


class Failure(NamedTuple):
    """A plug-in that brings less than it should, and why."""

    plugin: str
    reason: str


@dataclass(frozen=True)
class Plugin:
    """A plug-in that was loaded: its entry point's name, its package and version, and the hooks that it has."""

    name: str
    package: str
    version: str
    hooks: tuple[str, ...]


@dataclass
class Plugins:
    """All plug-ins of this process. What a hook brings is asked for once."""

    manager: PluginManager = field(default_factory=lambda: PluginManager(hooks.GROUP))
    failures: list[Failure] = field(default_factory=list)
    _brought: dict[str, dict[str, tuple[str, Any]]] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    def load(self) -> "Plugins":
        """Register ours, then one after another those that installed packages name."""
        self.manager.add_hookspecs(hooks)
        self.manager.register(import_module(BUILTIN), OURS)
        for entry in sorted(entry_points(group=hooks.GROUP), key=lambda entry: entry.name):
            self._add(entry)
        return self

    def brings(self, hook: str, named: Named[T]) -> Mapping[str, tuple[str, T]]:
        """Return the things that all plug-ins bring by `hook`: for each name, the plug-in and the thing.

        `named` turns the result of one plug-in into pairs of name and thing. It raises TypeError or ValueError
        where that result is not what the hook asks for.
        """
        with self._lock:
            if hook not in self._brought:
                self._brought[hook] = self._ask(hook, named)
            return self._brought[hook]

    def loaded(self) -> list[Plugin]:
        """The plug-ins of installed packages, by name."""
        packages = {id(plugin): result for plugin, result in self.manager.list_plugin_distinfo()}
        entries = []
        for name, plugin in self.manager.list_name_plugin():
            if plugin is None or name == OURS:
                continue
            about = packages[id(plugin)]
            callers = self.manager.get_hookcallers(plugin) or []
            version = str(about.version)
            entries.append(Plugin(name, str(about.project_name), version, tuple(sorted(item.name for item in callers))))
        return sorted(entries, key=lambda plugin: plugin.name)

    def tell(self, plugin: str, reason: str) -> None:
        """Remember and log what is wrong with a plug-in."""
        self.failures.append(Failure(plugin, reason))
        log.error("plug-in %s: %s", plugin, reason)

    def _add(self, entry: EntryPoint) -> None:
        if self.manager.has_plugin(entry.name):
            return self.tell(entry.name, f"Another plug-in has this name, so {entry.value} is left out.")
        try:
            self.manager.load_setuptools_entrypoints(hooks.GROUP, entry.name)
            self.manager.check_pending()
        except (Exception, SystemExit) as error:
            if self.manager.has_plugin(entry.name):
                self.manager.unregister(name=entry.name)
            self.tell(entry.name, f"It cannot be loaded: {_why(error)}")
        return None

    def _ask(self, hook: str, named: Named[T]) -> dict[str, tuple[str, T]]:
        result: dict[str, tuple[str, T]] = {}
        for item in getattr(self.manager.hook, hook).get_hookimpls():
            try:
                pairs = list(named(item.function()))
            except (Exception, SystemExit) as error:
                if item.plugin_name == OURS:
                    raise
                self.tell(item.plugin_name, f"{hook} brings nothing that can be used: {_why(error)}")
                continue
            for name, contribution in pairs:
                if name in result:
                    self.tell(item.plugin_name, f"{hook}: the name “{name}” is taken by {result[name][0]}.")
                result.setdefault(name, (item.plugin_name, contribution))
        return result


@cache
def installed() -> Plugins:
    """The plug-ins of this process, loaded when they are first asked for."""
    return Plugins().load()


def gather(hook: str, named: Named[T]) -> Mapping[str, T]:
    """Everything that plug-ins bring by `hook`, ours first, by name; see `Plugins.brings`."""
    return MappingProxyType({name: contribution for name, (_, contribution) in installed().brings(hook, named).items()})


def classes(base: type[T], name: str) -> Named[type[T]]:
    """Reads lists of subclasses of `base` whose default of the setting `name` is their name."""

    def pairs(subclasses: Any) -> Iterable[tuple[str, type[T]]]:
        for cls in subclasses:
            if not (isinstance(cls, type) and issubclass(cls, base)):
                raise TypeError(f"{cls!r} is no subclass of {base.__name__}")
            called = cls.model_fields[name].default  # type: ignore[attr-defined]
            if not isinstance(called, str):
                raise TypeError(f"{cls.__name__} needs a name: {name}: Literal['...'] = '...'")
            yield called, cls

    return pairs


def references(brought: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Read mappings of names to `module:attribute`, as text; raises TypeError for anything else."""
    for name, reference in brought.items():
        if not (isinstance(name, str) and isinstance(reference, str) and ":" in reference):
            raise TypeError("names and `module:attribute` as texts were expected")
    return list(brought.items())


def load_reference(reference: str) -> Any:
    """Import what `module:attribute` names."""
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)


def _why(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]
