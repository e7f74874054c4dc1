"""A conversation as a field: its values, where it may stand, and with which rules and conditions."""

import json

import pytest
from pydantic import ValidationError

from dynabench.kit.errors import Invalid
from dynabench.rounds import plan, round_models
from dynabench.tasks import TaskConfig, shipped
from dynabench.tasks.fields import Chat

TURN = {"said": "Hello?", "replies": [{"text": "Hello."}, {"text": "No."}], "choice": "A", "continued": 0}
STORED = {**TURN, "replies": [{"text": "Hello.", "rating": None}, {"text": "No.", "rating": None}]}
field = Chat(name="talk")
[preference, _] = shipped.shipped_conversations()


def _config(**changes):
    return {
        "id": "talk", "name": "Talk",
        "input": {"name": "talk", "type": "chat"},
        "answer": {"name": "better", "type": "choice", "options": ["A", "B"]},
        **changes,
    }  # fmt: skip


def test_a_transcript_is_a_value_as_an_object_and_as_the_text_of_a_cell():
    assert field.clean({"turns": [TURN]}) == {"turns": [STORED]}
    assert field.clean_answer(json.dumps({"turns": [TURN]})) == {"turns": [STORED]}
    assert not field.is_answer("7")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": {"name": "g", "type": "group", "fields": [{"name": "talk", "type": "chat"}]}}, "part of a group"),
        ({"fooled": {"rule": "judged_by_annotator"}}, "without a judge"),
        ({"ask": {"name": "again", "type": "chat"}}, "belongs in the input"),
    ],
)
def test_where_a_conversation_cannot_stand_is_told(changes, message):
    TaskConfig.model_validate(_config())
    with pytest.raises(ValidationError, match=message):
        TaskConfig.model_validate(_config(**changes))


def test_a_conversation_has_somebody_to_talk_with_in_every_condition():
    others = {"name": "other", "targets": [{"model": "north", "version": "1"}]}
    assert [arm["name"] for arm in plan.clean_arms([others, {"name": "plain"}], preference.config)] == [
        "other",
        "plain",
    ]
    with pytest.raises(Invalid) as refused:
        plan.clean_arms([others, {"name": "control", "targets": "none"}], preference.config)
    assert set(refused.value.fields) == {"arms.1.targets"}
    with pytest.raises(Invalid):
        round_models.resolve_targets(preference.config, ["none"], [])
