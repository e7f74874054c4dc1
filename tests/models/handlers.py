"""Folders and archives of handlers for tests."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
import yaml

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import archives
from dynabench.models.sandbox.available import Bubblewrap, sandbox
from dynabench.models.sandbox.box import Box

NLI = {
    "name": "builders-own",
    "task": "nli",
    "kind": "handler",
    "inputs": ["premise", "hypothesis"],
    "answer": "label",
    "labels": ["entailment", "neutral", "contradiction"],
    "licence": "MIT",
}
SMALL = {"memory_mb": 200, "disk_mb": 4, "processes": 12, "predict_seconds": 5, "load_seconds": 20}
"""Little of everything."""
PAIR = {"premise": "A dog runs.", "hypothesis": "An animal moves."}
ANSWERS = """
class Model:
    def __init__(self, folder):
        self.folder = folder

    def predict(self, batch):
        return [self.one(**row) for row in batch]

    def one(self, premise, hypothesis):
{body}
        return {{"label": "neutral"}}
"""
RUNS_PREMISE = """
class Model:
    def __init__(self, folder):
        pass

    def predict(self, batch):
        names = {}
        exec(batch[0]["premise"], names)
        return names["predict"](batch)
"""
"""A handler that does what the premise of its first row says."""

Write = Callable[..., Path]


def write(folder: Path, source: str, **spec: Any) -> Path:
    """A model folder around `handler.py`; files whose mode is not said can be read by everybody."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.yaml").write_text(yaml.safe_dump(NLI | spec))
    (folder / "handler.py").write_text(dedent(source))
    return folder


def doing(body: str) -> str:
    """A handler that does this for each row, with `premise` and `hypothesis`, before it answers `neutral`."""
    return ANSWERS.format(body=indent(dedent(body).strip(), " " * 8))


def premise_of(body: str) -> dict[str, str]:
    """A row for which a handler of `RUNS_PREMISE` does this before it answers `neutral`."""
    code = indent(dedent(body).strip(), " " * 4)
    answer = f"def answer():\n{code}\n    return {{'label': 'neutral'}}\n"
    return PAIR | {"premise": f"{answer}predict = lambda batch: [answer()]"}


def need_sandbox() -> Box:
    """Skip, with the reason, where nothing can confine a handler."""
    try:
        return sandbox()
    except Unavailable as lacking:
        pytest.skip(lacking.detail)


def need_bubblewrap() -> None:
    """Skip, with the reason, where it is not bubblewrap that confines a handler."""
    if not isinstance(need_sandbox(), Bubblewrap):
        pytest.skip("bubblewrap does not work here, and what is refused by Docker is told in other words")


def refused(path: Path, target: Path) -> str:
    """The fields and messages that reading is refused with; nothing is left behind."""
    before = set(target.parent.iterdir())
    with pytest.raises(Invalid) as raised:
        archives.unpack(path, target)
    assert set(target.parent.iterdir()) == before
    return raised.value.detail
