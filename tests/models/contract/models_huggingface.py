from pathlib import Path
from typing import Any

import yaml

from dynabench.models import spec, starting

from .table import BRIEFLY, TASKS, Maker, needs, plain


def endpoint(place: Path, server: Any) -> Path:
    """A classifier behind an inference endpoint, whose labels are explained."""
    needs("huggingface")
    from tests.models.served.endpoints import NAMES

    url = f"{server.url}/text-classification"
    folder = starting.start("behind-an-endpoint", TASKS["sentiment"], "huggingface", place, url=url)
    document = yaml.safe_load((folder / spec.FILE).read_text())
    document["options"]["labels"] = NAMES
    (folder / spec.FILE).write_text(yaml.safe_dump(document))
    return folder


MAKERS = [Maker("huggingface", "sentiment", plain(endpoint), fixture="endpoints", tests=BRIEFLY)]
