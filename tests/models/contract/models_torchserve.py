from pathlib import Path
from typing import Any

from dynabench.models import starting

from .table import BRIEFLY, TASKS, Maker, needs, plain


def classifier(place: Path, server: Any) -> Path:
    """A handler in a worker of a real TorchServe, which batches calls."""
    needs("torchserve")
    return starting.start(
        "in-torchserve", TASKS["sentiment"], "torchserve", place, url=server.inference, model="classifier"
    )


MAKERS = [Maker("torchserve", "sentiment", plain(classifier), fixture="torchserve", tests=BRIEFLY)]
