"""The application as a whole: what it imports, its health, its figures, its logs."""

import importlib
import json
import logging
import re
import subprocess
import sys

import anyio
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from dynabench.cli import COMMANDS
from dynabench.kit import logs
from dynabench.site.app import routes
from dynabench.site.middleware import Metrics
from tests.conftest import PASSWORD

HEAVY = ("torch", "transformers", "peft", "captum", "sklearn", "scipy", "altair", "dbos", "mlcroissant")


def imported(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_web_process_imports_nothing_heavy():
    result = imported(
        "from dynabench.site.app import create_app; from dynabench.kit.settings import Settings; create_app(Settings())"
    )
    assert not result & set(HEAVY)


def test_the_list_of_commands_imports_no_part_of_the_platform():
    result = imported("from dynabench.cli import app\ntry:\n app(['--help'])\nexcept SystemExit: pass")
    assert not result & {*HEAVY, "fastapi", "sqlalchemy", "alembic", "jinja2"}
    assert "dynabench.cli.serve" not in result


def test_it_says_that_it_lives_and_what_it_lacks(client):
    assert client.get("/healthz").json() == {"status": "alive"}
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (
        200,
        {"database": "ok", "host": "no answer", "ready": True, "awaited": []},
    )


def test_figures_are_by_route_and_never_by_address(client):
    account = {"username": "ada", "email": "ada@example.org", "password": PASSWORD}
    assert client.post("/api/v1/accounts", json=account).status_code == 201
    client.get("/api/v1/tasks/secret-name")
    client.get("/secret/address")
    client.request("BREW", "/secret/address")
    text = client.get("/metrics").text
    assert 'dynabench_requests_total{method="POST",route="/api/v1/accounts",status="201"} 1.0' in text
    assert 'route="/api/v1/tasks/{task}"' in text
    assert 'method="OTHER",route="unmatched"' in text
    assert "secret" not in text
    assert "dynabench_request_seconds_bucket" in text


async def _gone(app, path):
    """Ask for something, and be gone before it comes."""
    sent = []

    async def receive():
        return {"type": "http.disconnect"} if sent else sent.append(1) or {"type": "http.request", "body": b""}

    async def send(_):
        raise AssertionError("nobody is there any more")

    headers = [(b"host", b"testserver")]
    known_values = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
    }
    await app(
        {**known_values, "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers},
        receive,
        send,
    )


def test_who_left_before_the_answer_is_no_failure(app):
    async def leave():
        await _gone(app, "/static/js/main.js")

    anyio.run(leave)
    count = app.state.metrics.registry.get_sample_value
    labels = {"method": "GET", "route": "/static"}
    assert count("dynabench_requests_total", labels | {"status": "499"}) == 1
    assert count("dynabench_requests_total", labels | {"status": "500"}) is None


def test_each_application_counts_for_itself():
    first, second = Metrics(), Metrics()
    first.observe({"type": "http", "method": "GET", "path": "/x"}, 200, 0.1)
    assert second.registry.get_sample_value("dynabench_requests_total", {}) is None


@pytest.fixture
def quiet_root():
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield root
    root.handlers[:] = before
    root.setLevel(level)
    logs.structlog.reset_defaults()


def test_logs_are_json_lines_for_machines(quiet_root, capsys):
    logs.configure("json")
    logs.structlog.get_logger("dynabench").info("hello", answer=42)
    logging.getLogger("library").warning("careful %s", "now")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (lines[0]["event"], lines[0]["answer"], lines[0]["level"]) == ("hello", 42, "info")
    assert (lines[1]["event"], lines[1]["logger"]) == ("careful now", "library")


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_logged_error_has_its_traceback_but_not_what_the_variables_held(quiet_root, capsys, log_format):
    logs.configure(log_format)
    password = "correct horse battery"  # a local variable of the frame that fails
    try:
        raise RuntimeError(f"of {len(password)} letters")
    except RuntimeError:
        logging.getLogger("library").exception("failed")
    answer = capsys.readouterr().err
    assert "RuntimeError" in answer
    assert "correct horse" not in answer.replace('password = "correct horse battery"', "")


def test_every_command_names_a_module():
    for address, _ in COMMANDS.values():
        module, _, attribute = address.partition(":")
        assert hasattr(importlib.import_module(module), attribute)


def test_the_name_of_a_page_leads_to_that_page(app):
    """With two routes of one name, links and forms go to the first, which may be the JSON API's."""
    wrong = []
    for context in iter_route_contexts(app.routes):
        path = context.path or ""
        if isinstance(context.original_route, APIRoute) and not path.startswith("/api/"):
            plain = re.sub(r":\w+}", "}", path)  # {path:path} takes what {path} takes, and slashes
            values = dict.fromkeys(re.findall(r"{(\w+)}", plain), "1")
            if (url_path := app.url_path_for(context.name, **values)) != plain.format(**values):
                wrong.append(f"{context.name}: {url_path} in place of {path}")
    assert not wrong


def test_no_route_hides_a_later_one():
    """A path is answered by its own route: `/tasks/new` before `/tasks/{task}`."""
    earlier, hidden = [], []
    for context in iter_route_contexts(routes()):
        example = re.sub(r"\{[^}]*\}", "7", context.path)
        methods = context.methods or {"GET"}
        hidden += [f"{path} before {context.path}" for path, others, pattern in earlier
                   if methods & others and pattern.match(example)]  # fmt: skip
        earlier.append((context.path, methods, context.path_regex))
    assert len(earlier) > 500
    assert not hidden
