"""Kinds of model that tests bring, installed as any package would be: a distribution with an entry point."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynabench.models import kinds

KIND = """\
from dynabench.models.kinds import REMOVALS, Kind

kind = Kind("{name}", "{package}.model:Model", {methods}, {options!r}, extra="platform", inside={inside})
"""
YAML = """\
name: {name}
task: {task}
kind: {kind}
inputs: [{inputs}]
answer: {answer}
labels: [{labels}]
licence: MIT
summary: Made by a test.
data: [none]
"""


@contextmanager
def installed(
    site: Path, name: str, code: str, methods: str = "REMOVALS[:1]", options: str = "", inside: bool = True
) -> Iterator[str]:
    """A distribution in `site` that adds the kind `name`, whose backend is the class `Model` of `code`."""
    package = f"kind_{name.replace('-', '_')}"
    folder = site / package
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        KIND.format(name=name, package=package, methods=methods, options=options, inside=inside)
    )
    (folder / "model.py").write_text(code)
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{kinds.GROUP}]\n{name} = {package}:kind\n")
    sys.path.insert(0, str(site))
    kinds.kinds.cache_clear()
    try:
        yield package
    finally:
        sys.path.remove(str(site))
        for module in [module for module in sys.modules if module.partition(".")[0] == package]:
            del sys.modules[module]
        kinds.kinds.cache_clear()


def folder(
    place: Path,
    kind: str,
    task: str = "sentiment",
    inputs: str = "statement",
    answer: str = "label",
    labels: str = "positive, neutral, negative",
) -> Path:
    """A model's folder of this kind, with nothing but `model.yaml`."""
    made = place / f"a-{kind}"
    made.mkdir(parents=True)
    (made / "model.yaml").write_text(
        YAML.format(name=f"a-{kind}", task=task, kind=kind, inputs=inputs, answer=answer, labels=labels)
    )
    return made
