"""Fooling rules in a task: read with their own settings, refused with a reason, described to editors."""

import jsonschema
import pytest
import yaml

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules import fooling_rules
from dynabench.tasks.schema import config_schema
from tests.tasks.rules import task

SETTINGS = {
    "differs": {},
    "f1_below": {"threshold": 0.3},
    "not_in": {},
    "vqa_below": {"threshold": 0.6},
    "outside": {"tolerance": 0.05, "relative": True, "fields": ["count"]},
    "overlap_below": {"threshold": 0.5, "measure": "f1"},
    "matches": {"pattern": r"\bsorry\b", "ignore_case": True, "found": False},
    "metric_below": {"metric": "chrf", "threshold": 40},
    "uncertain": {"below": 0.7, "fields": ["label"]},
    "chosen": {"options": ["first", "second"], "fields": ["reply"]},
    "judged_by_annotator": {"question": "Is it wrong?", "guidance": "Look *twice*."},
    "judged_by_validators": {},
    "judged_by_model": {"judge": "m@1", "ask": {"text": "{context.first} {answer.reply}"}, "says_wrong": ["no"]},
}
validator = jsonschema.Draft202012Validator(config_schema())


def fits(config):
    return not list(validator.iter_errors({**yaml.safe_load(config)}))


@pytest.mark.parametrize("name", fooling_rules())
def test_each_is_read_with_its_settings_and_known_to_editors(name):
    text = task({"rule": name, **SETTINGS[name]})
    config = TaskConfig.parse(text)
    assert type(config.fooled) is fooling_rules()[name]
    assert fits(text)
    assert config.public()["fooled"] == config.fooled.model_dump()
    assert TaskConfig.model_validate(yaml.safe_load(text)).fooled == config.fooled
    assert config.fooled.right_in_words.startswith("An answer is right if ")
    assert not fits(task({"rule": name, **SETTINGS[name], "treshold": 1}))


@pytest.mark.parametrize("name", fooling_rules())
def test_each_says_where_it_comes_from_and_is_in_the_reference(name):
    from tests.test_documentation import REFERENCE

    assert fooling_rules()[name].__doc__
    assert f"| `{name}` |" in REFERENCE


@pytest.mark.parametrize(
    ("fooled", "key", "message"),
    [
        ({"rule": "diffres"}, "fooled.rule", "Did you mean “differs”?"),
        ({"rule": 3}, "fooled.rule", "There is no fooling rule “3”."),
        ("differs", "fooled", "A fooling rule is a mapping"),
        ({"rule": "differs", "threshold": 0.4}, "fooled.threshold", "There is no such key."),
        ({"rule": "f1_below", "treshold": 0.4}, "fooled.treshold", "Did you mean “threshold”?"),
        ({"rule": "f1_below", "threshold": 1.5}, "fooled.threshold", "less than or equal to 1"),
        ({"rule": "differs", "fields": ["lable"]}, "fooled.fields.0", "Did you mean “label”?"),
        ({"rule": "outside", "fields": ["count"]}, "fooled.tolerance", "This is missing."),
        ({"rule": "outside", "tolerance": 1}, "fooled.rule", "“outside” compares numbers"),
        ({"rule": "uncertain", "fields": ["reply"]}, "fooled.fields", "only the options of a choice"),
        ({"rule": "matches", "pattern": "(a"}, "fooled.pattern", "This is not a regular expression"),
        ({"rule": "matches", "pattern": "(x+x+)+y"}, "fooled.pattern", "can be very slow"),
        ({"rule": "matches", "pattern": "(a+)+b"}, "fooled.pattern", "can be very slow"),
        ({"rule": "metric_below", "metric": "chfr", "threshold": 1}, "fooled.metric", "did you mean chrf"),
        ({"rule": "metric_below", "metric": "ter", "threshold": 1}, "fooled.metric", "cannot be used here"),
        ({"rule": "metric_below", "metric": "wer", "threshold": 1}, "fooled.metric", "is better when lower"),
        ({"rule": "metric_below", "metric": "code_eval", "threshold": 1}, "fooled.metric", "cannot be used here"),
        ({"rule": "metric_below", "metric": "bertscore", "threshold": 1}, "fooled.metric", "cannot be used here"),
        ({"rule": "metric_below", "metric": "pearsonr", "threshold": 1}, "fooled.metric", "cannot be used here"),
        (
            {"rule": "metric_below", "metric": "/tmp/x.py", "threshold": 1},
            "fooled.metric",
            "use a metric of the library",
        ),
        (
            {"rule": "metric_below", "metric": "rouge", "output": "rougeX", "threshold": 1},
            "fooled.metric",
            "no output 'rougeX'",
        ),
        ({"rule": "chosen", "options": ["frist"], "fields": ["reply"]}, "fooled.options.0", "Did you mean “first”?"),
        ({"rule": "chosen", "options": ["first"], "fields": ["count"]}, "fooled.fields", "takes texts"),
    ],
)
def test_mistakes_are_told_at_their_place(fooled, key, message):
    with pytest.raises(Invalid) as refused:
        TaskConfig.parse(task(fooled))
    assert message in refused.value.fields[key]


def test_probabilities_must_be_told_where_they_decide():
    with pytest.raises(Invalid) as refused:
        TaskConfig.parse(task({"rule": "uncertain", "fields": ["label"]}, output={"probabilities": False}))
    assert "probabilities: true" in refused.value.fields["fooled.rule"]
