"""Suites of tests by phenomenon: what is shipped fits its task, and a broken file says what is wrong."""

from collections import Counter

import pytest

from dynabench.adversaries import checklist
from dynabench.kit.errors import Invalid
from dynabench.tasks.shipped import shipped_tasks

CONFIGS = {shipped.config.id: shipped.config for shipped in shipped_tasks()}
OWN = """
name: own
title: Two words
task: sentiment
licence: CC0-1.0
answer: label
words: {thing: [soup, bread], pair: [{a: oak, b: tree}]}
phenomena:
  - name: praise
    about: Praise.
    templates: [{statement: "The {thing} is better than the {thing2}.", label: positive}]
"""


@pytest.mark.parametrize("name", checklist.shipped_suites())
def test_every_item_of_a_shipped_suite_is_one_that_its_task_takes(name):
    result = checklist.load_suite(name)
    config = CONFIGS[result.task]
    names = {field.name for field in config.context}
    for item in result.items():
        context = {key: value for key, value in item.inputs.items() if key in names}
        context = config.clean_context(context) if context else {}
        written = config.clean_input({key: item.inputs[key] for key in item.inputs if key not in names}, context)
        assert config.clean_answer(item.answer, context=context, input=written) == item.answer
        assert not any("{" in value or "}" in value for value in item.inputs.values())


@pytest.mark.parametrize("name", checklist.shipped_suites())
def test_items_are_the_same_each_time_and_none_comes_twice(name):
    result = checklist.load_suite(name)
    items = list(result.items())
    assert items == list(checklist.load_suite(name).items())
    assert len({item.uid for item in items}) == len({str(item.inputs) for item in items}) == len(items)


@pytest.mark.parametrize(("name", "phenomena"), [("sentiment-phenomena", 12), ("nli-phenomena", 12)])
def test_there_are_thirty_items_of_each_of_ten_phenomena_at_least(name, phenomena):
    counts = Counter(item.phenomenon for item in checklist.load_suite(name).items())
    assert len(counts) == phenomena
    assert min(counts.values()) >= 30
    assert max(counts.values()) <= checklist.ITEMS_PER_PHENOMENON


@pytest.mark.parametrize("name", ["sentiment-phenomena", "nli-phenomena"])
def test_every_answer_of_the_task_is_right_somewhere(name):
    result = checklist.load_suite(name)
    labels = Counter(item.answer["label"] for item in result.items())
    assert set(labels) == set(CONFIGS[result.task].answer[0].values)


def test_two_slots_of_one_list_get_two_words(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    texts = {item.inputs["statement"] for item in checklist.load_suite(str(path)).items()}
    assert texts == {"The soup is better than the bread.", "The bread is better than the soup."}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{thing2}", "{dish}", "no words for {dish}"),
        ("{thing2}", "{pair}", "with parts and without"),
        ("{thing2}", "{thing.b}", "with parts and without"),
        ("name: praise", "name: PRAISE!", "pattern"),
        ("phenomena:", "phenomenon:", "phenomen"),
        ("words: {", "words: [", "while parsing"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path, old, new, message):
    path = tmp_path / "own.yaml"
    path.write_text(OWN.replace(old, new))
    with pytest.raises(Invalid) as error:
        checklist.load_suite(str(path))
    assert message in error.value.fields["suite"]


def test_an_unknown_suite_is_refused_with_those_that_there_are():
    with pytest.raises(Invalid, match="nli-phenomena"):
        checklist.load_suite("nothing-of-the-kind")
