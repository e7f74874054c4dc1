import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig, reading, shipped_tasks

SMALL = """\
id: small
name: Small
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [good, bad]}
"""


def problems(text):
    with pytest.raises(Invalid) as caught:
        TaskConfig.parse(text)
    return caught.value.fields


def test_four_lines_make_a_task():
    config = TaskConfig.parse(SMALL)
    assert (config.id, config.goal, config.start.kinds, config.context) == ("small", "chosen", ["blank"], [])
    assert (config.validation.votes, config.validation.adjudicate_up_to) == (2, 5)


@pytest.mark.parametrize(
    ("more", "path", "message"),
    [
        ("lisence: MIT", "lisence", "no such key"),
        ("metrics: {primry: f1}", "metrics.primry", "Did you mean “primary”?"),
        ("fooled: {rule: differ}", "fooled.rule", "differs"),
        ("instructions: {creates: x}", "instructions.creates", "no such key"),
        ("instructions: hello", "instructions", ""),
        ("description: 5", "description", "quotes"),
        ("context: [{name: a}]", "context.0.type", "Give a type"),
        ("context: [{name: a, type: txt}]", "context.0.type", "Did you mean “text”?"),
        ("context: [{name: a, type: text, max_lenght: 5}]", "context.0.max_lenght", "Did you mean “max_length”?"),
        ("context: [{name: statement, type: text}]", "input.0.name", "already has the name"),
        ("context: [5]", "context.0", "mapping"),
        ("context: 5", "context", "list"),
        ("ask: [{name: w, type: spans, of: statment}]", "ask.0.of", "Did you mean “statement”?"),
        ("ask: [{name: w, type: text, when: fooling}]", "ask.0.when", "is not a condition"),
        ("ask: [{name: w, type: text, when: flagged}]", "ask.0.when", "only under validate"),
        ("ask: [{name: w, type: text, when: label == god}]", "ask.0.when", "Did you mean “good”?"),
        ("ask: [{name: w, type: text, when: lable == good}]", "ask.0.when", "Did you mean “label”?"),
        ("ask: [{name: w, type: choice, options: [yes, no]}]", "ask.0.options.0", "quotes"),
        ("ask: [{name: w, type: choice, goal: assigned}]", "ask.0.goal", "Only an answer"),
        ("context: [{name: a, type: text, when: fooled}]", "context.0.when", "only under ask"),
        ("validate: {votes: 0}", "validate.votes", "greater than or equal to 1"),
        ("validate: {votes: true}", "validate.votes", "whole number"),
        ("validate: {votes: 4, adjudicate_up_to: 3}", "validate", "below votes"),
        ("validate: {mode: blind}", "validate.mode", "judge"),
        ("validate: {ask: {name: r, type: text, when: statement = 3}}", "validate.ask.0.when", "is not a condition"),
        ("start: {kinds: [sead]}", "start.kinds.0", "blank"),
        ("perturb: {flip: lable}", "perturb.flip", "Did you mean “label”?"),
        ("perturb: {}", "perturb.flip", ""),
        ("annotators: friends", "annotators", "invited"),
        ("start: {kinds: [prompt]}", "start", "prompt"),
        ("start: {kinds: [blank, blank]}", "start", "twice"),
        ("start: {kinds: [prompt], prompt: {statement: p}}", "start.prompt.statement", "“p”"),
        ("start: {kinds: [prompt], prompt: {label: p}}", "start.prompt.label", "in the input"),
        ("fooled: {fields: [lable]}", "fooled.fields.0", "Did you mean “label”?"),
        ("contexts: {sampling: least-used}", "contexts.sampling", "least_used"),
        ("id: x", "config", "occurs twice"),
    ],
)
def test_a_mistake_is_told_with_its_path_what_to_do_and_the_line(more, path, message):
    result = problems(SMALL + more + "\n")
    assert path in result, result
    assert message in result[path]
    assert "(line 5)" in result[path] or path == "input.0.name"


def test_all_mistakes_of_different_parts_are_told_at_once():
    result = problems("id: UPPER\nname: 5\ninput: [{name: a, type: tixt}]\n")
    assert list(result) == ["id", "name", "input.0.type", "answer"]
    assert result["answer"] == "This is missing."


def test_a_choice_that_is_asked_for_takes_the_options_of_the_answer():
    config = TaskConfig.parse(SMALL + "validate: {ask: [{name: corrected, type: choice, when: incorrect}]}\n")
    assert config.validation.ask[0].values == ["good", "bad"]


def test_more_votes_raise_the_cap_with_them():
    assert TaskConfig.parse(SMALL + "validate: {votes: 7}\n").validation.adjudicate_up_to == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mapping"),
        ("just text", "mapping"),
        ("- a\n- b", "mapping"),
        ("null", "mapping"),
        ("42", "mapping"),
        ("a: [", "line 1"),
        ("a: b: c", "line 1"),
        ("a: 1\n--- \nb: 2", "not YAML"),
        ("a: \x00", "control characters"),
        ("a: \ud800", "control characters"),
        ("a: !!python/object/apply:os.system [ls]", "not YAML"),
        ("a: !!timestamp 2020-99-99", "a config cannot have"),
        ("a: " + "9" * 5000, "a config cannot have"),
        ("? [a, b]\n: c", "plain words"),
        ("a: &x [1]\nb: *x", "Aliases"),
        ("a: &x [*x]", "Aliases"),
        ("a: 1\na: 2", "occurs twice"),
        ("a: " + "[" * 30 + "]" * 30, "deeply"),
        ("a: " + "[" * 50_000, "nesting"),
        ("a: " + "{a: " * 20_000, ""),
        ("a" * 100_001, "at most"),
        (5, "YAML text"),
        (None, "YAML text"),
    ],
    ids=range(23),
)
def test_what_is_no_config_is_refused_quickly(text, message):
    started = time.perf_counter()
    result = problems(text)
    assert message in result["config"]
    assert time.perf_counter() - started < 20  # without bounds it would be hours


def test_a_bomb_of_aliases_unfolds_to_nothing():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{b}: &{b} [{', '.join('*' + a for _ in range(9))}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert "Aliases" in problems("\n".join(lines))["config"]


@pytest.mark.release
@settings(deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["text", "choice", "fooled", "nli", "a == b"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(
        ["id", "name", "input", "answer", "type", "options", "when", "validate", "ask", "start", "prompt", "of",
         "kinds", "context", "instructions", "fooled", "fields", "rule", "votes", "value", "required", "label"]),
        inner, max_size=6),
    max_leaves=25))  # fmt: skip
def test_any_yaml_is_read_or_refused_with_reasons(raw):
    with pytest.raises(Invalid) as caught:
        TaskConfig.parse(yaml.safe_dump(raw))
    assert caught.value.fields
    assert all(isinstance(path, str) and message for path, message in caught.value.fields.items())


@pytest.mark.release
@settings(deadline=None)
@given(st.data())
def test_a_shipped_config_with_one_part_replaced_never_crashes(data):
    raw = yaml.safe_load(data.draw(st.sampled_from(shipped_tasks())).source)
    part = raw
    while isinstance(part, dict | list) and part:
        keys = list(part) if isinstance(part, dict) else range(len(part))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], dict | list) or data.draw(st.booleans()):
            part[key] = data.draw(st.sampled_from([None, 5, -1, True, "", "x", [], {}, [[]], {"x": 1}, [None], 1e400]))
            break
        part = part[key]
    try:
        config = TaskConfig.parse(yaml.safe_dump(raw))
    except Invalid:
        return
    assert config.public()


def test_markdown_is_kept_as_the_text_that_it_is():
    config = TaskConfig.parse(SMALL + "instructions: {create: '<script>x</script> **b**'}\n")
    assert config.instructions.create == "<script>x</script> **b**"


def test_a_config_cannot_be_changed():
    config = TaskConfig.parse(SMALL)
    with pytest.raises(Exception, match="frozen"):
        config.name = "other"


def test_who_changes_what_was_read_changes_nothing_for_the_next_reader():
    text = shipped_tasks()[0].source
    values, lines = reading.read_config(text)
    values["context"].clear()
    values["instructions"]["create"] = "Something else."
    lines.clear()
    again, where = reading.read_config(text)
    assert again["instructions"] == yaml.safe_load(text)["instructions"]
    assert where
