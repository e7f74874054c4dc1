"""Suites run their tasks in order and leave them as they were."""

import copy
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dynabench import evaluate
from dynabench.evaluate import EvaluationSuite, SubTask, evaluator

ROWS = [{"text": "GOOD film", "label": "x"}, {"text": "bad film", "label": "y"}, {"text": "good", "label": "y"}]
FILE = """
from dynabench.evaluate import EvaluationSuite, SubTask

class Suite(EvaluationSuite):
    def __init__(self, name):
        super().__init__(name)
        self.preprocessor = lambda row: {"text": row["text"].lower()}
        self.suite = [
            SubTask("text-classification", data=DATA, split="test", data_preprocessor=self.preprocessor),
            SubTask("text-classification", data=DATA, subset=None, split="test[:2]",
                    args_for_task={"metric": "f1", "metric_options": {"average": "macro"}}),
        ]
"""


def model(rows: list[str]) -> list[str]:
    return ["x" if "good" in row else "y" for row in rows]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    data = tmp_path / "data" / "test.jsonl"
    data.parent.mkdir()
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    file = tmp_path / "mine.py"
    file.write_text(FILE.replace("DATA", repr(str(data.parent))))
    return file


def test_a_suite_is_loaded_from_a_file_and_run(path: Path) -> None:
    suite = EvaluationSuite.load(str(path))
    first, second = suite.run(model)
    assert (first["accuracy"], second["f1"]) == (2 / 3, pytest.approx(1 / 3))
    assert first["task_name"] == second["task_name"] == str(path.parent / "data")
    assert first["data_preprocessor"].startswith("<function")
    assert second["data_preprocessor"] is None
    assert {"total_time_in_seconds", "samples_per_second", "latency_in_seconds"} <= first.keys()
    assert "mine" in repr(suite)
    assert str(path.parent / "data") in repr(suite)
    (path.parent / "folder").mkdir()
    path.rename(path.parent / "folder" / "folder.py")
    assert len(EvaluationSuite.load(path.parent / "folder").suite) == 2


def test_running_does_not_change_the_tasks() -> None:
    arguments: dict[str, Any] = {"batch_size": 2}
    rows = copy.deepcopy(ROWS)

    def lower(row: dict[str, Any]) -> dict[str, Any]:
        row["text"] = row["text"].lower()
        return row

    suite = EvaluationSuite("own", [SubTask("text-classification", rows, None, None, lower, arguments)])
    before = suite.suite[0]
    first, again = suite.run(model)[0], suite.run(model)[0]
    assert first["accuracy"] == again["accuracy"] == 2 / 3
    assert suite.suite[0] is before
    assert arguments == {"batch_size": 2}
    assert rows == ROWS


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"task_type": 3, "data": ROWS}, "task_type must be a text"),
        ({"task_type": "text-classification"}, "data must be"),
        ({"task_type": "text-classification", "data": ROWS, "split": 1}, "split must be a text"),
        ({"task_type": "text-classification", "data": ROWS, "data_preprocessor": 1}, "must be a function"),
        ({"task_type": "text-classification", "data": ROWS, "args_for_task": [1]}, "must be a dictionary"),
    ],
)
def test_tasks_that_cannot_be_run_are_refused(task: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SubTask(**task)


def test_suites_that_are_none_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no tasks"):
        EvaluationSuite("empty").run(model)
    with pytest.raises(ValueError, match="there is no suite at"):
        EvaluationSuite.load("nobody/suite")
    (tmp_path / "other.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match="has no class Suite"):
        EvaluationSuite.load(tmp_path / "other.py")


def test_the_evaluator_is_found_whichever_is_imported_first() -> None:
    assert repr(evaluate.evaluator("ner")) == repr(evaluator("token-classification"))
    package = import_module("dynabench.evaluate.evaluator")
    assert repr(package("ner")) == repr(evaluator("ner"))
    assert package.get_supported_tasks()[0] == "text-classification"
    assert evaluate.evaluator("translation_en_to_de").task == "translation_en_to_de"


def test_the_module_has_the_name_that_imports_of_hugging_face_have():
    assert import_module("dynabench.evaluate.evaluation_suite").SubTask is SubTask
