"""Kinds of model that tests bring, installed as any package would be: a distribution with an entry point."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.plugins import on_path

KIND = """\
from dynabench.kit.hooks import hookimpl
from dynabench.models.kinds import REMOVALS, Kind

@hookimpl
def dynabench_model_kinds():
    return [Kind("{name}", "{package}.model:Model", {methods}, {options!r}, extra="platform", inside={inside})]
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
    with on_path(site, package):
        yield package


def folder(
    place: Path,
    kind: str,
    task: str = "sentiment",
    inputs: str = "statement",
    answer: str = "label",
    labels: str = "positive, neutral, negative",
) -> Path:
    """A model's folder of this kind, with nothing but `model.yaml`."""
    created = place / f"a-{kind}"
    created.mkdir(parents=True)
    (created / "model.yaml").write_text(
        YAML.format(name=f"a-{kind}", task=task, kind=kind, inputs=inputs, answer=answer, labels=labels)
    )
    return created
