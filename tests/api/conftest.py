"""Everybody at the door of a deployment that a module furnishes with `stage.new_stage`."""

from collections.abc import Iterator
from typing import Any

import pytest

from dynabench.kit.db import Database
from tests import computed
from tests.api import sending, things
from tests.api.stage import Scene, Stage

worker, calculator = computed.worker, computed.calculator
ask = sending.ask


@pytest.fixture
def stage(client: Any, database: Database, furnished: tuple[str, Scene]) -> Iterator[Stage]:
    client.app.state.settings.oidc = [things.provider()]
    created = Stage(client, database, furnished[1])
    yield created
    created.close()
