"""Tasks at the command line: packed up, brought in, cloned; proposals decided."""

import json

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.people.accounts.tables import Person
from dynabench.rounds import contexts, proposals, service
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks import shipped_tasks
from dynabench.tasks.reading import with_id
from tests.cli.test_dataset import here
from tests.conftest import Caller

__all__ = ["here"]
pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]
NLI = shipped_tasks()[1]


def run_json(*command: str) -> dict:
    done = CliRunner().invoke(app, ["task", *command, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_task_is_packed_brought_in_and_cloned(database, tmp_path):
    database.write(service.save_task, None, NLI.source)
    database.write(contexts.add_contexts, "nli", NLI.config, [ContextRow(1, {"premise": "It rains."})])
    file = str(tmp_path / "nli.zip")
    assert run_json("export", "nli", "-o", file)["rows"]["contexts"] == 1
    assert run_json("import-archive", file, "--id", "copy")["refused"] == []
    assert run_json("clone", "copy", "clone")["rows"]["contexts"] == 1
    refused = CliRunner().invoke(app, ["task", "import-archive", file, "--id", "nli"])
    assert refused.exit_code == 1
    assert "A task nli already exists" in refused.stderr


def test_operators_decide_what_was_proposed(database, person):
    ada: Caller = person("ada")

    def propose(session) -> int:
        return proposals.propose_task(
            session, session.get_one(Person, ada.id), "proposed", with_id(NLI.source, "mine")
        ).id

    number = str(database.write(propose))
    assert [item["task"] for item in run_json("proposals")] == ["mine"]
    assert CliRunner().invoke(app, ["task", "decide", number, "--refuse"]).exit_code == 1
    assert run_json("decide", number, "--accept")["state"] == "accepted"
    assert run_json("proposals") == []
