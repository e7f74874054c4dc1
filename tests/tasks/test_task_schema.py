import jsonschema
import pytest
import yaml

from dynabench.tasks import TaskConfig, shipped_tasks
from dynabench.tasks.fields import types
from dynabench.tasks.schema import config_schema

schema = config_schema()
validator = jsonschema.Draft202012Validator(schema)


def _nli(**changes):
    return {**yaml.safe_load(shipped_tasks()[1].source), **changes}


@pytest.mark.release
def test_it_is_a_schema_that_knows_every_key_and_field_type():
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {field.alias or name for name, field in TaskConfig.model_fields.items()}
    assert {f"field_{name}" for name in types()} <= set(schema["$defs"])


def test_every_key_is_described():
    for definition in [schema, *schema["$defs"].values()]:
        for name, part in definition.get("properties", {}).items():
            assert part.get("description") or "$ref" in part or name in {"type", "value", "label", "description"}, name


@pytest.mark.parametrize("task", shipped_tasks(), ids=lambda task: task.config.id)
def test_shipped_configs_fit_it(task):
    assert not list(validator.iter_errors(yaml.safe_load(task.source)))


@pytest.mark.parametrize(
    "changes",
    [
        {"input": {"name": "hypothesis", "type": "text"}},
        {"answer": {"name": "label", "type": "choice", "options": ["a", "b"]}},
        {"ask": {"name": "x", "type": "text", "when": "fooled"}},
        {"context": []},
    ],
)
def test_short_forms_fit_it_and_are_read(changes):
    assert validator.is_valid(_nli(**changes))
    if "context" in changes or "ask" in changes:
        TaskConfig.parse(yaml.safe_dump(_nli(**changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"lisence": "MIT"},
        {"id": "Not An Id"},
        {"input": []},
        {"input": [{"name": "x", "type": "txt"}]},
        {"input": [{"name": "x", "type": "text", "max_lenght": 3}]},
        {"fooled": {"rule": "differ"}},
        {"validate": {"votes": 0}},
    ],
)
def test_mistakes_are_seen_by_editors(changes):
    assert not validator.is_valid(_nli(**changes))
