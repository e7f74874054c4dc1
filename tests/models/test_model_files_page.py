import re
from pathlib import Path

import yaml
from typer.testing import CliRunner

from dynabench.cli.model import app
from dynabench.models import catalog
from dynabench.models.backends.onnx import OnnxOptions
from dynabench.models.spec import Spec

PAGE = (Path(__file__).parents[2] / "docs/how-to/model-files.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_pipeline_of_the_page_becomes_a_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    exec(code, {})
    assert "'positive'" in capsys.readouterr().out
    assert [entry.card.name for entry in catalog.find([tmp_path / "models"])] == ["my-linear"]


def test_the_card_of_the_page_is_one_and_every_option_is_explained():
    (text,) = blocks("yaml")
    assert Spec.model_validate(yaml.safe_load(text)).returns == "label"
    for name in OnnxOptions.model_fields:
        assert f"`{name}`" in PAGE


def test_the_commands_of_the_page_are_there():
    answer = CliRunner(env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).invoke(app, ["export", "--help"]).stdout
    lines = [line for line in "".join(blocks("bash")).splitlines() if line.startswith("dynabench model export")]
    assert len(lines) == 3
    for option in re.findall(r"--[\w-]+", " ".join(lines)):
        assert option in answer
