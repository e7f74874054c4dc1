"""Messages to builders of models that are right, broken, or wrong in one way each."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from dynabench.models import kinds, model_check
from dynabench.models.check_report import ModelCheckReport
from dynabench.models.model_check import check
from dynabench.tasks import shipped_tasks
from tests.models.plugins import folder, installed

TASKS = {shipped_task.config.id: shipped_task.config for shipped_task in shipped_tasks()}
ALL = ["found", "model.yaml", "installed", "fits the task", "loads"]
ALL += ["answers", "repeats", "batches", "speed", "strips"]

HEAD = """\
import itertools
from dynabench.models import spec
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import ModelOutput

LABELS = ("positive", "neutral", "negative")
numbers = itertools.count()

def output(label, share=0.8, labels=LABELS):
    return ModelOutput({"label": label}, {each: share if each == label else (1 - share) / 2 for each in labels})

def rule(text):
    return LABELS[len(text) % 3]

class Model(Alone):
    @classmethod
    def open(cls, folder, bulk=False):
        return cls(spec.card(folder))

    def predict(self, batch):
"""


@pytest.fixture
def tried(tmp_path: Path) -> Callable[..., ModelCheckReport]:
    """Check a model whose `predict` has this body."""

    def look(body: str, **how: object) -> ModelCheckReport:
        code = HEAD + "\n".join(f"        {line}" for line in body.splitlines()) + "\n"
        with installed(tmp_path / "site", "tried", code, **how):  # type: ignore[arg-type]
            return check(folder(tmp_path, "tried"), TASKS["sentiment"], seconds=0.0)

    return look


def states(report: ModelCheckReport) -> dict[str, str]:
    return {step.name: step.state for step in report.steps if step.state != "ok"}


def test_a_shipped_model_passes_every_step():
    received: list[str] = []
    report = check("nli-ngram", TASKS["nli"], received.append, seconds=0.05)
    assert report.passed
    assert [step.name for step in report.steps] == received == ALL
    assert {step.state for step in report.steps} == {"ok"}
    assert report.model == "nli-ngram"
    assert len(report.version) == 16
    assert report.summary_line() == f"nli-ngram {report.version} passes for nli."
    speed = report.step("speed").details
    assert 0 < speed["p50"] <= speed["p95"] < speed["limit_ms"]
    assert speed["rate"] > 0
    assert json.loads(json.dumps(report.document()))["passed"] is True


def test_a_plain_rule_of_a_plugin_passes(tried):
    report = tried("return [output(rule(row['statement'])) for row in batch]")
    assert report.passed, report
    assert states(report) == {}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return [output('good') for row in batch]", "'good' is none of the labels"),
        ("return [output('neutral', float('nan')) for row in batch]", "must lie between 0 and 1"),
        ("return [output('neutral', 0.5, LABELS[:2]) for row in batch]", "needed: positive, neutral, negative"),
        ("return [output('neutral') for row in batch][:-1]", "returned 0 outputs for 1 inputs"),
        ("raise RuntimeError('out of memory')", "RuntimeError: out of memory"),
        ("return 'positive'", "did not return a list of outputs"),
    ],
)
def test_a_model_that_never_answers_validly_is_told_why_and_asked_no_more(tried, body, says):
    report = tried(body)
    assert not report.passed
    failed = report.step("answers")
    assert failed.state == "failed"
    assert says in failed.told
    assert failed.remedy
    assert failed.told.startswith("3 of 3 samples")
    assert {step.state for step in report.steps[-4:]} == {"skipped"}


def test_a_model_that_fails_on_some_texts_only_is_told_which(tried):
    report = tried("return [output(rule(row['statement'].encode('latin-1').decode())) for row in batch]")
    failed = report.step("answers")
    assert "UnicodeEncodeError" in failed.told
    assert "😡" in json.dumps(failed.details, ensure_ascii=False)
    assert "24 samples" in failed.told
    assert report.step("batches").state == "ok"


def test_answers_that_depend_on_the_neighbours_are_found(tried):
    report = tried("return [output(LABELS[(index + len(batch)) % 3]) for index, row in enumerate(batch)]")
    assert report.step("batches").state == "failed"
    assert "differ alone, in a batch and in another order" in report.step("batches").told
    assert "padding" in report.step("batches").remedy


def test_answers_that_change_from_call_to_call_are_found(tried):
    report = tried("return [output(LABELS[next(numbers) % 5 % 3]) for row in batch]")
    assert report.passed
    assert states(report) == {"repeats": "warning", "batches": "warning"}
    assert "temperature 0" in report.step("batches").remedy


def test_probabilities_that_drift_are_worth_a_warning(tried):
    report = tried("return [output(rule(row['statement']), 0.6 + 0.02 * (next(numbers) % 9)) for row in batch]")
    assert report.passed
    assert states(report)["batches"] == "warning"


def test_a_model_that_says_the_same_of_everything_is_worth_a_warning(tried):
    report = tried("return [output('neutral') for row in batch]")
    assert report.passed
    assert states(report) == {"answers": "warning"}
    assert report.summary_line().endswith("passes for sentiment with 1 to look at: answers.")


@pytest.mark.release
def test_a_slow_model_is_told_to_say_so(tried, monkeypatch):
    monkeypatch.setenv("DYNABENCH_ANSWER_SECONDS", "0.02")
    from dynabench.kit.settings import get_settings

    get_settings.cache_clear()
    try:
        report = tried("import time\ntime.sleep(0.04)\nreturn [output(rule(row['statement'])) for row in batch]")
    finally:
        monkeypatch.undo()
        get_settings.cache_clear()
    assert report.step("speed").state == "failed"
    assert "annotators wait at most 0.02 s" in report.step("speed").told
    assert "seconds:" in report.step("speed").remedy


def test_the_end_of_a_models_log_stands_beside_its_failure(tried):
    report = tried(
        "self.log = lambda: '\\n'.join(f'line {number}' for number in range(100))\nraise ValueError('no weights')"
    )
    assert report.step("answers").log[-1] == "line 99"
    assert len(report.step("answers").log) == 20


def test_models_elsewhere_are_asked_few_times(tried):
    counted = tried(
        "with open('/dev/shm/' + self.card.version, 'a') as file:\n    file.write('x' * len(batch))\n"
        "return [output(rule(row['statement'])) for row in batch]",
        inside=False,
    )
    path = Path("/dev/shm") / counted.version
    request = len(path.read_text())
    path.unlink()
    assert counted.passed
    assert request < 24 * 3 + 3 + 16 + 40


def test_a_model_of_another_task_is_not_loaded():
    report = check("sentiment-ngram", TASKS["nli"])
    failed = report.step("fits the task")
    assert failed.state == "failed"
    assert "needs the fields statement, which the task lacks; it has premise, hypothesis" in failed.told
    assert report.step("loads").state == "skipped"
    assert "cannot be a target of nli yet: fits the task" in report.summary_line()


@pytest.mark.parametrize(
    ("labels", "state", "says"),
    [
        ("positive, neutral, negative, mixed", "failed", "returns mixed; the task's options are positive"),
        ("positive, negative", "warning", "it never answers neutral"),
    ],
)
def test_labels_are_compared_with_the_tasks_options(tmp_path, labels, state, says):
    with installed(
        tmp_path / "site", "tried", HEAD + "        return [output(self.card.labels[0]) for row in batch]\n"
    ):
        report = check(folder(tmp_path, "tried", labels=labels), TASKS["sentiment"], seconds=0.0)
    assert report.step("fits the task").state == state
    assert says in report.step("fits the task").told


@pytest.mark.parametrize(
    ("spoil", "step", "says"),
    [
        (lambda folder: (folder / "model.yaml").write_text("name: ["), "model.yaml", "model.yaml"),
        (lambda folder: (folder / "model.yaml").unlink(), "model.yaml", "No such file"),
        (lambda folder: (folder / "weights.pkl").write_bytes(b"\x80\x04."), "model.yaml", "weights.pkl"),
        (lambda folder: (folder / "ngram.safetensors").write_bytes(b"x" * 100), "loads", "cannot be loaded"),
        (lambda folder: (folder / "ngram.json").unlink(), "loads", "cannot be loaded"),
        (shutil.rmtree, "found", "is no folder, zip, hub id"),
    ],
)
def test_a_broken_folder_fails_where_it_is_broken(copied, spoil, step, says):
    folder = copied("sentiment-ngram")
    spoil(folder)
    report = check(folder, TASKS["sentiment"])
    assert [failed.name for failed in report.failures] == [step]
    assert says in report.step(step).told
    assert report.step(step).remedy


def test_nobody_has_to_install_what_other_kinds_need(tmp_path):
    with installed(tmp_path / "site", "lacking", "import no_such_package\n"):
        report = check(folder(tmp_path, "lacking"), TASKS["sentiment"])
    assert report.step("installed").state == "failed"
    assert "need no_such_package: pip install dynabench-platform" in report.step("installed").told


@pytest.mark.parametrize(
    ("inside", "took", "best"),
    [(True, [99.0, 12.0, 0.2], 0.2), (True, [99.0, 98.0, 97.0], 97.0), (False, [99.0], 99.0)],
)
def test_a_strip_that_was_slow_once_is_made_again_where_that_is_free(inside, took, best):
    class Probe:
        card = SimpleNamespace(inside=inside)

        async def explain(self, inputs, method):
            return None, remaining.pop(0)

    remaining = list(took)
    assert asyncio.run(model_check._quickest(Probe(), {}, "occlusion")) == best
    assert remaining == []


def test_strips_are_tried_by_each_method(tried):
    report = tried("return [output(rule(row['statement'])) for row in batch]", methods="REMOVALS[:2]")
    assert report.passed
    assert set(report.step("strips").details["seconds"]) == set(kinds.REMOVALS[:2])
    assert report.step("loads").details["seconds"] >= 0
