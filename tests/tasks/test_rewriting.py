"""Single values of a config, changed in its text."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig, shipped_tasks
from dynabench.tasks.reading import with_id, with_values

NLI = shipped_tasks()[1].source
TEXT = "# mine\nid: a-task # its name\nname: A\nvalidate: {votes: 2}\nterms: |\n  Be kind.\n  Always.\n"
TEXT += "data:\n  licence: MIT\n"


@pytest.mark.parametrize("task", shipped_tasks(), ids=lambda first: first.config.id)
def test_a_shipped_task_under_another_id_differs_in_one_line(task):
    text = with_id(task.source, "mine")
    assert TaskConfig.parse(text).id == "mine"
    before, after = task.source.splitlines(), text.splitlines()
    assert len([1 for old, new in zip(before, after, strict=True) if old != new]) == 1


def test_comments_and_blocks_stay():
    text = with_values(TEXT, {("id",): "other", ("validate", "votes"): 3, ("data", "licence"): "CC0-1.0"})
    assert text == TEXT.replace("a-task", "other").replace("votes: 2", "votes: 3").replace("MIT", "CC0-1.0")


def test_what_is_missing_is_added_and_none_takes_away():
    text = with_values(
        TEXT, {("validate", "mode"): "answer", ("annotators",): "invited", ("contexts", "sampling"): "uniform"}
    )
    read = yaml.safe_load(text)
    assert read["validate"] == {"votes": 2, "mode": "answer"}
    assert (read["annotators"], read["contexts"]) == ("invited", {"sampling": "uniform"})
    assert text.startswith("# mine\n")
    assert yaml.safe_load(with_values(text, {("annotators",): None, ("validate", "mode"): None})) == yaml.safe_load(
        TEXT
    ) | {"contexts": {"sampling": "uniform"}}


def test_a_block_of_text_becomes_another():
    read = yaml.safe_load(with_values(TEXT, {("terms",): "Line one.\nLine two: “yes” # no comment"}))
    assert read["terms"] == "Line one.\nLine two: “yes” # no comment"
    assert read["data"] == {"licence": "MIT"}


def test_what_holds_no_keys_is_refused():
    with pytest.raises(Invalid):
        with_values(TEXT, {("name", "votes"): 3})


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40)


@pytest.mark.release
@given(WORDS, st.booleans(), st.integers(1, 25))
def test_whatever_is_written_is_read_again(words, yes, number):
    changes = {("description",): words, ("content_warning",): words + "\n" + words, ("validate", "votes"): number,
               ("validate", "also_not_fooled"): yes, ("input", 0, "label"): words,
               ("data", "licence"): words}  # fmt: skip
    read = yaml.safe_load(with_values(NLI, changes))
    assert (read["description"], read["content_warning"]) == (words, words + "\n" + words)
    assert (read["validate"]["votes"], read["validate"]["also_not_fooled"]) == (number, yes)
    assert read["input"][0]["label"] == words
    assert read["data"]["licence"] == words
    assert read["answer"] == yaml.safe_load(NLI)["answer"]
