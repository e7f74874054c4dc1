"""Settings and calls of operators are in the reference."""

import re
from pathlib import Path

from dynabench.cli import COMMANDS
from dynabench.kit.settings import Settings

REFERENCE = "\n".join(
    path.read_text() for path in sorted((Path(__file__).parent.parent / "docs/reference").glob("*.md"))
)


def test_every_setting_is_documented():
    assert not [name for name in Settings.model_fields if f"`DYNABENCH_{name.upper()}`" not in REFERENCE]


def test_every_command_is_documented():
    assert not [name for name in COMMANDS if f"`dynabench {name}" not in REFERENCE]


def test_every_route_of_the_api_is_documented(app):
    subs = {re.sub(r"\{\w+\}", "{}", path) for path in re.findall(r"/[\w/{}-]+", REFERENCE)}
    paths = [path.removeprefix("/api/v1") for path in app.openapi()["paths"] if path.startswith("/api/v1")]
    assert len(paths) > 40
    assert not [path for path in paths if re.sub(r"\{\w+\}", "{}", path) not in subs]
