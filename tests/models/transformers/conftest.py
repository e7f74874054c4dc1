"""Models that several tests ask; made once."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dynabench.models import catalog, runtime
from tests.models.transformers import made

runtime.quiet()


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which models are made."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="session")
def sentiment_folder(workshop: Path) -> Path:
    return made.sentiment(workshop / "sentiment")


@pytest.fixture(scope="session")
def sentiment(sentiment_folder: Path) -> Any:
    return catalog.open_model(sentiment_folder)


@pytest.fixture(scope="session")
def opposites_folder(workshop: Path) -> Path:
    return made.opposites(workshop / "opposites")


@pytest.fixture(scope="session")
def continues_folder(workshop: Path) -> Path:
    return made.continues(workshop / "continues")


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """A copy of a folder whose `model.yaml` says something else; `options` are added to those there."""

    def change(folder: Path, **spec: Any) -> Path:
        target = tmp_path / f"changed{len(list(tmp_path.iterdir()))}"
        target.mkdir()
        for path in folder.iterdir():
            if path.name in ("model.safetensors", "tokenizer.json"):  # large, and to be replaced, not written into
                (target / path.name).symlink_to(path)
            else:
                shutil.copy(path, target)
        document = yaml.safe_load((folder / "model.yaml").read_text())
        options = {**document.pop("options"), **spec.pop("options", {})}
        (target / "model.yaml").write_text(yaml.safe_dump({**document, **spec, "options": options}))
        return target

    return change
