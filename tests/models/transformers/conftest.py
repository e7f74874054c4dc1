"""Models that several tests ask; made once."""

from pathlib import Path
from typing import Any

import pytest

from dynabench.models import catalog, runtime
from tests.models.transformers import made

runtime.quiet()


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where models are made."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="session")
def sentiment_folder(workshop: Path, data: Path) -> Path:
    return made.sentiment(workshop / "sentiment", data / "sst2" / "train.jsonl.gz")


@pytest.fixture(scope="session")
def sentiment(sentiment_folder: Path) -> Any:
    return catalog.open_model(sentiment_folder)
