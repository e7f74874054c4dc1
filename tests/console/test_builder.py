"""The form beside the YAML of a config: each edit is an edit of the text, and each error stands at its field."""

import html
import json
import re

import pytest

from dynabench.rounds import owner_lists
from dynabench.rounds.pages import starter_config
from dynabench.tasks import form_model, shipped_tasks
from dynabench.tasks.fields import types

PAGE = "/tasks/nli/manage/config"
FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def source(owner, database) -> str:
    return database.read(owner_lists.read_version, "nli", 1).config


@pytest.fixture
def send_edit(owner, enter):
    """Send an edit as the page does; the text after it, and the whole answer."""
    browser = enter(owner)

    def send(config: str, **edit) -> tuple[str, str]:
        headers = {"X-CSRF-Token": browser.token("/settings"), **FRAGMENT}
        form = {"config": config, "then": "edit", "edit": json.dumps(edit)}
        answer = browser.client.post(PAGE, data=form, headers=headers)
        assert answer.status_code == 200, answer.text
        return html.unescape(
            re.search(r'<pre id="edited-text"[^>]*>\n(.*?)</pre>', answer.text, re.DOTALL)[1]
        ), answer.text

    return send


@pytest.mark.slow
def test_a_setting_a_new_field_a_move_and_a_removal_edit_the_text_and_its_preview(send_edit, source):
    text, page = send_edit(source, kind="set", path=["input", 0, "label"], text="Your line")
    assert "label: Your line" in text
    assert 'id="check"' in page
    assert "Your line" in page[page.index('id="check"') :]  # in the preview too
    more, page = send_edit(text, kind="add", path=["ask"], type="comment")
    assert "type: comment" in more
    assert 'id="b-ask-0-card"' in page
    moved, _ = send_edit(more, kind="move", path=["ask", 0], to=1)
    removed, _ = send_edit(moved, kind="remove", path=["ask", 0])
    assert [line for line in removed.splitlines() if line.startswith("#")] == [
        line for line in source.splitlines() if line.startswith("#")
    ]


@pytest.mark.slow
def test_an_error_stands_at_its_field_and_a_refused_edit_leaves_the_text(send_edit, source, owner, enter):
    text, page = send_edit(source, kind="set", path=["validate", "votes"], text="many")
    assert text == source
    field = page[page.index('id="b-validate-votes"') :]
    assert "Give a number." in field[: field.index("</div>")]
    text, page = send_edit(source, kind="set", path=["validate", "votes"], text="99")
    assert "votes: 99" in text
    field = page[page.index('id="b-validate-votes"') :]
    assert 'class="error"' in field[: field.index("</div>")]
    for odd in (
        {"kind": "set", "path": []},
        {"kind": "burn", "path": ["id"]},
        {"kind": "set", "path": ["wish"], "text": "x"},
        {"kind": "move", "path": ["context", 77], "to": 0},
        {"kind": "add", "path": ["context"], "type": "wish"},
        {"kind": "add", "path": ["id"], "type": "text"},
        {"kind": "remove", "path": ["validate", "ask"]},
    ):
        assert send_edit(source, **odd)[0] == source
    browser = enter(owner)
    headers = {"X-CSRF-Token": browser.token("/settings"), **FRAGMENT}
    broken = browser.client.post(PAGE, data={"config": "a: [", "then": "check"}, headers=headers)
    assert "Correct it in the YAML" in broken.text
    assert 'hx-swap-oob="true"' in broken.text


def test_a_template_opens_in_the_form_without_saving_anything(owner, admin, enter):
    page = enter(admin).get("/tasks/new", params={"template_of": "sentiment", "name": "Mine"}).text
    assert 'id="b-name"' in page
    assert 'data-card="[&#34;input&#34;, 0]"' in page


@pytest.mark.parametrize("type_name", sorted(types()))
def test_each_field_type_is_in_the_palette_and_comes_with_what_it_requires(type_name):
    text = starter_config()
    fresh = form_model.new_field(text, type_name)
    for group in form_model.config_form(text, {}).groups:
        assert type_name in dict(group.types)
    schema = form_model.current_schema()["$defs"][f"field_{type_name}"]
    assert set(schema["required"]) <= fresh.keys() <= schema["properties"].keys()


def test_every_setting_of_shipped_tasks_reads_back_what_the_form_shows():
    for task in shipped_tasks():
        form = form_model.config_form(task.source, {})
        assert not form.problem
        inputs = [*form.basics, *(item for section in form.sections for item in section.settings)]
        for group in form.groups:
            inputs += [item for card in group.cards for item in (*card.settings, *card.more)]
        for item in inputs:
            if item.text:
                value = form_model.read_setting(task.source, item.path, item.text)
                stored = form_model.editing.value_at(form_model.reading.read_config(task.source)[0], item.path)
                if item.kind in ("flag", "lines") or isinstance(value, str):
                    continue  # a default goes, one line is a list, blanks around a text go
                assert value == stored, (task.config.id, item.path)


GROUPED = """\
id: parts
name: Parts
context: [{name: passage, type: text}]
input: [{name: claim, type: text}]
answer: [{name: label, type: choice, options: [yes it is, no]}]
ask:
  - name: steps
    type: group
    repeat: 3
    fields:
      # what happened first
      - name: part
        type: text
      - {name: kind, type: choice, options: [irony, negation]}
"""
INNER = ["ask", 0, "fields"]


def test_fields_within_a_group_are_cards_that_are_edited_added_moved_and_removed(send_edit):
    text, page = send_edit(GROUPED, kind="set", path=[*INNER, 0, "label"], text="The part")
    assert "      - name: part\n        type: text\n        label: The part\n" in text
    assert 'id="b-ask-0-fields-1-card"' in page
    chosen = page[page.index('id="b-ask-0-fields-type"') :]
    assert 'value="group"' not in chosen[: chosen.index("</select>")]
    more, _ = send_edit(text, kind="add", path=INNER, type="text")
    names = [field["name"] for field in form_model.reading.read_config(more)[0]["ask"][0]["fields"]]
    assert names == ["part", "kind", "text"]
    moved, _ = send_edit(more, kind="move", path=[*INNER, 0], to=2)
    assert moved.count("# what happened first\n      - name: part") == 1
    removed, _ = send_edit(moved, kind="remove", path=[*INNER, 0])
    names = [field["name"] for field in form_model.reading.read_config(removed)[0]["ask"][0]["fields"]]
    assert names == ["text", "part"]


def test_an_error_within_a_group_stands_at_the_field_within(send_edit):
    text, page = send_edit(GROUPED, kind="set", path=[*INNER, 1, "name"], text="part")
    assert "{name: part, type: choice" in text
    field = page[page.index('id="b-ask-0-fields-1-name"') :]
    assert 'class="error"' in field[: field.index("</div>")]
    required = page[page.index('id="b-ask-0-fields-0-required"') :]
    assert "checked" in required[: required.index(">")]  # optional is the group, not what it is made of
    for odd in (
        {"kind": "add", "path": ["ask", 0, "options"], "type": "text"},
        {"kind": "add", "path": ["context", 0, "fields"], "type": "text"},
        {"kind": "add", "path": [*INNER, 0, "fields"], "type": "text"},
        {"kind": "remove", "path": [*INNER, 7]},
        {"kind": "set", "path": [*INNER, 0, "wish"], "text": "x"},
    ):
        assert send_edit(GROUPED, **odd)[0] == GROUPED
