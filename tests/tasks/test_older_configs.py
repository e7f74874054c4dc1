"""Configs of both older dialects: every type, rule, metric and key maps or is spoken of, line by line."""

import pytest
import yaml
from dynabench_older_dialects import classic, later, measured, reader, shown

from dynabench.tasks import TaskConfig
from dynabench.tasks.section import printable

CLASSIC = """\
goal_message: Say something that sounds worse than it is.
content_warning: Some of it is rude.
context:
  - {name: scene, type: string, placeholder: A scene}
  - {name: photo, type: image}
  - {name: sound, type: audio}
input:
  - {name: remark, type: string, display_name: Your remark}
  - {name: mood, type: multiclass, labels: [yes, no, calm], as_goal_message: true}
  - {name: themes, type: multilabel, labels: [sea, sky]}
  - {name: where, type: context_string_selection, reference_name: scene}
output:
  - {name: mood}
  - {name: themes}
  - {name: where}
  - {name: sure, type: prob, reference_name: mood}
metadata:
  upload_proof: true
  create:
    - {name: whyRight, type: string, model_wrong_condition: false}
    - {name: why-wrong, type: string, model_wrong_condition: true}
  validate:
    - {name: better, type: multiclass, labels: [yes, no, calm], validated_label_condition: incorrect}
    - {name: trouble, type: string, validated_label_condition: flagged}
model_wrong_metric: {type: exact_match, reference_names: [mood, where]}
perf_metric: [{type: macro_f1, reference_name: mood}, {type: accuracy, reference_name: mood}]
delta_metrics: [{type: fairness}, {type: robustness}]
aggregation_metric: {type: dynascore, default_weights: {macro_f1: 4}}
train_file_metric: {type: dataperf, reference_name: mood, seeds: [1], test_labels: x}
pages: 3
"""
LATER = """\
goal: {type: radio-button-options, text: Pick one., options: [calm, cross], field_name_for_the_model: label,
       evaluation_label: label}
context:
  type: zoom_image
  field_names_for_the_model: {context: photo}
  instruction: Look closely.
  context_for_start: Begin at the left.
  tags: [a]
  metadata: {user_input_group_by: page}
  generative_context: {is_generative: false, distinctive: true}
user_input:
  - {type: input-with-instructions, instructions: One line., field_name_for_the_model: remark, initiate_open: true}
  - {type: simple-slider, options_slider: [mild, harsh], field_name_for_the_model: force, show_na_checkbox: true}
  - {type: drop-down-single-select, options: [a, b], field_name_for_the_model: kind, metadata: true}
required_fields: [remark]
model_input: {remark: remark, other: photo}
response_fields: {input_by_user: remark}
model_output: {model_prediction_label: mood}
model_evaluation_metric: {metric_name: exact_match}
cast_output: {mood: str}
creation_samples_title: Mine
validation_user_input: [{type: radio-button-options, options: [a, b], field_name_for_the_model: again}]
validation_context: [{type: text}]
validation_options: [correct, incorrect, flagged, unsafe]
external_validator: {url: "https://example.org", total_required_examples: 3, artifacts: {}}
evaluation: {inference_url: "https://example.org/m", main_perf_metric: bleu}
submit_config: {genders: [a], multigender: true}
leaderboard: {key: a}
"""


def read(text):
    created = reader.read(text, "old-one", "Old one")
    leaves = set(_leaves(yaml.safe_load(text))) if created.dialect != "neither" else set()
    keys = {note.key for note in created.notes}
    for path in leaves:
        above = [".".join(map(printable, path[:end])) for end in range(1, len(path) + 1)]
        assert keys & set(above) or "constructor_args" in path, f"nothing is said of {path}"
    return created


def _leaves(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from _leaves(item, (*path, key))
    if not inner and path:
        yield path


def notes(config, key):
    return [(note.line, note.kind) for note in config.notes if note.key == key]


def task(config):
    assert config.valid, config.notes
    return TaskConfig.parse(config.source)


def test_a_classic_config_becomes_a_task_and_each_line_is_spoken_of():
    content = read(CLASSIC)
    config = task(content)
    assert content.dialect == "classic"
    assert [field.type for field in config.context] == ["text", "image", "audio"]
    assert [(field.name, field.type, field.label) for field in config.input] == [("remark", "text", "Your remark")]
    assert [(field.name, field.type) for field in config.answer] == [
        ("mood", "choice"), ("themes", "multi_choice"), ("where", "spans"),
    ]  # fmt: skip
    assert config.answer[0].values == ["yes", "no", "calm"], "labels are what is written, whatever YAML makes of them"
    assert config.goal == "assigned"
    assert (config.fooled.rule, config.fooled.fields) == ("differs", ["mood", "where"])
    assert [(field.name, field.when) for field in config.ask] == [
        ("why_right", ["not_fooled"]), ("why_wrong", ["fooled"]),
    ]  # fmt: skip
    assert [(field.name, field.when) for field in config.validation.ask] == [
        ("better", ["incorrect"]), ("trouble", ["flagged"]),
    ]  # fmt: skip
    assert (config.metrics.primary, config.metrics.report) == ("f1", ["accuracy"])
    assert config.metrics.perturb == ["fairness", "robustness"]
    assert config.content_warning == "Some of it is rude."
    assert "sounds worse" in config.instructions.create
    assert notes(content, "metadata.create.0.name") == [(20, "changed")]
    assert notes(content, "metadata.upload_proof") == [(18, "dropped")]
    assert notes(content, "aggregation_metric.default_weights") == [(28, "dropped")]
    assert notes(content, "train_file_metric") == [(29, "dropped")]
    assert notes(content, "pages") == [(30, "dropped")]
    assert "#   line 30, pages" in content.source


def test_a_later_config_becomes_a_task_and_each_line_is_spoken_of():
    content = read(LATER)
    config = task(content)
    assert content.dialect == "later"
    assert [(field.name, field.type) for field in config.context] == [("photo", "image")]
    assert [(field.name, field.type, field.required) for field in config.input] == [
        ("remark", "text", True), ("force", "slider", False),
    ]  # fmt: skip
    assert (config.input[1].low, config.input[1].high) == ("mild", "harsh")
    assert [(field.name, field.values) for field in config.answer] == [("mood", ["calm", "cross"])]
    assert config.goal == "assigned"
    assert config.instructions.create == "Pick one.\n\nLook closely.\n\nBegin at the left."
    assert [field.name for field in config.ask] == ["kind"]
    assert [field.name for field in config.validation.ask] == ["again"]
    assert (config.fooled.rule, config.contexts.sampling, config.metrics.primary) == ("differs", "unseen", "sacrebleu")
    for key in later.WITHOUT_COUNTERPART:
        assert notes(content, key)[0][1] == "dropped", key
    assert notes(content, "validation_options.3") == [(24, "dropped")]
    assert notes(content, "model_input.remark") == [(16, "same")]
    assert notes(content, "model_input.other") == [(16, "dropped")]


@pytest.mark.parametrize("kind", classic.TYPES)
def test_every_classic_type_maps(kind):
    more = {"labels": ["a", "b"]} if "class" in kind or "label" in kind else {}
    more |= {"reference_name": "text"} if "selection" in kind else {}
    text = {"context": [{"name": "text", "type": "string"}], "input": [{"name": "it", "type": kind, **more}],
            "output": [{"name": "it"}]}  # fmt: skip
    config = task(read(yaml.safe_dump(text)))
    assert config.answer[0].type == classic.TYPES[kind].becomes
    assert (config.goal == "assigned") is (kind == "target_label")
    assert [field.type for field in config.input] == ["comment"], "a task has something to write"


@pytest.mark.parametrize("kind", later.INPUTS)
def test_every_later_input_maps(kind):
    request = {"type": kind, "field_name_for_the_model": "it", "options": ["a", "b"], "options_slider": [0, 10]}
    text = {"goal": {"type": "multioptions", "options": ["x", "y"]}, "user_input": [request]}
    config = task(read(yaml.safe_dump(text)))
    assert [field.type for field in config.input] == [item.becomes for item in later.INPUTS[kind]]


@pytest.mark.parametrize("kind", [*shown.TYPES, "plain-text-dev"])
def test_every_later_context_maps_or_is_reported(kind):
    context = {"type": kind, "tags": ["a", "b"], "field_names_for_the_model": {"context": "given", "answer": "label"},
               "generative_context": {"artifacts": dict.fromkeys([*shown.ARTIFACTS, *shown.INSTRUCTIONS], "some")
                                      | {"options_slider": ["a"], "need_consent": True, "consent_uri": "x",
                                         "num_interactions_chatbot": 4, "choose_when_tie": False}}}  # fmt: skip
    text = {"context": context, "user_input": [{"type": "text", "field_name_for_the_model": "it"},
                                               {"type": "multioptions", "options": ["x", "y"],
                                                "field_name_for_the_model": "label"}]}  # fmt: skip
    content = read(yaml.safe_dump(text))
    assert task(content).input
    if kind in shown.CHATS:
        assert task(content).chat.max_turns == 4
        assert not task(content).chat.tie
    for key in shown.ARTIFACTS:
        assert notes(content, f"context.generative_context.artifacts.{key}")[0][1] == "dropped"


@pytest.mark.parametrize("kind", later.GOALS)
def test_every_goal_maps(kind):
    options = [["a", "b"], ["c", "d"]] if kind.startswith("double") else ["a", "b"]
    names = ["one", "two"] if kind.startswith("double") else "one"
    text = {"goal": {"type": kind, "text": "Do it.", "options": options, "field_name_for_the_model": names},
            "user_input": [{"type": "text", "field_name_for_the_model": "it"}]}  # fmt: skip
    config = task(read(yaml.safe_dump(text)))
    assert [field.name for field in config.answer] == (["one", "two"] if kind.startswith("double") else ["one"])


@pytest.mark.parametrize("name", measured.METRICS)
def test_every_metric_maps_or_is_reported(name):
    content = read(CLASSIC.replace("macro_f1, reference", f"{name}, reference"))
    [(line, kind)] = notes(content, "perf_metric.0.type")
    assert line == 26
    assert kind == measured.METRICS[name].kind
    assert task(content).metrics.primary == (measured.METRICS[name].becomes or "accuracy")


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        ("{type: exact_match, reference_names: [mood]}", "differs"),
        ("{type: string_f1, reference_name: mood, threshold: 0.3}", "f1_below"),
        ("{type: ask_user}", "judged_by_annotator"),
        ("", "judged_by_annotator"),
    ],
)
def test_every_rule_maps(metric, rule):
    text = CLASSIC.replace("{type: exact_match, reference_names: [mood, where]}", metric)
    assert task(read(text)).fooled.rule == rule


def test_early_configs_have_arguments_apart_and_are_json():
    text = """{"context": [{"name": "a", "type": "string", "constructor_args": {"placeholder": "Here"}}],
        "input": [{"name": "t", "type": "string"},
                  {"name": "l", "type": "target_label", "constructor_args": {"labels": ["x", "y"]}}],
        "output": [{"name": "l"}, {"name": "p", "type": "multiclass_probs",
                                   "constructor_args": {"reference_name": "l"}}],
        "model_wrong_metric": {"type": "exact_match", "constructor_args": {"reference_names": ["l"]}}}"""
    config = task(read(text))
    assert config.context[0].placeholder == "Here"
    assert (config.goal, config.answer[0].values) == ("assigned", ["x", "y"])


def test_where_both_dialects_stand_in_one_config_the_later_one_leads():
    content = read(LATER.replace("evaluation:", "output: [{name: mood}, {name: p, type: prob, single_prob: true}]\n"
                              "input: [{name: other, type: string}]\nmodel_wrong_metric: {type: ask_user}\n"
                              "perf_metric: {type: accuracy}\nevaluation:"))  # fmt: skip
    assert content.dialect == "both"
    assert (task(content).fooled.rule, task(content).metrics.primary) == ("differs", "accuracy")
    assert notes(content, "input.0")[0][1] == "dropped"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "neither"),
        ("- a", None, "neither"),
        ("colour: red", 1, "neither"),
        ("id: a\nname: A\nanswer: []", 1, "current config"),
        ("input: [{name: a, type: string}]\ninput: []", 2, "occurs twice"),
        ("input: &a [1]\noutput: *a", 1, "Aliases"),
        ("a: &a [x, x]\nb: &b [*a, *a]\ninput: [*b, *b]", 1, "Aliases"),
        ("input: [" + "[" * 40 + "]" * 40 + "]", 1, "deeply"),
        ("input: " + "x" * 100_001, None, "at most"),
        ("input: [a", 1, "not YAML"),
        ("input: [5]\noutput: []", 1, "mapping with name and type"),
        ("input: [{type: string}]\noutput: []", 1, "needs a name"),
        ("input: [{name: a, type: strng}]\noutput: [{name: a}]", 1, "Known: string"),
        ("input: [{name: a, type: prob}]\noutput: []", 1, "only output"),
        ("input: [{name: a, type: string}]\noutput: [{name: b}]", 2, "neither input nor context"),
        ("input: [{name: a, type: multiclass, labels: [x]}]\noutput: [{name: a}]", 1, "at least 2"),
        ("input: [{name: a, type: string}]\noutput: [{name: a}]\nmodel_wrong_metric: {type: foo}", 3, "foo"),
        ("goal: {type: choose}", 1, "no goal"),
        ("context: {type: hologram}", 1, "no context"),
        ("user_input: [{type: telepathy}]", 1, "no user input"),
    ],
    ids=range(20),
)
def test_what_makes_no_task_is_refused_with_its_line(text, line, message):
    content = (
        read(text) if "&" not in text and len(text) < 1000 and made_of_yaml(text) else reader.read(text, "old-one")
    )
    assert not content.valid
    wrong = [note for note in content.notes if note.kind == "wrong"]
    assert any(message in note.text and note.line == line for note in wrong), wrong


def made_of_yaml(text):
    try:
        return isinstance(yaml.safe_load(text), dict)
    except yaml.YAMLError:
        return False
