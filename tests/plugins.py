"""Plug-ins that tests bring, installed as any package would be: a distribution with an entry point, on the path."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dynabench.kit import plugins
from dynabench.site.cards import library
from dynabench.web.environment import environment


def distribution(site: Path, package: str, module: str = "") -> None:
    """Write the metadata of an installed plug-in: `module`, or the package itself."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[dynabench]\n{package} = {module or package}\n")


@contextmanager
def on_path(site: Path, *packages: str, distributed: bool = False) -> Iterator[None]:
    """Make plug-ins of the packages in the folder `site`; `distributed` if an installer wrote them."""
    for package in packages:
        if not distributed and not (site / f"{package}-1.0.dist-info").exists():
            distribution(site, package)
    sys.path.insert(0, str(site))
    forget()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        for module in [module for module in sys.modules if module.partition(".")[0] in packages]:
            del sys.modules[module]
        forget()


@contextmanager
def none_installed() -> Iterator[None]:
    """Run the block as where no package brings a plug-in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "entry_points", lambda **_: ())
        forget()
        yield
    forget()


def forget() -> None:
    """A process asks once what is installed."""
    for known_values in (plugins.installed, library.all_entries, environment):
        known_values.cache_clear()
