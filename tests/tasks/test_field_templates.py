from html.parser import HTMLParser

import pytest
from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined

from dynabench.tasks.fields import (
    Choice,
    Comment,
    Consent,
    EditField,
    MultiChoice,
    Number,
    RankingField,
    Rating,
    Slider,
    Sliders,
    Spans,
    Text,
    TreeChoice,
    YesNo,
    template_folders,
)

ATTACK = "\"'><script>alert(1)</script>{{ 7*7 }}"
FIELDS = [
    (Text(name="text", label=ATTACK, help=ATTACK, placeholder=ATTACK, language="en"), ATTACK),
    (Text(name="text", required=False, when="fooled", multiline=True), None),
    (
        Choice(name="label", options=[ATTACK, {"value": "b", "description": ATTACK}], when=["incorrect", "flagged"]),
        ATTACK,
    ),
    (Choice(name="label", options=list("abcdefghi"), required=False), "c"),
    (Spans(name="words", of="text", help="Mark them."), [{"start": 0, "end": 1, "text": '"'}]),
    (Spans(name="words", of="absent", required=False), None),
    (YesNo(name="sure"), False),
    (YesNo(name="sure"), "nonsense"),
    (Number(name="grade", min=1, max=5, integer=True), 3),
    (Number(name="grade", required=False), None),
    (MultiChoice(name="topics", options=[ATTACK, {"value": "b", "description": ATTACK}], max=1), [ATTACK]),
    (TreeChoice(name="kind", pick="any", options=[{"value": ATTACK, "children": ["a"], "description": ATTACK}]), "a"),
    (TreeChoice(name="kind", options=[{"value": ATTACK, "children": ["a"], "description": ATTACK}, "b"]), ATTACK),
    (Slider(name="heat", low=ATTACK, required=False), 3),
    (Sliders(name="moods", options=[ATTACK, "b"], high=ATTACK, required=False), {ATTACK: 1, "b": ATTACK}),
    (Rating(name="grade", low=ATTACK, high=ATTACK), 1),
    (
        RankingField(name="order", options=[ATTACK, {"value": "b", "description": ATTACK}], first=ATTACK),
        {ATTACK: ATTACK},
    ),
    (Consent(name="terms", statement=ATTACK, label=ATTACK), ATTACK),
    (Comment(name="say", help=ATTACK), ATTACK),
    (EditField(name="better", of="text", language="ar"), ATTACK + " more"),
    (YesNo(name="sure", reason="required", reason_label=ATTACK), {"value": True, "reason": ATTACK}),
]


class Page(HTMLParser):
    """Collects elements, and that they are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag != "input":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def draw():
    loader = PrefixLoader({"tasks": PackageLoader("dynabench.tasks")})
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    env.globals["_"] = lambda text, **values: text % values if values else text

    def draw(field, view, value, error=""):
        values = {"field": field, "name": f"input.{field.name}", "value": value, "error": error}
        return Page(env.get_template(field.template(view)).render(**values, beside={"text": ATTACK}))

    return draw


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_templates_are_well_formed_escape_everything_and_style_nothing_inline(draw, field, value):
    for view in ("create", "read", "judge"):
        page = draw(field, view, value, error=ATTACK)
        assert page.open == []
        for tag, attributes in page.elements:
            assert tag not in {"script", "style"}
            assert not [name for name in attributes if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("field", [field for field, _ in FIELDS], ids=lambda field: field.type)
def test_a_value_that_was_left_out_or_is_no_value_is_drawn_too(draw, field):
    for value in (None, "", 7, [], {}, ATTACK):
        for view in ("create", "read", "judge"):
            assert draw(field, view, value).open == [], (value, view)


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_every_control_is_labelled_and_described_by_what_exists(draw, field, value):
    page = draw(field, "create", value, error="Oops")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    labelled = {attributes.get("for") for tag, attributes in page.elements if tag == "label"}
    controls = [a for tag, a in page.elements if tag in {"input", "textarea", "select"}]
    assert all(control["id"] in labelled for control in controls)
    assert {".".join(control["name"].split(".")[:2]) for control in controls} <= {f"input.{field.name}"}
    described = [a["aria-describedby"].split() for _, a in page.elements if "aria-describedby" in a]
    assert described
    assert {name for names in described for name in names} <= set(ids)


def test_the_counter_of_a_text_points_at_it_and_knows_its_limit(draw):
    page = draw(FIELDS[0][0], "create", "abc")
    counter = next(a for _, a in page.elements if "data-counter" in a)
    assert (counter["data-counter"], counter["data-max"]) == ("input-text", "1000")


def test_conditions_are_told_to_the_browser(draw):
    page = draw(FIELDS[2][0], "create", None)
    assert page.elements[0][1]["data-when"] == "incorrect|flagged"


def test_words_already_marked_are_checked(draw):
    page = draw(FIELDS[4][0], "create", FIELDS[4][1])
    boxes = [a for tag, a in page.elements if tag == "input"]
    assert [box["value"] for box in boxes if "checked" in box] == ["0:1"]
    assert len(boxes) == len(FIELDS[4][0].words({"text": ATTACK}))


def test_each_field_type_brings_three_templates():
    for name, folder in template_folders().items():
        assert {"create.html", "read.html", "judge.html"} <= {path.name for path in folder.iterdir()}, name
