from pathlib import Path

import pytest

from dynabench.kit.errors import Unavailable
from dynabench.models import starting

from .table import TASKS, Make, Maker, needs, plain


def begun(task: str) -> Make:
    """Return the files that `dynabench model new` writes."""

    def start(place: Path) -> Path:
        needs("handler")
        from dynabench.models.sandbox.available import sandbox

        try:
            sandbox()
        except Unavailable as problem:
            pytest.skip(problem.detail)
        place.chmod(0o755)
        for parent in place.parents:  # the sandbox's user must reach it
            if parent.owner() == place.owner() and parent.stat().st_mode & 0o005 != 0o005:
                parent.chmod(parent.stat().st_mode | 0o005)
        return starting.start("first-rule", TASKS[task], "handler", place)

    return plain(start)


MAKERS = [Maker("handler", "sentiment", begun("sentiment")), Maker("handler-spans", "qa", begun("qa"))]
