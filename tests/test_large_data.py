"""What tests do where the public data sets are not: some are skipped with the command, the others have texts."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import large_data, original_data

ROOT = Path(__file__).parents[1]
SQUAD = "tests/evaluate/evaluator/test_data.py::test_real_files_are_read"


def run(data: Path, test: str) -> str:
    """What pytest says of a test where the data sets lie in a folder."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", test]
    where = os.environ | {large_data.VARIABLE: str(data), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    return subprocess.run(words, cwd=ROOT, env=where, capture_output=True, text=True).stdout


@pytest.mark.parametrize("partial", [False, True])
def test_a_test_that_needs_data_is_skipped_with_the_command_that_runs_it(tmp_path, partial):
    if partial:
        (tmp_path / "sst3").mkdir()
    said = run(tmp_path, SQUAD)
    assert "1 skipped" in said
    missing = "sst3/test.jsonl.gz" if partial else "sst3, sst3/test.jsonl.gz"
    assert f"needs {missing}: DYNABENCH_TEST_DATA=FOLDER make test ARGS={SQUAD}" in said


def test_a_test_that_reads_data_without_saying_so_fails():
    with pytest.raises(pytest.fail.Exception, match=r"large_data\('sst3/test\.jsonl\.gz'\)"):
        large_data.need_data("sst3/test.jsonl.gz")


def test_texts_of_our_own_stand_for_files_that_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv(large_data.VARIABLE, str(tmp_path))
    place = "squad/squad11_dev.jsonl.gz"
    folder = large_data.folder_with(place)
    assert not folder.is_relative_to(tmp_path)
    with gzip.open(folder / place, "rt", encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    for part in found[0]["paragraphs"]:
        for asked in part["qas"]:
            for answer in asked["answers"]:
                start = answer["answer_start"]
                assert part["context"][start : start + len(answer["text"])] == answer["text"]
    assert found == list(original_data.FILES[place]()), "the same each time"
    (tmp_path / "squad").mkdir()
    (tmp_path / place).write_bytes(b"")
    assert large_data.folder_with(place) == tmp_path
    assert large_data.folder_with(place, "sst2/dev.jsonl.gz") == folder
