"""Tests without the public data sets: some are skipped with the command, the others have texts."""

import gzip
import json

import pytest

from tests import conftest, large_data, original_data


@pytest.mark.parametrize("partial", [False, True])
def test_a_test_that_needs_data_is_skipped_with_the_command_that_runs_it(tmp_path, monkeypatch, request, partial):
    if partial:
        (tmp_path / "sst3").mkdir()
    monkeypatch.setenv(large_data.VARIABLE, str(tmp_path))
    request.node.add_marker(pytest.mark.large_data("sst3", "sst3/test.jsonl.gz"))
    with pytest.raises(pytest.skip.Exception) as skipped:
        conftest.pytest_runtest_setup(request.node)
    missing = "sst3/test.jsonl.gz" if partial else "sst3, sst3/test.jsonl.gz"
    test = request.node.nodeid.partition("[")[0]
    assert str(skipped.value) == f"needs {missing}: DYNABENCH_TEST_DATA=FOLDER make test ARGS={test}"


def test_a_test_that_reads_data_without_saying_so_fails():
    with pytest.raises(pytest.fail.Exception, match=r"large_data\('sst3/test\.jsonl\.gz'\)"):
        large_data.need_data("sst3/test.jsonl.gz")


def test_texts_of_our_own_stand_for_files_that_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv(large_data.VARIABLE, str(tmp_path))
    place = "squad/squad11_dev.jsonl.gz"
    folder = large_data.folder_with(place)
    assert not folder.is_relative_to(tmp_path)
    with gzip.open(folder / place, "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    for part in documents[0]["paragraphs"]:
        for request in part["qas"]:
            for answer in request["answers"]:
                start = answer["answer_start"]
                assert part["context"][start : start + len(answer["text"])] == answer["text"]
    assert documents == list(original_data.FILES[place]()), "the same each time"
    (tmp_path / "squad").mkdir()
    (tmp_path / place).write_bytes(b"")
    assert large_data.folder_with(place) == tmp_path
    assert large_data.folder_with(place, "sst2/dev.jsonl.gz") == folder
