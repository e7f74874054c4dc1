"""Edits of a config's text keep what stands around them, and mean what they say."""

import random
from copy import deepcopy

import pytest
import yaml

from dynabench.kit.errors import Invalid
from dynabench.tasks import editing, reading, shipped_tasks
from dynabench.tasks.editing import ConfigEdit, apply_edit

TEXT = """\
# A task about weather.
id: weather
name: Weather  # people read this
description: |
  Is it wet?

  Say so.
# What people get
context:
  # the report
  - name: report
    type: text
  - {name: region, type: choice, options: [north, south]}  # two regions
input: [{name: claim, type: text}]
answer: {name: label, type: choice, options: [wet, dry]}
validate:
  votes: 2  # of five
"""


def edited(text: str, kind: str, *path, value=None, to=None) -> str:
    result = apply_edit(text, ConfigEdit(kind, path, value, to))
    assert not result.rewritten
    return result.text


def test_a_setting_changes_its_own_words_alone():
    assert edited(TEXT, "set", "name", value="Rain") == TEXT.replace("name: Weather ", "name: Rain ")
    assert edited(TEXT, "set", "validate", "votes", value=3) == TEXT.replace("votes: 2", "votes: 3")
    several = edited(TEXT, "set", "description", value="One.\nTwo.\n")
    assert "description: |\n  One.\n  Two.\n# What people get\n" in several
    assert "type: text, help: Briefly.}]" in edited(TEXT, "set", "input", 0, "help", value="Briefly.")
    assert 'options: [wet, dry, "no"]' in edited(
        TEXT, "set", "answer", 0, "options", value=["wet", "dry", "no"]
    ).replace("'", '"')


def test_items_move_with_their_comments():
    moved = edited(TEXT, "move", "context", 0, to=1)
    place = moved.index("  - {name: region")
    assert place < moved.index("  # the report\n  - name: report\n    type: text\ninput:")
    assert moved.count("#") == TEXT.count("#")
    assert edited(moved, "move", "context", 1, to=0) == TEXT


def test_fields_are_added_and_removed():
    more = edited(TEXT, "add", "context", value={"name": "when", "type": "text"}, to=1)
    assert more.index("name: report") < more.index("- {name: when, type: text}") < more.index("name: region")
    assert edited(more, "remove", "context", 1) == TEXT
    pair = edited(TEXT, "add", "answer", value={"name": "sure", "type": "yes_no"})
    assert "answer: [{name: label, type: choice, options: [wet, dry]}, {name: sure, type: yes_no}]\n" in pair
    ask = edited(TEXT, "add", "ask", value={"name": "why", "type": "text"})
    assert ask.index("answer:") < ask.index("ask: [{name: why, type: text}]\n") < ask.index("validate:")
    nested = edited(TEXT, "add", "validate", "ask", value={"name": "why", "type": "text"})
    assert "  votes: 2  # of five\n  ask: [{name: why, type: text}]\n" in nested
    assert yaml.safe_load(edited(TEXT, "remove", "input", 0))["input"] == []


def test_a_key_that_is_unset_goes_and_one_that_was_never_there_changes_nothing():
    assert "votes" not in edited(TEXT, "set", "validate", "votes")
    assert edited(TEXT, "set", "harms", "category") == TEXT


def test_what_is_no_config_or_has_no_place_is_refused():
    for text in ("", "- a", "a: [", "a: &x 1\nb: *x"):
        with pytest.raises(Invalid):
            apply_edit(text, ConfigEdit("set", ("name",), "x"))
    for path in ((), (0,), ("name", "x"), ("context", 9, "label"), ("context", "x", "y")):
        with pytest.raises(Invalid):
            apply_edit(TEXT, ConfigEdit("set", path, "x"))
    with pytest.raises(Invalid):
        apply_edit(TEXT, ConfigEdit("move", ("context", 7), to=0))


def test_a_text_that_cannot_be_edited_is_written_anew_and_says_so():
    odd = '{"id": "x1", "name": "X", "context": [\n {"name": "a", "type": "text"} # one\n, {"name": "b"}]}'
    result = apply_edit(odd, ConfigEdit("set", ("context", 0, "label"), "A"))
    assert yaml.safe_load(result.text)["context"][0]["label"] == "A"


TEXTS = ("plain", "with: colon", "# hash", "two\nlines", "two\nlines\n", "  odd ", "yes", "12", "ünïcode", "'", '"')
VALUES = (*TEXTS, True, 7, 0.5, ["a", "b"], ["yes", "1", "x, y"], [{"value": "a", "label": "A: b"}], {"a": 1})


@pytest.mark.release
@pytest.mark.parametrize("seed", range(4))
def test_random_edits_of_shipped_tasks_mean_what_they_say(seed):
    rng = random.Random(seed)
    rewritten = total = 0
    for task in rng.sample(list(shipped_tasks()), 6):
        text = task.source
        for _ in range(12):
            values = reading.read_config(text)[0]
            group = rng.choice([("context",), ("input",), ("answer",), ("ask",), ("validate", "ask")])
            items = editing.value_at(values, group)
            items = [items] if isinstance(items, dict) else items or []
            edit = _draw(rng, group, items)
            before = deepcopy(values)
            result = apply_edit(text, edit)
            assert reading.read_config(result.text)[0] == editing._edited_values(before, edit)
            text, total, rewritten = result.text, total + 1, rewritten + result.rewritten
            if result.rewritten:
                break
    assert rewritten <= total / 20


def _draw(rng: random.Random, group, items) -> ConfigEdit:
    kind = rng.choice(["set", "set", "add", "move", "remove", "top"])
    if kind == "top":
        return ConfigEdit(
            "set", rng.choice([("name",), ("description",), ("data", "licence"), ("harms",)]), rng.choice(VALUES)
        )
    if kind == "add" or not items:
        return ConfigEdit("add", group, {"name": "fresh", "type": "text", "help": rng.choice(TEXTS)}, None)
    place = rng.randrange(len(items))
    if kind == "set":
        return ConfigEdit("set", (*group, place, rng.choice(["label", "help", "options"])), rng.choice((None, *VALUES)))
    return ConfigEdit(kind, (*group, place), to=rng.randrange(len(items)))
