"""Files of a model of photographs: its options, the package with the weights, and the names of the classes.

Cards are checked with this by processes that import no torch.
"""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit.errors import Invalid
from dynabench.models.kinds import EFFICIENTNET_PACKAGE

CLASSES = 1000
CLASSES_FILE = "classes.json"


class EfficientNetOptions(BaseModel):
    """Options of a model of photographs: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    weights_sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the weights' file in its package.")


def find_weights() -> Path:
    """Return the path of the weights in their package; raises `Invalid` where it is not installed."""
    module = find_spec(EFFICIENTNET_PACKAGE)
    files = sorted((Path(module.origin).parent / "models").glob("*.pth")) if module and module.origin else []
    if not files:
        raise Invalid({"weights": f"The package {EFFICIENTNET_PACKAGE}, which holds the weights, is not installed."})
    return files[0]


def read_classes(path: Path, labels: Sequence[str]) -> NDArray[np.bool_]:
    """Return which classes (labels, classes) belong to each label; raises `Invalid` unless each has one label."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        members = np.zeros((len(labels), CLASSES), np.int64)
        for label, numbers in stored.items():
            np.add.at(members[labels.index(label)], np.array(numbers), 1)
    except (OSError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise Invalid({CLASSES_FILE: f"It cannot be read: {error}"}) from error
    if not (members.sum(0) == 1).all() or not members.any(1).all():
        raise Invalid({CLASSES_FILE: f"Each of the {CLASSES} classes belongs to one label, and each label has some."})
    return members.astype(bool)
