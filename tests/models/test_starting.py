"""First folders and their checks, as builders meet them."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, kinds, samples, spec, starting, validity
from dynabench.models.protocol import ModelCard, ModelOutput
from dynabench.models.starting import described
from dynabench.models.starting.described import cues
from dynabench.tasks import TaskConfig, shipped_tasks
from dynabench.tasks.fields import Text
from dynabench.tasks.shipped import shipped_drawings
from tests.models.contract.table import needs

CONFIGS = {shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks()}
ENDPOINT = {"url": "https://models.example.org/v1", "model": "small"}
WRITTEN = TaskConfig.parse(
    """
id: endings
name: Endings
description: Write how the story goes on.
input: [{name: story, type: text, max_length: 400}]
answer: {name: ending, type: text}
"""
)


def answered(folder: Path, config: TaskConfig) -> list[ModelOutput]:
    """Return the answers of a handler's rule to all samples, outside of any sandbox: it is our own code."""
    loaded = importlib.util.spec_from_file_location("first_handler", folder / "handler.py")
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    details = spec.read(folder)
    card = ModelCard(details.name, "1", details.task, "handler", tuple(details.inputs), details.answer)
    card = ModelCard(**{**vars(card), "labels": tuple(details.labels), "returns": details.returns})
    rows = [sample.inputs for sample in samples.sample_inputs(config)]
    document = json.loads(json.dumps(module.Model(str(folder)).predict(rows)))
    outputs = [ModelOutput({card.answer: row[card.answer]}, row.get("probabilities")) for row in document]
    return validity.check_outputs(card, rows, outputs)


@pytest.mark.parametrize("config", [*CONFIGS.values(), WRITTEN], ids=lambda config: config.id)
def test_a_first_handler_answers_every_sample_of_any_task(tmp_path, config):
    needs("handler")
    folder = starting.start("first", config, "handler", tmp_path)
    assert {path.name for path in folder.iterdir()} == {"model.yaml", "README.md", "handler.py", "words.json"}
    outputs = answered(folder, config)
    reads = any(isinstance(field, Text) for field in [*config.model_context, *config.input])
    assert len({str(output.answer) for output in outputs}) > 1 or not reads, "its rule goes by words"


def test_the_rule_goes_by_the_tasks_words():
    words = cues(CONFIGS["sentiment"].answer[0])
    assert "great" in words["positive"]
    assert "boring" in words["negative"]
    everything = [word for value in words for word in words[value]]
    assert len(everything) == len(set(everything))


@pytest.mark.parametrize("kind", sorted(set(starting.starts()) - {"transformers", "openai-images"}))
def test_what_is_written_is_a_models_folder_and_says_what_may_be_changed(tmp_path, kind):
    needs(kind)
    folder = starting.start("mine", CONFIGS["nli"], kind, tmp_path, **ENDPOINT)
    details = spec.read(folder)
    assert (details.name, details.kind, details.task) == ("mine", kind, "nli")
    assert sorted(details.labels) == ["contradiction", "entailment", "neutral"]
    text = (folder / "model.yaml").read_text()
    assert all(comment in text for name, comment in described.COMMENTS.items() if f"\n{name}:" in text)
    for name in kinds.kind(kind).schema().model_fields:
        assert f"{name}:" in text
    assert "dynabench model check mine --task nli" in (folder / "README.md").read_text()


def test_models_that_draw_are_begun_for_tasks_that_have_something_drawn(tmp_path):
    needs("openai-images")
    [task] = shipped_drawings()
    folder = starting.start("mine", task.config, "openai-images", tmp_path, **ENDPOINT)
    assert (spec.read(folder).kind, spec.read(folder).task) == ("openai-images", task.config.id)
    with pytest.raises(Invalid, match="draw"):
        starting.start("other", CONFIGS["nli"], "openai-images", tmp_path, **ENDPOINT)
    with pytest.raises(Invalid, match="draw"):
        starting.start("other", task.config, "openai", tmp_path, **ENDPOINT)


@pytest.mark.parametrize(
    ("name", "kind", "options", "field"),
    [
        ("Mine", "handler", {}, "name"),
        ("../mine", "handler", {}, "name"),
        ("mine", "adapter", {}, "kind"),
        ("mine", "pickle", {}, "kind"),
        ("mine", "oip", {"model": "x"}, "url"),
        ("mine", "openai", {"url": "https://x.example.org"}, "model"),
        ("mine", "ensemble", {"members": "nobody,nli-ngram"}, "members"),
        ("mine", "ensemble", {"members": "nli-ngram"}, "members"),
        ("mine", "transformers", {}, "source"),
    ],
)
def test_what_cannot_be_begun_says_why_and_leaves_nothing(tmp_path, name, kind, options, field):
    if kind in starting.starts():
        needs(kind)
    with pytest.raises(Invalid) as refused:
        starting.start(name, CONFIGS["nli"], kind, tmp_path, **options)
    assert field in refused.value.fields
    assert not list(tmp_path.iterdir())


def test_an_ensemble_is_begun_with_the_version_of_a_model_that_is_served_by_default(tmp_path, copied, monkeypatch):
    changed = copied("nli-ngram")
    (changed / "ngram.json").write_text((changed / "ngram.json").read_text() + "\n")
    monkeypatch.setenv("DYNABENCH_MODELS", str(changed.parent))
    get_settings.cache_clear()
    try:
        [first, second] = [entry.version for entry in catalog.find() if entry.name == "nli-ngram"]
        folder = starting.start("mine", CONFIGS["nli"], "ensemble", tmp_path)
    finally:
        get_settings.cache_clear()
    assert first == catalog.read_entry(changed).version != second
    assert f"nli-ngram@{first}" in (folder / "model.yaml").read_text()
    assert second not in (folder / "model.yaml").read_text()


def test_what_is_there_is_not_written_over(tmp_path):
    needs("handler")
    starting.start("mine", CONFIGS["nli"], "handler", tmp_path)
    with pytest.raises(Conflict, match="exists already"):
        starting.start("mine", CONFIGS["nli"], "handler", tmp_path)


@pytest.mark.parametrize(
    ("own", "candidates", "expected"),
    [
        (["NEGATIVE", "NEUTRAL", "POSITIVE"], ["positive", "neutral", "negative"], {}),
        (["pos", "neg", "neu"], ["positive", "neutral", "negative"],
         {"pos": "positive", "neg": "negative", "neu": "neutral"}),
        (["not_hateful", "hateful"], ["hateful", "not-hateful"], {}),
        (["hate", "noHate"], ["hateful", "not-hateful"], {"hate": "hateful", "noHate": "not-hateful"}),
        (["LABEL_0", "LABEL_1"], ["hateful", "not-hateful"], {}),
    ],
)  # fmt: skip
def test_labels_of_others_are_guessed_only_where_names_tell(own, candidates, expected):
    assert described.guessed(own, candidates) == expected


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["model", *words], catch_exceptions=False)


def test_the_command_line_says_how_a_check_ended(copied):
    right = run("check", "sentiment-ngram", "--task", "sentiment", "--seconds", "0")
    assert right.exit_code == 0
    assert "passes for sentiment." in " ".join(right.stdout.split())
    wrong = run("check", "sentiment-ngram", "--task", "nli", "--json")
    assert wrong.exit_code == 1
    report = json.loads(wrong.stdout)
    assert [step["name"] for step in report["steps"] if step["state"] == "failed"] == ["fits the task"]
    assert not report["passed"]
    folder = copied("nli-ngram")
    (folder / "ngram.json").write_text("{}")
    broken = run("check", str(folder), "--task", "nli")
    assert broken.exit_code == 1
    text = " ".join(broken.stdout.split())
    assert "✗ loads" in text
    assert "cannot be a target of nli yet: loads." in text


def test_the_command_line_takes_a_tasks_file(tmp_path):
    needs("handler")
    path = tmp_path / "endings.yaml"
    path.write_text("id: endings\nname: Endings\ninput: [{name: story, type: text}]\nanswer: {name: end, type: text}\n")
    outcome = run("new", "teller", "--task", str(path), "--into", str(tmp_path), "--json")
    assert outcome.exit_code == 0
    assert json.loads(outcome.stdout)["files"] == ["README.md", "handler.py", "model.yaml", "words.json"]
    assert spec.read(tmp_path / "teller").returns == "text"


def test_an_unknown_task_is_answered_with_those_there_are():
    refused = run("check", "nli-ngram", "--task", "nil")
    assert refused.exit_code == 1
    assert "There is no task 'nil': say sentiment, nli, qa, hate, photographs, boolq" in refused.stderr
    assert "or name a YAML file." in refused.stderr


def test_kinds_are_listed_with_what_they_need():
    listed = json.loads(run("kinds", "--json").stdout)
    assert [row["kind"] for row in listed] == list(kinds.kinds())
    rows = {row["kind"]: row for row in listed}
    assert rows["ngram"] == {
        "kind": "ngram",
        "what": rows["ngram"]["what"],
        "runs": "here",
        "installed": True,
        "lacks": "",
        "extra": "platform",
        "installation": "pip install dynabench-platform",
        "methods": ["exact"],
    }
    assert rows["ngram"]["what"].startswith("A linear model over hashed n-grams")
    assert rows["handler"]["runs"] == "sandbox"
    assert rows["oip"]["runs"] == "elsewhere"
    assert "adapter" in run("kinds").stdout
