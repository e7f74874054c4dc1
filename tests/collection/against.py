"""Shipped tasks against models of a test's own, which the real model host serves."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from dynabench.models.backends.served.endpoint import breaker
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks import shipped
from tests.models.conftest import served


@contextmanager
def hosted(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The real model host with the models below `folder`; yields its address."""
    patch.setenv("DYNABENCH_HOME", str(folder / "host-home"))
    patch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    breaker.cache_clear()
    with served(create_app(Repository([folder / "models"])), "http://127.0.0.1:0") as address:
        yield address
    get_settings.cache_clear()


def opened(session: Session, task: str, models: Path, *names: str) -> None:
    """A task with its contexts and an open round against models."""
    [result] = [
        item for item in (*shipped.shipped_conversations(), *shipped.shipped_drawings()) if item.config.id == task
    ]
    service.save_task(session, None, result.source)
    rows = [ContextRow(n, context["values"], context["tag"]) for n, context in enumerate(result.contexts(), start=1)]
    contexts.add_contexts(session, task, result.config, rows)
    cards = [entry.card for entry in catalog.find([models]) if entry.card and entry.card.name in names]
    drafted = service.draft_round(session, None, task, cards, "any")
    service.open_round(session, None, task, drafted.number)
