"""`.eval_results`, `train-eval-index` and `eval.yaml`: read as the hub's client reads them, merged in place."""

from dataclasses import asdict

import pytest
import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml, parse_eval_result_entries
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dynabench.evaluate.cards import dataset_card
from dynabench.evaluate.cards.card_text import split_card
from dynabench.evaluate.cards.dataset_card import Benchmark, BenchmarkTask, EvaluationIndex
from dynabench.evaluate.cards.result_files import ResultEntry, merge_entries, read_entries, write_entries
from dynabench.evaluate.cards.yaml_text import CardError, same_values
from tests.evaluate.cards.generated import OPTIONAL, VALUE, WORD

some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def entries(draw):
    url = draw(st.one_of(st.none(), st.just("https://example.org/log")))
    return ResultEntry(
        draw(WORD), draw(WORD), draw(VALUE), draw(OPTIONAL), draw(OPTIONAL),
        draw(st.one_of(st.none(), st.just("2026-01-15T10:30:00Z"), st.just("2026-01-15"))), url,
        *(draw(OPTIONAL) if url else None for _ in range(3)), draw(OPTIONAL),
    )  # fmt: skip


ENTRIES = st.lists(entries(), min_size=1, max_size=5, unique_by=lambda entry: entry.identity)


@pytest.mark.release
@some
@given(ENTRIES, ENTRIES)
def test_entries_are_those_of_the_hub_s_client_and_merge_in_place(before, new):
    text = write_entries(before)
    assert [asdict(entry) for entry in parse_eval_result_entries(yaml.safe_load(text))] == [asdict(e) for e in before]
    theirs = yaml.dump(eval_result_entries_to_yaml([EvalResultEntry(**asdict(entry)) for entry in before]))
    assert read_entries(theirs) == before
    identities = {entry.identity for entry in before}
    new = [entry for entry in new if entry.identity not in identities]
    text = "# our results\n" + text.replace("\n  value:", "  # set\n  value:")
    merged = merge_entries(text, new)
    assert merged.startswith(text.rstrip("\n"))
    assert read_entries(merged) == [*before, *new]


def test_a_changed_entry_keeps_the_text_around_it():
    text = "- dataset: {id: a/b, task_id: t}  # the test\n  value: 0.5 # old\n  verifyToken: x\n"
    entry = ResultEntry("a/b", "t", 0.625)
    with pytest.raises(CardError, match="overwrite"):
        merge_entries(text, [entry])
    merged = merge_entries(text, [entry], overwrite=True)
    assert merged == text.replace("0.5", "0.625").replace("verifyToken: x", "verifyToken: null")
    assert merge_entries("", [entry]) == write_entries([entry])


def test_a_date_without_quotes_becomes_its_text():
    (entry,) = read_entries("- dataset: {id: a/b, task_id: t}\n  value: 1\n  date: 2026-01-15\n")
    assert entry.date == "2026-01-15"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1", "list"), ("- 1", "not a mapping"), ("- value: 1", "id and task_id"),
        ("- dataset: {id: 3, task_id: t}\n  value: 1", "id and task_id"),
        ("- dataset: {id: a, task_id: t}", "no value"),
        ("- dataset: {id: a, task_id: t}\n  value: 1\n  notes: [1]", "not text"),
        ("- dataset: {id: a, task_id: t}\n  value: 1\n  source: {name: n}", "needs a url"),
        ("- dataset: {id: a, task_id: t}\n  value: 1\n  source: [n]", "not a mapping"),
    ],
)  # fmt: skip
def test_entries_of_another_shape_are_named(text, words):
    with pytest.raises(CardError, match=words):
        read_entries(text)


CARD = """---
pretty_name: SST  # short
train-eval-index:
- config: sst2  # the one
  task: text-classification
  task_id: multi_class_classification
  splits: {train_split: train, eval_split: validation}
  col_mapping:
    sentence: text
    answers: {text: text, answer_start: answer_start}
    label: target
  metrics:
  - type: f1
    name: F1 macro
    args: {average: macro}
  extra: 1
---
body
"""


def test_the_index_of_a_dataset_is_read_and_written_without_loss():
    card = split_card(CARD)
    (index,) = dataset_card.read_evaluation_indexes(card.metadata())
    assert index.columns == {"sentence": "text", "answers.text": "text", "answers.answer_start": "answer_start",
                             "label": "target"}  # fmt: skip
    assert same_values(index.document(), card.metadata()["train-eval-index"][0])
    assert dataset_card.merge_evaluation_index(card, index) == card
    other = EvaluationIndex(task="text-classification", config="other", columns={"text": "text"})
    merged = dataset_card.merge_evaluation_index(card, other)
    assert str(merged).startswith(CARD.removesuffix("---\nbody\n"))
    assert dataset_card.read_evaluation_indexes(merged.metadata()) == [index, other]


def test_a_benchmark_is_read_and_written_without_loss():
    task = BenchmarkTask("t", "default", fields={"input": "q", "target": "a"}, scorers=({"name": "match"},),
                         solvers=({"name": "generate"},), other={"epochs": 2})  # fmt: skip
    benchmark = Benchmark("B", "inspect-ai", [task], "What it is.", {"version": 3})
    assert dataset_card.read_benchmark(dataset_card.write_benchmark(benchmark)) == benchmark


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1", "mapping"), ("name: x", "tasks"), ("name: x\ntasks: [{id: a}]", "evaluation_framework"),
        ("name: x\nevaluation_framework: y\ntasks: [{}]", "no id"),
        ("name: x\nevaluation_framework: y\ntasks: [{id: a}, {id: a}]", "same id"),
        ("name: x\nevaluation_framework: y\ntasks: [{id: a, scorers: 3}]", "list of mappings"),
    ],
)  # fmt: skip
def test_benchmarks_of_another_shape_are_named(text, words):
    with pytest.raises(CardError, match=words):
        dataset_card.read_benchmark(text)


@pytest.mark.parametrize(
    "value", [3, [3], [{}], [{"task": "t", "splits": 3}], [{"task": "t", "col_mapping": {"a": []}}]]
)
def test_indexes_of_another_shape_are_refused(value):
    with pytest.raises(CardError):
        dataset_card.read_evaluation_indexes({"train-eval-index": value})
