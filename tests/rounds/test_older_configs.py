"""Starting from an older config: on a page, through the API, at the command line."""

import html
import json
import re

import pytest
import yaml
from typer.testing import CliRunner

from dynabench.cli import app as command
from dynabench.rounds import service
from dynabench.rounds.tables import Task
from tests.cli.test_dataset import here
from tests.collection import conftest as world
from tests.console import conftest as console
from tests.plugins import none_installed

__all__ = ["here"]
host, rules, client, furnish, admin = world.host, world.rules, world.client, world.furnish, world.admin
enter = console.enter
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
OLD = """\
context: [{name: scene, type: string}]
input:
  - {name: remark, type: string}
  - {name: mood, type: multiclass, labels: [calm, cross]}
output: [{name: mood}]
model_wrong_metric: {type: exact_match, reference_names: [mood]}
perf_metric: {type: dataperf_f1}
"""


def test_the_page_tells_of_each_line_and_hands_the_config_to_the_editor(admin, enter):
    page = enter(admin)
    assert "or an older config" in page.get("/tasks/new").text
    assert page.get("/tasks/new/older").status_code == 200
    submission = page.submit("/tasks/new/older", page="/settings", id="moods", config=OLD)
    assert "The result is a valid task" in submission.text
    assert re.search(r"line 7</span>.*?left out.*?<code>perf_metric.type</code>", submission.text, re.DOTALL)
    created = html.unescape(re.search(r"<textarea[^>]* readonly>\n(.*?)</textarea>", submission.text, re.DOTALL)[1])
    editor = page.submit("/tasks/new", page="/settings", config=created, then="check")
    assert "Preview for annotators" in editor.text
    assert page.submit("/tasks/new", page="/settings", config=created, then="save").status_code == 303


def test_what_the_page_cannot_read_is_said_beside_it(admin, enter):
    page = enter(admin)
    refused = page.submit("/tasks/new/older", page="/settings", id="No Id", config=OLD)
    assert refused.status_code == 422
    assert "Use 2 to 60" in refused.text
    assert "name: scene" in refused.text, "what was written stays"
    assert "choose a file" in page.submit("/tasks/new/older", page="/settings", id="moods", config="").text
    broken = page.submit("/tasks/new/older", page="/settings", id="moods", config=OLD.replace("multiclass", "x<b>y"))
    assert "The result is not a valid task yet" in broken.text
    assert "x&lt;b&gt;y" in broken.text
    headers = {"X-CSRF-Token": page.token("/settings")}
    sent = page.client.post("/tasks/new/older", data={"id": "moods"}, files={"file": ("o.yaml", OLD.encode())},
                            headers=headers)  # fmt: skip
    assert "The result is a valid task" in sent.text


def test_programs_ask_for_the_same(admin):
    document = admin.post("/api/v1/tasks/older", json={"config": OLD, "id": "moods"}).json()
    assert (document["dialect"], document["valid"]) == ("classic", True)
    assert {"line": 7, "kind": "dropped", "key": "perf_metric.type"}.items() <= document["notes"][-1].items()
    assert admin.post("/api/v1/tasks", json={"config": document["config"]}).status_code == 201
    assert admin.post("/api/v1/tasks/older", json={"config": OLD, "id": "Moods"}).status_code == 422


@pytest.mark.slow
def test_where_no_plug_in_reads_them_the_command_that_installs_it_is_named(admin, enter, tmp_path):
    message = "Configs in an older dialect need a plug-in that is not installed: pip install "
    message += "'dynabench-platform[older-dialects]'"
    (tmp_path / "old.yaml").write_text(OLD)
    with none_installed():
        refused = admin.post("/api/v1/tasks/older", json={"config": OLD, "id": "moods"})
        assert refused.json()["detail"] == message
        page = enter(admin).submit("/tasks/new/older", page="/settings", id="moods", config=OLD)
        assert (page.status_code, message in html.unescape(page.text)) == (422, True)
        done = run(tmp_path / "old.yaml", "--id", "moods")
    assert (done.exit_code, done.stderr) == (1, f"{message}\n")


@pytest.mark.usefixtures("here")
def test_a_task_is_not_created_of_an_older_config_and_the_command_that_reads_it_is_named(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps(yaml.safe_load(OLD)))
    words = ["task", "create", str(tmp_path / "old.json")]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 1
    assert "This is a config in an older dialect: `dynabench task import FILE --id NAME` reads it.\n" in done.stderr
    with none_installed():
        assert "pip install 'dynabench-platform[older-dialects]'" in CliRunner().invoke(command, words).stderr


def run(*words):
    return CliRunner().invoke(command, ["task", "import", *map(str, words)])


@pytest.mark.usefixtures("here")
def test_the_command_ends_with_1_where_no_task_results(database, tmp_path):
    file, written = tmp_path / "old.yaml", tmp_path / "new.yaml"
    file.write_text(OLD)
    looked = run(file, "--id", "moods", "--dry-run", "-o", written)
    assert (looked.exit_code, "    7 - perf_metric.type" in looked.stdout) == (0, True), looked.output
    assert "id: moods" in written.read_text()
    assert database.read(lambda session: session.get(Task, "moods")) is None
    assert run(file, "--id", "moods", "--name", "Moods of remarks").exit_code == 0
    assert database.read(service.newest_config, "moods").name == "Moods of remarks"
    again = run(file, "--id", "moods")
    assert (again.exit_code, "A task moods already exists" in again.stderr) == (1, True)
    file.write_text(OLD.replace("multiclass", "multi"))
    outcome = run(file, "--id", "others", "--json")
    assert (outcome.exit_code, json.loads(outcome.stdout)["valid"]) == (1, False)
    file.write_bytes(b"\xff\xfe")
    assert run(file, "--id", "others").exit_code == 1
