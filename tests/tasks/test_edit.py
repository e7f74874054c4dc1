import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Comment, EditField, FieldError
from tests.tasks.laws import drawn, posts, survives

better = EditField(name="better", of="text")
same = EditField(name="same", of="text", unchanged="allowed")
say = Comment(name="say")
CONTEXT = {"text": "They walked slowly home."}
TEXTS = st.text(st.characters(categories=["L", "P", "Zs"]), min_size=1, max_size=40)


@given(TEXTS)
def test_changed_texts_and_comments_survive_every_way(text):
    if same.clean("x" + text, CONTEXT) != CONTEXT["text"]:
        survives(better, "x" + text, CONTEXT)
        survives(say, "x" + text)


def test_the_text_as_it_was_is_refused_unless_that_is_allowed():
    with pytest.raises(FieldError, match="Change the text"):
        better.clean(CONTEXT["text"], CONTEXT)
    assert same.clean(CONTEXT["text"], CONTEXT) == CONTEXT["text"]
    assert EditField(name="better", of="text", required=False).clean(CONTEXT["text"], CONTEXT) is None


def test_the_form_begins_with_the_given_text_and_keeps_what_was_written():
    assert posts(better, None, CONTEXT) == CONTEXT["text"]
    assert posts(better, "\nMine", CONTEXT) == "\nMine"


def test_the_difference_is_shown_word_by_word():
    for view in ("read", "judge"):
        html = drawn(better, view, "They ran home.", CONTEXT)
        assert "removed: </span>walked slowly</del>" in html
        assert "added: </span>ran</ins>" in html
    assert "<ins>" not in drawn(better, "read", "They ran home.", {})  # where the given text is not known


@pytest.mark.parametrize(
    ("where", "field", "allowed"),
    [
        ("input", "passage", True), ("input", "question", False), ("ask", "question", True),
        ("answer", "question", False), ("input", "nothing", False),
        ("context", "passage", True), ("context", "later", False), ("input", "start", False),
    ],
)  # fmt: skip
def test_what_is_edited_must_be_there_before_the_form(where, field, allowed):
    parts = {
        "context": ["{name: passage, type: text}", "{name: start, type: text}"],
        "input": ["{name: question, type: text}"],
        "answer": ["{name: label, type: choice, options: [a, b]}"],
        "ask": [],
    }
    parts[where].append(f"{{name: better, type: edit, of: {field}}}")
    parts["context"].append("{name: later, type: text}")
    text = "id: edits\nname: Edits\nstart: {kinds: [prompt], prompt: {question: start}}\n"
    text += "".join(f"{group}: [{', '.join(fields)}]\n" for group, fields in parts.items())
    if allowed:
        assert TaskConfig.parse(text).id == "edits"
    else:
        with pytest.raises(Invalid, match="of"):
            TaskConfig.parse(text)


def test_a_comment_is_optional_and_takes_several_lines():
    assert say.clean("") is None
    assert say.clean("one\ntwo") == "one\ntwo"
    assert say.samples() == []
