"""Results in files."""

import json

import numpy as np

from dynabench import evaluate


def test_a_file_has_the_result_and_what_computed_it(tmp_path):
    path = evaluate.save(tmp_path / "one.json", accuracy=np.float64(0.5), counts=np.array([1, 2]), name="m")
    document = json.loads(path.read_text())
    assert (document["accuracy"], document["counts"], document["name"]) == (0.5, [1, 2], "m")
    assert {"_timestamp", "_git_commit_hash", "_evaluate_version", "_python_version", "_interpreter_path"} <= set(
        document
    )


def test_a_folder_gets_a_file_named_after_the_time(tmp_path):
    path = evaluate.save(tmp_path / "results", f1=1.0)
    assert path.parent == tmp_path / "results"
    assert path.name.startswith("result-")
    assert path.suffix == ".json"


def test_outside_a_checkout_there_is_no_commit_and_no_noise(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert json.loads(evaluate.save("x.json", a=1).read_text())["_git_commit_hash"] is None
    assert capfd.readouterr().err == ""


def test_any_ending_makes_a_file_unless_a_folder_is_there(tmp_path):
    assert evaluate.save(tmp_path / "result.txt", a=1) == tmp_path / "result.txt"
    (tmp_path / "v1.0").mkdir()
    assert evaluate.save(tmp_path / "v1.0", a=1).parent == tmp_path / "v1.0"
