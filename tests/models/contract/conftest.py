import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dynabench.kit.settings import get_settings
from dynabench.models import catalog, samples
from dynabench.models.protocol import ModelCard
from dynabench.tasks import TaskConfig

from .table import Maker, makers


@dataclass(frozen=True)
class Subject:
    """A model of the suite, opened, with samples of its task."""

    maker: Maker
    folder: Path
    model: Any
    samples: list[dict[str, str]]

    @property
    def card(self) -> ModelCard:
        return self.model.card

    @property
    def config(self) -> TaskConfig:
        return self.maker.config

    def answers(self, rows: list[dict[str, Any]]) -> list[Any]:
        """Return the answers as the host's queues request them."""
        return self.model.answer([(self.model, self.model.prepare(row)) for row in rows])

    def short(self) -> dict[str, str]:
        """An input of few words: explanations by removal ask about each of them."""
        texts = ("Nobody liked the second film.", "It rained in May.")
        return {name: texts[place % 2] for place, name in enumerate(self.card.inputs)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Models whose answers take long are asked by the tests that they name."""
    remaining = [item for item in items if not _is_selected(item)]
    if remaining:
        config.hook.pytest_deselected(items=remaining)
        items[:] = [item for item in items if _is_selected(item)]


def _is_selected(item: pytest.Item) -> bool:
    maker = item.callspec.params.get("maker_and_place") if hasattr(item, "callspec") else None
    return not isinstance(maker, Maker) or not maker.tests or getattr(item, "originalname", "") in maker.tests


@pytest.fixture(scope="module", autouse=True)
def at_home() -> Iterator[None]:
    """A home of its own, in which hosts of this machine may be asked."""
    with tempfile.TemporaryDirectory(prefix="dynabench-") as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNABENCH_HOME", home)
        patch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()


def _param(maker: Maker) -> Any:
    """A model that needs a server or a graph of its own is slow to make."""
    marks = [pytest.mark.release, pytest.mark.xdist_group(maker.fixture)] if maker.fixture else []
    return pytest.param(maker, id=maker.name, marks=marks)


@pytest.fixture(scope="module", params=map(_param, makers()))
def maker_and_place(request: pytest.FixtureRequest, at_home: None) -> Iterator[tuple[Maker, Path]]:
    """Each model's folder in turn."""
    maker: Maker = request.param
    values = [request.getfixturevalue(maker.fixture)] if maker.fixture else []
    scratch = tempfile.TemporaryDirectory(prefix="dynabench-", ignore_cleanup_errors=True)
    with scratch as place, maker.make(Path(place), *values) as folder:
        yield maker, folder


@pytest.fixture(scope="module")
def subject(maker_and_place: tuple[Maker, Path]) -> Iterator[Subject]:
    """Each model, opened once for all tests that leave it as it is."""
    maker, folder = maker_and_place
    model = catalog.open_model(folder)
    rows = [item.inputs for item in samples.sample_inputs(maker.config) if max(map(len, item.inputs.values())) <= 1000]
    yield Subject(maker, folder, model, rows[::2][: maker.rows])
    model.close()  # type: ignore[attr-defined]


@pytest.fixture
def another(subject: Subject) -> Iterator[Callable[[], Any]]:
    """Opens the model again."""
    opened: list[Any] = []

    def again() -> Any:
        opened.append(catalog.open_model(subject.folder))
        return opened[-1]

    yield again
    for model in opened:
        model.close()
