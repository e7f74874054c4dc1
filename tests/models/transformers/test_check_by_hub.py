"""`dynabench model check org/name`: a repository is fixed to its commit, described, loaded and asked."""

import pytest

from dynabench.models import references, spec
from dynabench.models.model_check import check
from dynabench.tasks import TaskConfig

pytest.importorskip("dynabench.models.hub", reason="models of hubs are not part of this version")

from .test_hub import COMMIT, here  # noqa: F401

pytestmark = pytest.mark.release

CONFIG = TaskConfig.parse(
    """
id: opposites
name: Opposites
input: [{name: word, type: text}]
answer: {name: answer, type: text}
"""
)


def test_a_repository_gets_a_folder_that_names_its_commit(here, tmp_path):  # noqa: F811
    details = spec.read(references.folder_for("some/opposites", CONFIG, tmp_path / "into"))
    assert (details.name, details.kind, details.returns) == ("opposites", "transformers", "text")
    assert details.options == {"architecture": "text2text-generation", "hub": "some/opposites", "revision": COMMIT}


def test_a_repository_is_checked_by_its_id_alone(here):  # noqa: F811
    report = check("some/opposites", CONFIG, seconds=0.0)
    assert report.passed, report
    assert report.model == "opposites"


def test_a_repository_that_is_not_there_fails_the_first_step(here):  # noqa: F811
    report = check("some/nothing", CONFIG)
    assert [step.name for step in report.failures] == ["found"]
    assert "has no model some/nothing" in report.step("found").told
