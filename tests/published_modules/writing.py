"""Modules that tests write: their files, with any code in `update`."""

from dynabench.published_modules.manifest import ModuleManifest, read_manifest
from dynabench.published_modules.publishing import declare_module, readme_text

CODE = '''
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, CardExample, Output
from dynabench.evaluate.columns import Labels
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums

{before}


class Agreement(Metric):
    """The share of rows that agree."""

    card = Card(
        description="The share of rows that agree.",
        formula="a / n",
        inputs={{"predictions": "what a model says", "references": "what is right"}},
        outputs=(Output("agreement", "the share", 0, 1, "higher"),),
        examples=(CardExample("Half", {{"predictions": [0, 1], "references": [0, 0]}}, {{"agreement": 0.5}}),),
        limits="It says nothing of single classes.",
        citation="None.",
    )
    columns = {{"predictions": Labels(), "references": Labels()}}

    def update(self, predictions: Any, references: Any{options}) -> Sums:
        {update}
        return Sums(same(predictions, references))

    def formula(self, total: Any) -> dict[str, Any]:
        {formula}
'''
DOCUMENT = {
    "kind": "metric",
    "name": "agreement",
    "file": "agreement.py",
    "description": "The share of rows that agree.",
    "formula": "a / n",
    "inputs": {
        "predictions": {"takes": "labels", "text": "what a model says"},
        "references": {"takes": "labels", "text": "what is right"},
    },
    "outputs": {"agreement": {"text": "the share", "range": [0, 1], "better": "higher"}},
    "examples": [
        {"title": "Half", "inputs": {"predictions": [0, 1], "references": [0, 0]}, "result": {"agreement": 0.5}}
    ],
    "limits": "It says nothing of single classes.",
    "citation": "None.",
    "interval": True,
}


def module_code(
    update: str = "pass",
    formula: str = 'return {"agreement": total[..., 0] / total[..., -1]}',
    before: str = "",
    options: str = "",
) -> bytes:
    """The Python file of a module, with this code in its functions and before its class."""
    return CODE.format(update=update, formula=formula, before=before, options=options).encode()


def module_files(**code: str) -> dict[str, bytes]:
    """The files of a module that `agreement.py` declares."""
    readme = declare_module(readme_text("agreement", "metric").encode(), DOCUMENT)
    return {"README.md": readme, "agreement.py": module_code(**code)}


def manifest() -> ModuleManifest:
    """The declaration of these modules."""
    return read_manifest(DOCUMENT)
