"""Every template draws its sample values, and nothing in it needs an exception from the security policy."""

import re
from types import SimpleNamespace

import pytest
from jinja2 import nodes
from markupsafe import Markup

from dynabench.kit.settings import Settings
from dynabench.tasks import shipped_tasks
from dynabench.web.environment import PACKAGE, environment
from dynabench.web.pages import wants_fragment
from tests.web.pages import PAGES


def draw(name, path="/tasks/nli", **more):
    template, values, viewer = PAGES[name]
    app = SimpleNamespace(state=SimpleNamespace(settings=Settings(secret="templates" * 4)))
    request = SimpleNamespace(method="GET", url=SimpleNamespace(path=path), state=SimpleNamespace(role=None), app=app)
    request.base_url = "https://bench.example/"
    around = {
        "request": request,
        "viewer": viewer,
        "csrf_token": "token",
        "partial": False,
        "unseen": None,
        "seen_address": path,
    }
    created = {"url": lambda route, **params: f"/{route}", "csrf_field": lambda: Markup("<i></i>")}
    return environment().get_template(template).render({**around, **created, **values, **more})


def test_the_frame_sets_no_variable_that_a_page_may_expect():
    """A layout sets its variables before it draws the blocks of a page, and replaces values of the same name."""
    source, *_ = environment().loader.get_source(environment(), "web/layout.html")
    names = {assignment.target.name for assignment in environment().parse(source).find_all(nodes.Assign)}
    assert {name for name in names if not name.startswith("frame_")} == {"path"}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_inline_script_style_or_handler(name):
    html = draw(name)
    assert not re.search(r"\sstyle=|\son[a-z]+=|hx-on|javascript:", html)
    for attributes, body in re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL):
        assert "src=" in attributes or 'type="application/json"' in attributes, body


@pytest.mark.parametrize("name", PAGES)
def test_ids_on_a_page_are_unique(name):
    ids = re.findall(r'\sid="([^"]*)"', draw(name))
    assert sorted(ids) == sorted(set(ids))


def test_what_people_write_is_shown_as_text():
    html = draw("create-refused")
    assert "&lt;b&gt;bold" in html
    assert "<b>bold" not in html


def test_refused_fields_keep_their_text_and_say_what_to_do():
    html = draw("create-refused")
    assert "the limit is 500" in html
    assert 'aria-invalid="true"' in html


def test_a_model_s_marks_are_shown_with_their_labels():
    """Two marks of one text have one probability between them, so the labels stand in the sentence."""
    [field] = [task.config.answer[0] for task in shipped_tasks() if task.config.id == "ner"]
    text = "Virginia moved to Virginia in May."
    marks = [(0, 8, "person"), (18, 26, "place"), (30, 33, "date")]
    spans = [{"start": a, "end": b, "label": label, "text": text[a:b]} for a, b, label in marks]
    prediction = {"answer": {"names": spans}, "probabilities": {"Virginia": 0.9, "May": 0.8}}
    bars = "ui.bars(prediction, 'names', none, field, beside={'sentence': text})"
    source = "{% import 'web/components.html' as ui %}{{ " + bars + " }}"
    html = environment().from_string(source).render(prediction=prediction, field=field, text=text)
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))
    assert "Virginia(person) moved to Virginia(place) in May(date)." in plain
    assert "Virginia (person) (place) 90%" in plain.replace(" ", " ")


def test_a_validator_does_not_see_what_the_models_said():
    html = draw("validate", outcome=None)
    assert "nli-minilm" not in html
    assert "entailment" not in html.replace('value="entailment"', "").split("data-asked")[0]


def test_a_blind_validator_sees_no_claim():
    assert "The author says" not in draw("validate-blind")


IN_THE_APP = {
    *("collection/chat.html", "collection/drawing.html", "collection/preferences.html"),
    "validation/harms.html",
    "rounds/rounds.html",
    *(
        "rounds/join.html",
        "rounds/new.html",
        "rounds/_checked.html",
        "rounds/_edited.html",
        "rounds/older.html",
        "rounds/admin.html",
    ),
    *("rounds/proposal.html", "rounds/proposals.html"),
}
"""Shown by tests of the whole application and of its pages in a browser."""


def test_every_template_is_one_that_some_page_uses():
    sources = {path: path.read_text() for path in PACKAGE.rglob("templates/**/*.html")}
    entries = {template for template, _, _ in PAGES.values()}
    for path in sources:
        package, _, file = f"{path.relative_to(PACKAGE)}".partition("/templates/")
        name = f"{package}/{file}"
        if (
            package in ("rounds", "collection", "validation")
            and not file.startswith("manage/")
            and name not in entries | IN_THE_APP
        ):
            assert any(f'"{name}"' in text for text in sources.values()), name


def test_a_restored_page_is_whole_again():
    simple_namespace = SimpleNamespace(headers={"HX-Request": "true"})
    restored = SimpleNamespace(headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert wants_fragment(simple_namespace)
    assert not wants_fragment(restored)


def test_where_nothing_is_judged_no_bar_says_that_models_won():
    module = environment().get_template("web/components.html").module
    assert "duel-models" not in module.duel(0, 0)
    assert "No verdicts yet" in module.duel(0, 0)
    assert "duel-models" in module.duel(0, 3)


@pytest.mark.parametrize("sort", [str, lambda state: SimpleNamespace(state=state), lambda state: {"state": state}])
def test_a_template_asks_for_the_state_of_an_object_or_a_mapping(sort):
    template = environment().from_string("{{ round is open }} {{ round is not open }}")
    assert [template.render(round=sort(state)) for state in ("open", "closed")] == ["True False", "False True"]
