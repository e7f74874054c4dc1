"""These pages and addresses are the same on all databases, and all tests share one worker."""

import pytest

from tests import computed

worker, calculator = computed.worker, computed.calculator


@pytest.fixture
def database_kind() -> str:
    """SQLite alone."""
    return "sqlite"
