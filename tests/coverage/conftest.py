"""Number of samples to draw."""

import pytest


@pytest.fixture
def draws(request: pytest.FixtureRequest) -> int:
    """100 in the suite; `make coverage` asks for 2,000."""
    return int(request.config.getoption("--draws"))
