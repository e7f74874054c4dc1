"""A platform with its hub, and a user's folders that are the test's own."""

from pathlib import Path

import pytest

from tests.hubs.conftest import hub, hubs, plain_client, start_hub

__all__ = ["hub", "hubs", "plain_client", "start_hub"]


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the trusted modules and the downloaded files of a test in its folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
