"""The tutorial that adds a field type, followed: its package is installed and its task played through the pages."""

import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from sqlalchemy import select

from dynabench.collection.tables import Explanation
from dynabench.tasks import TaskConfig
from dynabench.tasks.schema import config_schema
from tests.collection.conftest import *  # noqa: F403  # a round's people and a model host that answers by rules
from tests.plugins import on_path

TUTORIAL = (Path(__file__).parent.parent / "docs/tutorial/plugin.md").read_text()
FILES = dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', TUTORIAL, re.MULTILINE | re.DOTALL))
TASK = FILES.pop("task.yaml")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder into which pip installed the tutorial's package."""
    source, site = tmp_path_factory.mktemp("dynabench-duration"), tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(source)], check=True)
    return site


@pytest.fixture(autouse=True)
def duration(site):
    """The package is installed."""
    with on_path(site, "dynabench_duration", distributed=True):
        yield


@pytest.fixture
def eve(owner, browser):
    """Somebody at a browser, while a round of the tutorial's task is open."""
    assert owner.post("/api/v1/tasks", json={"config": TASK}).status_code == 201
    assert owner.post("/api/v1/tasks/waiting/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
    mine = browser()
    mine.join("eve")
    return mine


@pytest.mark.slow
def test_it_takes_less_than_forty_lines():
    lines = [line for text in FILES.values() for line in text.splitlines() if line.strip()]
    assert len(lines) < 40
    assert f"{len(lines)} lines" in TUTORIAL


def test_editors_know_the_type():
    assert not list(jsonschema.Draft202012Validator(config_schema()).iter_errors(yaml.safe_load(TASK)))


def test_what_is_stored_is_taken_again():
    field = TaskConfig.parse(TASK).ask[0]
    assert field.clean("1:30") == field.clean(90) == 90
    assert field.clean("") is field.clean(None) is None
    assert field.in_words(90) == "1:30"


@pytest.mark.slow
def test_a_value_is_written_refused_and_stored(eve, database):
    page = eve.get("/tasks/waiting/create").text
    fields = {name: re.search(rf'name="{name}"[^>]*value="([^"]*)"', page)[1] for name in ("context_id", "key")}
    fields |= {"input.statement": "A good hour at the post office.", "answer.label": "negative"}
    submission = eve.submit("/tasks/waiting/create", htmx=True, **fields)
    assert 'name="ask.waited"' in submission.text
    assert "How long did you wait?" in submission.text
    form = re.search(r'action="(/examples/\d+/explanation)"', submission.text)[1]
    refused = eve.submit(form, htmx=True, **{"ask.waited": "soon"})
    assert refused.status_code == 422
    assert "Write minutes and seconds, such as 1:30." in refused.text
    assert 'value="soon"' in refused.text
    saved = eve.submit(form, htmx=True, **{"ask.waited": "1:30"})
    assert 'value="1:30"' in saved.text
    assert database.read(lambda session: session.scalars(select(Explanation)).one().values) == {"waited": 90}
