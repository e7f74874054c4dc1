"""Values as an HTML form posts them."""

from collections.abc import Mapping
from typing import Any


def posted(name: str, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The texts under full names."""
    return {f"{name}.{key}": [str(value)] for key, value in values.items()}
