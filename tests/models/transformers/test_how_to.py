"""Commands on the page for builders work as written."""

import re
from pathlib import Path

import pytest
import yaml

from dynabench.models import spec
from dynabench.models.backends.transformers import ARCHITECTURES, TransformersOptions
from dynabench.tasks import shipped

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "transformers.md").read_text()
FOLDERS = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("text", FOLDERS, ids=["classifier", "language model"])
def test_its_folders_are_valid_and_fit_their_tasks(text):
    result = spec.Spec.model_validate(yaml.safe_load(text))
    config = next(
        shipped_task.config for shipped_task in shipped.shipped_tasks() if shipped_task.config.id == result.task
    )
    assert result.inputs == list(config.model_inputs({}, {}))
    answer = next(field for field in config.answer if field.name == result.answer)
    assert set(result.labels) == set(answer.values)


def test_every_option_and_architecture_is_explained():
    for name in (*TransformersOptions.model_fields, *ARCHITECTURES):
        assert f"`{name}" in PAGE or f"--{name}" in PAGE or f"options.{name}`" in PAGE, name
