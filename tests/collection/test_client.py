"""`dynabench.Client` against the served application, and the operator's commands beside it."""

import json
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from typer.testing import CliRunner

import dynabench
from dynabench.cli import round as rounds_command
from dynabench.cli import task as task_command
from dynabench.kit.settings import get_settings
from dynabench.site.app import create_app
from dynabench.tasks import shipped_tasks
from tests.collection.conftest import seed

pytestmark = pytest.mark.slow


@pytest.fixture
def address(settings, rules) -> Iterator[str]:
    """The application served on a port of this machine."""
    served = create_app(settings.model_copy(update={"host_url": rules.url}))
    server = uvicorn.Server(uvicorn.Config(served, port=0, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def command(monkeypatch, settings, rules):
    """Run an operator's command on the deployment."""
    configured = settings.model_copy(update={"host_url": rules.url})
    for module in ("operator", "round"):
        monkeypatch.setattr(f"dynabench.cli.{module}.get_settings", lambda: configured)
    get_settings.cache_clear()

    def run(app, *words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        return result.exit_code, result.stdout, result.stderr

    return run


def test_the_loop_from_a_program(address, command, database, tmp_path):
    database.write(seed)
    assert command(rounds_command.app, "open", "nli", "--target", "nli-a", "--json")[0] == 0
    with dynabench.Client(address) as client:
        with pytest.raises(dynabench.ApiError) as refused:
            client.create_example("nli", 1, {"hypothesis": "x"}, {"label": "neutral"})
        assert refused.value.status == 401
        client.register("ada", "ada@example.org", "correct horse battery")
        client.log_in("ada", "correct horse battery")
        assert {task["id"] for task in client.tasks()} == {shipped.config.id for shipped in shipped_tasks()}
        values = client.next_context("nli")
        answer = client.create_example(
            "nli", values["id"], {"hypothesis": "They are not here."}, values["goal"], key="k"
        )
        assert answer == client.create_example(
            "nli", values["id"], {"hypothesis": "They are not here."}, values["goal"], key="k"
        )
        assert client.attributions(answer["id"])["label"] == "contradiction"
        client.explain(answer["id"], {"why_correct": "I say so."})
        assert [example["id"] for example in client.examples("nli")] == [answer["id"]]
        assert client.statistics("nli", 1)["examples"] == 1
        assert client.board("nli", 1)[0]["name"] == "ada"
        with pytest.raises(dynabench.ApiError) as refused:
            client.create_example("nli", values["id"], {"hypothesis": ""}, values["goal"])
        assert set(refused.value.fields) == {"input.hypothesis"}
        assert client.retract(answer["id"])["retracted"] is True


def test_operators_create_tasks_and_run_rounds(command, database, tmp_path):
    source = next(shipped.source for shipped in shipped_tasks() if shipped.config.id == "nli")
    path = tmp_path / "nli.yaml"
    path.write_text(source)
    code, out, _ = command(task_command.app, "create", path, "--json")
    assert (code, json.loads(out)["version"]) == (0, 1)
    assert "unchanged" in command(task_command.app, "create", path)[1]
    assert json.loads(command(task_command.app, "list", "--json")[1])[0]["id"] == "nli"
    code, _, error = command(rounds_command.app, "open", "nli", "--target", "nobody")
    assert code == 1
    assert "nli-a" in error, "the message names what there is"
    targets = ["--target", "nli-a", "--target", "nli-b"]
    code, out, _ = command(rounds_command.app, "open", "nli", *targets, "--ensemble", "all", "--json")
    assert (code, json.loads(out)["ensemble"]) == (0, "all")
    assert command(rounds_command.app, "open", "nli", "--target", "nli-a")[0] == 1
    assert "nli-b" in command(rounds_command.app, "list", "nli")[1]
    assert command(rounds_command.app, "close", "nli")[0] == 0
    assert command(rounds_command.app, "close", "nli")[0] == 1
    assert command(rounds_command.app, "close", "nope")[0] == 1
