"""The builder's page: its commands run as they stand there, and it leaves out no kind and no step."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.settings import get_settings
from dynabench.models import kinds
from dynabench.models.check_report import REMEDIES
from tests.models.contract.table import needs
from tests.models.handlers import need_sandbox

PAGE = (Path(__file__).parents[2] / "docs/how-to/bring-a-model.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("dynabench ")
]


@pytest.mark.release
@pytest.mark.models
@pytest.mark.timeout(180)
def test_its_commands_work_in_order(tmp_path, monkeypatch):
    for kind in ("handler", "linear", "ensemble"):
        needs(kind)
    need_sandbox()
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    get_settings.cache_clear()
    try:
        for command in COMMANDS:
            done = CliRunner().invoke(app, shlex.split(command)[1:])
            assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception!r}"
            if " check " in command:
                assert "passes for sentiment" in " ".join(done.stdout.split())
    finally:
        get_settings.cache_clear()
    assert len(COMMANDS) >= 7


def test_its_ten_lines_are_a_handler(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    (tmp_path / "words.json").write_text('{"words": {"positive": ["great"], "negative": ["boring"]}}')
    scope: dict[str, type] = {}
    exec(code, scope)
    model = scope["Model"](str(tmp_path))
    predictions = model.predict([{"statement": "A great film"}, {"statement": "So boring"}])
    assert predictions == [{"label": "positive"}, {"label": "negative"}]


def test_it_names_every_kind_and_every_step_of_the_check():
    assert not [kind for kind in kinds.kinds() if f"`{kind}`" not in PAGE]
    assert not [step for step in REMEDIES if f"\n| {step} |" not in PAGE]
