"""Questions that a program makes of a passage, proposed to an open round of a task whose answers are spans."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli import adversary
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks import TaskConfig, shipped_tasks
from tests.adversaries.test_synthetic_qa import PASSAGE
from tests.collection.test_client import address  # noqa: F401
from tests.collection.test_program_runs import ada  # noqa: F401
from tests.collection.test_span_task import rules  # noqa: F401

pytestmark = pytest.mark.release


@pytest.fixture
def island(owner, database):
    """A task with one passage and an open round, whose target marks the passage's beginning."""
    source = next(task.source for task in shipped_tasks() if task.config.id == "qa").replace(
        "id: qa\n", "id: island\n", 1
    )

    def prepare(session):
        service.save_task(session, None, source)
        contexts.add_contexts(session, "island", TaskConfig.parse(source), [ContextRow(1, {"passage": PASSAGE}, "")])

    database.write(prepare)
    opened = owner.post("/api/v1/tasks/island/rounds", json={"targets": ["qa-a"]})
    assert opened.status_code == 201, opened.text


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_question_that_another_model_confirms_fools_the_rounds_target(island, ada, tmp_path):  # noqa: F811
    words = ["run", "island", "--with", "synthetic-qa", "--option", "judges=qa-minilm", "--contexts", 1, "--json",
             "--url", str(ada.http.base_url), "--journal", tmp_path / "run.jsonl", "--queries", 20,
             "--token", ada.http.headers["Authorization"].removeprefix("Bearer ")]  # fmt: skip
    done = CliRunner().invoke(adversary.app, list(map(str, words)))
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout.splitlines()[-1])
    assert (document["proposed"], document["fooled"]) == (1, 1)
    (stored,) = ada.examples("island")
    [span] = stored["answer"]["answer"]
    assert PASSAGE[span["start"] : span["end"]] == span["text"]
    assert (stored["program"]["name"], stored["program"]["facts"]["votes"]) == ("synthetic-qa", 1)
